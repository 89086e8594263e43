/* partition/format/gather.h - checks and copies that the packers of A share. */
#ifndef HY_GATHER_H
#define HY_GATHER_H

#include "base/contract/variant.h"
#include "partition/pattern/touched.h"

/* Returns BAD_STATE with a message if the rows of the chunk do not have as many entries
   as planned, or if the pack needs `bytes` bytes and its memory has fewer. */
hybrid_status hy_pack_check(const hy_job *job, size_t bytes);

/* Returns BAD_STATE with a message if the pack needs `bytes` bytes and its memory has
   only `room`. */
hybrid_status hy_pack_check_room(const hy_job *job, size_t bytes, size_t room);

/* Returns BAD_STATE with the message that the chunk's rows of A `verb` ("have") `count`
   `what` ("entries") instead of the `planned` ones, which means that A changed after
   planning. */
hybrid_status hy_pack_changed(const hy_job *job, const char *verb, int64_t count,
                              const char *what, int64_t planned);

/* Returns 1 if `count` equals `planned`, or, for a chunk that may need fewer rows than
   planned (hy_chunk.fewer), does not exceed it. */
int hy_pack_as_planned(const hy_job *job, int64_t count, int64_t planned);

/* Returns BAD_STATE with the message that the chunk touches a row of X outside the rows
   that the plan keeps in the ring for it. */
hybrid_status hy_pack_outside(const hy_job *job);

/* Finds the columns that the rows of a gathered chunk touch. If their number is not as
   planned (hy_pack_as_planned()), returns BAD_STATE. The caller frees `out`, also after a
   failure. */
hybrid_status hy_pack_touched(const hy_job *job, hy_touched *out);

/* Sets at[] to the offsets, in bytes, of the arrays in a pack of hy_pack_csr(), and returns
   the bytes of the pack. Arrays of gathered rows of B or X that the pack does not have get
   the offset 0. */
size_t hy_pack_csr_at(hy_op op, const hy_features *f, size_t at[HY_ARRAYS]);

/* Does the work of hy_pack_csr() for one pass of a chunk (partition/parts/passes.h), and
   sets the features in job->pass.chunk. */
hybrid_status hy_pack_pass(hy_job *job);

/* Copies the chunk's columns of the touched rows of X to `dst`, without gaps, in
   parallel. */
hybrid_status hy_pack_x(const hy_job *job, const hy_touched *touched, void *dst);

#endif /* HY_GATHER_H */
