/* tests/fuzz/fuzz_trace.c - the reader of traces, the chart and the page survive any
   bytes.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace/chart.h"
#include "cli/trace/html.h"
#include "cli/trace/trace_file.h"
#include "tests/support/engines/io_fixture.h"

static int good, bad;

static void must(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Prints the trace as a chart and as a page, to nowhere. */
static void show(const cli_trace *trace)
{
    static FILE *null;

    if (!null)
        null = fopen("/dev/null", "w");
    must(null != NULL, "no /dev/null");
    must(trace->format == 1, "another format is accepted");
    must(trace->begin_us <= trace->end_us, "a run that ends before it begins");
    cli_chart_print(trace, 0, null);
    cli_chart_print(trace, 120, null);
    cli_html_write(trace->text, trace->bytes, null);
}

/* Checks the description of the first error in a trace: it names a place within the
   text, and what is expected there. */
static void check_fault(const cli_reader *r, const cli_trace *trace)
{
    int64_t line, column;

    must(!trace->no_memory, "no memory");
    must(strstr(r->fault, " is expected") != NULL, "the fault has no clause");
    must(r->at >= trace->text && r->at <= trace->text + trace->bytes,
         "the fault is outside of the text");
    cli_reader_place(r, &line, &column);
    must(line >= 1 && column >= 1 && column <= (int64_t)trace->bytes + 1, "odd place");
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    cli_trace trace = {.text = malloc(bytes + 1), .bytes = bytes};
    cli_reader r;

    must(trace.text != NULL, "no memory");
    if (bytes > 0)
        memcpy(trace.text, data, bytes);
    trace.text[bytes] = '\0';
    if (cli_trace_parse(&trace, &r)) {
        show(&trace);
        good++;
    } else {
        check_fault(&r, &trace);
        bad++;
    }
    cli_trace_close(&trace);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".trace", argc > 1 ? atoi(argv[1]) : 10000, LLVMFuzzerTestOneInput);
    must(good > 0 && bad > 0, "mutations are all alike");
    return 0;
}
#endif
