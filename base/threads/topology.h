/* base/threads/topology.h - the cores that this process may use. */
#ifndef HY_TOPOLOGY_H
#define HY_TOPOLOGY_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_topology hy_topology;

/* Reads the machine through hwloc, restricted by affinity and cgroup limits. NO_MEMORY,
   with a sentence, if hwloc fails. */
hybrid_status hy_topology_open(hy_context *ctx, hy_topology **out);
void hy_topology_close(hy_context *ctx, hy_topology *topology); /* accepts NULL */

/* Returns the number of cores (not hyperthreads) that affinity allows, at most the
   cgroup's CPU quota rounded up; at least 1. */
int hy_topology_cores(const hy_topology *topology);

/* Returns 1 if a CPU quota allows fewer cores than affinity does. The system then chooses
   the cores, and binding does nothing. */
int hy_topology_has_quota(const hy_topology *topology);

/* Returns the name of the processor's model; "CPU" if unknown. */
const char *hy_topology_name(const hy_topology *topology);

/* Return the bytes of one core's L2 cache, and of the last-level cache; 0 if unknown. */
size_t hy_topology_l2_bytes(const hy_topology *topology);
size_t hy_topology_llc_bytes(const hy_topology *topology);

/* On a machine with several NUMA nodes, asks for fresh pages of [ptr, ptr + bytes) from
   all nodes in turn, because every worker will use them. The system may ignore this. */
void hy_topology_spread(const hy_topology *topology, void *ptr, size_t bytes);

/* Binds the calling thread to allowed core `index` modulo their number. If the system
   refuses, the thread runs where it may. */
void hy_topology_bind(const hy_topology *topology, int index);

/* Lets the calling thread run on every allowed core again. */
void hy_topology_unbind(const hy_topology *topology);

/* Returns the number of the core on which the calling thread runs: 0 to the number of
   allowed cores - 1, or 0 if the system does not tell. */
int hy_topology_here(const hy_topology *topology);

/* ---- NUMA nodes -------------------------------------------------------------------- */

/* Returns the number of the NUMA node to which the PCI device at `bus`, such as
   "0000:0f:00.0", is attached: 0 to the number of nodes - 1. Returns -1 if the machine has
   one node, or if the system does not tell. `root` is "", or the folder in which a test
   provides /sys. */
int hy_topology_node_of(const hy_topology *topology, const char *root, const char *bus);

/* Returns the number of the NUMA node of allowed core `index` modulo their number; -1 if
   the machine has one node. */
int hy_topology_node_at(const hy_topology *topology, int index);

/* Asks for fresh pages of [ptr, ptr + bytes) from one node; does nothing if `node` is -1.
   The system may ignore this, and takes pages of other nodes if the node is full. */
void hy_topology_place(const hy_topology *topology, void *ptr, size_t bytes, int node);

/* Lets the calling thread run on the allowed cores of one node only; does nothing if
   `node` is -1, if no core of the node is allowed, or under a CPU quota. */
void hy_topology_bind_node(const hy_topology *topology, int node);

#ifdef __cplusplus
}
#endif
#endif /* HY_TOPOLOGY_H */
