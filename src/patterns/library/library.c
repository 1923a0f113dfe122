#include "patterns/library/library.h"

#include <stdlib.h>

#include "base/locale.h"
#include "patterns/library/choose.h"

struct fa_library *fa_library_read(const struct fa_patterns *o, unsigned max_diagnostics) {
    IN_C_LOCALE;
    struct fa_library *l = xcalloc(1, sizeof *l);
    l->diags = (struct diags){.arena = &l->arena, .limit = max_diagnostics};
    l->narrowed = o->only || o->skip || o->no_bundled;
    bool none = o->no_bundled && !o->nfiles; /* as for the files that `patterns check` reads */
    bool good = library_load(&l->patterns, o, &l->diags) && (none || library_select(&l->patterns, o, &l->diags));
    l->status = good ? FA_CLEAN : FA_USAGE;
    return l;
}

enum fa_status fa_library_status(const struct fa_library *l) {
    return l->status;
}

const struct fa_diagnostics *fa_library_diagnostics(const struct fa_library *l) {
    return diagnostics_of(&l->diags);
}

void fa_library_free(struct fa_library *l) {
    if (!l)
        return;
    patterns_free(&l->patterns);
    diags_free(&l->diags);
    arena_free(&l->arena);
    free(l);
}

const struct pattern_set *patterns_asked_for(const struct fa_patterns *o, struct pattern_set *own, struct diags *d) {
    if (o->library && o->library->status != FA_CLEAN)
        diags_take(d, &o->library->diags);
    if (o->library)
        return o->library->status == FA_CLEAN ? &o->library->patterns : NULL;
    own->no_examples = true;
    return library_load(own, o, d) && library_select(own, o, d) ? own : NULL;
}
