/* In which axes a fused form is evaluated, and values of a match along these axes.
 *
 * A formula has logical axes, which reshapes and permutes of the graph only rename; operands of the form are the values
 * of the match read along them. A fused op that comes from the graph, such as a convolution, expects the dimensions of
 * its own operands: then the form is evaluated in the axes of that op (struct axis_frame). */
#ifndef FA_AXIS_FRAME_H
#define FA_AXIS_FRAME_H

#include "prove/proof.h"

/* Finds the work axis and the frames that fit. The form's values and as_printed are known. */
void axis_frames_find(struct fused_form *f, const struct reference *r);
/* The value of a name along the axes of the frame at hand, or as it is printed; in the frame of a convolution what has
 * a number for each channel is a row. NULL with a reason where it varies along other axes. */
const struct tensor *value_in_frame(struct form_run *run, const struct binding *b, const struct tensor *t,
                                    bool as_printed, struct str name);
/* The same without numbers: the axes along which the operand has its elements, and its extents there, of which those
 * that are 1 broadcast. The numbers are those of the map `needed`. False where it varies along other axes. */
bool axes_in_frame(const struct form_run *run, const struct binding *b, struct axes *axes, struct shape *extents);
/* The dimensions of the op of the frame at hand, as axes of the root. */
bool axes_of_frame(const struct form_run *run, struct axes *axes);
/* A result in the frame at hand, in the order of the root's own axes. NULL with a reason. */
const struct tensor *result_in_root_order(struct form_run *run, const struct tensor *t);

#endif
