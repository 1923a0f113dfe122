#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "verify/compare_modules.h"
#include "verify/judgements.h"

struct stored_judgement {
    UT_hash_handle hh;
    struct str key;
    bool thorough;
    struct judgement judgement;
};

struct judgements {
    pthread_mutex_t lock; /* of all below */
    struct arena arena;
    struct stored_judgement *all;
};

struct judgements *judgements_new(void) {
    struct judgements *j = xcalloc(1, sizeof *j);
    pthread_mutex_init(&j->lock, NULL);
    return j;
}

void judgements_free(struct judgements *j) {
    HASH_CLEAR(hh, j->all);
    pthread_mutex_destroy(&j->lock);
    arena_free(&j->arena);
    free(j);
}

static void store(struct judgements *j, struct str text, bool thorough, struct judgement *answer) {
    struct stored_judgement *k = NULL;
    pthread_mutex_lock(&j->lock);
    HASH_FIND(hh, j->all, text.p, text.n, k);
    if (!k) {
        k = arena_alloc(&j->arena, sizeof *k);
        k->key = arena_str(&j->arena, text);
        HASH_ADD_KEYPTR(hh, j->all, k->key.p, k->key.n, k);
    }
    k->thorough |= thorough;
    k->judgement = *answer;
    k->judgement.why = arena_str(&j->arena, answer->why);
    k->judgement.text = k->key;
    *answer = k->judgement;
    pthread_mutex_unlock(&j->lock);
}

struct judgement judgements_ask(struct judgements *j, struct str text, bool thorough) {
    struct stored_judgement *k = NULL;
    struct judgement answer = {0};
    pthread_mutex_lock(&j->lock);
    HASH_FIND(hh, j->all, text.p, text.n, k);
    bool known = k && (k->thorough || !thorough || k->judgement.answer == ANSWER_PROVED);
    if (known)
        answer = k->judgement;
    pthread_mutex_unlock(&j->lock);
    if (known)
        return answer;
    struct arena scratch = {0};
    answer = miter_judge(text, thorough, &scratch);
    store(j, text, thorough, &answer);
    arena_free(&scratch);
    return answer;
}

struct str judgements_show(struct judgements *j, const struct judgement *different) {
    struct arena scratch = {0};
    struct stored_judgement *k = NULL;
    struct str shown = STR("");
    pthread_mutex_lock(&j->lock);
    HASH_FIND(hh, j->all, different->text.p, different->text.n, k);
    shown = k ? k->judgement.shown : shown;
    pthread_mutex_unlock(&j->lock);
    if (!k || shown.n)
        return shown;
    shown = miter_show(k->key, &scratch);
    pthread_mutex_lock(&j->lock);
    shown = k->judgement.shown = arena_str(&j->arena, shown);
    pthread_mutex_unlock(&j->lock);
    arena_free(&scratch);
    return shown;
}
