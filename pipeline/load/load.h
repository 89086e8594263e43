/* pipeline/load/load.h - copies B or X to the device ahead of the chunks.

   Pageable memory: workers copy it into a ring of pinned pieces, which stays in the
   last-level cache, and the device copies it from there. Pinned memory of the caller is
   copied directly, also in pieces. The operand's source (base/contract/source.h) says
   which case applies.

   A lane set is the lanes, marks and loader thread that a site uses (lane_set.h). Its
   thread loads from the first row to the last. A chunk enters the lanes as soon as the
   copies of all rows that it touches are enqueued. The first chunks of a banded matrix
   are therefore computed while most of B is still to be sent. In an image that is a
   ring (base/contract/image.h), the loader sends a block once no chunk needs the block
   that it replaces.

   A loader needs lanes and a thread, but no pipeline. It can begin while chunks are still
   planned; the run then continues it. */
#ifndef HY_LOAD_H
#define HY_LOAD_H

#include "base/contract/variant.h"
#include "pipeline/site/lane_set.h"

enum {
    HY_LOAD_PIECES = 4,
    HY_COUNTED_ROW = 4096 /* maximum entries of a row of A for which hy_loader_count() may
                             be called: the scalar products of a row of A*A then fit 32
                             bits */
};

typedef struct hy_loader hy_loader;
typedef struct hy_load_piece hy_load_piece;

/* How a part of the operand is brought to the device: workers fill a piece of the ring,
   then the lane copies the piece. */
typedef struct hy_load_way {
    hy_loop_fn fill; /* fills units [begin, end) of a hy_load_piece */
    hybrid_status (*copy)(const hy_loader *loader, hy_lane *lane,
                          const hy_load_piece *piece);
} hy_load_way;

enum { HY_LOAD_COPIES = 2 }; /* maximum copies of a part: rows and their tail columns */

/* A part of a region of the image (hy_region: a column block of X, or an array of B),
   which is sent as one piece. */
typedef struct hy_load_part {
    const hy_load_way *way;
    hy_region region;
    int64_t begin, end; /* range of elements of the region, or of rows if the way copies
                           rows */
    size_t bytes;       /* bytes of the part that cross the bus */
    int64_t units;      /* number of units that workers fill, each of unit_bytes bytes; a
                           unit is an element or a row */
    size_t unit_bytes;
    hy_row_copy direct[HY_LOAD_COPIES]; /* copies from the caller's pinned memory */
    int direct_count;                   /* number of copies in `direct`; 0: the part goes
                                           through the ring */
} hy_load_part;

/* One piece of the pinned ring. */
struct hy_load_piece {
    hy_loop filling;
    const hy_image *image;
    const hy_source *source;
    hy_load_part part;
    char *room; /* memory of the piece in the ring */
    /* Number of leading elements of X, or entries of B, that are on their way to the
       device once this piece is sent. -1: they are complete only with a later piece. */
    int64_t reached;
    int untimed; /* 1: the mark `end` has no time, so the host reads its own clock */
    hy_mark *begin, *end;
    int follows;   /* 1: this piece begins when the piece before it ends, and `begin` is
                      not set */
    int64_t bytes; /* bytes that workers fill or the lane copies; 0: the piece is empty */
};

/* Pinned pieces, which the loader's thread uses in turn. */
typedef struct hy_load_ring {
    hy_buffer buffer;
    size_t piece_bytes, direct_bytes; /* maximum bytes of a piece that goes through the
                                         ring, and of one that is copied directly */
    hy_load_piece pieces[HY_LOAD_PIECES];
    int next;              /* index of the piece to use next */
    hy_load_piece *filled; /* piece that workers fill and that is not sent; NULL: none */
    int paused;            /* 1 if the thread has waited for a free block of the image
                              since it sent the last piece */
    int timed;             /* 1: direct copies are timed, for a trace */
} hy_load_ring;

/* Column-major X, which the device transposes in memory of its own. */
typedef struct hy_load_columns {
    size_t bytes;   /* bytes of X that are transposed at a time in this run; 0: the device
                       does not transpose X */
    hy_buffer room; /* device memory in which columns arrive before they are transposed;
                       may be empty */
} hy_load_columns;

/* Copies of one loader from other devices, if several devices load the same image together
   (a relay, load_relay.c). The marks belong to the lane set. */
typedef struct hy_relay_part {
    int index;            /* number of the loader in the relay */
    int64_t bytes;        /* bytes that this loader has copied from other devices in this
                             run */
    hy_mark *begin, *end; /* marks at the begin of the first and at the end of the last
                             copy of this run; `end` is set again in each round */
    hy_mark *led;         /* mark of the leader's lane set, behind the copies of B that the
                             leader has enqueued */
    hy_mark **sent;       /* for each piece that this loader sends from the host, the mark
                             at the end of its copy */
    int64_t count;        /* number of marks in `sent` */
} hy_relay_part;

/* Times and bytes of the copies that have ended. */
typedef struct hy_load_times {
    int64_t begin_ns, end_ns, busy_ns;
    int64_t bytes, ring_bytes; /* all bytes copied from the host, and those of them that
                                  went through the ring */
    /* times (hy_now_ns()) and bytes of copies from other devices */
    int64_t peer_begin_ns, peer_end_ns, peer_bytes;
} hy_load_times;

/* State that the loader's thread and the driver share. */
typedef struct hy_load_progress {
    pthread_mutex_t lock;   /* guards all other fields */
    pthread_cond_t changed; /* signals changes of `free`, `stop` and `loading` */
    hy_inbox *inbox;        /* inbox of the driver; NULL before the run begins */
    int64_t free;           /* number of leading blocks of the image that no chunk needs
                               any more; a block of a ring of entries is an entry */
    int64_t elements;       /* number of leading elements of X, or entries of B, whose
                               copies are enqueued. -1: not even the offsets of B are
                               sent. */
    int64_t wanted;         /* value of `elements` for which the driver waits; -1: the
                               driver does not wait */
    int stop;
    int loading; /* 1 while the thread loads */
    hybrid_status status;
    int ticking;  /* 1 while `tick` is in the driver's inbox */
    hy_task tick; /* task that tells the driver: `wanted` is reached, or loading has
                     failed */
} hy_load_progress;

struct hy_loader {
    hy_task go; /* task that makes the lane set's thread load; must be first, because its
                   function casts the task to the loader */
    hy_backend *backend;
    hy_lane_set *lane_set; /* borrowed; the operand is copied on its lane and loaded by
                              its thread */
    hy_source source;      /* source of the operand */
    hy_image image;        /* image on the device */
    size_t image_room;     /* bytes of `image_memory`, the device memory of the operand,
                              which is empty between hy_loader_leave() and
                              hy_loader_return() */
    hy_buffer image_memory;
    hy_load_ring ring;
    hy_load_columns columns;
    hy_load_times times;
    struct hy_relay *relay; /* devices that share the copies of this run; NULL: none */
    hy_relay_part relayed;
    struct hy_relay *led; /* relay that this loader leads; NULL: none. Guarded by the lock
                             of `progress`. */
    hy_load_progress progress;
    int begun;       /* 1 from the start of loading until hy_loader_finish() */
    int first;       /* 1: workers fill pieces before they execute loops of planning; 0:
                        both take turns */
    hy_message said; /* error sentence of the loader's thread. It is kept apart from the
                        context's message, which a plan clears between attempts. */
};

/* Opens a loader with marks, and device memory for an operand of image_room bytes. The
   lane set is borrowed, and its loader thread is started. After a failure the loader holds
   nothing, except marks that stay with the lane set. */
hybrid_status hy_loader_open(hy_lane_set *lane_set, size_t image_room, hy_loader **out);

/* Allocates the pinned memory of the ring, unless the loader has it. */
hybrid_status hy_loader_pin(hy_loader *loader);

/* Allocates the device memory again that hy_loader_leave() freed. */
hybrid_status hy_loader_return(hy_loader *loader);

/* Frees the device memory of the operand, until hy_loader_return(), and of columns that
   the device transposes. No copy may be under way. */
void hy_loader_leave(hy_loader *loader);

/* Closes a finished loader. If hy_loader_finish() failed, the lane set must be closed
   first. NULL is ignored. */
void hy_loader_close(hy_loader *loader);

/* Begins to load an operand before there is a run. Source and image are copied. `first`,
   1: workers fill pieces before they execute loops of urgency HY_COMPUTE; 0: fills and
   such loops take turns. */
void hy_loader_begin(hy_loader *loader, const hy_source *source, const hy_image *image,
                     int first);

/* Begins a run: loads B or X of the problem, or continues a load that has begun. The run
   needs none of the first `free` blocks of the image. When a chunk may have the rows that
   it waits for, the loader puts a task (the tick) into `inbox`. `timed`, 1: the times of
   all copies are wanted. `room` is the bytes of device memory in which the device
   transposes a column-major X; 0: workers transpose it. A continued load ignores `free`,
   `timed` and `room`. */
hybrid_status hy_loader_start(hy_loader *loader, const hy_problem *problem, int64_t free,
                              hy_inbox *inbox, int timed, size_t room);

/* load_count.c: lets the device count the scalar products of each row of A, after all of
   B has arrived. The caller ensures that B is A and that rows have at most HY_COUNTED_ROW
   entries. *products lies in the ring and is valid until a run begins. It is NULL if the
   backend cannot count, if the ring is too small, or if loading failed; the run reports
   that failure. */
hybrid_status hy_loader_count(hy_loader *loader, const uint32_t **products);

/* Returns 1 if the copies of all rows of B or X that the chunk touches are enqueued.
   Otherwise returns 0, and the loader puts its tick (a task) into the driver's inbox when
   they are, or when loading has failed. Only the driver calls this. */
int hy_loader_reached(hy_loader *loader, const hy_chunk *chunk);

/* Tells the loader that no chunk needs the first `free` blocks of the image any more.
   Only the driver calls this. */
void hy_loader_free(hy_loader *loader, int64_t free);

/* Returns the status of loading. The driver calls this when it takes the tick, the
   loader's task, from its inbox. */
hybrid_status hy_loader_ticked(hy_loader *loader);

/* Stops loading, waits for the copies, and returns their status. May be called twice. */
hybrid_status hy_loader_finish(hy_loader *loader);

/* ---- load_relay.c: devices that load the same image --------------------------------- */

typedef struct hy_relay {
    pthread_mutex_t lock;   /* guards `stopped`, `failed` and `sent` */
    pthread_cond_t changed; /* signals changes of `stopped`, `failed` and `sent`, and new
                               copies of the leader */
    int stopped;            /* 1: loaders need not wait for each other any more */
    const hy_loader *failed; /* first loader that failed, with its sentence; NULL: none */
    hy_loader *leader;      /* loader that sends all of B, because it began while the
                               product was planned; it is not in `of`. NULL: all loaders
                               send pieces. */
    int count;              /* number of loaders; 0: there is no relay */
    hy_loader *of[HY_MAX_DEVICES];
    size_t piece_bytes; /* maximum bytes of a piece: those of the smallest ring */
    int64_t sent[HY_MAX_DEVICES]; /* for each loader, the number of its own pieces whose
                                     copies it has enqueued */
} hy_relay;

void hy_relay_open(hy_relay *relay);
void hy_relay_close(hy_relay *relay); /* the caller ensures that all loaders of the relay
                                         are finished */

/* Adds a loader that will load `image`, unless its device does not get all of the
   operand, or its image differs from those of the loaders before, or its device and
   theirs cannot read each other's memory. A loader that has begun to send B is
   not added, but becomes the leader. */
void hy_relay_add(hy_relay *relay, hy_loader *loader, const hy_image *image);

/* Ends adding, and creates the lanes and marks of the relay. The loaders may begin. A
   single loader without a leader needs no relay. */
hybrid_status hy_relay_begin(hy_relay *relay);

/* Releases all threads that wait for a piece of another loader; they load no more. */
void hy_relay_stop(hy_relay *relay);

/* ---- functions for the loader's thread ------------------------------------------- */

/* load_order.c: loads B or X in the order in which chunks need it; run by the loader's
   thread. */
hybrid_status hy_load_all(hy_loader *loader);

/* load_order.c: hy_load_step() returns the maximum elements of a region that are loaded
   at once when its first `begin` are loaded. hy_load_some() loads elements [begin, end),
   at most that many. If the region is loaded in rows, both count whole rows. */
int64_t hy_load_step(const hy_loader *loader, const hy_region *region, int64_t begin);
hybrid_status hy_load_some(hy_loader *loader, const hy_region *region, int64_t begin,
                           int64_t end);

/* load.c: reports that the copies of this many leading elements of X, or entries of B,
   are enqueued, or an error `status`. Returns 0 if loading must stop. */
int hy_load_tell(hy_loader *loader, int64_t elements, hybrid_status status);

/* load_pieces.c: copies a part to the device. On return workers may still fill its piece,
   while the piece before it is sent. */
hybrid_status hy_load_part_of(hy_loader *loader, const hy_load_part *part);

/* Sends the piece that workers fill, if there is one, and reports it. */
hybrid_status hy_load_flush(hy_loader *loader);

/* Waits for the copies of all pieces that were sent. */
hybrid_status hy_load_retire(hy_loader *loader);

/* hy_load_elements() loads elements [begin, end) of a region.
   hy_load_max_bytes() returns the maximum bytes of a piece for them. hy_load_rows() loads
   `rows` rows from row `row` on, with their tail columns. */
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

/* load_relay.c: enqueues the copy of elements [begin, end) of a region from the device of
   another loader. */
hybrid_status hy_relay_copy(hy_loader *loader, const hy_loader *from,
                            const hy_region *region, int64_t begin, int64_t end);

/* Fails with the status and the message of another loader of the relay, which has
   failed. */
hybrid_status hy_relay_fail_as(const hy_loader *loader, const hy_loader *failed);

/* load_follow.c: loads B by copying it from the device of the leader. */
hybrid_status hy_relay_follow(hy_loader *loader);

/* Wakes the loaders that follow the leader of a relay. */
void hy_relay_tell(hy_relay *relay);

/* load_relay.c: loads the loader's image together with the other loaders. For the
   loader's thread. */
hybrid_status hy_relay_load(hy_loader *loader);

/* Waits for the peer copies that the loader has enqueued, and adds their time and bytes to
   loader->times. */
hybrid_status hy_relay_retire(hy_loader *loader);

#endif /* HY_LOAD_H */
