/* base/memory/cgroup.h - what the control groups of this process leave it. */
#ifndef HY_CGROUP_H
#define HY_CGROUP_H

#include "hybrid_spmm.h"

/* Each is the least that a group of the process, or one above it, may use, in version 1
   or 2. `root` is "", or the folder of a test in which /proc and /sys lie. */

/* CPU quota in cores, rounded up; 0 = none. */
int hy_cgroup_cores(const char *root);

/* Bytes of memory; 0 = no limit. */
int64_t hy_cgroup_memory(const char *root);

/* Bytes of memory that the machine has, without swap; 0 = unknown. */
int64_t hy_machine_memory(void);

/* The lesser of both limits; 0 if neither is known. */
int64_t hy_memory_limit(void);

#endif /* HY_CGROUP_H */
