#include "report/compare/runs.h"

#include <string.h>

#include "base/writer.h"
#include "device/price/price.h"
#include "report/compare/compare.h"

/* The fused ops of new findings, each once. */
static void write_new_ops(struct writer *w, const struct findings_compared *c, const struct finding_list *l) {
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t k = 0;
        while (k < i && !(c->before_of[k] == NONE && str_eq(l->items[k]->fused_op, l->items[i]->fused_op)))
            k++;
        if (k == i && c->before_of[i] == NONE)
            write_text(w, l->items[i]->fused_op, TEXT_NAME);
    }
}

static void write_worse(struct writer *w, const struct run_item *before, const struct run_item *now) {
    const struct report *was = before->report, *is = now->report;
    struct findings_compared c = findings_compare(&was->findings, &is->findings);
    double slower = was->total_us > 0 && is->total_us > 0 ? is->total_us - was->total_us : 0;
    if (slower >= NO_TIME_US || c.counts[FINDING_NEW]) {
        write_map_at(w, "worse");
        if (slower >= NO_TIME_US)
            write_pair_real(w, "us", slower);
        write_pair_number(w, "new", c.counts[FINDING_NEW]);
        write_list_at(w, "fused_ops");
        write_new_ops(w, &c, &is->findings);
        write_close(w);
        write_close(w);
    }
    findings_compared_free(&c);
}

/* `now`: NULL where there is no report. */
static void write_run(struct writer *w, const char *run, const struct run_item *before, const struct run_item *now) {
    write_map(w);
    write_pair(w, "run", str_of(run), TEXT_NAME);
    if (now) {
        write_pair_positive(w, "total_us", now->report->total_us);
        write_pair_real(w, "saved_us", now->report->saved_us);
        write_pair_number(w, "findings", now->report->findings.n);
        if (before)
            write_worse(w, before, now);
    } else
        write_pair_bool(w, "missing", true);
    write_close(w);
}

static bool is_first(const struct run_item *items, size_t i) {
    size_t k = 0;
    while (strcmp(items[k].name, items[i].name) != 0)
        k++;
    return k == i;
}

static void write_model(struct writer *w, const struct run_item *items, size_t n, size_t first) {
    const struct run_item *before = NULL;
    write_map(w);
    write_pair(w, "report", str_of(items[first].name), TEXT_NAME);
    write_list_at(w, "runs");
    for (size_t i = first, end; i < n; i = end) {
        const struct run_item *now = NULL;
        for (end = i; end < n && strcmp(items[end].run, items[i].run) == 0; end++)
            if (strcmp(items[end].name, items[first].name) == 0)
                now = &items[end];
        write_run(w, items[i].run, before, now);
        before = now ? now : before;
    }
    write_close(w);
    write_close(w);
}

static const struct column columns[] = {{"all ops", "{total_us?{total_us:us}|}"},
                                        {"to save", "{missing?|{saved_us:us}}"},
                                        {"findings", "{findings}"},
                                        {"run", "{run}"},
                                        {"model", "{^report}"},
                                        {"became worse",
                                         "{missing?no report|}{worse?{worse.us?slower by {worse.us:us}|}"
                                         "{worse.new?{worse.us?, |}new at {worse.new place}: {worse.fused_ops*{}}|}|}"},
                                        {NULL, NULL}};
static const struct template runs_text[] = {{.of = "models.runs", .columns = columns}, {.text = NULL}};
static const struct template runs_csv[] = {
    {.text = "model,run,total_us,saved_us,findings,slower_us,new\n"},
    {.of = "models.runs",
     .text = "{^report:csv},{run:csv},{total_us},{saved_us},{findings},{worse?{worse.us}|},{worse?{worse.new}|}\n"},
    {.text = NULL}};

bool runs_print(const struct run_item *items, size_t n, enum runs_format format, FILE *out) {
    struct writer w;
    if (format == RUNS_JSON)
        write_document(&w, MARKUP_JSON, out);
    else
        write_as_text(&w, format == RUNS_CSV ? runs_csv : runs_text, out);
    write_list_at(&w, "models");
    for (size_t i = 0; i < n; i++)
        if (is_first(items, i))
            write_model(&w, items, n, i);
    write_close(&w);
    write_close(&w);
    return write_end(&w);
}
