/* tests/unit/base/test_nodes.c - NUMA nodes of devices: where they are attached, and what
   is placed there. hwloc simulates the machine (HWLOC_SYNTHETIC); a folder takes the
   place of /sys. */
#include <linux/mempolicy.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads/topology.h"
#include "tests/support/engines/context.h"

enum { PAGE = 4096, PAGES = 16 };

static char root[64];

/* Opens the topology of a machine that hwloc simulates. If `real` is 1, hwloc makes the
   system calls as if the machine were this one. */
static hy_topology *open_machine(hy_context *ctx, const char *machine, int real)
{
    hy_topology *topology;

    setenv("HWLOC_SYNTHETIC", machine, 1);
    if (real)
        setenv("HWLOC_THISSYSTEM", "1", 1);
    assert_int_equal(hy_topology_open(ctx, &topology), HYBRID_OK);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    return topology;
}

/* Makes the folder of a PCI device in the test's /sys. Its file numa_node has this text;
   NULL: it has no such file. */
static void make_device(const char *bus, const char *text)
{
    static const char *const folders[] = {"sys", "sys/bus", "sys/bus/pci",
                                          "sys/bus/pci/devices"};
    char path[256];

    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s", root, bus);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/numa_node", root, bus);
    if (!text)
        return;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void the_system_tells_the_node_of_a_device(void **state)
{
    hy_context *ctx  = test_context(1);
    hy_topology *two = open_machine(ctx, "node:2 core:4 pu:1", 0);
    hy_topology *one = open_machine(ctx, "node:1 core:4 pu:1", 0);
    static const struct {
        const char *bus, *text;
        int node;
    } devices[] = {{"0000:0f:00.0", "1\n", 1},     {"0000:2a:00.0", "0\n", 0},
                   {"0000:3c:00.0", "-1\n", -1},   {"0000:4d:00.0", "7\n", -1},
                   {"0000:5e:00.0", "none\n", -1}, {"0000:6f:00.0", NULL, -1}};

    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        make_device(devices[i].bus, devices[i].text);
        assert_int_equal(hy_topology_node_of(two, root, devices[i].bus), devices[i].node);
        assert_int_equal(hy_topology_node_of(one, root, devices[i].bus), -1);
    }
    assert_int_equal(hy_topology_node_of(two, root, "0000:99:00.0"), -1);
    assert_int_equal(hy_topology_node_of(two, root, ""), -1);
    hy_topology_close(ctx, one);
    hy_topology_close(ctx, two);
    test_context_free(ctx);
}

/* Returns the memory policy of a page; -1 if the system does not tell. */
static int policy_of(const void *page)
{
    int policy = -1;

    return syscall(SYS_get_mempolicy, &policy, NULL, 0L, page, MPOL_F_ADDR) == 0 ? policy
                                                                                 : -1;
}

/* Returns 1 if the system binds memory to nodes, which containers may forbid. */
static int binds(void)
{
    unsigned long nodes = 1;
    void *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(page != MAP_FAILED);
    const int bound =
        syscall(SYS_mbind, page, PAGE, MPOL_BIND, &nodes, 8 * sizeof nodes, 0) == 0 &&
        policy_of(page) == MPOL_BIND;
    munmap(page, PAGE);
    return bound;
}

/* Node 0 exists on every machine. Only the pages of the range are placed, and none
   without a node. */
static void pages_are_placed_on_the_node(void **state)
{
    hy_context *ctx  = test_context(1);
    hy_topology *two = open_machine(ctx, "node:2 core:4 pu:1", 1);
    char *pages      = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(pages != MAP_FAILED);
    hy_topology_place(two, pages, PAGES * PAGE, -1);
    hy_topology_place(two, pages, PAGES * PAGE, 7);
    if (binds()) {
        assert_int_equal(policy_of(pages), MPOL_DEFAULT);
        hy_topology_place(two, pages, PAGES / 2 * PAGE, 0);
        assert_int_not_equal(policy_of(pages), MPOL_DEFAULT); /* bound or preferred */
        assert_int_equal(policy_of(pages + PAGES / 2 * PAGE), MPOL_DEFAULT);
    }
    for (int i = 0; i < PAGES; i++)
        pages[i * PAGE] = 1;
    munmap(pages, PAGES * PAGE);
    hy_topology_close(ctx, two);
    test_context_free(ctx);
}

/* The simulated machine has the first processor of this one on node 0, and as many nodes
   of one core as there are processors. A thread that is bound to a node may use its core
   only. */
static void threads_run_on_the_cores_of_the_node(void **state)
{
    hy_context *ctx = test_context(1);
    cpu_set_t before, after;
    char machine[64];

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    snprintf(machine, sizeof machine, "node:%ld core:1 pu:1",
             sysconf(_SC_NPROCESSORS_CONF));
    hy_topology *t = open_machine(ctx, machine, 1);
    hy_topology_bind_node(t, -1);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    if (CPU_COUNT(&before) > 1 && CPU_ISSET(0, &before) && !hy_topology_has_quota(t)) {
        hy_topology_bind_node(t, 0);
        assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
        assert_int_equal(CPU_COUNT(&after), 1);
        assert_true(CPU_ISSET(0, &after));
        assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    }
    hy_topology_close(ctx, t);
    test_context_free(ctx);
}

static int make_root(void **state)
{
    const char *folder = getenv("TMPDIR");

    (void)state;
    snprintf(root, sizeof root, "%.40s/nodes.XXXXXX", folder ? folder : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_tells_the_node_of_a_device),
        cmocka_unit_test(pages_are_placed_on_the_node),
        cmocka_unit_test(threads_run_on_the_cores_of_the_node),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
