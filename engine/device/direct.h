/* engine/device/direct.h - products of operands in the memory of a device, without a
   pipeline.

   Where operands and result are in the memory of one device, nothing has to be copied,
   and the product is one chunk. The calling thread enqueues the chunk and waits. The
   device plans one-shot calls, too: it surveys the patterns (hy_survey), and one small
   block of numbers crosses the bus in place of the patterns. */
#ifndef HY_DIRECT_H
#define HY_DIRECT_H

#include "engine/plan/plan.h"
#include "engine/device/single.h"

/* Whether the product can be computed so, by the device that hy_spaces_options() has
   found. `options` are a one-shot call's, or those of the plan that runs. */
int hy_direct_takes_spmm(const hybrid_engine *engine, const hybrid_csr *A,
                         const hybrid_dense *X, const hybrid_dense *Y,
                         const hybrid_plan_options *options);
int hy_direct_takes_spgemm(const hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, const hybrid_plan_options *options);

/* One-shot products. Operands are checked, but not their patterns. A, the second operand
   and the result have elements, and update->alpha is not 0. */
hybrid_status hy_direct_spmm(hybrid_engine *engine, const hybrid_plan_options *options,
                             const hybrid_csr *A, const hybrid_dense *X,
                             const hy_update *update, const hy_beginning *start,
                             hy_direct_end *end);
hybrid_status hy_direct_spgemm(hybrid_engine *engine, const hybrid_plan_options *options,
                               const hybrid_csr *A, const hybrid_csr *B,
                               const hy_beginning *start, hybrid_csr *C,
                               hy_direct_end *end);

/* Whether all runs of the plan of an SpMM, with operands and result in device memory, can
   be computed so, by the variant that the plan has chosen; and such a run, which leaves
   its report in the plan. `end` is DONE or LEFT. */
int hy_direct_takes_plan(const hybrid_plan *plan);
hybrid_status hy_direct_run(hybrid_plan *plan, const hybrid_csr *A, const hybrid_dense *X,
                            const hy_update *update, const hy_beginning *start,
                            hy_direct_end *end);

/* hy_direct_check_async() fails with UNSUPPORTED, and the reason, if runs of the plan cannot be
   asynchronous (HYBRID_ASYNC). hy_direct_run_async() enqueues a run in the caller's stream. */
hybrid_status hy_direct_check_async(const hybrid_plan *plan);
hybrid_status hy_direct_run_async(hybrid_plan *plan, const hybrid_csr *A,
                                  const hybrid_dense *X, const hy_update *update,
                                  const hy_beginning *start);

#endif /* HY_DIRECT_H */
