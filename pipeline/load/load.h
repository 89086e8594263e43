/* pipeline/load/load.h - copies B or X to the device ahead of the chunks.

   Pageable memory: workers copy it into a ring of pinned pieces, which stays in the
   last-level cache, and DMA copies it from there. Pinned memory of the caller is copied
   directly, also in pieces. The operand's source (base/contract/source.h) says which case
   applies.

   A thread of the lane set loads from the first row to the last. A chunk enters the lanes
   as soon as the rows that it touches are on their way, so a banded matrix computes while
   most of B is still to come. In an image that is a ring (base/contract/image.h), a block
   comes when no chunk needs the block in its place any more.

   A loader needs lanes and a thread, but no pipeline. It can begin while chunks are still
   planned; the run then continues it. */
#ifndef HY_LOAD_H
#define HY_LOAD_H

#include "base/contract/variant.h"
#include "pipeline/site/lane_set.h"

enum {
    HY_LOAD_PIECES = 4,
    HY_COUNTED_ROW = 4096 /* hy_loader_count(): maximum entries of a row, of which the
                             square fits 32 bits */
};

typedef struct hy_loader hy_loader;
typedef struct hy_load_piece hy_load_piece;

/* How a part of the operand comes to the device: workers fill a piece of the ring, then
   the lane copies it. */
typedef struct hy_load_way {
    hy_loop_fn fill; /* fills units [begin, end) of a hy_load_piece */
    hybrid_status (*copy)(const hy_loader *loader, hy_lane *lane,
                          const hy_load_piece *piece);
} hy_load_way;

enum { HY_LOAD_COPIES = 2 }; /* maximum copies of a part: rows and their tail columns */

/* A part of the operand that is copied at once. */
typedef struct hy_load_part {
    const hy_load_way *way;
    hy_region region;
    int64_t begin, end; /* range of elements of the region, or of rows if the way copies
                           rows */
    size_t bytes;       /* bytes on the bus */
    int64_t units;      /* units that workers fill, of unit_bytes each */
    size_t unit_bytes;
    hy_row_copy direct[HY_LOAD_COPIES]; /* copies from the caller's memory */
    int direct_count;                   /* 0: the part goes through the ring */
} hy_load_part;

/* One piece of the pinned ring. */
struct hy_load_piece {
    hy_loop filling;
    const hy_image *image;
    const hy_source *source;
    hy_load_part part;
    char *room; /* memory of the piece in the ring */
    /* When this piece is sent, so many leading elements of X, or entries of B, are on
       their way; -1: a later piece completes them. */
    int64_t reached;
    int untimed; /* 1: the mark `end` has no time, and the host's clock is read instead */
    hy_mark *begin, *end;
    int follows;   /* 1: begins when the piece before it ends, so `begin` is not set */
    int64_t bytes; /* bytes being filled or copied; 0: none */
};

/* Pinned pieces, which the loader's thread uses in turn. */
typedef struct hy_load_ring {
    hy_buffer buffer;
    size_t piece_bytes, direct_bytes; /* maximum bytes of a piece that goes through the
                                         ring, and of one that is copied directly */
    hy_load_piece pieces[HY_LOAD_PIECES];
    int next;              /* index of the piece to use next */
    hy_load_piece *filled; /* piece that workers fill and that is not sent; or NULL */
    int paused;            /* 1 if the thread has waited since it sent the last piece */
    int timed;             /* 1: direct copies are timed, for a trace */
} hy_load_ring;

/* Column-major X, which the device transposes in memory of its own. */
typedef struct hy_load_columns {
    size_t bytes;   /* bytes of a part of X in this run; 0: X is not transposed */
    hy_buffer room; /* device memory for a part; may be empty */
} hy_load_columns;

/* Times and bytes of the copies that have ended. */
typedef struct hy_load_times {
    int64_t begin_ns, end_ns, busy_ns;
    int64_t bytes, ring_bytes; /* all bytes; bytes that went through the ring */
} hy_load_times;

/* State that the loader's thread and the driver share. */
typedef struct hy_load_progress {
    pthread_mutex_t lock;   /* guards all that follows */
    pthread_cond_t changed; /* signals changes of `free`, `stop` and `loading` */
    hy_inbox *inbox;        /* inbox of the driver; NULL before the run begins */
    int64_t free;           /* number of leading blocks of the image that no chunk needs
                               any more */
    int64_t elements;       /* leading elements of X, or entries of B, sent so far; -1:
                               not even the offsets of B */
    int64_t wanted;         /* value of `elements` that the driver waits for; -1: it does
                               not wait */
    int stop;
    int loading; /* 1 while the thread loads */
    hybrid_status status;
    int ticking;  /* 1 while `tick` is in the driver's inbox */
    hy_task tick; /* tells the driver that `wanted` is reached or loading failed */
} hy_load_progress;

struct hy_loader {
    hy_task go; /* first member; tells the lane set's thread to load */
    hy_backend *backend;
    hy_lane_set *lane_set; /* borrowed; its lane copies, and its thread loads */
    hy_source source;      /* source of the operand */
    hy_image image;        /* image on the device */
    size_t image_room;     /* bytes of `image_memory`, the device memory of the operand,
                              which is empty while the site rests */
    hy_buffer image_memory;
    hy_load_ring ring;
    hy_load_columns columns;
    hy_load_times times;
    hy_load_progress progress;
    int begun;       /* 1 from the start of loading until hy_loader_finish() */
    int first;       /* 1: filling goes before planning, else they take turns */
    hy_message said; /* error sentence of the thread. It is apart from the context's
                        message, which a plan clears between attempts. */
};

/* Opens a loader with device memory for an operand of image_room bytes, the ring, and
   marks. The lane set is borrowed, and its thread is started. On failure only marks of
   the lane set remain held. */
hybrid_status hy_loader_open(hy_lane_set *lane_set, size_t image_room, hy_loader **out);

/* Allocates the device memory again that hy_loader_leave() freed. */
hybrid_status hy_loader_return(hy_loader *loader);

/* Frees the device memory until hy_loader_return(). No copy may be under way. */
void hy_loader_leave(hy_loader *loader);

/* Closes a finished loader. If hy_loader_finish() failed, the lane set must be closed
   first. NULL is ignored. */
void hy_loader_close(hy_loader *loader);

/* Begins to load an operand before there is a run. Source and image are copied. Filling
   takes turns with loops of urgency HY_COMPUTE, or goes first if `first` is 1. */
void hy_loader_begin(hy_loader *loader, const hy_source *source, const hy_image *image,
                     int first);

/* Begins a run: loads B or X of the problem, or continues a load that has begun. The
   first `free` blocks of the image are not needed. Ticks, which tell the driver that a
   chunk may have what it waits for, go to `inbox`. `timed` is 1 if the times of all
   copies are wanted. The device transposes a column-major X in memory of `room` bytes, or
   not at all if that is 0. */
hybrid_status hy_loader_start(hy_loader *loader, const hy_problem *problem, int64_t free,
                              hy_inbox *inbox, int timed, size_t room);

/* load_count.c: lets the device count the scalar products of each row of A, after all of
   B has arrived. The caller ensures that B is A and that its rows have at most
   HY_COUNTED_ROW entries. *products lies in the ring and is valid until a run begins. It
   is NULL if the backend cannot count, the ring is too small, or loading failed, which
   the run reports. */
hybrid_status hy_loader_count(hy_loader *loader, const uint32_t **products);

/* Returns 1 if all that the chunk touches is on its way on the lane to the device.
   Otherwise the tick comes to the driver's inbox when it is, or when loading has failed.
   Only the driver calls this. */
int hy_loader_reached(hy_loader *loader, const hy_chunk *chunk);

/* Tells the loader that no chunk needs the first `free` blocks of the image any more.
   Only the driver calls this. */
void hy_loader_free(hy_loader *loader, int64_t free);

/* Returns the status of loading. The driver calls this when it takes the tick. */
hybrid_status hy_loader_ticked(hy_loader *loader);

/* Stops loading, waits for copies, and returns their status. May be called twice. */
hybrid_status hy_loader_finish(hy_loader *loader);

/* ---- functions for the loader's thread ------------------------------------------- */

/* load_order.c: loads the operand in the order in which chunks need it. */
hybrid_status hy_load_all(hy_loader *loader);

/* load.c: reports that so many leading elements of X, or entries of B, are on their way,
   unless an error occurred. Returns 0 if loading must stop. */
int hy_load_tell(hy_loader *loader, int64_t elements, hybrid_status status);

/* load_pieces.c: copies a part to the device. On return workers may still fill its piece,
   while the piece before it is sent. */
hybrid_status hy_load_part_of(hy_loader *loader, const hy_load_part *part);

/* Sends the piece that workers fill, if there is one, and reports it. */
hybrid_status hy_load_flush(hy_loader *loader);

/* Waits for the copies of all pieces. */
hybrid_status hy_load_retire(hy_loader *loader);

/* load_ways.c: hy_load_elements() loads elements [begin, end) of a region.
   hy_load_max_bytes() returns the maximum bytes of a piece for them. hy_load_rows() loads
   rows. */
hybrid_status hy_load_elements(hy_loader *loader, const hy_region *region, int64_t begin,
                               int64_t end);
size_t hy_load_max_bytes(const hy_loader *loader, const hy_region *region, int64_t begin,
                         int64_t end);
hybrid_status hy_load_rows(hy_loader *loader, const hy_region *region, int64_t row,
                           int64_t rows);

/* load_columns.c: hy_load_columns_begin() decides whether the device transposes X, and if
   so allocates `room` bytes of device memory. hy_load_transposed() loads rows of such an
   X. */
hybrid_status hy_load_columns_begin(hy_loader *loader, size_t room);
hybrid_status hy_load_transposed(hy_loader *loader, const hy_region *region, int64_t row,
                                 int64_t rows);

#endif /* HY_LOAD_H */
