/* base/threads/topology.c - finds the cores that this process may use. */
#include "base/threads/topology.h"

#include <hwloc.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/cgroup.h"

struct hy_topology {
    hwloc_topology_t machine; /* the machine without the cores that affinity excludes */
    int depth;                /* level of cores in hwloc's tree, or of hyperthreads if it
                                 names no cores */
    int cores, found;         /* cores: number of cores that the process should use;
                                 found: number of objects at level `depth` */
    size_t l2_bytes, llc_bytes;
};

/* ---- the machine ---------------------------------------------------------------- */

static size_t cache_bytes(hwloc_topology_t machine, hwloc_obj_type_t type)
{
    const hwloc_obj_t cache = hwloc_get_obj_by_type(machine, type, 0);
    return cache ? (size_t)cache->attr->cache.size : 0;
}

/* Keeps only the cores on which the calling thread, and so its workers, may run. */
static void restrict_to_affinity(hwloc_topology_t machine)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();

    /* if this fails, the whole machine is used */
    if (allowed && hwloc_get_cpubind(machine, allowed, HWLOC_CPUBIND_THREAD) == 0)
        hwloc_topology_restrict(machine, allowed, 0);
    hwloc_bitmap_free(allowed);
}

static int load(hwloc_topology_t *machine)
{
    if (hwloc_topology_init(machine) != 0)
        return -1;
    if (hwloc_topology_load(*machine) == 0) {
        restrict_to_affinity(*machine);
        return 0;
    }
    hwloc_topology_destroy(*machine);
    return -1;
}

hybrid_status hy_topology_open(hy_context *ctx, hy_topology **out)
{
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_topology), "the topology", &memory));
    hy_topology *t = memory;
    if (load(&t->machine) != 0) {
        hy_array_free(ctx, t);
        return hy_fail(ctx, HYBRID_NO_MEMORY,
                       "hwloc cannot read the machine's topology; make /sys readable for "
                       "the process");
    }
    const int quota = hy_cgroup_cores("");
    t->depth        = hwloc_get_type_or_below_depth(t->machine, HWLOC_OBJ_CORE);
    t->found        = (int)hwloc_get_nbobjs_by_depth(t->machine, t->depth);
    t->cores        = quota > 0 && quota < t->found ? quota : t->found;
    t->l2_bytes     = cache_bytes(t->machine, HWLOC_OBJ_L2CACHE);
    t->llc_bytes    = cache_bytes(t->machine, HWLOC_OBJ_L3CACHE);
    if (t->llc_bytes == 0)
        t->llc_bytes = t->l2_bytes;
    *out = t;
    return HYBRID_OK;
}

void hy_topology_close(hy_context *ctx, hy_topology *topology)
{
    if (!topology)
        return;
    hwloc_topology_destroy(topology->machine);
    hy_array_free(ctx, topology);
}

int hy_topology_cores(const hy_topology *topology)
{
    return topology->cores;
}

int hy_topology_has_quota(const hy_topology *topology)
{
    return topology->cores < topology->found;
}

const char *hy_topology_name(const hy_topology *topology)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE};

    for (int i = 0; i < 2; i++) {
        const hwloc_obj_t obj = hwloc_get_obj_by_type(topology->machine, types[i], 0);
        const char *name      = obj ? hwloc_obj_get_info_by_name(obj, "CPUModel") : NULL;
        if (name && name[strspn(name, " ")])
            return name + strspn(name, " ");
    }
    return "CPU";
}

size_t hy_topology_l2_bytes(const hy_topology *topology)
{
    return topology->l2_bytes;
}

size_t hy_topology_llc_bytes(const hy_topology *topology)
{
    return topology->llc_bytes;
}

/* Under a quota this function does nothing: the system then chooses among more cores than
   the process may use at a time. That is better than binding every process to the same
   first cores. */
void hy_topology_bind(const hy_topology *topology, int index)
{
    if (hy_topology_has_quota(topology))
        return;
    const hwloc_obj_t core = hwloc_get_obj_by_depth(topology->machine, topology->depth,
                                                    (unsigned)(index % topology->found));
    if (core)
        hwloc_set_cpubind(topology->machine, core->cpuset, HWLOC_CPUBIND_THREAD);
}

void hy_topology_unbind(const hy_topology *topology)
{
    hwloc_set_cpubind(topology->machine,
                      hwloc_topology_get_topology_cpuset(topology->machine),
                      HWLOC_CPUBIND_THREAD);
}

int hy_topology_here(const hy_topology *topology)
{
    const int cpu = sched_getcpu();
    hwloc_obj_t obj =
        cpu < 0 ? NULL : hwloc_get_pu_obj_by_os_index(topology->machine, (unsigned)cpu);

    while (obj && obj->depth != topology->depth)
        obj = obj->parent;
    return obj ? (int)obj->logical_index : 0;
}

static int has_nodes(const hy_topology *topology)
{
    return hwloc_get_nbobjs_by_type(topology->machine, HWLOC_OBJ_NUMANODE) > 1;
}

void hy_topology_spread(const hy_topology *topology, void *ptr, size_t bytes)
{
    const hwloc_topology_t machine = topology->machine;

    if (has_nodes(topology))
        hwloc_set_area_membind(machine, ptr, bytes,
                               hwloc_topology_get_topology_nodeset(machine),
                               HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET);
}

/* ---- NUMA nodes -------------------------------------------------------------------- */

/* Returns the number in a file of /sys; -1 if it cannot be read. */
static int read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    int number = -1;

    if (!file)
        return -1;
    if (fscanf(file, "%d", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* Returns the number of the node that the system calls `number`; -1 if there is none. */
static int node_called(const hy_topology *topology, int number)
{
    const hwloc_obj_t node =
        number < 0
            ? NULL
            : hwloc_get_numanode_obj_by_os_index(topology->machine, (unsigned)number);
    return node ? (int)node->logical_index : -1;
}

int hy_topology_node_at(const hy_topology *topology, int index)
{
    const hwloc_obj_t core =
        has_nodes(topology) ? hwloc_get_obj_by_depth(topology->machine, topology->depth,
                                                     (unsigned)(index % topology->found))
                            : NULL;
    return core ? node_called(topology, hwloc_bitmap_first(core->nodeset)) : -1;
}

int hy_topology_node_of(const hy_topology *topology, const char *root, const char *bus)
{
    char path[PATH_MAX];

    if (!bus[0] || !has_nodes(topology) ||
        snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/numa_node", root, bus) >=
            (int)sizeof path)
        return -1;
    return node_called(topology, read_number(path)); /* the system writes -1 if it does
                                                        not know */
}

static hwloc_obj_t node_at(const hy_topology *topology, int node)
{
    return node < 0 ? NULL
                    : hwloc_get_obj_by_type(topology->machine, HWLOC_OBJ_NUMANODE,
                                            (unsigned)node);
}

void hy_topology_place(const hy_topology *topology, void *ptr, size_t bytes, int node)
{
    const hwloc_obj_t at = node_at(topology, node);

    if (at)
        hwloc_set_area_membind(topology->machine, ptr, bytes, at->nodeset,
                               HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
}

void hy_topology_bind_node(const hy_topology *topology, int node)
{
    const hwloc_obj_t at = node_at(topology, node);

    if (at && !hwloc_bitmap_iszero(at->cpuset) && !hy_topology_has_quota(topology))
        hwloc_set_cpubind(topology->machine, at->cpuset, HWLOC_CPUBIND_THREAD);
}
