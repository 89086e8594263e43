/* engine/device/async.h - runs that return before their work is done (HYBRID_ASYNC).

   A run is enqueued in the caller's stream, which becomes the lane of its single chunk
   (single.h). Operands and result are in device memory, and the variant reads A in place;
   hy_direct_check_async() has refused all other plans. Nothing is copied to the host, and
   no thread of the library waits.

   Runs of a plan follow one another in the stream. They therefore share one set of
   memory: scratch, converted operands, and the pack of A. If the caller has set another
   stream, the next run first waits for the last run in the old one. hy_async_end() waits
   too, so destroying the plan is safe. If a run cannot be enqueued, the lane is drained
   and the next run makes the pack of A again. */
#ifndef HY_ASYNC_H
#define HY_ASYNC_H

#include "engine/device/single.h"

/* Last run of a plan, and the memory that its runs share. */
typedef struct hy_async hy_async;

/* Enqueues Y = alpha*A*X + beta*Y in the caller's stream, as one chunk with all of A. The
   caller must have checked the operands, which are on the device. `arranged` is the pack
   of A that belongs to the plan (single.h). *async is NULL before the first run of a
   plan; hy_async_end() frees it. The report is written, except for plan_s and
   pattern_bytes, which the caller has set. */
hybrid_status hy_async_run(hybrid_engine *engine, const hy_chunk *chunk,
                           const hybrid_csr *A, const hybrid_dense *X,
                           const hy_update *update, const hy_beginning *start,
                           hy_arranged *arranged, hy_async **async,
                           hybrid_report *report);

/* Waits for the runs that were enqueued, and frees their memory. NULL is ignored. */
void hy_async_end(hy_async *async);

#endif /* HY_ASYNC_H */
