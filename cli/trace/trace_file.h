/* cli/trace/trace_file.h - a trace that `multiply --trace` wrote, as read from its file.

   docs/manual.md describes the file. Times are microseconds from the first event of the
   trace. Slices point into `text`. A figure that the file lacks is NAN. */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "cli/trace/reader.h"

typedef struct cli_lane {
    cli_slice name;
    double tid, busy_us; /* tid: number of the lane, as events name it; busy_us: sum of
                            the times of its bars in the run, in microseconds */
} cli_lane;

/* A bar of a lane: a stage of a chunk, or a step of the program. */
typedef struct cli_bar {
    cli_slice stage;
    double tid, begin_us, end_us;
} cli_bar;

typedef struct cli_memory {
    cli_slice name;
    double limit_bytes,
        peak_bytes; /* bytes; limit_bytes is 0 if the memory has no limit */
} cli_memory;

typedef struct cli_sample {
    cli_slice memory; /* name of the cli_memory that was sampled */
    double at_us, bytes;
} cli_sample;

typedef struct cli_use {
    cli_slice resource;
    double utilisation; /* share of the run in which the resource was used, 0 to 1 */
} cli_use;

/* A trace. Its arrays grow while the file is read. */
typedef struct cli_trace {
    char *text; /* bytes of the file, followed by a 0 */
    size_t bytes;
    cli_lane *lanes; /* in the order in which the page shows them, from top to bottom */
    cli_bar *bars;
    cli_memory *memories;
    cli_sample *samples; /* samples of all memories, in the order of the file */
    cli_slice *stalls;   /* sentences, one for each stall */
    cli_use *uses;
    int64_t lane_count, bar_count, memory_count, sample_count, stall_count, use_count;
    int no_memory;           /* 1: no memory was left to enlarge an array */
    cli_slice device, bound; /* names of the GPU or CPU and of the resource that bound
                                the run; `bound` is empty if no run has finished */
    double begin_us, end_us; /* begin and end of the run, in microseconds */
    double workers, total_s, predicted_s, chunks, rows, format;
} cli_trace;

/* Reads a trace from trace->text, which has trace->bytes bytes and a 0 behind them; all
   other fields must be 0. Returns 1, or 0 after a fault, which `r` describes, or if
   there is no memory. */
int cli_trace_parse(cli_trace *trace, cli_reader *r);

/* Reads a file, or standard input if the name is "-". Returns 0 or an exit code, after
   printing an error that names file, line and column. */
int cli_trace_open(const char *name, cli_trace *trace);

/* Frees the arrays. A zeroed trace is allowed. */
void cli_trace_close(cli_trace *trace);

#endif /* CLI_TRACE_FILE_H */
