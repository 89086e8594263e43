/* engine/report/timeline.h - the events of a trace as rows of bars, and the run among
   them.

   Each lane of a trace has a row of bars that do not overlap. Events of the library never
   overlap within a lane. An event that a caller adds may overlap another one; it then
   goes to a further row of its lane.

   The run is the last one of the trace: stages of chunks, and copies of B or X to a
   device, that began at most hybrid_report.total_s before the last of them ended. */
#ifndef HY_TIMELINE_H
#define HY_TIMELINE_H

#include "hybrid_spmm.h"

typedef struct hy_timeline_row {
    const char *lane;  /* name of the lane in the events */
    int number;        /* index among the rows of the lane, from 0 */
    int64_t end_ns;    /* end of the last bar in the row */
    int64_t busy_ns;   /* sum of the bars of the run, in nanoseconds */
    int first;         /* index of the first row that serves the same resource of the
                          same device or thread: "load1" and "h2d1" are both copies to
                          device 1 */
    int64_t served_ns; /* used by hy_stalls_find(): end of the latest bar so far in all
                          rows with this `first`; only the first of these rows has it */
} hy_timeline_row;

typedef struct hy_timeline {
    const hybrid_event *events; /* sorted by begin_ns; of two events with the same begin
                                   the longer comes first */
    size_t count;
    int *tids;             /* room for `count` numbers: for each event the number of its
                              row, from 1 */
    hy_timeline_row *rows; /* room for `count` rows */
    int row_count;
    int64_t zero_ns;          /* begin of the first event, which is 0 on the time axis */
    int64_t begin_ns, end_ns; /* begin and end of the run; both are zero_ns if the trace
                                 has no run */
} hy_timeline;

/* Sorts the events and fills `t`, which keeps `events`, `tids` and `rows`. `tids` and
   `rows` have room for `count` elements. `total_s` is hybrid_report.total_s, or 0 if no
   run has finished. */
void hy_timeline_make(hybrid_event *events, size_t count, double total_s, int *tids,
                      hy_timeline_row *rows, hy_timeline *t);

/* Returns 1 if the event belongs to the last run of the trace. */
int hy_timeline_in_run(const hy_timeline *t, const hybrid_event *event);

/* Returns a number that is smaller for a lane above another: from top to bottom lanes of
   reading, the calling thread, workers, devices and writing. */
int hy_timeline_order(const char *lane);

/* Returns a number below 0 if row `a` is above row `b` of the same timeline, above 0 if
   it is below, and 0 if both are the same. */
int hy_timeline_compare(const hy_timeline_row *a, const hy_timeline_row *b);

/* Writes the row's name: that of its lane, and " (2)" in the lane's second row. */
enum { HY_TIMELINE_NAME = 64 };
void hy_timeline_name(const hy_timeline_row *row, char name[HY_TIMELINE_NAME]);

/* Returns the resource that stages of the lane use, or HYBRID_RESOURCES for a lane that
   serves none. */
hybrid_resource hy_timeline_resource(const char *lane);

/* Returns the number of the lane's device, or -1 for a lane of the host. */
int hy_timeline_device(const char *lane);

#endif /* HY_TIMELINE_H */
