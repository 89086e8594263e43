/* pipeline/site/site.h - a device, or the host, with what it keeps from run to run, and
   its part in the present run.

   A site has a backend, lanes and slots for chunks in flight. On a device it also holds B
   or X and cached packs of A. It is made for the chunks of a plan, and the runs of that
   plan (run.h) use it one after the other. In a run the site is a device, or the host,
   which computes all rows or takes rows of devices. */
#ifndef HY_SITE_H
#define HY_SITE_H

#include "partition/pattern/chunks.h"
#include "pipeline/load/load.h"
#include "pipeline/run/on_device.h"
#include "pipeline/site/slot.h"
#include "pipeline/site/tenant.h"

/* Device memory in which parts of Y are transposed (transposed.h). */
typedef struct hy_transposed_y {
    size_t room;      /* maximum bytes of device memory for transposing Y, and as many for
                         X; 0: the device does not transpose */
    hy_buffer buffer; /* device memory, allocated when a run first needs it */
    int active;       /* 1: the device transposes Y in the present run */
} hy_transposed_y;

/* How a site takes rows of other sites, in pieces that its slots hold. Work is scalar
   products plus rows. */
typedef struct hy_taking {
    const hy_variant *variant; /* computes the pieces; NULL: the site takes no rows */
    int64_t products, rows;    /* maximum scalar products and maximum rows of a piece. A
                                  piece of one row may have more scalar products. */
    double share;              /* share of all work that the site takes, 0 to 1; below 0:
                                  the share that makes the run shortest */
} hy_taking;

/* Measured speed of a site. */
typedef struct hy_pace {
    int64_t flying;  /* work (scalar products plus rows) of rows that the site has claimed
                        and not finished */
    int64_t timed;   /* work finished between first_ns and last_ns, the times at which the
                        site finished its first and its latest chunk */
    int64_t first_ns, last_ns;
} hy_pace;

struct hy_run;

typedef struct hy_site {
    hy_tenant tenant; /* must be first: its functions cast the tenant to the site */
    hy_context *ctx;
    hy_backend *backend;
    hy_rates rates;
    const hy_stage *stages;
    hy_lane_set *lane_set;     /* lanes and watchers; NULL: the calling thread does all
                                  stages */
    hy_loader *loader; /* loader of B or X; NULL if neither is kept on the device */
    hy_pack_cache cache;  /* cached packs of A */
    hy_slot *slots;
    int depth; /* number of slots, the maximum number of chunks in flight */
    size_t slot_device, slot_pinned; /* bytes of one slot on the device and in pinned
                                        memory */
    size_t room;   /* limit of the device memory in which operands and results are
                      transposed and converted, in bytes; both rooms for X and Y are
                      included */
    int lands; /* 1: the results of all runs stay in device memory (hy_sink_ops.land) */
    hy_buffer device, pinned; /* memory of all slots */
    int64_t pin_begin_ns, pin_end_ns; /* time in which pinned memory was allocated, as from
                                         hy_now_ns() */
    hy_transposed_y transposed;
    hy_converted converted;
    int64_t down_ns; /* copies to the host whose marks have no times: end of the last one
                        that this run has counted, as from hy_now_ns() */
    int failed;      /* 1: a run has failed, and lanes may be in any state */

    /* the site's part in a run, which the caller of the run sets */
    hy_image image;     /* how B or X lies on the site */
    hy_chunk_list list; /* chunks of the site's own cut; empty: the site has no rows of
                           its own */
    hy_chunk_list planned; /* chunks whose numbers are estimates, from which the run makes
                              the list (pipeline/run/refine.h); empty: the list is the
                              plan's */
    int64_t begin, end; /* rows [begin, end) that the site owns, a part of the list's
                           rows; all rows if sites claim in order (queue.h) */
    hy_taking taking;   /* how the site takes rows of other sites */
    double rate;        /* predicted speed of the site: scalar products plus rows per
                           second */
    int64_t up;         /* predicted bytes that the site's chunks send to the device */

    /* The queue (queue.h) sets the fields from here to `piece`. */
    int index;          /* index among the queue's sites */
    int64_t next, stop; /* own chunks that are left: indices [next, stop) of the list */
    int64_t row_begin,
        row_end;     /* own rows that are left: [row_begin, row_end). The range begins in
                        the first of the chunks [next, stop) and ends in the last */
    int64_t left;    /* work (scalar products plus rows) of own rows that no site has
                        claimed */
    int64_t taken;   /* work that this site has taken from other sites */
    int64_t ceded;   /* work that other sites have taken from this site */
    hy_pace pace;
    hy_chunk piece; /* rows that this site has taken from another and not begun; may be
                       empty */

    /* The driver (driver.h) sets the fields from here on. */
    struct hy_run *run;
    int64_t begun;      /* number of chunks that the site has begun */
    int64_t next_lane;  /* hy_slot.sequence of the chunk that may enter the lanes next */
    int64_t finished;   /* number of chunks that the site has finished */
    hy_problem problem; /* the run's problem, with the sources and the image of this site */
    hy_problem gathering; /* the run's problem for chunks that bring their rows of B
                             although B passes through a ring (hy_exact_gathers()) */
} hy_site;

/* Describes a site to be opened. Pointers are borrowed until hy_site_open() returns. */
typedef struct hy_site_spec {
    hy_backend *backend;
    const hy_rates *rates;
    hy_op op;
    int64_t rows, cols;     /* shape of A, for messages */
    const hy_chunk *chunks; /* chunks that the slots must hold */
    int64_t count;          /* number of chunks */
    int depth;              /* number of slots */
    int lands;              /* 1: results stay on the device (hy_site.lands) */
    int lasts;              /* 1: cached packs of A stay on the device between runs */
    size_t image_room;      /* bytes of device memory for B or X; 0: no loader is
                               opened */
    size_t transposed_room; /* bytes of device memory for transposing Y, and as many for
                               X */
    size_t room;            /* limit of hy_site.room, in bytes */
    hy_loader *prefetcher;  /* NULL, or a loader of the backend with `image_room` bytes of
                               memory that has begun to load B */
} hy_site_spec;

/* Opens a site: takes a lane set, makes slots, and allocates device memory. The site
   takes over spec->prefetcher and its lane set. hy_sites_pin() must follow. After a
   failure the site holds nothing, and the prefetcher still belongs to the caller. */
hybrid_status hy_site_open(const hy_site_spec *spec, hy_site **out);
void hy_site_close(hy_site *site); /* does nothing if site is NULL */

/* Allocates the pinned memory of sites that were opened (pinning.c). Each site allocates
   it in a thread of its own, on its NUMA node, at the same time as the others. The status
   and the sentence are those of the first site that fails. */
hybrid_status hy_sites_pin(hy_site *const *sites, int count);

/* Called when a run begins: allocates the device memory again that the site gave back
   while it was idle. From now on the site counts as working, even after a failure. */
hybrid_status hy_site_work(hy_site *site);

/* Called when a run has ended, or when the plan has been made: from then on, other plans
   may take the site's transient device memory (tenant.h). After a failed run, the site
   gives this memory back at once. */
void hy_site_rest(hy_site *site, hybrid_status status);

/* Called after a failed run: waits until lanes no longer use the buffers of slots. When
   the site is closed, its lanes, marks and threads are closed, too, and not pooled. */
void hy_site_drain(hy_site *site);

/* Returns 1 if the calling thread takes each chunk through all stages itself: the site
   has one slot and computes in place, so no work could overlap. */
static inline int hy_site_by_caller(const hy_site *site)
{
    return site->lane_set == NULL;
}

/* Returns 1 if the backend computes on host memory, so that no operand is copied. */
static inline int hy_site_in_place(const hy_site *site)
{
    return site->backend->ops->copy == NULL;
}

#endif /* HY_SITE_H */
