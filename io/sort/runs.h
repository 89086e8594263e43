/* io/sort/runs.h - sorted runs of records in a temporary file. */
#ifndef HY_RUNS_H
#define HY_RUNS_H

#include "io/sort/records.h"
#include "io/sort/spill.h"

/* Records of one run ascend. Records of equal keys are in the order of the matrix's file,
   within a run and from run to run. */
typedef struct hy_sorted_run {
    int64_t at;     /* position of the next record in the spill, in bytes */
    int64_t count;  /* number of records */
    int has_values; /* 0: the spill has the keys alone; all values are runs->value */
} hy_sorted_run;

typedef struct hy_runs {
    hy_context *ctx;
    hy_spill spill;
    hy_sorted_run *run; /* allocated with hy_array() */
    int64_t count, room;
    int64_t bytes;  /* bytes in the spill */
    int has_values; /* 0: all values so far are `value`, as in a list without weights */
    double value;
} hy_runs;

/* Appends a run. Extends the last run if `is_new` is 0, unless that one has no values and
   these records need them. `records` ascend. */
hybrid_status hy_runs_add(hy_runs *runs, const hy_record *records, int64_t count,
                          int is_new);
void hy_runs_close(hy_runs *runs); /* accepts a zeroed struct */

/* Receives merged records in ascending order. records[-1] may be overwritten. */
typedef hybrid_status (*hy_merged_fn)(void *arg, hy_record *records, int64_t count);

/* Merges runs [first, first + count) in memory for about `room` records, and passes the
   merged records to `merged`, part by part. */
hybrid_status hy_runs_merge(const hy_runs *runs, int64_t first, int64_t count,
                            int64_t room, hy_merged_fn merged, void *arg);

/* Returns the number of runs that hy_runs_merge() can merge in memory for `room`
   records, at least 2. */
int64_t hy_runs_most(const hy_context *ctx, int64_t room);

#endif /* HY_RUNS_H */
