/* partition/format/gather.h - what the packers of A have in common. */
#ifndef HY_GATHER_H
#define HY_GATHER_H

#include "base/contract/variant.h"
#include "partition/pattern/touched.h"

/* The chunk was cut for this pattern, and `bytes` fit its block; else BAD_STATE and a
   sentence. */
hybrid_status hy_pack_check(const hy_job *job, size_t bytes);

/* Whether it brings as much as was planned, or, if it is trimmed, no more. */
int hy_pack_as_planned(const hy_job *job, int64_t count, int64_t planned);

/* BAD_STATE: the chunk's rows touch rows of X that were not to be in its ring. */
hybrid_status hy_pack_outside(const hy_job *job);

/* Columns that the rows of a gathered chunk touch, as many as were planned or, if it is
   trimmed, fewer; listed are the
   rows of the caller's X. `out` is to be freed, also after a failure. */
hybrid_status hy_pack_touched(const hy_job *job, hy_touched *out);

/* The touched rows of X, the chunk's columns of them, to dst without gaps. In parallel.
 */
hybrid_status hy_pack_x(const hy_job *job, const hy_touched *touched, void *dst);

#endif /* HY_GATHER_H */
