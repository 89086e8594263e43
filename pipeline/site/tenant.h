/* pipeline/site/tenant.h - device memory that outlives a run, and its return in between.

   The site of a live plan is a tenant of its backend. While no run uses the site, it holds
   memory of two kinds:

     transient   Slots, room for B or X, rooms for transposing. Each run fills them anew, so
                 an idle tenant gives this memory to whoever needs it, and allocates it again
                 when its next run begins.
     lasting     Packs of A that stay from run to run (HYBRID_RESIDENT). The arrays that they
                 were made from may be gone, so they are never given back.

   A plan is cut for the memory that lasting packs of other tenants leave. In turn lasting
   packs of a new plan must leave every other tenant the transient memory that it needs. So
   every live plan can run, whatever other plans are live. */
#ifndef HY_TENANT_H
#define HY_TENANT_H

#include "base/contract/variant.h"

typedef struct hy_tenant hy_tenant;

/* Bytes of device memory of one tenant. */
typedef struct hy_tenancy {
    size_t held;      /* allocated now */
    size_t transient; /* most that a run needs besides lasting packs */
    size_t lasting;   /* of packs that stay */
} hy_tenancy;

typedef struct hy_tenant_ops {
    hy_tenancy (*bytes)(const hy_tenant *self);
    void (*leave)(hy_tenant *self); /* gives transient memory back to the backend */
} hy_tenant_ops;

struct hy_tenant {
    const hy_tenant_ops *ops;
    hy_backend *backend;
    hy_tenant *next;    /* in ctx->tenants, the tenant that worked last first */
    int works;          /* 1: is being opened or runs, and keeps what it has */
    hy_op op;           /* of its plan's product, as messages name it, */
    int64_t rows, cols; /* and the shape of A */
};

/* The tenant is made, or a run of it begins. */
void hy_tenant_work(hy_tenant *tenant);
/* The run ended. */
void hy_tenant_rest(hy_tenant *tenant);
/* The tenant is no more; one that never worked is fine. */
void hy_tenant_exit(hy_tenant *tenant);

/* Makes *room device memory of `bytes` bytes or more, unless it is that already. If there is
   not enough, idle tenants of the backend leave, the one that is idle for longest first. Fails
   with NO_DEVICE_MEMORY and a sentence that names the array (`what`) and the idle tenant that holds most. Called by the thread that makes the public call. */
hybrid_status hy_tenants_alloc(hy_backend *backend, size_t bytes, const char *what,
                               hy_buffer *room);

/* All idle tenants of the backend leave. From any thread if the backend computes in place,
   else from the thread that makes the public call. */
void hy_tenants_leave(hy_backend *backend);

/* Bytes of lasting packs on the backend, and the most transient bytes of one tenant. */
size_t hy_tenants_lasting(const hy_backend *backend);
size_t hy_tenants_transient(const hy_backend *backend);

/* Adds to the sentence of NO_DEVICE_MEMORY which idle tenant holds most,
   if there is one. */
hybrid_status hy_tenants_blame(const hy_backend *backend);

#endif /* HY_TENANT_H */
