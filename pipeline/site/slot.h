/* pipeline/site/slot.h - buffers, marks and state of one chunk in flight.

   A slot belongs to one thread at a time. It passes from thread to thread as a task,
   through the pool or an inbox, and therefore needs no lock. */
#ifndef HY_SLOT_H
#define HY_SLOT_H

#include "base/contract/sink.h"
#include "pipeline/site/lane_set.h"
#include "pipeline/site/pack_cache.h"

struct hy_site;

/* The chunk that a site computes next. */
typedef struct hy_claim {
    hy_chunk chunk;
    int64_t index; /* index of the chunk in the site's list; the list's count if the rows
                      belong to another site */
} hy_claim;

/* Times of one stage of one chunk, in marks or in nanoseconds of hy_now_ns(). */
typedef struct hy_passage {
    hy_mark *begin, *end;     /* begin and end of a stage on a lane; NULL if the stage is
                                 not on a lane, or if the site has no lane set */
    int64_t begin_ns, end_ns; /* begin and end of a stage on the pool or in the calling
                                 thread */
    int worker;               /* worker that did a stage on the pool; -1: the calling
                                 thread did it */
    int64_t bytes;
    int done;    /* 1: the stage was done; 0: it was skipped */
    int untimed; /* 1: a stage on a lane whose `end` has no time and whose `begin` was not
                    set */
} hy_passage;

typedef struct hy_slot {
    hy_task task; /* must be first: a thread that takes the task casts it to the slot, and
                     owns the slot */
    struct hy_site *site;
    int lands; /* 1: results stay in device memory */
    hy_sink *sink; /* sink of the present run */
    hy_backend *backend;
    hy_lane_set *lane_set; /* NULL: the calling thread does all stages, without marks */
    const hy_stage *stages;
    hy_job job;
    hy_lane *run;     /* run lane of the slot in place of the one that all slots share:
                         its own if the backend computes in place, the backend's
                         caller_lane without a lane set, or a second one that some slots
                         of a device share (site.c); else NULL */
    hy_buffer device; /* part of the site's block: holds job.in, job.work and job.out */
    hy_buffer pinned; /* part of the site's block: holds job.out_nnz, job.units, job.pack
                         and job.back */
    hy_buffer coded;  /* pinned memory for delta-coded columns; allocated when first
                         needed */
    hy_claim claim; /* the chunk, and its index in the site's list of chunks */
    hy_chunk piece; /* the chunk, or those of its rows that the job computes
                       (pipeline/run/pieces.h); tells sinks the rows of a part */
    int64_t sequence;      /* position of the chunk among the chunks that the site has
                              begun in this run */
    const hy_stage *stage; /* next stage of the chunk */
    hy_mark *unseen;       /* last mark of the chunk that the host has not waited for;
                              NULL if none */
    hy_where unseen_on;    /* lane in which the mark `unseen` was set */
    int64_t seen_ns;       /* time when the host last saw that a mark was reached, from
                              hy_now_ns() */
    hy_mark *columns;      /* SpGEMM on a backend that can code deltas: mark that is
                              reached when a chunk's delta-coded columns have arrived and
                              the values follow; else NULL */
    hy_passage passage[HY_STEPS];
    hy_work_log log; /* traced runs: which threads worked on each stage of the chunk */
    hybrid_status status;
    int busy;     /* 1: the slot holds a chunk */
    int parked;   /* 1: the chunk waits for its turn to enter the lanes */
    int on_lanes; /* 1: the chunk has entered the lanes */
    int counted;  /* 1: hy_queue_done() has been called for the chunk, because it is
                     computed */
    int64_t part; /* position of the chunk's part in the order of reservation */
    int placing;  /* 1: workers store the result, or have stored it */
} hy_slot;

/* Computes the bytes, on the device and in pinned memory, of a slot that suits every one
   of these chunks. `lands` is 1 if results stay on the device and need no pinned
   memory. */
void hy_slot_sizes(const hy_backend *backend, const hy_rates *rates,
                   const hy_chunk *chunks, int64_t count, int lands, size_t *device,
                   size_t *pinned);

/* Returns the pinned bytes of a slot for a chunk with these features. */
size_t hy_slot_pinned_bytes(const hy_variant *variant, const hy_features *f,
                            const hy_rates *rates);

/* Makes a slot with marks of the lane set, which is borrowed and may be NULL. The slot has
   no memory yet. After a failure it holds nothing. */
hybrid_status hy_slot_open(hy_backend *backend, hy_lane_set *lane_set,
                           const hy_stage *stages, hy_slot *slot);
void hy_slot_close(hy_backend *backend, hy_slot *slot);

/* Returns bytes [at, at + bytes) of a block. */
hy_buffer hy_buffer_part(const hy_buffer *block, size_t at, size_t bytes);

/* Returns the lane of a stage: that of the slot, or the one that all slots share. */
hy_lane *hy_slot_lane(const hy_slot *slot, hy_where where);

/* Points the job's buffers into the slot's blocks, or into the cache of packs. */
void hy_slot_begin(hy_slot *slot, const hy_problem *problem, const hy_rates *rates,
                   const hy_pack_cache *cache);

/* Returns the whole result of the job, which lies in `rows`, as a part for the sink. */
hy_part hy_slot_part(const hy_slot *slot, const hy_rows *rows);

#endif /* HY_SLOT_H */
