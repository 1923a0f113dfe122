/* The conditions of the table, by the file that knows their subject, and what these files share. Private to them. */
#ifndef FA_CONDITIONS_H
#define FA_CONDITIONS_H

#include "pattern/condition.h"
#include "pattern/matcher.h"
#include "pattern/regex.h"

/* condition_constants.c: what a value is by itself. */
condition_holds condition_present, condition_constant, condition_parameter, condition_stored, condition_scalar,
    condition_stated_constant, condition_floating, condition_same_dtype, condition_count_of,
    condition_one_over_count_of, condition_root_count_of;

/* condition_axes.c: the axes of the formula that a value varies along. */
condition_holds condition_row_vector, condition_matrix, condition_repeated, condition_rowwise, condition_along_axis,
    condition_same_along, condition_same_axis, condition_along_reduced, condition_aligned, condition_positions;
/* Number of combinations of the digits of `axis` that `m` tells apart. */
int64_t axis_shared_size(const struct imap *m, const struct imap *axis);
/* Number of combinations of the digits. */
int64_t axis_size(const struct term *t, uint32_t n);

/* condition_groups.c: heads and groups of channels. */
condition_holds condition_grouped, condition_channel_groups, condition_columns, condition_regrouped;

/* condition_layout.c: the order in which elements lie. */
condition_holds condition_contiguous, condition_read_as, condition_interleaved, condition_tiled;

/* condition_neighbours.c: users, operands and what else reads a value. */
condition_holds condition_used_by, condition_no_user, condition_adjacent, condition_operand, condition_same;

/* condition_locations.c: names of locations and arguments. */
condition_holds condition_one_location, condition_located, condition_named;

/* condition_windows.c: the windows of convolutions and pools, what sorts and turned operands do to dimensions. */
condition_holds condition_pads_window, condition_same_window, condition_normalizes_channels, condition_cuts_along,
    condition_turned;

/* condition_spelling.c: how a match is written. */
condition_holds condition_has_op, condition_made_by, condition_spelled, condition_between;

/* evaluate.c: adds a precondition, each once. */
void evaluation_state(const struct evaluation *e, struct str text);

#endif
