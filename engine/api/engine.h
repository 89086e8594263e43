/* engine/api/engine.h - the state of an engine. */
#ifndef HY_ENGINE_H
#define HY_ENGINE_H

#include <sys/types.h>

#include "base/threads/pool.h"
#include "engine/api/narrow.h"
#include "engine/rates/rates.h"
#include "engine/api/settings.h"
#include "engine/device/recall.h"
#include "engine/device/spaces.h"
#include "engine/tables/tables.h"

enum {
    HY_DEVICES_TEXT = HY_MAX_DEVICES * 128,
    HY_PATH_BYTES   = 4096 /* maximum bytes of spill_path, with its final 0 */
};

struct hybrid_engine {
    hy_context ctx;
    pid_t process; /* id of the process that made the engine; another after fork() */
    hy_topology *topology;
    hy_backend *devices[HY_MAX_DEVICES];  /* GPUs, in the order of the options */
    int device_count;
    int relays;          /* 1: several devices, each can read the memory of all others */
    hy_backend *device;                /* first GPU, or NULL */
    int64_t opening_bytes; /* bytes by which the resident memory of the process grew while
                              the devices opened; 0 without devices */
    hy_backend *host;                  /* the CPU, never NULL */
    hybrid_backend wanted;             /* backend that the options of the engine name */
    const hy_variant *const *variants; /* all variants that the engine may use, ended by
                                          NULL */
    char device_text[HY_DEVICES_TEXT]; /* names of the devices, or why there is none */
    char left_out[HY_DEVICES_TEXT];    /* why devices of the options did not open, with
                                          devices_optional; "" if all opened */
    char spill_path[HY_PATH_BYTES];    /* folder for temporary files (ctx.spill_path) */
    hy_rates_source rates;             /* file from which measured speeds were taken */
    const hy_settings *settings;       /* NULL: hy_usual_settings; set by tests only */
    hy_narrow narrow;                  /* copies with 32-bit column indices of operands
                                          that have 64-bit ones; for the current call */
    hy_spaces spaces;                  /* which operands and results of the current call
                                          are in device memory, with views of these
                                          operands */
    hy_recall recall;                  /* recent one-shot calls on a device, with their
                                          plans */
    hybrid_report report;              /* report of the last finished run; zero before the
                                          first */
    hybrid_trace_fn trace;
    void *trace_user;
    int64_t passes; /* number of passes over operands begun so far; the next one has this
                       number in hybrid_event.pass */
};

/* Share of the memory budget that B or X may take; slots take the rest. HY_ALLOW is 4
   eighths, HY_ALLOW_MORE 6 and HY_ALLOW_MOST 7. A schedule that finds no layout with one
   share tries the next. */
typedef enum hy_allowance { HY_ALLOW, HY_ALLOW_MORE, HY_ALLOW_MOST } hy_allowance;

static inline size_t hy_allowed(size_t memory, hy_allowance part)
{
    static const size_t eighths[] = {4, 6, 7};
    return memory / 8 * eighths[part];
}

/* Returns the settings of the engine: hy_usual_settings, unless a test has set others. */
static inline const hy_settings *hy_settings_of(const hybrid_engine *engine)
{
    return engine->settings ? engine->settings : &hy_usual_settings;
}

/* Opens an engine as hybrid_engine_create() does, with other tables. Tests pass their own
   backends and variants. `backends` ends with the host. */
hybrid_status hy_engine_open(const hybrid_engine_options *options,
                             const hy_backend_ops *const *backends,
                             const hy_variant *const *variants, hybrid_engine **out);

/* Returns 1 if fork() made this process after the engine was made. Then workers do not
   exist, threads that do not exist may hold locks, and the device belongs to the parent.
   Only reading is safe. */
int hy_engine_inherited(const hybrid_engine *engine);

/* Returns 1 in a forked child, and inside a callback for rows or progress. Calls then
   must fail; calls without a status must do nothing. */
int hy_engine_barred(const hybrid_engine *engine);

/* Begins a call and clears the last message. Fails if the engine is NULL or barred. */
hybrid_status hy_engine_begin(hybrid_engine *engine);

/* Ends a public call and returns `status`. Every call that may allocate must end with
   this function. It frees the copies of narrowed operands and of operands in device
   memory. After an error it also frees pooled memory that the call has allocated, so that
   the engine holds no more than before. */
hybrid_status hy_engine_end(hybrid_engine *engine, hybrid_status status);

/* devices.c: opens the devices that the options ask for. An engine without a device is no
   error unless the options demand one; engine->device_text then says why there is none.
   After an error, devices that did open are open. */
hybrid_status hy_devices_open(hybrid_engine *engine, const hybrid_engine_options *options,
                              const hy_backend_ops *const *backends);

/* devices.c: closes all devices. */
void hy_devices_close(hybrid_engine *engine);

/* idle.c: frees pooled memory that the current call has allocated. Used after a failed
   call. */
void hy_idle_undo(hybrid_engine *engine);

/* idle.c: frees the workspaces of CPU workers that grew in call number `since`
   (hy_context.call) or later; 0: all. Nothing may be computing. */
void hy_idle_free_workspaces(const hybrid_engine *engine, int64_t since);

/* idle.c: the function hy_context.relieve, which frees memory of idle plans and of the
   host's pool. */
void hy_idle_relieve(hy_context *ctx);

/* Returns the bytes of the host budget that results may take: free bytes, and pages of
   freed results in the pool. INT64_MAX without a budget. */
int64_t hy_idle_host_left(const hybrid_engine *engine);

/* Returns the first device, or the host if the engine has no device. */
hy_backend *hy_engine_backend(const hybrid_engine *engine);

#endif /* HY_ENGINE_H */
