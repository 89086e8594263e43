/* engine/run/bind.h - the chunks of a run: those planned, in the image that its X and Y
   get. */
#ifndef HY_BIND_H
#define HY_BIND_H

#include "engine/rates/traffic.h"
#include "partition/pattern/chunks.h"

/* A plan's chunks as a run has them, and the bytes up that are predicted for it. */
typedef struct hy_bound {
    hy_chunk_list list;
    hy_image image; /* of the run's B or X */
    int64_t up;
} hy_bound;

/* Those of a run whose X and Y are not pinned, Y at the beginning of a line. */
hy_bound hy_bind_planned(const hy_layout *layout, const hy_traffic *traffic);

/* Those of a run with this X and Y. If X and
   Y are copied directly (pin.h) these are the layout's for that. They move so that they
   begin where lines of Y do, unless all runs are to have the same bits. */
hy_bound hy_bind(const hy_product *product, const hy_layout *layout,
                 const hy_traffic *traffic, int direct, const hy_problem *problem);

#endif /* HY_BIND_H */
