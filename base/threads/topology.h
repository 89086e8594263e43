/* base/threads/topology.h - the cores this process may use. */
#ifndef HY_TOPOLOGY_H
#define HY_TOPOLOGY_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_topology hy_topology;

/* Read the machine through hwloc, as affinity and cgroup limits leave it. */
hybrid_status hy_topology_open(hy_context *ctx, hy_topology **out);
void hy_topology_close(hy_context *ctx, hy_topology *topology); /* NULL is fine */

/* Cores (not hyperthreads) allowed by affinity, and no more than the cgroup's
   CPU quota rounded up; at least 1. */
int hy_topology_cores(const hy_topology *topology);

/* Returns 1 if a CPU quota allows fewer cores than affinity does. The system then chooses the
   cores, and binding does nothing. */
int hy_topology_has_quota(const hy_topology *topology);

/* What the processor calls itself; "CPU" if it does not tell. */
const char *hy_topology_name(const hy_topology *topology);

/* Bytes of one core's L2 and of the last-level cache; 0 if unknown. */
size_t hy_topology_l2_bytes(const hy_topology *topology);
size_t hy_topology_llc_bytes(const hy_topology *topology);

/* On a machine of several NUMA nodes, let fresh pages of [ptr, ptr + bytes) come from all
   of them in turn: every worker will read and write them. A wish, as binding is. */
void hy_topology_spread(const hy_topology *topology, void *ptr, size_t bytes);

/* Bind the calling thread to allowed core `index` modulo their number. A refusal
   by the system is not an error: the thread then runs where it may. */
void hy_topology_bind(const hy_topology *topology, int index);

/* Lets the calling thread run on every allowed core again. */
void hy_topology_unbind(const hy_topology *topology);

/* Returns the number of the core on which the calling thread runs: 0 to the number of
   allowed cores - 1, or 0 if the system does not tell. */
int hy_topology_here(const hy_topology *topology);

#ifdef __cplusplus
}
#endif
#endif /* HY_TOPOLOGY_H */
