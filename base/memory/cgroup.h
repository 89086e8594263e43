/* base/memory/cgroup.h - limits of the control groups of this process, and its memory. */
#ifndef HY_CGROUP_H
#define HY_CGROUP_H

#include "hybrid_spmm.h"

/* Each limit is the lowest of the process's groups, versions 1 and 2, and of the groups
   above them. `root` is "", or the folder in which a test provides /proc and /sys. */

/* Returns the CPU quota in cores, rounded up; 0 = no limit. */
int hy_cgroup_cores(const char *root);

/* Returns the limit of memory in bytes; 0 = no limit. */
int64_t hy_cgroup_memory(const char *root);

/* Returns the memory of the machine in bytes, without swap; 0 = unknown. */
int64_t hy_machine_memory(void);

/* Returns the bytes of this process that are in memory now (resident); 0 = unknown. */
int64_t hy_resident_memory(void);

/* Returns the lower of the group's limit and `times` the machine's memory, in bytes; 0 if
   neither is known. */
int64_t hy_memory_limit(int64_t times);

#endif /* HY_CGROUP_H */
