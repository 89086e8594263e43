/* pipeline/site/tenant.h - device memory that outlives a run, and how it is given back.

   The site of a live plan is a tenant of its backend. While no run uses the site, it
   holds memory of two kinds:

       transient   Slots, B or X, and rooms for transposing. Each run fills them anew, so
                   an idle tenant gives this memory to a site that needs it, and
                   allocates it again when its next run begins.
       lasting     Cached packs of a resident A (HYBRID_RESIDENT). They are never given
                   back, because the arrays that they were made from may be gone.

   A plan is cut for the memory that lasting packs of other tenants leave, and its own
   lasting packs must leave every other tenant the transient memory that it needs. Every
   live plan can therefore run, whatever other plans are live. */
#ifndef HY_TENANT_H
#define HY_TENANT_H

#include "base/contract/variant.h"

typedef struct hy_tenant hy_tenant;

/* Bytes of device memory of one tenant. */
typedef struct hy_tenancy {
    size_t held;      /* bytes that the tenant has allocated now */
    size_t transient; /* largest number of bytes that a run needs besides lasting packs */
    size_t lasting;   /* bytes of cached packs that stay from run to run */
} hy_tenancy;

typedef struct hy_tenant_ops {
    hy_tenancy (*bytes)(const hy_tenant *self);
    void (*leave)(hy_tenant *self); /* gives the tenant's transient memory back to the
                                       backend */
} hy_tenant_ops;

struct hy_tenant {
    const hy_tenant_ops *ops;
    hy_backend *backend;
    hy_tenant *next;    /* next tenant in ctx->tenants; its first tenant worked last */
    int works;          /* 1: the site is opened or in a run, and keeps its memory */
    hy_op op;           /* kind of product that its plan computes, for messages */
    int64_t rows, cols; /* shape of A, for messages */
};

/* Called when the tenant is made, and when a run of its site begins. From now on the
   tenant keeps its memory, and it becomes the first in ctx->tenants. Waits, as
   hy_tenant_exit() does, while another thread lets idle tenants give memory back. */
void hy_tenant_work(hy_tenant *tenant);
/* Called when a run has ended: other plans may take the tenant's transient memory. */
void hy_tenant_rest(hy_tenant *tenant);
/* Called when the tenant is closed; a tenant that never worked is allowed. */
void hy_tenant_exit(hy_tenant *tenant);

/* Allocates *room, device memory of at least `bytes` bytes, unless it is large enough
   already. If memory is short, idle tenants of the backend give their transient memory
   back, first the one that has been idle for longest. NO_DEVICE_MEMORY names the array
   (`what`) and the idle tenant that holds most. Only the thread of the public call may
   call this function. */
hybrid_status hy_tenants_alloc(hy_backend *backend, size_t bytes, const char *what,
                               hy_buffer *room);

/* Makes all idle tenants of the backend give their transient memory back. If the backend
   computes in place, any thread may call this function, else only the thread of the
   public call. */
void hy_tenants_leave(hy_backend *backend);

/* hy_tenants_lasting() returns the bytes of lasting packs of all tenants of the backend.
   hy_tenants_transient() returns the largest transient memory of one tenant. */
size_t hy_tenants_lasting(const hy_backend *backend);
size_t hy_tenants_transient(const hy_backend *backend);

/* Appends the idle tenant that holds most memory, if any, to the sentence of
   NO_DEVICE_MEMORY. */
hybrid_status hy_tenants_blame(const hy_backend *backend);

#endif /* HY_TENANT_H */
