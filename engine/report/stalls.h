/* engine/report/stalls.h - the longest stalls of a run.

   A stall is a time within the run in which a lane of the resource that bounds the run
   has no bar: a worker if that is cores or host memory, a device's lane of kernels, or
   one direction of its bus, which loads and copies of chunks share. If no lane serves the
   resource, because the calling thread computes alone, there are no stalls. */
#ifndef HY_STALLS_H
#define HY_STALLS_H

#include "engine/report/timeline.h"

enum { HY_STALLS = 3, HY_STALL_BYTES = 512 };

typedef struct hy_stall {
    int row;                  /* index in the timeline's rows of the row that was
                                 stalled */
    int64_t begin_ns, end_ns; /* time in which the lane had no bar, in nanoseconds of
                                 hy_now_ns() */
    const hybrid_event *next; /* event whose bar ends the stall; NULL at the end of the
                                 run */
} hy_stall;

/* Finds the longest stalls of a run that `bound` bounds, and returns their number, at
   most HY_STALLS. The longest comes first; of equal ones the earlier. */
int hy_stalls_find(hy_timeline *t, hybrid_resource bound, hy_stall *stalls);

/* Writes a sentence that says when the stall was, in time since t->zero_ns (the first
   event), and for what the lane waited. */
void hy_stall_tell(const hy_timeline *t, const hy_stall *stall,
                   char text[HY_STALL_BYTES]);

#endif /* HY_STALLS_H */
