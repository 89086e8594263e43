/* pipeline/run/copy_in.h - brings the pack of a chunk to the device. */
#ifndef HY_COPY_IN_H
#define HY_COPY_IN_H

#include "pipeline/site/slot.h"

/* Returns the bytes of a value of the job's operands and result. */
static inline int64_t hy_job_value_bytes(const hy_job *job)
{
    return (int64_t)hy_value_size(job->problem->A->type);
}

/* Returns the bytes of the pack that go to the device, rows of B that the device collects
   included. Rows that the device already has, as rows of A or B, do not count. */
int64_t hy_up_bytes(const hy_job *job);

/* Enqueues what brings the pack to the device: copies, a kernel that makes offsets of
   rows of A that are on the device, or one that collects rows of B. */
hybrid_status hy_copy_in(hy_slot *slot, hy_lane *lane);

#endif /* HY_COPY_IN_H */
