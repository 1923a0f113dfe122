/* The error of the device, unfused and fused, for a match whose fused form was found to compute the same. */
#ifndef FA_DEVICE_ERROR_H
#define FA_DEVICE_ERROR_H

#include "prove/proof.h"
#include "prove/verdict.h"

/* The run is that of the first device after the trials, with the frame and choice that agree. Not `known` for results
 * of integer or unknown type, and where the evaluation fails. */
struct device_error device_error_of(struct device_run *run, bool blackhole);

#endif
