/* engine/api/engine.h - what one engine holds. */
#ifndef HY_ENGINE_H
#define HY_ENGINE_H

#include <sys/types.h>

#include "base/threads/pool.h"
#include "engine/api/narrow.h"
#include "engine/rates/rates.h"
#include "engine/device/spaces.h"
#include "engine/tables/tables.h"

/* Sizes from which on a plan does more to be faster. */
enum {
    HY_PREFETCH_BYTES       = 1 << 20, /* less of B is there before planning misses it */
    HY_COUNTED_BYTES     = 32 << 20, /* workers have counted less of it sooner: of 2 M entries
                                        in 0.2 ms, the device in 0.7 when all had come */
    HY_HYPERSPARSE_BYTES = 16 << 20 /* X and Y: without rows that A leaves empty */
};

enum { HY_DEVICES_TEXT = HY_MOST_DEVICES * 128 };

struct hybrid_engine {
    hy_context ctx;
    pid_t process;                     /* that made it */
    hy_topology *topology;
    hy_backend *devices[HY_MOST_DEVICES]; /* GPUs, in the order in which they are listed; */
    int device_count;
    hy_backend *device; /* the first of them, or NULL */
    hy_backend *host;                  /* always there */
    hybrid_backend wanted;             /* as asked for */
    const hy_variant *const *variants; /* the table */
    char device_text[HY_DEVICES_TEXT]; /* what the devices are, or why none */
    char rates_path[HY_RATES_PATH];    /* file of measured speeds; "" = there is none */
    const struct hy_schedule *schedule; /* NULL; tests: of each plan, if it can be had */
    int64_t panels; /* 0; tests: panels of an X that fits, with the ring of columns as the
                       schedule, or in runs of other plans with X and Y pinned */
    size_t prefetch_bytes; /* a B of so many is sent before a one-shot plan is made, */
    size_t counted_bytes; /* and one of so many that is A is counted on the device, too */
    int64_t index_max; /* INT32_MAX; tests: less. Offsets of a C with so many entries fit 32
                          bits */
    int all_devices;  /* 0; tests: each that can computes a part of every product */
    int device_first; /* 0; tests: a product that fits the device is not the host's */
    int64_t hypersparse_bytes; /* X and Y of so many are sent without rows that A leaves
                                  empty */
    int64_t piece_bytes; /* 0; tests: of a panel of an A that is in a file, of rows of such a
                            B, and of operands that are read as a whole, at most */
    hy_narrow narrow; /* of the call under way */
    hy_spaces spaces; /* likewise */
    hybrid_report report; /* of the last run that finished; all zero: there was none */
    hybrid_trace_fn trace;
    void *trace_user;
    int64_t passes; /* over operands, that have begun: hybrid_event.pass */
};

/* What of a budget B or X takes at most, so that slots have the rest: usually; where A
   stays, or rows of A reach far; at all. */
typedef enum hy_allowance { HY_ALLOW, HY_ALLOW_MORE, HY_ALLOW_MOST } hy_allowance;

static inline size_t hy_allowed(size_t memory, hy_allowance part)
{
    static const size_t eighths[] = {4, 6, 7};
    return memory / 8 * eighths[part];
}

/* hybrid_engine_create() with other tables than the compiled ones: tests bring
   backends and variants of their own. `backends` ends with the host. */
hybrid_status hy_engine_open(const hybrid_engine_options *options,
                             const hy_backend_ops *const *backends,
                             const hy_variant *const *variants, hybrid_engine **out);

/* Whether this process has the engine from its parent, by fork(). Then the
   workers are missing, locks may be held by threads that are missing too, and the device is
   the parent's: nothing but reading is safe. */
int hy_engine_inherited(const hybrid_engine *engine);

/* Whether calls fail, and those that return nothing do nothing: in such a child, and from
   inside a function of the caller that is handed rows or progress. */
int hy_engine_barred(const hybrid_engine *engine);

/* A public call begins: the sentence of the last one goes. No engine, no call, and none
   where it is barred. */
hybrid_status hy_engine_begin(hybrid_engine *engine);

/* A public call ends; every call that may allocate ends here. Copies of narrowed or fetched
   operands go. If the call failed, memory that it made and the engine keeps goes too: the
   engine holds no more than before the call. Returns `status`. */
hybrid_status hy_engine_end(hybrid_engine *engine, hybrid_status status);

/* idle.c: the present call failed; what it made goes, and what earlier calls left stays. */
void hy_idle_undo(hybrid_engine *engine);

/* idle.c: hy_context.relieve. Idle plans and kept blocks of the host give memory back. */
void hy_idle_relieve(hy_context *ctx);

/* Returns the bytes of the host budget that results may take: free ones, and those of results
   that are kept although their owner freed them. INT64_MAX without a budget. */
int64_t hy_idle_host_left(const hybrid_engine *engine);

/* The backend on which products run unless a variant says otherwise. */
hy_backend *hy_engine_backend(const hybrid_engine *engine);

#endif /* HY_ENGINE_H */
