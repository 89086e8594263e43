/* cli/trace_json.h - events to a timeline that ui.perfetto.dev opens. */
#ifndef CLI_TRACE_JSON_H
#define CLI_TRACE_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "hybrid_spmm.h"

/* What happened, in the order of its telling. Zeroed is empty. */
typedef struct cli_trace {
    hybrid_event *events;
    size_t count, capacity;
    int lost; /* there was no memory for an event */
} cli_trace;

/* The strings of an event are borrowed. */
void cli_trace_add(cli_trace *trace, const hybrid_event *event);
void cli_trace_free(cli_trace *trace);

/* Chrome Trace Event JSON, with what the run used of the machine in its metadata
   (otherData). Sorts the events. 0 or an exit code. */
int cli_trace_write(cli_trace *trace, const hybrid_report *report, FILE *file);

#endif /* CLI_TRACE_JSON_H */
