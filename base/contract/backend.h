/* base/contract/backend.h - the interface of a backend: the CPU's cores, or one GPU.

   The pipeline sees a backend only through this table. A backend has memory, lanes
   (ordered queues of work) and marks (points in a lane). For CUDA a lane is a stream and
   a mark is an event. For the host a lane is a FIFO that the thread pool serves. */
#ifndef HY_BACKEND_H
#define HY_BACKEND_H

#include "base/contract/context.h"
#include "base/contract/speeds.h"
#include "base/data/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_backend hy_backend;
typedef struct hy_lane hy_lane;
typedef struct hy_mark hy_mark;

/* HY_DEVICE is memory in which the backend computes. Its bytes count against the budget
   of device memory (hy_backend.device). On the host backend it is ordinary memory.
   HY_PINNED is host memory that the device copies at full bus speed. */
typedef enum hy_space { HY_PINNED, HY_DEVICE } hy_space;

typedef struct hy_buffer {
    void *ptr;
    size_t bytes;
    hy_space space;
} hy_buffer;

/* A copy of `rows` rows of `bytes` bytes each. Row i is at src + i * src_pitch and goes
   to dst + i * dst_pitch. A pitch is at least `bytes` and at most HY_MAX_PITCH. */
typedef struct hy_row_copy {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch, bytes;
    int64_t rows;
} hy_row_copy;

enum { HY_MAX_PITCH = INT32_MAX };

/* Transposes: to[i * to_ld + j] = from[j * from_ld + i] for i < lines, j < length, and 0
   for length <= j < filled. Strides count elements of `size` bytes, 4 or 8. */
typedef struct hy_transposition {
    void *to;
    const void *from;
    int64_t to_ld, from_ld, lines, length, filled;
    size_t size;
} hy_transposition;

/* to[i * to_row + j * to_col] = alpha * from[i * from_row + j * from_col] + beta *
   to[...] for i < rows, j < cols, and 0 for cols <= j < filled. Strides count elements.

     alpha == 1, beta == 0   bits are copied
     alpha == 0              `from` is not read; the result is beta * to
     beta == 0               `to` is not read; the result is alpha * from
     both 0                  the result is +0 */
typedef struct hy_combining {
    void *to;
    const void *from;
    int64_t to_row, to_col, from_row, from_col, rows, cols, filled;
    double alpha, beta;
    hybrid_type type;
} hy_combining;

/* Describes the computation to[i] = from[i] - base for i < count. Both arrays are in
   device memory and have the given types. */
typedef struct hy_rebasing {
    void *to;
    const void *from;
    hybrid_index to_type, from_type;
    int64_t count, base;
    const int *gate; /* NULL, or a word in device memory: if it is 0, to[i] = -1 */
} hy_rebasing;

/* Rows of B to be copied from the caller's arrays to the device: entry k of row r of the
   result, row_ptr[r] <= k < row_ptr[r + 1], is entry from[r] + k - row_ptr[r] of B. */
typedef struct hy_collecting {
    int64_t rows, entries;  /* of the result */
    const int64_t *row_ptr; /* rows + 1 offsets in device memory; row_ptr[0] is 0 */
    const int64_t *from;    /* positions in pinned memory; rows without entries may have
                               any */
    const int32_t *col;     /* arrays of B, in pinned memory of the caller */
    const void *val;
    int32_t *to_col; /* arrays of the result, in device memory */
    void *to_val;
    size_t size; /* bytes of a value */
} hy_collecting;

/* Result of a survey: facts that a device finds out about operands in its memory, so that
   patterns need not be copied to the host. */
typedef struct hy_survey {
    int64_t wrong;    /* not 0 if offsets do not begin at 0, decrease somewhere or do not
                         end at nnz, or if a column index is out of range */
    int64_t falls;    /* not 0 if the column indices of a row of A or B decrease somewhere
                         or repeat */
    int64_t longest;  /* largest number of entries in a row of A */
    double squares;   /* sum over rows of A of the squared number of entries */
    int64_t products; /* A*B: number of all scalar products */
    int64_t products_max; /* A*B: largest number of scalar products of a row of A */
    int64_t bound;        /* A*B: sum over rows of min(scalar products, columns of B) */
    double drawn_products, drawn_entries; /* A*B: two sums over a sample of rows of A. For
                                             each row, they add its scalar products and
                                             the entries of its row of C, each divided by
                                             the entries of the row of A. */
} hy_survey;

/* Operands to be surveyed, with indices of 32 or 64 bits. B is NULL for A*X. */
typedef struct hy_surveying {
    const hybrid_csr *A, *B;
    void *work;     /* device memory of hy_backend_ops.survey_bytes bytes. The caller
                       zeroes it before the first survey; every survey leaves it ready for
                       the next one. */
    hy_survey *out; /* pinned memory that receives the result */
    const hy_survey *expected; /* NULL, or the numbers that the survey is expected to
                                  find; the caller keeps them until the survey is done */
    int *gate; /* NULL if `expected` is NULL. Otherwise a word in device memory: the
                  survey sets it to 1 if it finds exactly the expected numbers, else to
                  0. */
} hy_surveying;

/* Returns 1 if two surveys found the same numbers. */
HY_KERNEL_INLINE int hy_survey_same(const hy_survey *a, const hy_survey *b)
{
    return a->wrong == b->wrong && a->falls == b->falls && a->longest == b->longest &&
           a->squares == b->squares && a->products == b->products &&
           a->products_max == b->products_max && a->bound == b->bound &&
           a->drawn_products == b->drawn_products &&
           a->drawn_entries == b->drawn_entries;
}

/* Where an address lies, as a device sees it: outside all devices (NOT), in this device's
   memory (DEVICE), in another device's memory (OTHER), or in managed memory, which the
   host and all devices read (BOTH). */
typedef enum hy_held { HY_HELD_NOT, HY_HELD_DEVICE, HY_HELD_OTHER, HY_HELD_BOTH } hy_held;

/* Every function is required unless marked optional. A function without a status cannot
   fail. Work enqueued in a lane executes in the order of enqueueing. */
typedef struct hy_backend_ops {
    const char *name; /* name of the kind of backend: "host" or "cuda" */

    /* (optional) Starts device number `device` as far as that takes long, so that open()
       returns soon. Threads may start different devices at the same time. Reports no
       error: open() does. */
    void (*wake)(int device);

    /* Opens options->device, one of the engine's devices. NO_DEVICE, with a sentence, if
       there is no such device. Sentences of errors name the device (hy_backend.name). */
    hybrid_status (*open)(hy_context *ctx, const hybrid_engine_options *options,
                          hy_backend **out);
    /* Closes the backend and frees its memory; does nothing if self is NULL. Threads may
       close different backends at the same time. */
    void (*close)(hy_backend *self);
    /* Returns a text for users, such as "NVIDIA H200, 132 SMs". */
    const char *(*describe)(const hy_backend *self);
    /* Writes the built-in rates to *out. */
    void (*rates)(const hy_backend *self, hy_rates *out);

    /* (optional) Measures the rates that apply to this backend and stores them in *out;
       other fields stay as they are. Takes some seconds, during which nothing else may
       run. */
    hybrid_status (*measure)(hy_backend *self, hy_measured *out);

    /* alloc: allocates memory with undefined contents, aligned to 256 bytes. The bytes
       count on the meter self->device or self->pinned. `what` names the array in error
       sentences. free may pool the block for a later alloc; a pooled block stays counted
       until trim frees it.

       trim: frees the pooled blocks that were allocated in public call number `since`
       (ctx->call) or later; 0 means all. Any thread may call it.

       trim_scratch (optional): frees the workspaces of workers that were allocated in
       public call number `since` or later; 0 means all. No lane may work meanwhile. */
    hybrid_status (*alloc)(hy_backend *self, hy_space space, size_t bytes,
                           const char *what, hy_buffer *out);
    /* Frees or pools a buffer of alloc and empties *buffer, which may be empty before. */
    void (*free)(hy_backend *self, hy_buffer *buffer);
    void (*trim)(hy_backend *self, int64_t since);
    void (*trim_scratch)(hy_backend *self, int64_t since);

    /* `urgent`, 1: the kernels of the lane are short, and the device runs them before
       kernels of other lanes. */
    hybrid_status (*lane_open)(hy_backend *self, const char *name, int urgent,
                               hy_lane **out);
    void (*lane_close)(hy_lane *lane); /* Finishes the lane's work first. Accepts NULL. */
    /* Returns when all work of the lane is done or skipped, and clears the lane's
       error. */
    void (*lane_drain)(hy_lane *lane);

    /* (optional) Enqueues a copy of `bytes` bytes. NULL if the backend computes on host
       memory in place. Either both `dst` and `src` are device memory, or one is device
       memory and the other pinned. */
    hybrid_status (*copy)(hy_lane *lane, void *dst, const void *src, size_t bytes);

    /* (optional) Support for copies from one device to another. A backend has both
       functions or none.

         reads      returns 1 if lanes of self can copy from the device memory of `other`,
                    which has the same functions, without the host's memory
         copy_peer  enqueues such a copy; `dst` is device memory of the lane's backend */
    int (*reads)(hy_backend *self, const hy_backend *other);
    hybrid_status (*copy_peer)(hy_lane *lane, void *dst, const hy_backend *other,
                               const void *src, size_t bytes);

    /* (optional) Enqueues a copy of rows between the kinds of memory that `copy` allows.
       The pinned rows all lie in one piece of pinned memory (see `pin`). */
    hybrid_status (*copy_rows)(hy_lane *lane, const hy_row_copy *rows);

    /* (optional) Enqueues a transposition in device memory. Its `to` and `from`
       do not overlap. */
    hybrid_status (*transpose)(hy_lane *lane, const hy_transposition *transposition);

    /* A mark is set in a lane, and reached when all earlier work of the lane is done.

       mark_free     accepts NULL
       lane_wait     makes later work of the lane wait for the mark
       host_wait     blocks the caller until the mark is reached; returns the lane's error
       mark_reached  sets *out to 1 if the mark is reached, else 0, without waiting;
                     returns the lane's error
       mark_ns       time at which the mark was reached, on the clock of hy_now_ns() */
    hybrid_status (*mark_new)(hy_backend *self, hy_mark **out);
    void (*mark_free)(hy_mark *mark);
    hybrid_status (*mark_set)(hy_lane *lane, hy_mark *mark);
    hybrid_status (*lane_wait)(hy_lane *lane, hy_mark *mark);
    hybrid_status (*host_wait)(hy_mark *mark);
    hybrid_status (*mark_reached)(hy_mark *mark, int *out);
    int64_t (*mark_ns)(const hy_mark *mark);

    /* (optional) mark_set() without a time: mark_ns() must not be called. Taking the time
       between two copies would delay the second. */
    hybrid_status (*mark_untimed)(hy_lane *lane, hy_mark *mark);

    /* (optional) Enqueues the computation that r describes. */
    hybrid_status (*rebase)(hy_lane *lane, const hy_rebasing *r);

    /* (optional) Support for operands and results in device memory. A backend has all of
       these functions or none.

         holds    tells where an address lies, even if another library allocated it
         fetch    copies device memory to ordinary host memory, and waits
         follow   records the point in the caller's stream, a cudaStream_t, behind the
                  work enqueued so far
         reached  sets *out to 1 if the work before that point is done, else to 0
         borrow   makes a lane of the caller's stream, which must outlive the lane
         combine  enqueues a hy_combining of device memory
         hash     computes hy_csr_hash() of a pattern in device memory, and waits
         survey   enqueues the computation of a hy_survey
         alloc_result  allocates device memory for a result of the caller; no meter counts
                       it, and it is never pooled. Any thread may call it.
         free_result   frees memory of alloc_result. Any thread may call it. */
    hy_held (*holds)(hy_backend *self, const void *ptr);
    hybrid_status (*fetch)(hy_backend *self, void *to, const void *from, size_t bytes);
    hybrid_status (*follow)(hy_backend *self, void *stream);
    hybrid_status (*reached)(hy_backend *self, int *out);
    hybrid_status (*borrow)(hy_backend *self, void *stream, hy_lane **out);
    hybrid_status (*combine)(hy_lane *lane, const hy_combining *c);
    hybrid_status (*hash)(hy_backend *self, const hybrid_csr *A, uint64_t *out);
    hybrid_status (*survey)(hy_lane *lane, const hy_surveying *s);
    size_t survey_bytes;
    hybrid_status (*alloc_result)(hy_backend *self, size_t bytes, const char *what,
                                  void **out);
    void (*free_result)(hy_backend *self, void *ptr);

    /* (optional, with pin and pinned) Enqueues the copies that c describes. Kernels read
       host memory through the bus, so that no worker copies rows. The backend's
       reads_host must be 1. */
    hybrid_status (*collect)(hy_lane *lane, const hy_collecting *c);

    /* (optional) Enqueues products[i] = number of scalar products of row i of A*B, the
       sum of the lengths of B's rows over the entries of row i. Every number is below
       2^32. `products` is pinned, the other arrays are in device memory. */
    hybrid_status (*products)(hy_lane *lane, int64_t rows, const int64_t *a_row_ptr,
                              const int32_t *a_col, const int64_t *b_row_ptr,
                              uint32_t *products);

    /* (optional) Enqueues the delta coding (partition/move/deltas.h) of the first *count
       of `numbers`, or of none if *count is more than `most`. Sets *units, a word
       of pinned memory, to the bytes behind the head of the coded numbers, divided by 16.
       `coded` has room for hy_deltas_bound(most) bytes. The arrays and `count` are in
       device memory; both arrays are aligned to 16 bytes. */
    hybrid_status (*code_deltas)(hy_lane *lane, const int32_t *numbers,
                                 const int64_t *count, int64_t most, void *coded,
                                 int64_t *units);

    /* (optional) Pins `bytes` bytes of ordinary memory at ptr, so that copies go straight
       to them. Pinning is slow and pays only for memory that is used again. Callers pin
       results in pieces of pin_bytes, and memory of the user in pieces of range_bytes. No
       copy may cross from one piece to the next.

       NO_MEMORY, without a sentence, if the system refuses; DEVICE_FAILED, with a
       sentence, if the device does not work. Any thread may call both. */
    size_t pin_bytes, range_bytes;
    hybrid_status (*pin)(hy_backend *self, void *ptr, size_t bytes);
    void (*unpin)(hy_backend *self, void *ptr);

    /* (optional) Returns how many of the `bytes` bytes at ptr, from the first on, one
       copy can read or write directly because they are pinned, by the library or by other
       code. Any thread may call it. */
    size_t (*pinned)(hy_backend *self, const void *ptr, size_t bytes);

    /* (optional) Mark the beginning and the end of what the calling thread does, with a
       name, in a profiler's timeline. A backend has both functions or none. */
    void (*range_begin)(const char *name);
    void (*range_end)(void);
} hy_backend_ops;

enum {
    HY_MAX_DEVICES  = 16, /* maximum number of devices of one engine */
    HY_BACKEND_NAME = 112 /* bytes of hy_backend.name */
};

struct hy_backend {
    const hy_backend_ops *ops; /* functions of the backend; each backend's own struct
                                  begins with a hy_backend */
    hy_context *ctx;
    int index; /* position among the engine's devices, from 0 */
    char name[HY_BACKEND_NAME]; /* what errors call a device: "GPU 1 (NVIDIA H100)", with
                                   the number in the options; "" for the host */
    char bus[16]; /* PCI address of a device, "0000:0f:00.0"; "" if it has none */
    int node;     /* NUMA node (topology.h) of the device's pinned memory and threads; -1:
                     all nodes are equally near */
    int reads_host; /* 1: kernels can read pinned memory at the addresses that the host
                       uses */
    hy_meter device, pinned; /* pinned memory counts as host memory, too */
    int64_t occupied; /* bytes of device memory that were in use when the backend opened, by
                         its driver or by other programs */
    hy_measured measured; /* measured rates; they replace built-in ones */
    hy_block_speeds *blocks; /* measured constants of SpMV in blocks, which `measure` sets
                                too; NULL: the backend has no such kernels */
    hy_lane *caller_lane; /* (optional) a lane without a thread: a call that enqueues work
                             in it does the work before it returns, and returns the work's
                             status. Marks cannot be set in this lane. */
};

/* Returns how often options->device occurs in options->devices, at least 1. The backends
   of one device share its free memory equally. */
static inline int hy_times_listed(const hybrid_engine_options *options)
{
    int times = 0;

    for (int i = 0; i < options->device_count; i++)
        times += options->devices[i] == options->device;
    return times > 0 ? times : 1;
}

/* Returns the home (hy_task.home) of work for the backend. */
static inline int hy_backend_home(const hy_backend *backend)
{
    return backend->node + 1;
}

/* Returns 1 if lanes of `self` can copy from the device memory of `other`
   (hy_backend_ops.reads). */
static inline int hy_backend_reads(hy_backend *self, const hy_backend *other)
{
    const hy_backend_ops *ops = self->ops;

    return ops->reads && ops == other->ops && ops->reads(self, other);
}

struct hy_lane {
    hy_backend *backend; /* backend of the lane; each lane's own struct begins with a
                            hy_lane */
    const char *name;    /* name of the lane, which lives as long as the lane */
};

#ifdef __cplusplus
}
#endif
#endif /* HY_BACKEND_H */
