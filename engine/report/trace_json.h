/* engine/report/trace_json.h - writes a trace as Chrome Trace Event JSON. */
#ifndef HY_TRACE_JSON_H
#define HY_TRACE_JSON_H

#include "hybrid_spmm.h"

/* Sorts the events by time and writes them as JSON, with the report of the engine's last
   run if there was one. */
hybrid_status hy_trace_json(hybrid_engine *engine, hybrid_event *events, size_t count,
                            const char *path);

#endif /* HY_TRACE_JSON_H */
