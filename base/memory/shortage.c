/* base/memory/shortage.c - writes the sentence that says that memory is too small. */
#include "base/memory/shortage.h"

#include <stdio.h>

#include "base/text/message.h"
#include "base/text/size_text.h"

/* Writes ": FACTS, and 3.0 MiB of the budget of 8.0 MiB is in use". */
static void put_state(const hy_shortage *s, char *out, size_t capacity)
{
    const char *facts = s->facts ? s->facts : "";
    const char   *and = s->facts ? ", and " : "";

    if (!s->meter) {
        snprintf(out, capacity, "%s%s", s->facts ? ": " : "", facts);
        return;
    }
    const hy_size_text used = hy_size(hy_meter_used(s->meter) - s->spare);
    const int64_t cap       = hy_meter_cap(s->meter);
    if (cap > 0)
        snprintf(out, capacity, ": %s%s%s of the budget of %s is in use", facts, and,
                 used.s, hy_size(cap).s);
    else
        snprintf(out, capacity, ": %s%s%s is in use", facts, and, used.s);
}

hybrid_status hy_short(struct hy_context *ctx, hybrid_status status, const hy_shortage *s)
{
    char state[256];

    put_state(s, state, sizeof state);
    return hy_fail(ctx, status, "cannot allocate %s%s of %s%s; %s%s [%s]",
                   s->bytes == INT64_MAX ? "more than " : "", hy_size(s->bytes).s,
                   s->memory, state, s->remedy, s->also ? s->also : "", s->what);
}

const char *hy_memory_remedy(const hy_memory *memory)
{
    return memory->strict ? "raise host_bytes (--host-memory)"
                          : "free some memory on this machine, or raise the memory "
                            "limit of the container or control group";
}

hybrid_status hy_memory_full(struct hy_context *ctx, const char *what, int64_t bytes,
                             const char *also)
{
    const hy_shortage s = {.memory = "host memory",
                           .what   = what,
                           .bytes  = bytes,
                           .meter  = &ctx->memory.meter,
                           .remedy = hy_memory_remedy(&ctx->memory),
                           .also   = also};

    return hy_short(ctx, HYBRID_NO_MEMORY, &s);
}

hybrid_status hy_memory_refused(struct hy_context *ctx, const char *what, int64_t bytes,
                                const char *reason)
{
    const hy_shortage s = {.memory = "host memory",
                           .what   = what,
                           .bytes  = bytes,
                           .meter  = &ctx->memory.meter,
                           .facts  = reason ? reason : "the system refuses it",
                           .remedy = "free some memory on this machine, or raise the "
                                     "limits of this process (ulimit -v)"};

    return hy_short(ctx, HYBRID_NO_MEMORY, &s);
}

hybrid_status hy_address_space_full(struct hy_context *ctx, const char *what,
                                    int64_t bytes, const char *reason)
{
    const hy_shortage s = {.memory = "address space",
                           .what   = what,
                           .bytes  = bytes,
                           .facts  = reason ? reason : "the system refuses it",
                           .remedy = "raise the limit (ulimit -v)"};

    return hy_short(ctx, HYBRID_NO_MEMORY, &s);
}
