/* engine/report/reading.c - tells the caller's trace what a thread has read from a file.
 */
#include "engine/report/reading.h"

void hy_tell_reading(const hybrid_engine *engine, const hy_reading *r)
{
    if (r->begin_ns == 0 || !engine->trace)
        return;
    const hybrid_event event = {.stage      = "read",
                                .variant    = "",
                                .lane       = r->lane,
                                .chunk      = -1,
                                .row_begin  = r->row_begin,
                                .row_end    = r->row_end,
                                .begin_ns   = r->begin_ns,
                                .end_ns     = r->end_ns,
                                .bytes      = r->bytes,
                                .host_bytes = hy_meter_used(&engine->ctx.memory.meter),
                                .parts      = 1,
                                .pass       = engine->passes,
                                .bound      = HYBRID_RESOURCES};
    engine->trace(engine->trace_user, &event);
}
