/* engine/report/least.h - the bytes of B that chunks need at least, whatever the schedule.

   The number is that of an optimal replacement (Belady 1966): device memory keeps rows of
   B from chunk to chunk, and the rows that are needed last make room for others. No run
   knows B so well; the number says how much of the bytes sent could be saved. */
#ifndef HY_LEAST_H
#define HY_LEAST_H

#include "base/contract/variant.h"

/* Sets *out to the bytes of B, with 8 bytes for the offset of a row, that must be sent for
   these chunks of A, one after the other, if `room` bytes of device memory hold rows of
   B. The rows of a chunk are there at once, even if they take more. If A has many
   entries, the number is estimated from a sample of the rows of B. */
hybrid_status hy_least_sent(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                            const hy_chunk *chunks, int64_t count, int64_t room,
                            int64_t *out);

#endif /* HY_LEAST_H */
