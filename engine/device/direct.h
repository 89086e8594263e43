/* engine/device/direct.h - products of operands in device memory, without a pipeline.

   If operands and result are in the memory of one device, nothing has to be copied and
   the product is one chunk. The calling thread enqueues the chunk and waits. The device
   also plans one-shot calls: it surveys the patterns (hy_survey), so that a small block
   of numbers crosses the bus instead of the patterns. */
#ifndef HY_DIRECT_H
#define HY_DIRECT_H

#include "engine/plan/plan.h"
#include "engine/device/single.h"

/* Return 1 if the product can be computed without a pipeline, on the device that holds
   the operands (hy_spaces_options()). `options` are those of the call or the plan. */
int hy_direct_accepts_spmm(const hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_dense *X, const hybrid_dense *Y,
                           const hybrid_plan_options *options);
int hy_direct_accepts_spgemm(const hybrid_engine *engine, const hybrid_csr *A,
                             const hybrid_csr *B, const hybrid_plan_options *options);

/* Compute a one-shot product (of a call without a plan) without a pipeline. The caller
   must have checked the operands, except for their patterns. A, the second operand and
   the result must have elements, and update->alpha must not be 0. If the call returns
   HYBRID_OK, *end says whether the product was computed (single.h). */
hybrid_status hy_direct_spmm(hybrid_engine *engine, const hybrid_plan_options *options,
                             const hybrid_csr *A, const hybrid_dense *X,
                             const hy_update *update, const hy_beginning *start,
                             hy_direct_end *end);
hybrid_status hy_direct_spgemm(hybrid_engine *engine, const hybrid_plan_options *options,
                               const hybrid_csr *A, const hybrid_csr *B,
                               const hy_beginning *start, hybrid_csr *C,
                               hy_direct_end *end);

/* hy_direct_accepts_plan() returns 1 if all runs of an SpMM plan can be computed without
   a pipeline, with the plan's variant. hy_direct_run() computes such a run and leaves its
   report in the plan. *end becomes HY_DIRECT_DONE. If device memory is short it becomes
   HY_DIRECT_LEFT, and nothing is computed. */
int hy_direct_accepts_plan(const hybrid_plan *plan);
hybrid_status hy_direct_run(hybrid_plan *plan, const hybrid_csr *A, const hybrid_dense *X,
                            const hy_update *update, const hy_beginning *start,
                            hy_direct_end *end);

/* hy_direct_check_async() returns UNSUPPORTED, with a sentence, if runs of the plan
   cannot be asynchronous (HYBRID_ASYNC). hy_direct_run_async() enqueues such a run in
   the caller's stream. */
hybrid_status hy_direct_check_async(const hybrid_plan *plan);
hybrid_status hy_direct_run_async(hybrid_plan *plan, const hybrid_csr *A,
                                  const hybrid_dense *X, const hy_update *update,
                                  const hy_beginning *start);

#endif /* HY_DIRECT_H */
