/* tests/support/products/undo.h - calls that fail in every possible way.

   After each failure the engine must hold no more memory than before. A failed check
   aborts the test. */
#ifndef UNDO_H
#define UNDO_H

#include "engine/api/engine.h"
#include "support/check/oracle.h"

/* HOST: the host without a cap. CAPPED: the host with a cap on its memory. DEVICE,
   DEVICES: one fake device, or three. */
typedef enum place { HOST, CAPPED, DEVICE, DEVICES, PLACES } place;

typedef struct world {
    hybrid_engine *engine;
    int on_device;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    oracle square;
    hybrid_file *file; /* contains A */
    hybrid_plan *plan, *dense,
        *kept;    /* live plans of A*A, A*X, and A*X with HYBRID_RESIDENT */
    int64_t asks; /* remaining calls of the caller's function before it ends the
                     product */
} world;

/* Create an engine with two workers at `where`. undo_open() also makes matrices, a file
   and live plans. */
void undo_open_engine(place where, hybrid_engine **engine);
void undo_open(world *w, place where);
void undo_close(world *w);

typedef struct call {
    const char *name; /* NULL ends a list */
    hybrid_status (*make)(world *);
} call;

/* Lists of calls: all products; products that hand rows to a function; products that
   allocate on a device; calls that make or read a matrix from the file of
   undo_write_text(). */
extern const call undo_products[], undo_handing[], undo_allocating[], undo_others[];
extern const call undo_read_text, undo_files, undo_dense_file;
void undo_write_text(const world *w);

/* Returns 1 when the caller's function must end the call. */
int undo_count_down(world *w);

typedef struct held {
    int64_t host, device, pinned;
    int64_t alive; /* blocks, lanes and marks of fake devices, without pinned pages,
                      because a call may pin existing pages of results */
} held;

held undo_held(const hybrid_engine *engine);
void undo_expect_no_more(const world *w, const held *before, const char *name);

/* One way to make a call fail. `arm` prepares the n-th failure. `disarm` cancels it and
   returns whether the call reached it. */
typedef struct way {
    void (*arm)(world *w, int64_t n);
    int (*disarm)(world *w);
} way;

/* The ways to fail: an allocation, a call of the device, a function of the caller that
   receives progress or rows, too little host memory, too little device memory. */
extern const way undo_by_memory, undo_by_backend, undo_by_progress, undo_by_rows,
    undo_by_host_cap, undo_by_device_cap;

/* Makes each call fail in the first, second, third ... way until no way is left, on an
   engine without cached memory and on one that has made the call before. */
void undo_fail_all(world *w, const call *calls, const way *how);

#endif /* UNDO_H */
