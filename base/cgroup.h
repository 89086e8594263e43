/* base/cgroup.h - what the control groups of this process leave it. */
#ifndef HY_CGROUP_H
#define HY_CGROUP_H

#include "hybrid_spmm.h"

/* Each is the least that a group of the process, or one above it, may use, in version 1
   or 2. `root` is "", or the folder of a test in which /proc and /sys lie. */

/* CPU quota in cores, rounded up; 0 = none. */
int hy_cgroup_cores(const char *root);

/* Bytes of memory; 0 = no limit. */
int64_t hy_cgroup_memory(const char *root);

/* Fifteen sixteenths of the same, or of what the machine has if that is less; 0 if neither
   is known. Whoever used all of it would be killed before he is refused more: some is taken
   by the system, by drivers, and by whatever else the process has. */
int64_t hy_memory_limit(void);

#endif /* HY_CGROUP_H */
