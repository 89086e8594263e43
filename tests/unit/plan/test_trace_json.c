/* tests/unit/plan/test_trace_json.c - traces in JSON.

   Bars of a lane must not overlap, and each bar names the resource that bounds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/api/engine.h"
#include "hybrid_spmm.h"
#include "support/engines/io_fixture.h"

enum { MOST_BARS = 20000, MOST_TIDS = 64, WORKERS = 3 };

/* ---- reading the file ---- */

typedef struct bar {
    int tid;
    int64_t begin_ns, end_ns;
} bar;

/* The contents of a file, in which each line is an event. */
typedef struct timeline {
    bar bars[MOST_BARS];
    int count;
    char lanes[MOST_TIDS][32];
    int64_t bytes, flops, cores, memory, others; /* bytes, flops: sums over all bars; the
                                                    others: numbers of bars with that
                                                    bound */
    int arrows;
} timeline;

static timeline found;

static int64_t number_at(const char *line, const char *key)
{
    const char *at = strstr(line, key);

    if (!at)
        fail_msg("no %s in %s", key, line);
    return atoll(at + strlen(key));
}

/* Returns the nanoseconds of a number of microseconds such as "12.345". */
static int64_t ns_at(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    long long us   = 0;
    int ns         = 0;

    if (!at || sscanf(at + strlen(key), "%lld.%3d", &us, &ns) != 2)
        fail_msg("no %s in %s", key, line);
    return us * 1000 + ns;
}

static void read_bar(const char *line)
{
    bar *b = &found.bars[found.count++];

    assert_in_range(found.count, 1, MOST_BARS - 1);
    b->tid      = (int)number_at(line, "\"tid\":");
    b->begin_ns = ns_at(line, "\"ts\":");
    b->end_ns   = b->begin_ns + ns_at(line, "\"dur\":");
    found.bytes += number_at(line, "\"bytes\":");
    found.flops += number_at(line, "\"flops\":");
    found.cores += strstr(line, "\"bound\":\"cores\"") != NULL;
    found.memory += strstr(line, "\"bound\":\"host memory\"") != NULL;
    found.others += strstr(line, "\"bound\":\"other\"") != NULL;
}

static void read_line(const char *line)
{
    const char *name = strstr(line, "\"args\":{\"name\":\"");

    found.arrows += strstr(line, "\"ph\":\"s\"") != NULL;
    if (strstr(line, "\"ph\":\"X\""))
        read_bar(line);
    if (strstr(line, "\"thread_name\"") && name) {
        const int64_t tid = number_at(line, "\"tid\":");
        assert_in_range(tid, 1, MOST_TIDS - 1);
        sscanf(name + 16, "%31[^\"]", found.lanes[tid]);
    }
}

static void read_trace(const char *path)
{
    size_t bytes;
    char *text = io_load(path, &bytes);

    memset(&found, 0, sizeof found);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        read_line(line);
    free(text);
}

static int by_begin(const void *a, const void *b)
{
    const bar *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid - y->tid;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int count_overlaps(void)
{
    int overlaps = 0;

    qsort(found.bars, (size_t)found.count, sizeof *found.bars, by_begin);
    for (int i = 1; i < found.count; i++)
        overlaps += found.bars[i].tid == found.bars[i - 1].tid &&
                    found.bars[i].begin_ns < found.bars[i - 1].end_ns;
    return overlaps;
}

/* ---- traces of the library ---- */

static hybrid_engine *engine;
static hybrid_trace *trace;

static void open_traced(void)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend = HYBRID_HOST;
    options.threads = WORKERS;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    assert_int_equal(hybrid_trace_create(engine, &trace), HYBRID_OK);
    hybrid_engine_trace(engine, hybrid_trace_add, trace);
}

static void close_traced(void)
{
    hybrid_trace_destroy(trace);
    hybrid_engine_destroy(engine);
}

/* Checks the trace, in which a lane is a row of bars. Each thread has one lane:
   overlapping bars would be in a second one, called "cpu1 (2)". The bars contain all
   flops. */
static void check_trace(int64_t flops)
{
    const char *path = io_temp("trace.json");

    assert_int_equal(hybrid_trace_write_json(trace, path), HYBRID_OK);
    read_trace(path);
    assert_true(found.count > 0);
    assert_int_equal(count_overlaps(), 0);
    assert_int_equal(found.flops, flops);
    assert_int_equal(found.cores + found.memory, found.count);
    assert_true(found.bytes > 0);
    for (int tid = 1; tid < MOST_TIDS; tid++)
        if (found.lanes[tid][0] && strcmp(found.lanes[tid], "caller") != 0 &&
            (strncmp(found.lanes[tid], "cpu", 3) != 0 || strlen(found.lanes[tid]) != 4))
            fail_msg("a lane is called '%s'", found.lanes[tid]);
}

static int64_t flops_of_last(void)
{
    hybrid_report r = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
    return r.flops;
}

static int64_t square(const char *spec, int64_t chunk_rows)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A, C;

    options.chunk_rows = chunk_rows;
    assert_int_equal(hybrid_generate(engine, spec, HYBRID_F64, 1, &A), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_with(engine, &options, &A, &A, &C), HYBRID_OK);
    hybrid_csr_free(engine, &A);
    hybrid_csr_free(engine, &C);
    return flops_of_last();
}

/* Traces many chunks in flight with loops that workers share, a matrix with very long
   rows that all workers compute together, and a single chunk. */
static void spgemm_has_a_lane_for_each_worker(void **state)
{
    static const struct {
        const char *spec;
        int64_t chunk_rows;
    } cases[] = {{"stencil27:24", 300}, {"powerlaw:20000,8,9000", 0}, {"er:500,8", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_traced();
        check_trace(square(cases[i].spec, cases[i].chunk_rows));
        close_traced();
    }
}

static int64_t multiply(hybrid_order order, int64_t cols)
{
    hybrid_csr A;
    hybrid_dense X, Y;

    assert_int_equal(hybrid_generate(engine, "stencil27:24", HYBRID_F32, 1, &A),
                     HYBRID_OK);
    assert_int_equal(hybrid_dense_create(engine, A.cols, cols, order, HYBRID_F32, &X),
                     HYBRID_OK);
    assert_int_equal(hybrid_dense_create(engine, A.rows, cols, order, HYBRID_F32, &Y),
                     HYBRID_OK);
    assert_int_equal(hybrid_dense_random(engine, 1, &X), HYBRID_OK);
    assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_OK);
    hybrid_csr_free(engine, &A);
    hybrid_dense_free(engine, &X);
    hybrid_dense_free(engine, &Y);
    return flops_of_last();
}

static void spmm_has_a_lane_for_each_worker(void **state)
{
    static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};

    (void)state;
    for (int i = 0; i < 2; i++)
        for (int64_t cols = 1; cols <= 64; cols *= 64) {
            open_traced();
            check_trace(multiply(orders[i], cols));
            close_traced();
        }
}

/* Each run numbers its chunks from 0: the arrows that connect the bars of a chunk must
   not lead from one run to another. */
static void several_runs_share_a_trace(void **state)
{
    (void)state;
    open_traced();
    const int64_t first  = square("stencil7:16", 1024),
                  second = square("stencil7:16", 1024);
    check_trace(first + second);
    assert_int_equal(found.arrows, 2 * 4);
    close_traced();
}

/* ---- events of the caller ---- */

static void own_events_go_to_own_lanes(void **state)
{
    const char *path   = io_temp("own.json");
    hybrid_event event = {.stage    = "a \"b\"\n",
                          .variant  = "",
                          .lane     = "reader",
                          .chunk    = -1,
                          .begin_ns = 1000,
                          .end_ns   = 3000,
                          .parts    = 1,
                          .bound    = HYBRID_RESOURCES};

    (void)state;
    open_traced();
    hybrid_trace_add(trace, &event);
    event.begin_ns = 2000; /* overlaps the first event */
    hybrid_trace_add(trace, &event);
    event.begin_ns = 3000;
    event.end_ns   = 4001;
    hybrid_trace_add(trace, &event);
    event.lane = "cpu99999999999999999999999";
    hybrid_trace_add(trace, &event);
    assert_int_equal(hybrid_trace_write_json(trace, path), HYBRID_OK);
    read_trace(path);
    assert_int_equal(found.count, 4);
    assert_int_equal(found.others, 4);
    assert_int_equal(count_overlaps(), 0);
    assert_string_equal(found.lanes[1], "reader");
    assert_string_equal(found.lanes[2], "reader (2)");
    assert_string_equal(found.lanes[3], event.lane);
    assert_int_equal(found.bars[0].begin_ns, 0);
    close_traced();
}

/* ---- odd traces, and errors ---- */

static void an_empty_trace_is_one_too(void **state)
{
    const char *path = io_temp("empty.json");

    (void)state;
    open_traced();
    assert_int_equal(hybrid_trace_write_json(trace, path), HYBRID_OK);
    read_trace(path);
    assert_int_equal(found.count, 0);
    close_traced();
    hybrid_trace_destroy(NULL);
}

static void errors_are_told(void **state)
{
    const hybrid_event event = {.stage = "a", .variant = "", .lane = "b", .parts = 1};

    (void)state;
    open_traced();
    assert_int_equal(hybrid_trace_create(NULL, &trace), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_trace_create(engine, NULL), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_trace_write_json(NULL, "x"), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_trace_write_json(trace, NULL), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_trace_write_json(trace, "/nowhere/x.json"), HYBRID_IO_FAILED);
    assert_non_null(strstr(hybrid_engine_message(engine), "/nowhere/x.json"));
    hybrid_trace_add(NULL, &event);
    engine->ctx.memory.failures = 1;
    hybrid_trace_add(trace, &event);
    assert_int_equal(hybrid_trace_write_json(trace, io_temp("lost.json")),
                     HYBRID_NO_MEMORY);
    assert_non_null(strstr(hybrid_engine_message(engine), "1 of 1 events were lost"));
    close_traced();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spgemm_has_a_lane_for_each_worker),
        cmocka_unit_test(spmm_has_a_lane_for_each_worker),
        cmocka_unit_test(several_runs_share_a_trace),
        cmocka_unit_test(own_events_go_to_own_lanes),
        cmocka_unit_test(an_empty_trace_is_one_too),
        cmocka_unit_test(errors_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
