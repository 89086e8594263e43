/* partition/blocks/block_choice.h - chooses r, c and R for SpMV in blocks of r x c; R is
   the lanes (GPU threads) of a slice, or of a thread block.

   Two rules exist. The rule of the fewest bytes takes the shape that stores A in the
   fewest bytes, because SpMV is bound by reading A. The rule of the model predicts the
   time of every shape and R with the execution model (choi_model.h). */
#ifndef HY_BLOCK_CHOICE_H
#define HY_BLOCK_CHOICE_H

#include "partition/blocks/choi_model.h"
#include "partition/format/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_CHOI_LANES_LEAST = 32 }; /* minimum of R, which is 32, 64, 128 or 256 */

/* Indices of formats in hy_block_speeds. */
typedef enum hy_choi_format { HY_CHOI_BELLPACK, HY_CHOI_BCSR } hy_choi_format;

/* Constants of the execution model for one kernel with one R. */
typedef struct hy_choi_constants {
    hy_choi_times times;
    int64_t registers; /* registers of one thread */
} hy_choi_constants;

static inline int hy_choi_shape_index(hy_block_shape shape)
{
    return HY_BLOCK_MOST * (shape.rows - 1) + shape.cols - 1;
}

/* Returns the limits of a multiprocessor of the device. */
hy_choi_device hy_choi_device_of(const hy_rates *rates);

/* Returns the constants of a kernel. A constant that was not measured follows from the
   bandwidth of the device. `lanes` is R. */
hy_choi_constants hy_choi_constants_of(const hy_rates *rates, hy_choi_format format,
                                       hybrid_type type, hy_block_shape shape, int lanes);

/* Returns T, the thread blocks that a multiprocessor holds at a time, of a kernel with
   `lanes` (R) threads of `registers` registers each. */
int64_t hy_choi_resident_of(const hy_rates *rates, int64_t registers, int lanes);

/* Returns the seconds that the model predicts for blocks of f->block_* and this R. */
double hy_block_model_s(const hy_features *f, const hy_rates *rates,
                        hy_choi_format format, int lanes);

/* Sets f->block_* to the best shape that f->parameter allows, and, if the model chooses
   for the paper's form, f->parameter[HY_BLOCK_LANES] to R. If the fill of shapes is not
   known, the shape is what f->parameter says, else 1 x 1. This is hy_variant.choose of
   both block variants. */
void hy_block_choose(hy_features *f, const hy_rates *rates, hy_choi_format format);

#ifdef __cplusplus
}
#endif
#endif /* HY_BLOCK_CHOICE_H */
