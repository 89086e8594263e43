/* tests/unit/plan/test_trace_facts.c - facts beside the bars of a trace in JSON.

   They are compared with those of events that the test makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"

static hybrid_engine *engine;
static hybrid_trace *trace;

static void open_traced(void)
{
    engine = open_host(1, 0);
    assert_int_equal(hybrid_trace_create(engine, &trace), HYBRID_OK);
}

static void close_traced(void)
{
    hybrid_trace_destroy(trace);
    hybrid_engine_destroy(engine);
}

enum { MS = 1000000 };

/* Adds the event of a stage of a chunk, which begins and ends at these times in
   milliseconds, counted from 7 ms on. */
static void add_stage(const char *lane, int64_t chunk, int64_t begin_ms, int64_t end_ms)
{
    const hybrid_event event = {.stage        = lane[0] == 'c' ? "place" : "multiply",
                                .variant      = "v",
                                .lane         = lane,
                                .chunk        = chunk,
                                .row_end      = 1,
                                .begin_ns     = 7 * MS + begin_ms * MS,
                                .end_ns       = 7 * MS + end_ms * MS,
                                .device_bytes = 1000,
                                .host_bytes   = 100 + chunk,
                                .parts        = 1,
                                .bound        = HYBRID_DEVICE};

    hybrid_trace_add(trace, &event);
}

/* Writes the trace as that of a run of one second, and returns its text. */
static char *facts_of(const char *name, hybrid_resource bound)
{
    const char *path = io_temp(name);
    size_t bytes;

    engine->report         = (hybrid_report)HYBRID_REPORT_INIT;
    engine->report.total_s = 1;
    engine->report.bound   = bound;
    assert_int_equal(hybrid_trace_write_json(trace, path), HYBRID_OK);
    return io_load(path, &bytes);
}

static void must_have(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("the trace lacks %s\n%s", part, text);
}

/* Adds the events of two chunks that pass through a device. Chunk 1 computes for 30 ms,
   during which the lane d2h waits. */
static void add_two_chunks(void)
{
    add_stage("h2d", 0, 0, 10);
    add_stage("h2d", 1, 10, 20);
    add_stage("run", 0, 10, 20);
    add_stage("run", 1, 20, 50);
    add_stage("d2h", 0, 20, 25);
    add_stage("d2h", 1, 50, 55);
    add_stage("cpu1", 0, 25, 28);
    add_stage("cpu0", 1, 55, 60);
}

static void stalls_of_the_bound_are_told(void **state)
{
    (void)state;
    open_traced();
    add_two_chunks();
    char *text = facts_of("stalls.json", HYBRID_BUS_DOWN);
    must_have(text,
              "\"begin_us\":25000.000,\"end_us\":50000.000,\"text\":\"d2h was idle for "
              "25.00 ms from 25.00 ms on, until multiply of chunk 1 on run had ended.\"},"
              "\n{\"tid\":3,\"begin_us\":0.000,\"end_us\":20000.000,\"text\":\"d2h was "
              "idle for 20.00 ms from 0 ms on, until multiply of chunk 0 on run had "
              "ended.\"},\n{\"tid\":3,\"begin_us\":55000.000,\"end_us\":60000.000,"
              "\"text\":\"d2h was idle for 5.00 ms from 55.00 ms to the end of the run; "
              "place of chunk 1 on cpu0 ended last.\"}]");
    free(text);
    text = facts_of("stalls.json", HYBRID_HOST_MEMORY);
    must_have(text, "\"cpu0 was idle for 55.00 ms from 0 ms on, until");
    must_have(text, "\"cpu1 was idle for 32.00 ms from 28.00 ms to the end of the run; ");
    free(text);
    close_traced();
}

/* The lane "load" uses the bus in the direction of h2d: while it lasts, no stall of h2d
   is told. */
static void loads_end_stalls_of_the_bus(void **state)
{
    (void)state;
    open_traced();
    add_two_chunks();
    add_stage("load", -1, 20, 58);
    char *text = facts_of("loads.json", HYBRID_BUS_UP);
    must_have(text,
              "\"stalls\":[\n{\"tid\":1,\"begin_us\":58000.000,\"end_us\":60000.000,"
              "\"text\":\"h2d was idle for 2.00 ms from 58.00 ms to the end of the "
              "run; place of chunk 1 on cpu0 ended last.\"}]");
    free(text);
    close_traced();
}

static void lanes_and_memory_are_told(void **state)
{
    (void)state;
    open_traced();
    add_two_chunks();
    add_stage("reader", -1, -7, -1); /* a step that ended before the run began; times in
                                        milliseconds */
    char *text = facts_of("facts.json", HYBRID_DEVICE);
    must_have(text, "\"begin_us\":7000.000,\"end_us\":67000.000");
    must_have(text, "\"lanes\":[\n{\"tid\":1,\"name\":\"reader\",\"busy_us\":0.000},"
                    "\n{\"tid\":6,\"name\":\"cpu0\",\"busy_us\":5000.000},"
                    "\n{\"tid\":5,\"name\":\"cpu1\",\"busy_us\":3000.000},"
                    "\n{\"tid\":2,\"name\":\"h2d\",\"busy_us\":20000.000},"
                    "\n{\"tid\":3,\"name\":\"run\",\"busy_us\":40000.000},"
                    "\n{\"tid\":4,\"name\":\"d2h\",\"busy_us\":10000.000}]");
    must_have(text, "{\"name\":\"chunk buffers\",\"limit_bytes\":");
    must_have(text, "{\"name\":\"host memory\",\"limit_bytes\":");
    must_have(text, "{\"name\":\"host memory\",\"ph\":\"C\",\"pid\":1,\"tid\":0,"
                    "\"ts\":67000.000,\"args\":{\"bytes\":101}}");
    free(text);
    close_traced();
}

/* A trace of several runs has the facts of the last one. */
static void facts_are_of_the_last_run(void **state)
{
    (void)state;
    open_traced();
    add_stage("cpu0", 0, 0, 100);
    add_stage("cpu0", 0, 2000, 2010);
    add_stage("cpu0", 1, 2030, 2040);
    char *text = facts_of("last.json", HYBRID_CORES);
    must_have(text, "\"begin_us\":2000000.000,\"end_us\":2040000.000");
    must_have(text, "\"busy_us\":20000.000}]");
    must_have(text, "\"stalls\":[\n{\"tid\":1,\"begin_us\":2010000.000,\"end_us\":"
                    "2030000.000,\"text\":\"cpu0 was idle for 20.00 ms from 2.010 s on, "
                    "before place of chunk 1 began.\"}]");
    free(text);
    close_traced();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls_of_the_bound_are_told),
        cmocka_unit_test(loads_end_stalls_of_the_bus),
        cmocka_unit_test(lanes_and_memory_are_told),
        cmocka_unit_test(facts_are_of_the_last_run),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
