/* pipeline/turned.h - X and Y in columns, which the device turns.

   Kernels read and write rows. A core that turns columns into rows does so at a fraction
   of the speed at which it copies, and workers' copies are what most products wait for;
   so they copy parts of columns as they are, some thousand elements each, and the device
   turns what came, or what is to go, at the speed of its memory:

       X      rows [r, r + n), column after column, to the room of the loader; turned from
              there to their place in the image. Pinned columns are copied where they are
       Y      n rows of a chunk's result turned into the room of the site; from there
   to pinned memory, where the chunk lies in columns in the end, or to Y if it is pinned
   and takes them as they are

   A room is on the device, for a piece of the ring or less; where the budget leaves none,
   workers turn (partition/shared.c, dense_rows.c). The lane goes on to the next part when
   one is turned: 2 % of the time of a copy over PCIe. */
#ifndef HY_TURNED_H
#define HY_TURNED_H

#include "pipeline/site.h"

/* Bytes of the budget to be left for each of the two rooms, for a product with these
   features and an X of so many rows, as a plan does not know in which order X and Y will
   be. 0: the budget is too small, or the device does not turn. */
size_t hy_turned_room(const hy_backend *backend, const hy_features *f, int64_t x_rows,
                      size_t memory);

/* Before a run on the site: whether X of its problem and what goes to the sink are turned
   by the device, and the rooms for that, which stay. */
hybrid_status hy_turned_begin(hy_site *site, const hy_problem *problem,
                              const hy_sink *sink);

/* Rows [row, row + rows) of X, which the room holds, through the ring or from where they
   are pinned. */
hybrid_status hy_turned_load(hy_loader *loader, const hy_x_panel *x, int64_t row,
                             int64_t rows);

/* Enqueue copy and turning of a piece that is filled. */
hybrid_status hy_turned_copy(const hy_loader *loader, hy_lane *lane,
                             const hy_load_piece *piece);

/* Whether the chunk's result goes to Y so, and its way. */
int hy_turned_is(const hy_slot *slot);
hybrid_status hy_turned_back(hy_slot *slot, hy_lane *lane);

#endif /* HY_TURNED_H */
