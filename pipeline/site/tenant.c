/* pipeline/site/tenant.c - device memory that outlives a run, and how it is given
   back. */
#include "pipeline/site/tenant.h"

#include "pipeline/site/lane_set.h"

#include <stdio.h>

#include "base/text/size_text.h"

/* ---- the list --------------------------------------------------------------------- */

static void take_out(hy_context *ctx, const hy_tenant *tenant)
{
    hy_tenant **link = &ctx->tenants;

    while (*link && *link != tenant)
        link = &(*link)->next;
    if (*link)
        *link = tenant->next;
}

/* Waits until no other thread lets idle tenants leave (hy_context.relief_lock): it may be
   freeing the memory of this one. Then takes the tenants' lock. */
static void lock_all(hy_context *ctx)
{
    pthread_mutex_lock(&ctx->relief_lock);
    pthread_mutex_lock(&ctx->tenants_lock);
}

static void unlock_all(hy_context *ctx)
{
    pthread_mutex_unlock(&ctx->tenants_lock);
    pthread_mutex_unlock(&ctx->relief_lock);
}

void hy_tenant_exit(hy_tenant *tenant)
{
    hy_context *ctx = tenant->backend->ctx;

    lock_all(ctx);
    take_out(ctx, tenant);
    unlock_all(ctx);
}

void hy_tenant_work(hy_tenant *tenant)
{
    hy_context *ctx = tenant->backend->ctx;

    lock_all(ctx);
    take_out(ctx, tenant);
    tenant->next  = ctx->tenants;
    ctx->tenants  = tenant;
    tenant->works = 1;
    unlock_all(ctx);
}

static void set_works(hy_tenant *tenant, int works)
{
    hy_context *ctx = tenant->backend->ctx;

    pthread_mutex_lock(&ctx->tenants_lock);
    tenant->works = works;
    pthread_mutex_unlock(&ctx->tenants_lock);
}

void hy_tenant_rest(hy_tenant *tenant)
{
    set_works(tenant, 0);
}

/* ---- leaving ---------------------------------------------------------------------- */

/* Returns the idle tenant of the backend that worked longest ago among those that hold
   transient memory, and marks it as working; NULL if there is none. */
static hy_tenant *take_idle(hy_backend *backend)
{
    hy_context *ctx = backend->ctx;
    hy_tenant *last = NULL;

    pthread_mutex_lock(&ctx->tenants_lock);
    for (hy_tenant *t = ctx->tenants; t; t = t->next) {
        if (t->backend != backend || t->works)
            continue;
        const hy_tenancy b = t->ops->bytes(t);
        if (b.held > b.lasting)
            last = t;
    }
    if (last)
        last->works = 1;
    pthread_mutex_unlock(&ctx->tenants_lock);
    return last;
}

/* Lets an idle tenant give transient memory back. Called without the tenants' lock:
   giving memory back takes locks of the backend, whose holder may be waiting for the
   tenants' lock. Returns 0 if no idle tenant holds transient memory. */
static int leave_one(hy_backend *backend)
{
    hy_tenant *tenant = take_idle(backend);

    if (!tenant)
        return 0;
    tenant->ops->leave(tenant);
    set_works(tenant, 0);
    return 1;
}

void hy_tenants_leave(hy_backend *backend)
{
    while (leave_one(backend))
        ;
}

/* Returns 1 if memory of the backend is short. A backend that computes in place may run
   out of host memory instead of device memory. */
static int is_short(const hy_backend *backend, hybrid_status status)
{
    return status == HYBRID_NO_DEVICE_MEMORY ||
           (status == HYBRID_NO_MEMORY && !backend->ops->copy);
}

hybrid_status hy_tenants_alloc(hy_backend *backend, size_t bytes, const char *what,
                               hy_buffer *room)
{
    const hy_backend_ops *ops = backend->ops;

    if (bytes == 0 || (room->ptr && room->bytes >= bytes))
        return HYBRID_OK;
    ops->free(backend, room);
    hybrid_status status = ops->alloc(backend, HY_DEVICE, bytes, what, room);
    while (is_short(backend, status) && leave_one(backend)) {
        hy_message_clear(&backend->ctx->message);
        status = ops->alloc(backend, HY_DEVICE, bytes, what, room);
    }
    if (status == HYBRID_NO_DEVICE_MEMORY) { /* free blocks in the backend's pool may
                                                occupy the missing memory */
        hy_message_clear(&backend->ctx->message);
        hy_lane_sets_trim(backend->ctx, 0);
        ops->trim(backend, 0);
        status = ops->alloc(backend, HY_DEVICE, bytes, what, room);
    }
    return status == HYBRID_NO_DEVICE_MEMORY ? hy_tenants_blame(backend) : status;
}

/* ---- who holds what --------------------------------------------------------------- */

size_t hy_tenants_lasting(const hy_backend *backend)
{
    size_t sum = 0;

    for (const hy_tenant *t = backend->ctx->tenants; t; t = t->next)
        if (t->backend == backend)
            sum += t->ops->bytes(t).lasting;
    return sum;
}

size_t hy_tenants_transient(const hy_backend *backend)
{
    size_t most = 0;

    for (const hy_tenant *t = backend->ctx->tenants; t; t = t->next)
        if (t->backend == backend)
            most = hy_larger(most, t->ops->bytes(t).transient);
    return most;
}

/* Returns the idle tenant that holds most device memory, or NULL. The memory of working
   tenants is in use. */
static const hy_tenant *find_largest(const hy_backend *backend)
{
    const hy_tenant *largest = NULL;
    size_t most              = 0;

    for (const hy_tenant *t = backend->ctx->tenants; t; t = t->next) {
        const int rests   = t->backend == backend && !t->works;
        const size_t held = rests ? t->ops->bytes(t).held : 0;
        if (held > most) {
            most    = held;
            largest = t;
        }
    }
    return largest;
}

hybrid_status hy_tenants_blame(const hy_backend *backend)
{
    const hy_tenant *holder = find_largest(backend);
    hy_context *ctx         = backend->ctx;
    char said[HY_MESSAGE_BYTES];

    if (!holder)
        return HYBRID_NO_DEVICE_MEMORY;
    snprintf(said, sizeof said, "%s", ctx->message.text);
    hy_message_clear(&ctx->message);
    return hy_fail(
        ctx, HYBRID_NO_DEVICE_MEMORY,
        "%s; or destroy the plan of %s %lld x %lld, which holds %s of the budget of %s",
        said, holder->op == HY_SPGEMM ? "spgemm" : "spmm", (long long)holder->rows,
        (long long)holder->cols, hy_size((int64_t)holder->ops->bytes(holder).held).s,
        hy_size(backend->device.cap).s);
}
