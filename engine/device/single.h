/* engine/device/single.h - computes a product in device memory as a single chunk, which
   the calling thread enqueues on a lane. */
#ifndef HY_SINGLE_H
#define HY_SINGLE_H

#include "base/contract/sink.h"
#include "engine/report/usage.h"
#include "pipeline/site/lane_set.h"
#include "pipeline/run/on_device.h"

/* Outcome of a call that returned HYBRID_OK. */
typedef enum hy_direct_end {
    HY_DIRECT_DONE, /* the result is complete or enqueued */
    HY_DIRECT_LEFT, /* nothing was computed, because no variant can compute the product as
                       one chunk on the device, or memory is short: the host must plan the
                       product */
    HY_DIRECT_WRONG /* nothing was computed, because an operand breaks a rule: a check on
                       the host must find the place */
} hy_direct_end;

/* Numbers that the device reports to the host, which are copied to pinned memory. */
typedef struct hy_told {
    hy_survey survey;
    int64_t nnz; /* number of entries of C; SpGEMM only */
} hy_told;

/* The pack of A that a variant made on the device. Later runs with the same pattern
   reuse it. */
typedef struct hy_arranged {
    hy_buffer in;
    hy_pack pack;
    int done;
} hy_arranged;

typedef struct hy_single {
    hybrid_engine *engine;
    hy_backend *device;
    hy_rates rates;
    hy_lane *lane;
    hy_lane_set *lanes; /* the lane set of `lane`, which is the lanes, marks and loader
                           thread that a site of the device would use; NULL if `lane` is
                           the caller's stream */
    hy_mark *mark;
    hybrid_csr A; /* copy of the caller's struct A; its row_ptr points to a single 0 in
                     host memory, since the offsets of A are in device memory */
    hy_problem problem;
    hy_converted converted;
    hy_chunk chunk; /* chunk with all rows; hy_single_plan() or a plan sets variant and
                       features */
    hy_cost cost;   /* predicted cost and memory of the chunk with its variant */
    hy_job job;
    const hy_recalled *recalled; /* recent call whose plan this call follows unless the
                                    pattern has changed; NULL if it follows none */
    hy_arranged own;
    hy_arranged *arranged; /* &own, or the pack of A that belongs to a plan */
    hy_buffer room;        /* device memory for the kernels' scratch arrays and for the
                              result */
    double plan_s;
    int64_t pattern_bytes; /* bytes of patterns copied to make the plan */
    int64_t begin_ns;      /* hy_now_ns() when the chunk began; 0: unknown */
} hy_single;

/* Returns the numbers that the device has reported. s->lanes must have been used for a
   survey before, because the survey allocates these numbers. */
static inline hy_told *hy_single_told(const hy_single *s)
{
    return s->lanes->told.ptr;
}

/* Returns a product with A as its left operand, which must be on the device
   engine->spaces.device; B or X is set later. */
hy_single hy_single_of(hybrid_engine *engine, hy_op op, const hybrid_csr *A);

/* Returns the product Y = alpha*A*X + beta*Y, with Y and the factors in `update`. */
hy_single hy_single_dense(hybrid_engine *engine, const hybrid_csr *A,
                          const hybrid_dense *X, const hy_update *update);

/* Prepares s->problem for the operands that `s` has now, and resets the peak of memory
   use. Must be called before a chunk is enqueued. */
void hy_single_bind(hy_single *s);

/* Calls hy_single_bind() and takes an idle lane set of the device (its lanes, marks and a
   loader thread). The product uses the lane "run". */
hybrid_status hy_single_begin(hy_single *s);

/* Ends the product. After an error it first waits for the lane, which may still use
   memory that is freed here. Memory that belongs to a plan stays allocated. */
void hy_single_end(hy_single *s, hybrid_status status);

/* Waits until all work of the lane is done, and reports progress meanwhile; the caller's
   function may end the wait. */
hybrid_status hy_single_wait(const hy_single *s);

/* survey.c: finds features, variant and cost of the chunk by a survey on the device.
   Variants that `flags` of hybrid_plan_options exclude are not chosen. `out_cols` are the
   columns of the result. */
hybrid_status hy_single_plan(hy_single *s, int64_t out_cols, unsigned flags,
                             const hy_beginning *start, hy_direct_end *end);

/* survey.c: hy_single_follow() follows the plan of a recent call with the same arrays,
   and enqueues a survey and its gate. hy_single_is_confirmed() is called after the survey
   is done: it returns 1 if the survey found the numbers of the recent call, or if no plan
   is followed. hy_single_remember() adds a product that hy_single_plan() has planned to
   the recent calls; A is the caller's. */
hybrid_status hy_single_follow(hy_single *s, const hy_recalled *recalled,
                               const hy_beginning *start, hy_direct_end *end);
int hy_single_is_confirmed(const hy_single *s);
void hy_single_remember(const hy_single *s, const hybrid_csr *A, unsigned flags);

/* Returns 1 if kernels can store their sums as Y: alpha is 1, beta is 0, and Y is
   row-major without gaps or a single column. */
int hy_single_is_written_at_once(const hy_update *u);

/* Allocates device memory and converts operands to the types that kernels read. s->chunk
   and s->cost must be set. `out_bytes` is the size of the result; it is 0 if kernels
   store the result in the caller's memory. If memory is short, *end becomes
   HY_DIRECT_LEFT and no kernel of the product is enqueued; else *end is unchanged. */
hybrid_status hy_single_room(hy_single *s, size_t out_bytes, hy_direct_end *end);

/* Enqueues the chunk's kernels; their result goes to s->job.out. */
hybrid_status hy_single_enqueue(hy_single *s);

/* Allocates device memory (hy_single_room()) and enqueues all of Y = alpha*A*X + beta*Y.
   *end is as for hy_single_room(). */
hybrid_status hy_single_enqueue_dense(hy_single *s, const hy_update *update,
                                      hy_direct_end *end);

/* Enqueues Y = alpha*sums + beta*Y, where the sums are in s->job.out. They are not read
   if alpha is 0. */
hybrid_status hy_single_land_dense(hy_single *s, const hy_update *update);

/* Returns the computed chunk as a part of the result, in the form for a sink. */
hy_part hy_single_part(const hy_single *s);

/* Writes the report of a finished run that began at `start` to *report and to the
   engine. The result has nnz_out entries or elements, in result_bytes bytes. */
void hy_single_report(const hy_single *s, const hy_beginning *start, int64_t result_bytes,
                      int64_t nnz_out, hybrid_report *report);

#endif /* HY_SINGLE_H */
