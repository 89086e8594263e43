/* engine/device/spaces.h - operands in the memory of a device, and results that stay
   there.

   The device that holds the operands computes the product. The layers below work with a
   view of a sparse operand: its offsets are in host memory, where planning and cutting
   read them; its values stay on the device. A call that plans copies the columns, too.
   The copies live until the call ends (hy_engine_end()); a plan keeps its offsets. */
#ifndef HY_SPACES_H
#define HY_SPACES_H

#include "base/contract/source.h"

enum { HY_SPACES_MOST = 2 }; /* maximum number of sparse operands of a call */
enum { HY_SPACES_SEEN = 8 };
enum { HY_SPACES_PIECE = 32 << 20 };

typedef struct hy_spaces {
    /* Context and list of devices, which belong to the engine. */
    hy_context *ctx;
    hy_backend *const *devices;
    const int *device_count;
    const char *why;    /* sentence that says why the engine has no device */
    hy_backend *device; /* device whose memory has operands or the result of the current
                           call; NULL if there is none */
    int is_bound;       /* 1: `device` must compute, because its memory has an operand
                           that is not managed memory; 0: another device could compute */
    void *stream;       /* the caller's CUDA stream, kept from call to call */
    const hybrid_csr *from[HY_SPACES_MOST]; /* operands in device memory */
    hybrid_csr of[HY_SPACES_MOST];          /* views of the operands in `from` */
    /* for each operand, copies of its offsets and columns in host memory, or NULL */
    void *offsets[HY_SPACES_MOST], *columns[HY_SPACES_MOST];
    int count;
    int64_t fetched; /* bytes of offsets and columns that the current call has copied to
                        the host */
    size_t piece;    /* maximum bytes of one copy to the host, which takes some
                        milliseconds; progress is reported between copies */
    const void *host[HY_SPACES_SEEN]; /* ring of addresses that were found in host memory;
                                         a query to the driver would take about 1 us for
                                         each */
    unsigned seen;                    /* number of addresses stored in `host` so far,
                                         including overwritten ones */
} hy_spaces;

/* Initialises the spaces of an engine with these devices. */
void hy_spaces_init(hy_spaces *spaces, hy_context *ctx, hy_backend *const *devices,
                    const int *device_count, const char *why);

/* Check that the operand is where its `space` says: in host memory, or in the memory of a
   device of the engine. All operands of a call in device memory must be on one device.
   The caller must have checked the operand's sizes and types. Empty arrays may be
   anywhere. */
hybrid_status hy_spaces_csr(hy_spaces *spaces, const hybrid_csr *A, const char *name);
hybrid_status hy_spaces_dense(hy_spaces *spaces, const hybrid_dense *X, const char *name);

/* If every array of the call in device memory is managed memory, makes `there` the
   device of the call. `there` is the device of the plan that is to run, or NULL. */
void hy_spaces_planned(hy_spaces *spaces, hy_backend *there);

/* If an operand is in device memory, waits until all work in the caller's stream is done.
   Reports progress meanwhile; the caller's function may end the call. */
hybrid_status hy_spaces_wait(hy_spaces *spaces);

/* Returns the space of an array for which the caller named none (hybrid_spmv()). Memory
   of a device that the engine does not use counts as host memory here, so that
   hy_spaces_dense() refuses it. */
hybrid_space hy_spaces_find(const hy_spaces *spaces, const void *ptr);

/* Pauses before a device is asked again whether it is done, after `waited_ns`
   nanoseconds of waiting. */
void hy_spaces_rest(int64_t waited_ns);

/* Sets options->split so that the device that holds operands or the result computes
   alone. If only the options ask for device memory, that is the first device. Does
   nothing if all matrices are in host memory. Fails if the engine has no such device, or
   if options->split gives the host work. `of_dense`: 1 for SpMM; 0 if options->x_space
   has no meaning. */
hybrid_status hy_spaces_options(hy_spaces *spaces, int of_dense,
                                hybrid_plan_options *options);

/* If A is in device memory, replaces *A by its view. hy_spaces_fetch() copies offsets and
   columns to the host; hy_spaces_view() uses the offsets of a plan. */
hybrid_status hy_spaces_fetch(hy_spaces *spaces, const hybrid_csr **A);
void hy_spaces_view(hy_spaces *spaces, const hybrid_csr **A, void *offsets,
                    hybrid_index type);

/* Returns the operand in device memory that has this view, also if the view's columns
   were narrowed; NULL if there is none. */
const hybrid_csr *hy_spaces_of(const hy_spaces *spaces, const hybrid_csr *view);

/* Returns the source of rows of A, which is in host memory or a view. */
hy_source hy_spaces_source(const hy_spaces *spaces, const hybrid_csr *A);

/* Hands the copied offsets of a view to the caller, who frees them with
   hy_results_release(). NULL if the view has no copy of its own. */
void *hy_spaces_move_offsets(hy_spaces *spaces, const hybrid_csr *view);

/* Computes hy_csr_hash() of A, on the device if the pattern is there, else on the
   host. */
hybrid_status hy_spaces_hash(hy_spaces *spaces, const hybrid_csr *A, uint64_t *out);

void hy_spaces_end(hy_spaces *spaces);

#endif /* HY_SPACES_H */
