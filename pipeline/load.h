/* pipeline/load.h - B or X to the device, piece by piece, ahead of the chunks.

   Pageable memory is copied by all workers into a ring of pinned pieces that stays in the
   last-level cache, and from there by DMA; memory that the caller pinned is copied from
   where it is, piece by piece all the same. A thread of its own does this from the first
   row to the last; a chunk enters the lanes as soon as the rows that it touches are on
   their way: a banded matrix computes while most of B is still to come. X in panels of
   columns comes panel after panel; if not all have a place on the device, one waits until
   no chunk of the panel whose place it takes is left. So do the rows of a window.

   A loader needs lanes and a thread, but no pipeline: it can begin while chunks are still
   to be planned. A run that comes then goes on with it. */
#ifndef HY_LOAD_H
#define HY_LOAD_H

#include "partition/shared.h"
#include "pipeline/lane_set.h"

enum {
    HY_LOAD_PIECES = 4,
    HY_COUNTED_ROW = 4096 /* its square is a 32-bit number */
};

/* What is copied at a time: bytes of the operand's image, or rows of X. */
typedef struct hy_load_part {
    size_t at, bytes;   /* `at` and `to`: of the image, if there are no rows */
    char *to;           /* on the device */
    const char *direct; /* from where it lies, pinned; NULL: through the ring */
    int64_t row, rows;  /* if rows > 0: these of the panel x, to rows from */
    int64_t place;      /* `place` on of its image; in the ring what is in lines before */
    hy_x_panel x;       /* what lies apart of them, */
    int turned;         /* or column after column, and the device turns them */
} hy_load_part;

/* One piece of the ring: workers fill it, then it is copied. */
typedef struct hy_load_piece {
    hy_loop filling;
    const hy_problem *problem;
    hy_load_part part;
    char *room;      /* in the ring */
    int64_t reached; /* of the image, when the copy is under way; -1: more pieces come */
    int untimed;     /* `end` has no time: the host sees it */
    hy_mark *begin, *end;
    int follows;   /* the piece before it, without a pause: it begins where that one ends */
    int64_t bytes; /* being filled or under way; 0 = none */
} hy_load_piece;

typedef struct hy_loader {
    hy_task go; /* first: tells the lane set's thread to load */
    hy_backend *backend;
    hy_lane_set *lane_set; /* whose lane and thread it uses */
    hy_problem problem;    /* whose B or X it loads */
    hy_buffer shared;      /* on the device */
    hy_buffer ring;
    hy_buffer turned; /* on the device: room for a part of X in columns; may be none */
    size_t turns;     /* X of this run comes so, in parts of so many bytes; 0: it does not */
    size_t piece_bytes, direct_bytes; /* most of a piece: through the ring, or not */
    hy_load_piece pieces[HY_LOAD_PIECES];
    int next;                                 /* piece to be used */
    hy_load_piece *filled;                    /* by workers, and not sent; or NULL */
    int begun;                                /* and not finished */
    int timed;  /* copies from where memory is pinned have times of their own */
    int paused; /* since the last piece was sent */
    int first; /* pieces are filled before planning goes on, not in turns with it */
    int64_t begin_ns, end_ns, busy_ns, bytes; /* of the copies that are over, */
    int64_t ring_bytes;                       /* and of those from the ring */
    hy_message said; /* why it failed: a plan that is made meanwhile takes back what it
                        said itself whenever it tries another way */

    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* `free`, `stop` or `loading` was */
    hy_inbox *inbox;        /* of the driver; NULL before there is a run */
    int64_t free;    /* panels, or rows of a window, before it are not needed any more */
    int64_t entries; /* of B (elements of X) under way or there */
    int64_t wanted;  /* the driver waits for so many; -1 = it does not */
    int stop;
    int loading; /* the thread is at it */
    hybrid_status status;
    int ticking;  /* the tick is in the driver's inbox */
    hy_task tick; /* says that what it waits for is under way, or failed */
} hy_loader;

/* Room on the device for an operand of that many bytes, ring and marks. The lane set is
   borrowed, and its thread set up. On failure nothing is held but marks of the lane set. */
hybrid_status hy_loader_open(hy_lane_set *lane_set, size_t shared_bytes, hy_loader **out);

/* Nothing is under way: it is finished, and if that failed, the lane set is closed. NULL is
   fine. */
void hy_loader_close(hy_loader *loader);

/* Begin to load B or X of the problem, of which a copy is kept, before there is a run.
   Workers take turns between it and loops of HY_COMPUTE, or load first. */
void hy_loader_begin(hy_loader *loader, const hy_problem *problem, int first);

/* A run begins, with `free` of its panels or rows not needed: load for it, or go on.
   Ticks come to `inbox`. `timed`: somebody asks for the times of copies. */
void hy_loader_start(hy_loader *loader, const hy_problem *problem, int64_t free,
                     hy_inbox *inbox, int timed);

/* load_count.c: products of the rows of A, counted by the device when all of B is there,
   for an A that is B and has rows of no more than HY_COUNTED_ROW entries; in the ring,
   until there is a run. NULL in *products: the backend cannot, or loading failed, which
   the run will tell. */
hybrid_status hy_loader_count(hy_loader *loader, const uint32_t **products);

/* Whether all that the chunk touches is under way on the lane to the device. If not, the
   tick comes when it is. Called by the driver. */
int hy_loader_reached(hy_loader *loader, const hy_chunk *chunk);

/* So many panels, or rows of a window, are not needed any more. Called by the driver. */
void hy_loader_free(hy_loader *loader, int64_t free);

/* The driver took the tick: whether loading failed. */
hybrid_status hy_loader_ticked(hy_loader *loader);

/* Nobody needs more: stop, wait for what is under way, and say whether any of it failed.
   Harmless when repeated. */
hybrid_status hy_loader_finish(hy_loader *loader);

/* ---- what the loader's thread calls: load.c, load_pieces.c, load_rows.c ---- */

/* So much of the image is under way, unless something failed. 0: nobody needs more. */
int hy_load_tell(hy_loader *loader, int64_t entries, hybrid_status status);

/* The next piece of the ring, when its copy is over. */
hybrid_status hy_load_take(hy_loader *loader, hy_load_piece **piece);

/* All pieces, when their copies are over. */
hybrid_status hy_load_retire(hy_loader *loader);

/* Bytes [at, at + bytes) of the image to `to` on the device. The last piece may still be
   filled on return: workers go on with the next while it is sent. */
hybrid_status hy_load_bytes(hy_loader *loader, size_t at, size_t bytes, char *to);

/* The part to its place; the last may still be filled on return, as above. */
hybrid_status hy_load_part_of(hy_loader *loader, const hy_load_part *part);

/* Most of a piece that begins at byte `at` of the image, of which `bytes` are left. */
size_t hy_load_most(const hy_loader *loader, size_t at, size_t bytes);

/* Send that piece, if there is one, and tell. */
hybrid_status hy_load_flush(hy_loader *loader);

/* Where the image of a panel has row `place`: what is in its lines, and what lies apart. */
char *hy_load_lines(const hy_loader *loader, const hy_x_panel *x, int64_t place);
char *hy_load_rest(const hy_loader *loader, const hy_x_panel *x, int64_t place);

/* Rows [first, first + rows) of a panel of X, if the device copies them from where they
   are, or turns them, or they lie in two parts of the image: *done says whether. */
hybrid_status hy_load_rows(hy_loader *loader, const hy_x_panel *x, int64_t first,
                           int64_t rows, int *done);

#endif /* HY_LOAD_H */
