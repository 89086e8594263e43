/* engine/device/single.h - a product in device memory as a single chunk, which the
   calling thread enqueues on a lane. */
#ifndef HY_SINGLE_H
#define HY_SINGLE_H

#include "base/contract/sink.h"
#include "engine/report/usage.h"
#include "pipeline/site/lane_set.h"
#include "pipeline/run/on_device.h"

/* How a call ended that did not fail. */
typedef enum hy_direct_end {
    HY_DIRECT_DONE, /* the result is there, or on its way */
    HY_DIRECT_LEFT, /* the product does not fit the device in one chunk: the host plans it
                     */
    HY_DIRECT_WRONG /* an operand breaks a rule of hybrid_csr: a check on the host says
                       which */
} hy_direct_end;

/* Numbers that the device tells the host, in pinned memory. */
typedef struct hy_told {
    hy_survey survey;
    int64_t nnz; /* of C */
} hy_told;

/* The pack of A that a variant has arranged on the device. Later runs with the same pattern
   use it again. */
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
    hy_lane_set *lanes; /* to which the lane belongs; NULL: it is the caller's stream */
    hy_mark *mark;
    hybrid_csr A; /* with the first offset in host memory, where layers below read it */
    hy_problem problem;
    hy_converted converted;
    hy_chunk chunk; /* its features and its variant are found by hy_single_plan(), or are
                       a plan's */
    hy_cost cost;   /* of the chunk by its variant */
    hy_job job;
    hy_arranged own;
    hy_arranged *arranged;        /* `own`, or a plan's */
    hy_buffer room;               /* what else the job needs on the device */
    double plan_s;
    int64_t pattern_bytes;        /* bytes of patterns copied to make the plan */
    int64_t begin_ns; /* of the chunk; 0: unknown */
} hy_single;

/* The numbers that the device has told. The lane set has surveyed operands before. */
static inline hy_told *hy_single_told(const hy_single *s)
{
    return s->lanes->told.ptr;
}

/* A product of this A, which is in the memory of the engine's device that spaces have
 * found. */
hy_single hy_single_of(hybrid_engine *engine, hy_op op, const hybrid_csr *A);

/* Y = alpha*A*X + beta*Y. */
hy_single hy_single_dense(hybrid_engine *engine, const hybrid_csr *A,
                          const hybrid_dense *X, const hy_update *update);

/* The product with the operands that `s` has now. */
void hy_single_bind(hy_single *s);

/* The same, on an idle lane of the device. */
hybrid_status hy_single_begin(hy_single *s);

/* A lane that may still work must not find its memory in other hands: after a failure the
   device is waited for. Memory that belongs to a plan stays. */
void hy_single_end(hy_single *s, hybrid_status status);

/* Waits until the device has done all that is enqueued; progress is told meanwhile. */
hybrid_status hy_single_wait(const hy_single *s);

/* survey.c: features, variant and cost of the chunk, by a survey of the device. Variants
   that `flags`, of hybrid_plan_options, rule out are not chosen. `out_cols` of the
   result. */
hybrid_status hy_single_plan(hy_single *s, int64_t out_cols, unsigned flags,
                             const hy_beginning *start, hy_direct_end *end);

/* Chunk and cost are known: memory on the device, and the operands as kernels read them.
   `out_bytes` of a result that kernels do not write where it belongs. LEFT, and nothing
   enqueued is left, if there is not enough memory. */
hybrid_status hy_single_room(hy_single *s, size_t out_bytes, hy_direct_end *end);

/* The chunk itself, to job.out. */
hybrid_status hy_single_enqueue(hy_single *s);

/* All of Y = alpha*A*X + beta*Y, with its memory. */
hybrid_status hy_single_enqueue_dense(hy_single *s, const hy_update *update,
                                      hy_direct_end *end);

/* Y = alpha*sums + beta*Y of sums that are in job.out, and are not read if alpha is 0. */
hybrid_status hy_single_land_dense(hy_single *s, const hy_update *update);

/* The computed chunk, as a sink takes it. */
hy_part hy_single_part(const hy_single *s);

/* Writes the report of a run that began at `start` and is over. The result has nnz_out entries
   or elements in result_bytes bytes. The report also becomes the engine's last one. */
void hy_single_report(const hy_single *s, const hy_beginning *start, int64_t result_bytes,
                      int64_t nnz_out, hybrid_report *report);

#endif /* HY_SINGLE_H */
