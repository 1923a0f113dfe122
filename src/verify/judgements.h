#ifndef FA_JUDGEMENTS_H
#define FA_JUDGEMENTS_H

#include "verify/judge.h"

struct judgements;
/* miter_judge: the judgement on the text of a miter, made once. Its texts live as long as the judgements. */
struct judgement judgements_ask(struct judgements *j, struct str text, bool thorough);
/* The counterexample of a judgement, made once. */
struct str judgements_show(struct judgements *j, const struct judgement *different);

#endif
