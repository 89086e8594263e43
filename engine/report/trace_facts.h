/* engine/report/trace_facts.h - the facts of a trace beside its events. */
#ifndef HY_TRACE_FACTS_H
#define HY_TRACE_FACTS_H

#include "engine/api/engine.h"
#include "engine/report/json_put.h"
#include "engine/report/timeline.h"

/* Writes the name of the counter of a device's memory to `name`: "GPU memory" for the
   first device, "GPU 1 memory" for the second, or "chunk buffers" if the engine has no
   device. */
void hy_trace_memory_name(const hybrid_engine *engine, int device, char *name,
                          size_t room);

/* Name of the counter of host memory, pinned memory included. */
#define HY_TRACE_HOST_MEMORY "host memory"

/* Writes the object `otherData`: the report of the engine's last run, if there was one,
   and `timeline`, with what viewers show beside the bars. docs/manual.md describes
   both. */
void hy_trace_facts(const hybrid_engine *engine, hy_timeline *t, hy_json *json);

#endif /* HY_TRACE_FACTS_H */
