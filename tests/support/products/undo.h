/* tests/support/products/undo.h - calls that fail in each way, after which the engine
   holds no more than before. Failures abort the test. */
#ifndef UNDO_H
#define UNDO_H

#include "engine/api/engine.h"
#include "support/check/oracle.h"

/* HOST: without a cap; CAPPED: with a cap on host memory; else one fake device, or three. */
typedef enum place { HOST, CAPPED, DEVICE, DEVICES, PLACES } place;

typedef struct world {
    hybrid_engine *engine;
    int on_device;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    oracle square;
    hybrid_file *file; /* A */
    hybrid_plan *plan, *dense,
        *kept;    /* live: of A*A, of A*X, of A*X with HYBRID_RESIDENT */
    int64_t asks; /* left until the function of the caller ends the call */
} world;

/* An engine of two workers there, and matrices, a file and live plans for calls. */
void undo_open_engine(place where, hybrid_engine **engine);
void undo_open(world *w, place where);
void undo_close(world *w);

typedef struct call {
    const char *name; /* NULL ends a list */
    hybrid_status (*make)(world *);
} call;

/* Products; those of them that hand rows to a function; those that allocate on a device; and
   calls that make or read a matrix, of the file that undo_write_text() wrote. */
extern const call undo_products[], undo_handing[], undo_allocating[], undo_others[];
extern const call undo_read_text, undo_files, undo_dense_file;
void undo_write_text(const world *w);

/* 1 if the function of the caller is to end the call. */
int undo_count_down(world *w);

typedef struct held {
    int64_t host, device, pinned;
    int64_t alive; /* blocks, lanes and marks of fake devices. Pages of results that a call
                      found may have become pinned */
} held;

held undo_held(const hybrid_engine *engine);
void undo_expect_no_more(const world *w, const held *before, const char *name);

/* One way to let a call fail: `arm` prepares the n-th failure, `disarm` takes it back and
   returns whether the call met it. */
typedef struct way {
    void (*arm)(world *w, int64_t n);
    int (*disarm)(world *w);
} way;

/* An allocation, a call of the device, a function of the caller that is told progress or
   handed rows; too little host or device memory. */
extern const way undo_by_memory, undo_by_backend, undo_by_progress, undo_by_rows,
    undo_by_host_cap, undo_by_device_cap;

/* Each call fails in the first, second, third ... way until none is left, on an engine that
   keeps nothing and on one that has made the call before. */
void undo_fail_all(world *w, const call *calls, const way *how);

#endif /* UNDO_H */
