/* pipeline/site/site.h - who computes: a device, or the host; all that lasts from run to
   run.

   A site has a backend, lanes, slots for chunks in flight, and on a device the operand that
   stays there and packs of A. It is made for the chunks of a plan, and runs of that plan
   take place on it (run.h), one after the other. */
#ifndef HY_SITE_H
#define HY_SITE_H

#include "pipeline/load/load.h"
#include "pipeline/run/on_device.h"
#include "pipeline/site/slot.h"
#include "pipeline/site/tenant.h"

/* Room on the device in which parts of Y are transposed (transposed.h). */
typedef struct hy_transposed_y {
    size_t room;      /* bytes that are left for it, and for X as much; 0: none */
    hy_buffer buffer; /* had when it is first needed */
    int turns;        /* Y of this run is transposed so */
} hy_transposed_y;

typedef struct hy_site {
    hy_tenant tenant; /* first */
    hy_context *ctx;
    hy_backend *backend;
    hy_rates rates;
    const hy_stage *stages;
    hy_lane_set *lane_set;     /* lanes and watchers; NULL: the calling thread computes */
    hy_loader *loader; /* of B or X on the device; NULL if it is not resident */
    hy_pack_cache cache;  /* of A */
    hy_slot *slots;
    int depth;
    size_t slot_device, slot_pinned; /* bytes of one slot */
    size_t room;   /* bytes at most of what the device transposes or converts in */
    int lands; /* results of all runs stay on the device (hy_sink_ops.land) */
    hy_buffer device, pinned; /* of all slots */
    hy_transposed_y turned;
    hy_converted converted;
    int64_t down_ns; /* until when this run's copies down were counted that have no times */
    int failed;      /* a run did: lanes may be in any state */
} hy_site;

/* A lane set, `depth` slots for any of the chunks, whose results stay on the device if
   `lands`, and `shared_bytes` on the device.
   `early` may be NULL, or a loader of the backend, with
   so many bytes, that has begun with what the run will need: it and its lane set are the
   site's then. On failure nothing is held, and `early` is the caller's as before. */
hybrid_status hy_site_open(hy_backend *backend, const hy_rates *rates, hy_op op,
                           const hy_chunk *chunks, int64_t count, int depth, int lands,
                           size_t shared_bytes, hy_loader *early, hy_site **out);
void hy_site_close(hy_site *site); /* NULL is fine */

/* A run begins: the site works, and has the device memory again that it gave back while it
   rested. On failure it still works. */
hybrid_status hy_site_work(hy_site *site);

/* The run ended, or the plan is made and waits for its first run: other plans may have the
   transient device memory of the site. After a failure the site gives it back at once. */
void hy_site_rest(hy_site *site, hybrid_status status);

/* A run failed: wait for what lanes still do with the buffers of slots. The lane set will
   not be used again. */
void hy_site_drain(hy_site *site);

/* Whether the calling thread takes chunks through their stages itself, one after the other:
   in place and with one slot nothing goes on beside the loops of a chunk, so there is
   nobody to hand it to. */
static inline int hy_site_by_caller(const hy_site *site)
{
    return site->lane_set == NULL;
}

/* Whether it computes on host memory: nothing is copied. */
static inline int hy_site_in_place(const hy_site *site)
{
    return site->backend->ops->copy == NULL;
}

#endif /* HY_SITE_H */
