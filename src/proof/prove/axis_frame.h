/* In which axes a fused form is evaluated, and values of a match along these axes.
 *
 * A formula has logical axes, which reshapes and permutes of the graph only rename; operands of the form are the values
 * of the match read along them. A fused op that comes from the graph, such as a convolution, expects the dimensions of
 * its own operands: then the form is evaluated in the axes of that op (struct axis_frame). */
#ifndef FA_AXIS_FRAME_H
#define FA_AXIS_FRAME_H

#include "proof/prove/proof.h"

/* Finds the work axis and the frames that fit. The form's values and as_printed are known. */
void axis_frames_find(struct fused_form *f, const struct reference *r);
/* The axes along which the form reads a value through a map of its binding, and the value's extents there, of which
 * those that are 1 broadcast. In the frame of a convolution what has a number for each channel is a row. False where
 * the map depends on other axes. */
bool axes_in_frame(const struct form_run *run, const struct binding *b, const struct imap *map, struct axes *axes,
                   struct shape *extents);
/* The value of a name along these, as much of it as is needed, or as it is printed. Within eval_attempt, as the next.
 */
const struct tensor *value_in_frame(struct form_run *run, const struct binding *b, const struct tensor *t,
                                    bool as_printed, struct str name);
/* The tensor broadcast to this shape; NULL where it does not fit. */
const struct tensor *tensor_broadcast(struct form_run *run, const struct tensor *t, const struct shape *to);
/* The axes of the root have another order than its dimensions: a product has its batches first. */
bool root_is_moved(const struct fused_form *f);
/* A result in the frame at hand, in the order of the root. */
const struct tensor *result_in_root_order(struct form_run *run, const struct tensor *t);

#endif
