/* tests/run/devices/test_result_nodes.c - fresh pages of C lie on the NUMA node of the
   device that computes their entries.

   The linker replaces hy_topology_place(), which asks the system for pages of a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/memory/pages.h"
#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows;

static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                 &hy_host_backend_ops, NULL};
static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                             NULL};

enum { ROWS = 1500, EACH = 12, CHUNK_ROWS = 125, DEVICES = 2, MOST = 1000, NOWHERE = -1 };

/* ---- what the library asks for ---- */

static struct request {
    const char *ptr;
    size_t bytes;
    int node;
} requests[MOST];
static int asked; /* number of requests */

void __wrap_hy_topology_place(const hy_topology *topology, void *ptr, size_t bytes,
                              int node);

void __wrap_hy_topology_place(const hy_topology *topology, void *ptr, size_t bytes,
                              int node)
{
    (void)topology;
    assert_true(asked < MOST);
    assert_int_equal((uintptr_t)ptr % HY_PAGE, 0);
    requests[asked++] = (struct request){ptr, bytes, node};
}

/* Returns the node that was asked for last for the page at ptr. */
static int node_of(const char *page)
{
    for (int i = asked - 1; i >= 0; i--)
        if (page >= requests[i].ptr && page < requests[i].ptr + requests[i].bytes)
            return requests[i].node;
    return NOWHERE;
}

/* ---- a product ---- */

static int computed_by[ROWS]; /* device that computed each row */

static void note(void *user, const hybrid_event *event)
{
    (void)user;
    if (strcmp(event->stage, "multiply") != 0)
        return;
    for (int64_t i = event->row_begin; i < event->row_end; i++)
        computed_by[i] = strcmp(event->lane, "run") != 0;
}

/* Opens an engine with two devices on these nodes, which share every product. */
static hybrid_engine *open_on(const int nodes[DEVICES])
{
    static const int devices[DEVICES] = {0, 1};
    hybrid_engine_options options     = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 2;
    options.devices      = devices;
    options.device_count = DEVICES;
    fake_delays(1, 0);
    assert_int_equal(fake_engine_open(&options, backends, variants, &engine), HYBRID_OK);
    settings_of(engine)->all_devices = 1;
    for (int i = 0; i < DEVICES; i++)
        engine->devices[i]->node = nodes[i];
    hybrid_engine_trace(engine, note, NULL);
    asked = 0;
    return engine;
}

static void square(hybrid_engine *engine, const hybrid_csr *A, hybrid_csr *C)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = CHUNK_ROWS;
    memset(computed_by, NOWHERE, sizeof computed_by);
    assert_int_equal(hybrid_spgemm_with(engine, &options, A, A, C), HYBRID_OK);
}

/* The arrays of C are smaller than a huge page, so that each page is placed by itself.

   Checks the pages of an array of C with `size` bytes for each entry: a page that only
   rows of one device fill lies on its node. Returns the number of such pages. */
static int check_pages(const hybrid_csr *C, const void *array, size_t size,
                       const int nodes[DEVICES])
{
    const char *page = array, *end = page + (size_t)C->nnz * size;
    int64_t row = 0;
    int checked = 0;

    for (; page + HY_PAGE <= end; page += HY_PAGE) {
        const int64_t first = (page - (const char *)array) / (int64_t)size;
        const int64_t last  = first + HY_PAGE / (int64_t)size - 1;
        while (((const int64_t *)C->row_ptr)[row + 1] <= first)
            row++;
        int64_t until = row;
        while (((const int64_t *)C->row_ptr)[until + 1] <= last)
            until++;
        const int device = computed_by[row];
        int alone        = 1;
        for (int64_t i = row; i <= until; i++)
            alone = alone && computed_by[i] == device;
        if (!alone)
            continue;
        assert_int_equal(node_of(page), nodes[device]);
        checked++;
    }
    return checked;
}

static hybrid_csr matrix(void)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A;

    matrix_random(ROWS, ROWS, EACH, 5, kind, &A);
    return A;
}

static void pages_lie_on_the_node_of_their_device(const int nodes[DEVICES])
{
    hybrid_engine *engine = open_on(nodes);
    hybrid_csr A          = matrix(), C;
    int seen[DEVICES]     = {0};

    square(engine, &A, &C);
    for (int i = 0; i < ROWS; i++)
        seen[computed_by[i]]++;
    for (int i = 0; i < DEVICES; i++)
        assert_true(seen[i] > 0);
    assert_true(check_pages(&C, C.col, 4, nodes) > 100);
    assert_true(check_pages(&C, C.val, 8, nodes) > 100);
    hybrid_csr_free(engine, &C);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

static void devices_with_different_nodes(void **state)
{
    (void)state;
    pages_lie_on_the_node_of_their_device((const int[]){0, 1});
    pages_lie_on_the_node_of_their_device((const int[]){3, 2});
}

/* All pages are asked for before the first is touched, so two requests are enough. */
static void devices_with_one_node(void **state)
{
    (void)state;
    pages_lie_on_the_node_of_their_device((const int[]){1, 1});
    assert_int_equal(asked, 2);
}

static void devices_without_a_node(void **state)
{
    static const int nodes[DEVICES] = {NOWHERE, NOWHERE};

    (void)state;
    pages_lie_on_the_node_of_their_device(nodes);
    assert_int_equal(asked, 0);
}

/* A second product uses the pages of the first, which do not move. */
static void pages_that_are_present_stay(void **state)
{
    static const int nodes[DEVICES] = {0, 1};
    hybrid_engine *engine           = open_on(nodes);
    hybrid_csr A                    = matrix(), C;

    (void)state;
    square(engine, &A, &C);
    assert_true(asked > 0);
    hybrid_csr_free(engine, &C);
    asked = 0;
    square(engine, &A, &C);
    assert_int_equal(asked, 0);
    hybrid_csr_free(engine, &C);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_with_different_nodes),
        cmocka_unit_test(devices_with_one_node),
        cmocka_unit_test(devices_without_a_node),
        cmocka_unit_test(pages_that_are_present_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
