/* pipeline/queue.h - the rows of a product, handed out to whoever is to compute them.

   The device claims chunks of the plan from the front. If the host takes part, which it
   does where every row knows its place in the result, it claims pieces from the back that
   are some tenths of a millisecond long: rows of B or X that they alone touch are never
   sent.

   What the host took of a chunk is missing when the device's turn comes: a chunk with
   fewer rows fits wherever the whole one did. Two kinds of chunks are not divided: a
   gathered one, because what it carries was counted for all of its rows, and one whose
   pack stays on the device, which has it whole or not. The host claims all of such a chunk
   and computes it piece by piece. */
#ifndef HY_QUEUE_H
#define HY_QUEUE_H

#include "partition/chunks.h"

/* How the host takes part; made by the plan. Work is products and rows. */
typedef struct hy_sharing {
    const hy_variant *variant;
    hy_rates rates;         /* of the host */
    int64_t products, rows; /* of a piece, at most; single rows may have more products */
    size_t slot_bytes;      /* what a piece may need */
    double share;           /* of the work; < 0: as much as makes the run short */
    double device_rate, host_rate; /* predicted, work a second */
} hy_sharing;

/* How fast a side is. */
typedef struct hy_pace {
    double expected; /* work a second */
    int64_t flying;  /* work taken and not done */
    int64_t timed;   /* work done between these: */
    int64_t first_ns, last_ns;
} hy_pace;

typedef struct hy_queue {
    const hy_profile *profile;
    hy_chunk_list list;
    const hy_sharing *sharing; /* NULL: all is the device's */
    int64_t devices;   /* so many chunks, the first, are not for the host */
    int64_t next, end; /* chunks that are left; */
    int64_t row_begin,
        row_end;       /* of the first from this row on, of the last up to this */
    hy_chunk claim;    /* rows that are the host's and not begun; may be none */
    int64_t all, left; /* work; left: what nobody took */
    int64_t host_work; /* what the host took */
    int64_t claimed;   /* chunks and pieces; their ids */
    hy_pace device, host;
} hy_queue;

/* All chunks, unbegun. */
void hy_queue_open(hy_queue *queue, const hy_profile *profile, const hy_chunk_list *list,
                   const hy_sharing *sharing);

/* A chunk for the device. 0: none is left, or the host will be done with the rest sooner,
   unless it `must`. */
int hy_queue_claim(hy_queue *queue, int must, hy_chunk *out);

/* A piece for the host. 0: none, or none that it would finish in time. */
int hy_queue_claim_piece(hy_queue *queue, hy_chunk *out);

/* It is computed, at that time. */
void hy_queue_done(hy_queue *queue, const hy_chunk *chunk, int on_host, int64_t ns);

#endif /* HY_QUEUE_H */
