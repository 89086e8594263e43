/* pipeline/site/slot.h - buffers, marks and state of one chunk in flight.

   A slot belongs to one thread at a time: it goes from one to the other as a task, through
   the pool or an inbox, and so it has no lock. */
#ifndef HY_SLOT_H
#define HY_SLOT_H

#include "base/contract/sink.h"
#include "pipeline/site/lane_set.h"
#include "pipeline/site/pack_cache.h"
#include "pipeline/run/queue.h"

struct hy_site;
struct hy_side;

/* One stage of one chunk, as it went. */
typedef struct hy_passage {
    hy_mark *begin, *end;     /* on a lane; NULL where the backend has no such stage */
    int64_t begin_ns, end_ns; /* on the pool, or by the calling thread */
    int worker;               /* -1: the calling thread */
    int64_t bytes;
    int done;    /* 0: skipped */
    int untimed; /* on a lane: `end` has no time, and `begin` was not set */
} hy_passage;

typedef struct hy_slot {
    hy_task task; /* first: whoever does it has the slot */
    struct hy_site *site;
    int lands; /* its results stay on the device */
    struct hy_side *side; /* of the run that it is in, and */
    hy_sink *sink;        /* where the result of that run goes */
    hy_backend *backend;
    hy_lane_set *lane_set; /* NULL: the calling thread does all stages, and needs no marks */
    const hy_stage *stages;
    hy_job job;
    hy_lane *run;     /* where the backend computes in place; else NULL */
    hy_buffer device; /* job.in, work and out lie here: parts of the site's blocks */
    hy_buffer pinned; /* job.out_nnz, units, pack and back lie here */
    hy_buffer packed; /* pinned: columns that come packed; got when they first do */
    hy_claim claim; /* its chunk, and which of the site's list it is */
    int64_t turn;          /* of its chunk among those that the run began on the site */
    const hy_stage *stage; /* the next one */
    hy_mark *unseen;       /* last mark that the host did not wait for, or NULL */
    hy_where unseen_on;    /* its lane */
    int64_t seen_ns;       /* when the host last saw one reached */
    hy_mark *columns;      /* SpGEMM: when they have come packed, and values follow; or NULL */
    hy_passage passage[HY_STEPS];
    hy_work_log log; /* of traced runs: who worked on which step of the chunk */
    hybrid_status status;
    int busy;     /* holds a chunk */
    int parked;   /* waits for its turn on the lanes */
    int on_lanes; /* had its turn there */
    int counted;  /* the queue knows that it is computed */
    int64_t part; /* of the result, in the order in which they were reserved */
    int placing;  /* workers have its result, or had */
} hy_slot;

/* Device and pinned bytes of a slot for any of these chunks. `lands`: results stay on the
   device, and need no room in pinned memory. */
void hy_slot_sizes(const hy_backend *backend, const hy_rates *rates,
                   const hy_chunk *chunks, int64_t count, int lands, size_t *device,
                   size_t *pinned);

/* Pinned bytes of one for a chunk with these features. */
size_t hy_slot_pinned_bytes(const hy_variant *variant, const hy_features *f,
                            const hy_rates *rates);

/* Get marks of the lane set, which is borrowed, as the pinned block is, and may be NULL. The
   slot has no device memory yet. On failure nothing is held. */
hybrid_status hy_slot_open(hy_backend *backend, hy_lane_set *lane_set,
                           const hy_stage *stages, hy_buffer pinned, hy_slot *slot);
void hy_slot_close(hy_backend *backend, hy_slot *slot);

/* Bytes [at, at + bytes) of a block. */
hy_buffer hy_buffer_part(const hy_buffer *block, size_t at, size_t bytes);

/* The lane of a stage: the slot's own, or the one that all slots share. */
hy_lane *hy_slot_lane(const hy_slot *slot, hy_where where);

/* Point the job's buffers into the slot's blocks for its claim, or into the cache of packs. */
void hy_slot_begin(hy_slot *slot, const hy_problem *problem, const hy_rates *rates,
                   const hy_pack_cache *cache);

/* What the chunk brings, whose result lies there: all of it. */
hy_part hy_slot_part(const hy_slot *slot, const hy_rows *rows);

#endif /* HY_SLOT_H */
