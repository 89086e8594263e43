/* tests/support/products/undo.h - calls that fail in every possible way.

   After each failure the engine must hold no more memory than before, and all loops must
   have ended. A failed check aborts the test. */
#ifndef UNDO_H
#define UNDO_H

#include "engine/api/engine.h"
#include "support/check/oracle.h"

/* Where the engine computes. HOST: on the host, without a cap on memory. CAPPED: on the
   host, with a cap. DEVICE: on a fake device. DEVICES: on three fake devices. */
typedef enum place { HOST, CAPPED, DEVICE, DEVICES, PLACES } place;

typedef struct world {
    hybrid_engine *engine;
    int on_device;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    oracle square;
    hybrid_file *file; /* an open file that contains A */
    hybrid_plan *plan, *dense,
        *kept;    /* three plans made before the failures: of A*A, of A*X, and of A*X
                     with HYBRID_RESIDENT */
    int64_t asks; /* how many more times the caller's function (for progress or rows) is
                     called until it ends the product */
} world;

/* Create an engine with two workers at `where`. undo_open() also makes matrices, a file
   and live plans. */
void undo_open_engine(place where, hybrid_engine **engine);
void undo_open(world *w, place where);
void undo_close(world *w);

typedef struct call {
    const char *name; /* name in messages; NULL ends a list of calls */
    hybrid_status (*make)(world *);
} call;

/* Lists of calls: all products; products that hand rows to a function; products that
   allocate on a device; calls that make or read a matrix from the file of
   undo_write_text(). */
extern const call undo_products[], undo_handing[], undo_allocating[], undo_others[];
extern const call undo_read_text, undo_files, undo_dense_file;
void undo_write_text(const world *w);

/* The caller's function for progress or rows calls undo_count_down(), and ends the
   product if it returns 1. */
int undo_count_down(world *w);

typedef struct held {
    int64_t host, device, pinned;
    int64_t alive; /* memory blocks, lanes and marks of fake devices that exist; without
                      pinned pages of results, which a call may add and keep */
    int loops; /* loops that were begun (hy_pool_begin()) and not ended */
} held;

held undo_held(const hybrid_engine *engine);
void undo_expect_no_more(const world *w, const held *before, const char *name);

/* One way to make a call fail. arm() prepares the n-th failure, counted from 1. disarm()
   cancels it and returns 1 if the call reached it, else 0. */
typedef struct way {
    void (*arm)(world *w, int64_t n);
    int (*disarm)(world *w);
} way;

/* The ways to fail: an allocation fails; a call of the fake device fails; the caller's
   function for progress, or for rows, ends the call; host memory, or device memory, is
   capped at too few bytes. */
extern const way undo_by_memory, undo_by_backend, undo_by_progress, undo_by_rows,
    undo_by_host_cap, undo_by_device_cap;

/* Makes each call of the list fail by the first, second, third ... failure of `how` until
   the call does not reach it: on an engine that has made the call before, and on one
   without cached memory. Checks that each failure leaves no memory behind, and that there
   are more than four in all. */
void undo_fail_all(world *w, const call *calls, const way *how);

#endif /* UNDO_H */
