/* pipeline/load/load.h - B or X to the device, piece by piece, ahead of the chunks.

   Pageable memory is copied by all workers into a ring of pinned pieces that stays in the
   last-level cache, and from there by DMA; memory that the caller pinned is copied from
   where it is, piece by piece all the same: the operand's source says which
   (base/contract/source.h). A thread of its own does this from the first row to the last; a chunk
   enters the lanes as soon as the rows that it touches are on their way: a banded matrix
   computes while most of B is still to come. Of an image that is a ring of blocks
   (base/contract/image.h) a block comes when no chunk needs the one whose place it takes.

   A loader needs lanes and a thread, but no pipeline: it can begin while chunks are still
   to be planned. A run that comes then goes on with it. */
#ifndef HY_LOAD_H
#define HY_LOAD_H

#include "base/contract/variant.h"
#include "pipeline/site/lane_set.h"

enum {
    HY_LOAD_PIECES = 4,
    HY_COUNTED_ROW = 4096 /* its square is a 32-bit number */
};

typedef struct hy_loader hy_loader;
typedef struct hy_load_piece hy_load_piece;

/* How a part of the operand comes to the device: workers fill a piece of the ring, then
   it is copied. */
typedef struct hy_load_way {
    hy_loop_fn fill; /* units [begin, end) of a hy_load_piece */
    hybrid_status (*copy)(const hy_loader *loader, hy_lane *lane,
                          const hy_load_piece *piece);
} hy_load_way;

/* What is copied at a time. */
enum { HY_LOAD_COPIES = 2 }; /* most of a part: of rows, and of their tail columns */

typedef struct hy_load_part {
    const hy_load_way *way;
    hy_region region;
    int64_t begin, end; /* elements of the region, or rows, as the way counts */
    size_t bytes;       /* on the bus */
    int64_t units;      /* that workers fill, of so many bytes each */
    size_t unit_bytes;
    hy_row_copy direct[HY_LOAD_COPIES]; /* from where it lies; */
    int direct_count;                   /* 0: through the ring */
} hy_load_part;

/* One piece of the ring. */
struct hy_load_piece {
    hy_loop filling;
    const hy_image *image;
    const hy_source *source;
    hy_load_part part;
    char *room;      /* in the ring */
    int64_t reached; /* of the image, when the copy is under way; -1: more pieces come */
    int untimed;     /* `end` has no time: the host sees it */
    hy_mark *begin, *end;
    int follows;   /* the piece before it, without a pause: it begins where that one ends */
    int64_t bytes; /* being filled or under way; 0 = none */
};

/* Pinned pieces, taken in turns by the loader's thread. */
typedef struct hy_load_ring {
    hy_buffer buffer;
    size_t piece_bytes, direct_bytes; /* most of a piece: through the ring, or not */
    hy_load_piece pieces[HY_LOAD_PIECES];
    int next;              /* piece to be used */
    hy_load_piece *filled; /* by workers, and not sent; or NULL */
    int paused;            /* since the last piece was sent */
    int timed;             /* copies from where memory is pinned have times of their own */
} hy_load_ring;

/* X in columns, which the device transposes in a room of its own. */
typedef struct hy_load_columns {
    size_t bytes;   /* X of this run comes in parts of so many; 0: it is not transposed */
    hy_buffer room; /* may be none */
} hy_load_columns;

/* Of the copies that are over. */
typedef struct hy_load_times {
    int64_t begin_ns, end_ns, busy_ns;
    int64_t bytes, ring_bytes; /* of them those from the ring */
} hy_load_times;

/* What the loader's thread and the driver tell each other. */
typedef struct hy_load_progress {
    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* `free`, `stop` or `loading` was */
    hy_inbox *inbox;        /* of the driver; NULL before there is a run */
    int64_t free;           /* blocks before it are not needed any more */
    int64_t elements;       /* of X, or entries of B, under way or there */
    int64_t wanted;         /* the driver waits for so many; -1 = it does not */
    int stop;
    int loading; /* the thread is at it */
    hybrid_status status;
    int ticking;  /* the tick is in the driver's inbox */
    hy_task tick; /* says that what it waits for is under way, or failed */
} hy_load_progress;

struct hy_loader {
    hy_task go; /* first: tells the lane set's thread to load */
    hy_backend *backend;
    hy_lane_set *lane_set; /* whose lane and thread it uses */
    hy_source source;      /* of what it loads, */
    hy_image image;        /* how that is to lie, */
    size_t shared_bytes;   /* and where, on the device: empty while the site rests */
    hy_buffer shared;
    hy_load_ring ring;
    hy_load_columns columns;
    hy_load_times times;
    hy_load_progress progress;
    int begun; /* and not finished */
    int first; /* pieces are filled before planning goes on, not in turns with it */
    hy_message said; /* why it failed: a plan that is made meanwhile takes back what it
                        said itself whenever it tries another way */
};

/* Room on the device for an operand of that many bytes, ring and marks. The lane set is
   borrowed, and its thread set up. On failure nothing is held but marks of the lane set. */
hybrid_status hy_loader_open(hy_lane_set *lane_set, size_t shared_bytes, hy_loader **out);

/* The room on the device that hy_loader_leave() gave back, again. */
hybrid_status hy_loader_return(hy_loader *loader);

/* Gives device memory back until hy_loader_return(). Nothing is under way. */
void hy_loader_leave(hy_loader *loader);

/* Nothing is under way: it is finished, and if that failed, the lane set is closed. NULL is
   fine. */
void hy_loader_close(hy_loader *loader);

/* Begin to load an operand, of which copies are kept, before there is a run. Workers take
   turns between it and loops of HY_COMPUTE, or load first. */
void hy_loader_begin(hy_loader *loader, const hy_source *source, const hy_image *image,
                     int first);

/* A run begins, with `free` of the image's blocks not needed: load B or X of the problem,
   or go on. Ticks come to `inbox`. `timed`: somebody asks for the times of copies. Columns
   of X may be transposed on the device in a room of `room` bytes, if that is more than 0.
 */
hybrid_status hy_loader_start(hy_loader *loader, const hy_problem *problem, int64_t free,
                              hy_inbox *inbox, int timed, size_t room);

/* load_count.c: products of the rows of A, counted by the device when all of B is there,
   for an A that is B and has rows of no more than HY_COUNTED_ROW entries; in the ring,
   until there is a run. NULL in *products: the backend cannot, or loading failed, which
   the run will tell. */
hybrid_status hy_loader_count(hy_loader *loader, const uint32_t **products);

/* Whether all that the chunk touches is under way on the lane to the device. If not, the
   tick comes when it is. Called by the driver. */
int hy_loader_reached(hy_loader *loader, const hy_chunk *chunk);

/* So many blocks, the first ones, are not needed any more. Called by the driver. */
void hy_loader_free(hy_loader *loader, int64_t free);

/* The driver took the tick: whether loading failed. */
hybrid_status hy_loader_ticked(hy_loader *loader);

/* Nobody needs more: stop, wait for what is under way, and say whether any of it failed.
   Harmless when repeated. */
hybrid_status hy_loader_finish(hy_loader *loader);

/* ---- what the loader's thread calls ---- */

/* load_order.c: all of the operand, in the order in which chunks need it. */
hybrid_status hy_load_all(hy_loader *loader);

/* load.c: so much of the image is under way, unless something failed. 0: nobody needs
   more. */
int hy_load_tell(hy_loader *loader, int64_t elements, hybrid_status status);

/* load_pieces.c: the part to its place; the last one may still be filled on return:
   workers go on with the next while it is sent. */
hybrid_status hy_load_part_of(hy_loader *loader, const hy_load_part *part);

/* Send that piece, if there is one, and tell. */
hybrid_status hy_load_flush(hy_loader *loader);

/* All pieces, when their copies are over. */
hybrid_status hy_load_retire(hy_loader *loader);

/* load_ways.c: elements [begin, end) of a region; most of a piece of them; rows of a
   region, as above. */
hybrid_status hy_load_elements(hy_loader *loader, const hy_region *region, int64_t begin,
                               int64_t end);
size_t hy_load_most(const hy_loader *loader, const hy_region *region, int64_t begin,
                    int64_t end);
hybrid_status hy_load_rows(hy_loader *loader, const hy_region *region, int64_t row,
                           int64_t rows);

/* load_columns.c: prepare for the run's X, and rows of a region of it, which the device
   transposes. */
hybrid_status hy_load_columns_begin(hy_loader *loader, size_t room);
hybrid_status hy_load_transposed(hy_loader *loader, const hy_region *region, int64_t row,
                                 int64_t rows);

#endif /* HY_LOAD_H */
