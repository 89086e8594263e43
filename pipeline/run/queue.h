/* pipeline/run/queue.h - hands out the rows of a product to the sites that compute them.

   Each site has its own cut, because budgets and speeds differ, and claims rows at the
   boundaries of that cut.

   Known positions: if every row's position in the result is known, each site owns a
   contiguous range of rows and claims chunks from its front. A site without rows of its
   own (the host beside devices), or with none left, takes rows from the end of another
   site's range. It takes only rows that it is predicted to finish before their owner
   would, in pieces that fit its slots. Rows of B or X that only those pieces touch are
   never sent.

   When an owner reaches a chunk of which rows were taken, it computes the remaining rows,
   which fit wherever the whole chunk did. Two kinds of chunks are taken whole or not at
   all: a gathered chunk, because the taker would have to count the rows of B or X that a
   part of it touches, and a chunk whose pack is cached on the device. The taker computes
   such a chunk piece by piece.

   In order: if the position of a row follows from the rows before it, all sites claim
   from one front, each up to the next boundary of its own cut. A finished chunk waits in
   its slot until all rows before it are reserved. A site therefore claims only rows that
   it is predicted to have counted by then. */
#ifndef HY_QUEUE_H
#define HY_QUEUE_H

#include "base/contract/backend.h"
#include "partition/pattern/chunks.h"

enum { HY_MAX_SITES = HY_MAX_DEVICES + 1 };

/* How a site takes rows of other sites; the plan decides it. Work is scalar products plus
   rows. */
typedef struct hy_sharing {
    const hy_variant *variant;
    hy_rates rates;         /* rates of the site */
    int64_t products, rows; /* maximum scalar products and maximum rows of a piece, which
                               is the rows that the site computes at once. A piece of one
                               row may have more scalar products. */
    size_t slot_bytes;      /* maximum bytes of a piece in a slot of the site */
    size_t pinned_bytes;    /* maximum bytes of a piece in pinned memory; 0: the site
                               computes in place and needs none */
    double share;           /* share of all work that the site takes, 0 to 1; below 0: the
                               share that makes the run shortest */
} hy_sharing;

/* Speed of a site, predicted and measured. Work is scalar products plus rows. */
typedef struct hy_pace {
    double expected; /* predicted work per second of the site */
    int64_t flying;  /* work that the site has claimed and not finished */
    int64_t timed;   /* work finished after first_ns, until last_ns: the times at which
                        the site finished its first and its latest chunk */
    int64_t first_ns, last_ns;
} hy_pace;

/* The part of one site in a run. The site is a device, or the host, which computes all
   rows or takes rows of devices. */
typedef struct hy_side {
    struct hy_site *site;
    hy_image image;     /* how B or X lies on the site */
    hy_chunk_list list; /* chunks of the site's own cut; empty: the site has no rows of
                           its own */
    int64_t begin, end; /* rows [begin, end) of the list that the site owns; in order: all
                           rows */
    const hy_sharing *sharing; /* how the site takes rows of other sites; NULL: it takes
                                  none */
    double rate;               /* predicted work per second of the site */
    int depth;                 /* maximum number of chunks in flight */

    /* fields that the queue sets */
    int64_t next, stop; /* own chunks that are left: indices [next, stop) of the list */
    int64_t row_begin,
        row_end;     /* own rows that are left: [row_begin, row_end), from a row of the
                        first of these chunks to a row of the last */
    int64_t left;    /* work of own rows that no site has claimed */
    int64_t taken;   /* work that this site has taken from other sites */
    int64_t ceded;   /* work that other sites have taken from this site */
    hy_pace pace;
    hy_chunk claim; /* rows that this site has taken from another and not begun; may be
                       empty */

    /* fields that the driver sets */
    struct hy_run *run;
    int index;          /* index among the queue's sides; hy_queue_add() sets it */
    int64_t begun;      /* number of chunks that the site has begun */
    int64_t next_lane;  /* hy_slot.sequence of the chunk that may enter the lanes next */
    int64_t finished;   /* number of chunks that the site has finished */
    hy_problem problem; /* the run's problem, with this site's sources and image */
} hy_side;

typedef struct hy_queue {
    const hy_profile *profile;
    int in_order;
    int64_t front;     /* in order: the first row that no site has claimed */
    int64_t all, left; /* work of the whole run, and work that no site has claimed */
    int64_t claimed;   /* number of chunks and pieces claimed so far; also the id of the
                          next one */
    hy_side of[HY_MAX_SITES];
    int count;
} hy_queue;

/* What a site computes next. */
typedef struct hy_claim {
    hy_chunk chunk;
    int64_t index; /* index of the chunk in the site's list; the list's count if the rows
                      belong to another site */
} hy_claim;

/* Makes a queue without sides. hy_queue_add() copies the fields of `given` up to `depth`
   to a new side and returns it. */
void hy_queue_open(hy_queue *queue, const hy_profile *profile, int in_order);
hy_side *hy_queue_add(hy_queue *queue, const hy_side *given);

/* Claims rows for the site. Returns 0 if none are left for it. If `must` is 0, also
   returns 0 if other sites are predicted to finish the remaining rows sooner. */
int hy_queue_claim(hy_queue *queue, int site, int must, hy_claim *out);

/* Called when the site has computed a chunk. `ns` is the present time, from
   hy_now_ns(). */
void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns);

/* ---- functions that queue.c and queue_take.c share ---- */

int64_t hy_queue_work(const hy_chunk *chunk);

/* Returns rows [begin, end) of a chunk as a chunk. Its numbers of gathered rows and
   entries are those of the whole chunk, an upper bound. */
hy_chunk hy_queue_rows(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                       int64_t end);

/* Returns chunk i of a site's list without the rows that were taken from it. */
hy_chunk hy_queue_rest(const hy_queue *queue, const hy_side *c, int64_t i);

/* Returns the seconds that the site needs for `work`. */
double hy_queue_seconds(const hy_side *c, int64_t work);

/* Returns 1 if another site can take some of the owner's remaining rows and should.
   `rest` is the chunk that the owner would claim next. */
int hy_queue_leaves(const hy_queue *queue, const hy_side *owner, const hy_chunk *rest);

/* Takes rows of another site for `taker`. Returns 0 if there are none that the taker is
   predicted to finish in time. */
int hy_queue_take(hy_queue *queue, hy_side *taker, hy_claim *out);

#endif /* HY_QUEUE_H */
