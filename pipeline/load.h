/* pipeline/load.h - B or X to the device, piece by piece, ahead of the chunks.

   Pageable memory is copied by all workers into a ring of pinned pieces that stays in the
   last-level cache, and from there by DMA; memory that the caller pinned is copied from
   where it is, piece by piece all the same. A thread of its own does this from the first
   row to the last; a chunk enters the lanes as soon as the rows that it touches are on
   their way: a banded matrix computes while most of B is still to come. X in panels of
   columns comes panel after panel; if not all have a place on the device, one waits until
   no chunk of the panel whose place it takes is left. So do the rows of a window. */
#ifndef HY_LOAD_H
#define HY_LOAD_H

#include "partition/pack.h"
#include "pipeline/slot.h"

enum { HY_LOAD_PIECES = 4 };

struct hy_pipeline;

/* One piece of the ring, and the copy from it. */
typedef struct hy_load_piece {
    hy_mark *begin, *end;
    int64_t bytes; /* under way; 0 = none */
} hy_load_piece;

typedef struct hy_loader {
    hy_buffer ring;
    size_t piece_bytes;
    hy_load_piece pieces[HY_LOAD_PIECES];
    int next;   /* piece to be used */
    hy_slot go; /* tells the gear's thread to load */
    int64_t begin_ns, end_ns, busy_ns, bytes; /* of the copies that are over */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed; /* `free`, `stop` or `loading` was */
    int64_t free;         /* panels, or rows of a window, before it are not needed any more */
    int64_t entries;      /* of B (elements of X) under way or there */
    int64_t wanted;       /* the driver waits for so many; -1 = it does not */
    int stop;
    int loading; /* the thread is at it */
    hybrid_status status;
    int ticking;  /* the tick is in the driver's inbox */
    hy_slot tick; /* says that what it waits for is under way, or failed */
} hy_loader;

/* Ring, marks and thread for an operand of that many bytes. On failure nothing is held that
   hy_loader_close() does not free. */
hybrid_status hy_loader_open(struct hy_pipeline *pipeline, size_t shared_bytes);
void hy_loader_close(struct hy_pipeline *pipeline);

/* The next piece of the ring, when its copy is over. */
hybrid_status hy_load_take(struct hy_pipeline *pipeline, hy_load_piece **piece);

/* Rows [first, first + rows) of a panel of X, if the device copies them from where they
   are: *direct says whether. */
hybrid_status hy_load_rows(struct hy_pipeline *pipeline, const hy_x_panel *x,
                           int64_t first, int64_t rows, int *direct);

/* Begin to load for a run. */
void hy_loader_start(struct hy_pipeline *pipeline);

/* Whether all that the chunk touches is under way on the lane to the device. If not, the
   tick comes when it is. Called by the driver. */
int hy_loader_reached(struct hy_pipeline *pipeline, const hy_chunk *chunk);

/* A chunk is finished, and with it perhaps its panel or some rows. Called by the driver. */
void hy_loader_free(struct hy_pipeline *pipeline);

/* The driver took the tick: whether loading failed. */
hybrid_status hy_loader_ticked(struct hy_pipeline *pipeline);

/* No chunk needs more: wait for what is under way and trace it. */
hybrid_status hy_loader_finish(struct hy_pipeline *pipeline);

#endif /* HY_LOAD_H */
