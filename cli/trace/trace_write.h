/* cli/trace/trace_write.h - the file of --trace: JSON, or a page for a browser. */
#ifndef CLI_TRACE_WRITE_H
#define CLI_TRACE_WRITE_H

#include "cli/output/outputs.h"
#include "hybrid_spmm.h"

/* Returns 1 if the trace will be written as a page for a browser, because the name ends
   in .html. */
int cli_trace_is_page(const char *name);

/* Writes the trace to a claimed output: a page if the output's name says so, else JSON.
   Returns 0 or an exit code. */
int cli_trace_write(hybrid_engine *engine, hybrid_trace *trace, cli_output *output);

/* Writes the page that shows the trace in the `bytes` bytes at `json` to a claimed
   output. Returns 0 or an exit code. */
int cli_trace_write_page(const char *json, size_t bytes, cli_output *output);

#endif /* CLI_TRACE_WRITE_H */
