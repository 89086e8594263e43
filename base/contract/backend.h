/* base/contract/backend.h - a place that computes: the CPU's cores, or one GPU.

   The pipeline sees only this table. A backend has memory, lanes (ordered
   queues of work) and marks (points in a lane). For CUDA a lane is a stream;
   for the host it is a FIFO served by the thread pool. */
#ifndef HY_BACKEND_H
#define HY_BACKEND_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_backend hy_backend;
typedef struct hy_lane hy_lane;
typedef struct hy_mark hy_mark; /* an event: "this point of that lane" */

/* DEVICE is where the backend computes; every byte of it counts against the cap of
   device memory. On the host backend it is ordinary memory. PINNED is host
   memory that copies quickly. */
typedef enum hy_space { HY_PINNED, HY_DEVICE } hy_space;

typedef struct hy_buffer {
    void *ptr;
    size_t bytes;
    hy_space space;
} hy_buffer;

/* Speeds; the cost models' only constants. Built into backends, or measured: see
   hy_rates_of() of engine/rates/rates.h. */
typedef struct hy_rates {
    double h2d_Bps, d2h_Bps; /* copies to and from pinned memory; 0 = none needed */
    double mem_Bps;          /* the backend's own memory */
    double flops;            /* scalar FMA pipe, counted 2 per FMA */
    double launch_s;         /* cost of starting one kernel or parallel loop */
    int width;               /* multiprocessors or cores */
    int sm;                  /* CUDA: compute capability, 90 for 9.0; else 0 */
    size_t memory;           /* device bytes this engine may use */
    size_t core_cache;       /* host: bytes of one core's L2, */
    size_t cache;            /* and of the last level, which cores share */
    double merge_factor;     /* CUDA: seconds of spmm.cuda.merge over those of its model */
} hy_rates;

/* What `hybrid_spmm calibrate` found; 0 = was not measured. */
typedef struct hy_measured {
    double h2d_Bps, d2h_Bps; /* as above, */
    double both_Bps;         /* and both ways at once, summed */
    double mem_Bps;          /* bytes read and bytes written by a copy */
    double flops, launch_s, merge_factor;
    double driver; /* CUDA: its version, 13000 for 13.0 */
    char date[12]; /* "2026-11-21"; empty: nothing was measured */
} hy_measured;

/* Rows of so many bytes, each a pitch after the one before it. Pitches are no longer than
   HY_MOST_PITCH, and no shorter than a row. */
typedef struct hy_row_copy {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch, bytes;
    int64_t rows;
} hy_row_copy;

enum { HY_MOST_PITCH = INT32_MAX };

/* to[i * to_ld + j] = from[j * from_ld + i] for i < lines, j < length, and 0 up to
   j < filled: columns that become rows, or rows that become columns. Strides in elements
   of 4 or 8 bytes. */
typedef struct hy_transposition {
    void *to;
    const void *from;
    int64_t to_ld, from_ld, lines, length, filled;
    size_t size;
} hy_transposition;

/* to[i * to_row + j * to_col] = alpha * from[i * from_row + j * from_col] + beta * to[...]
   for i < rows, j < cols, and 0 for cols <= j < filled. With alpha 1 and beta 0 bits are
   copied. If alpha is 0, `from` is not read, and the result is beta * to. If beta is 0, `to`
   is not read, and the result is alpha * from. If both are 0, it is +0. Strides in elements. */
typedef struct hy_combining {
    void *to;
    const void *from;
    int64_t to_row, to_col, from_row, from_col, rows, cols, filled;
    double alpha, beta;
    hybrid_type type;
} hy_combining;

/* to[i] = from[i] - base for i < count, numbers of these types in device memory. */
typedef struct hy_rebasing {
    void *to;
    const void *from;
    hybrid_index to_type, from_type;
    int64_t count, base;
} hy_rebasing;

/* What a device finds out about operands in its memory. */
typedef struct hy_survey {
    int64_t wrong;    /* not 0: offsets do not begin at 0, fall or do not end at nnz, or a
                         column is out of range */
    int64_t falls;    /* not 0: columns of a row of A or B do not ascend, or repeat */
    int64_t longest;  /* most entries of a row of A */
    double squares;   /* sum over rows of A of their entries squared */
    int64_t products; /* A*B: scalar products, those of the costliest row, */
    int64_t products_max;
    int64_t bound;    /* and the sum over rows of min(products, columns of B) */
    double drawn_products, drawn_entries; /* of a sample of rows of C: their products and
                                             entries, weighted alike */
} hy_survey;

/* Operands to be surveyed, with indices of either width. B is NULL for A*X. */
typedef struct hy_surveying {
    const hybrid_csr *A, *B;
    void *work;     /* device memory: hy_backend_ops.survey_bytes, zeroed before the first
                       survey, and as the last survey left it afterwards */
    hy_survey *out; /* pinned */
} hy_surveying;

/* Whether memory is the device's: OTHER is that of another device, BOTH is managed memory,
   which the host and all devices read. */
typedef enum hy_held { HY_HELD_NOT, HY_HELD_DEVICE, HY_HELD_OTHER, HY_HELD_BOTH } hy_held;

/* Everything is required unless marked optional. Functions without a status
   cannot fail. Order of enqueueing inside a lane is order of execution. */
typedef struct hy_backend_ops {
    const char *name; /* "host", "cuda" */

    /* options->device, one of the engine's. Fails with NO_DEVICE and a sentence where there
       is nothing to compute on. */
    hybrid_status (*open)(hy_context *ctx, const hybrid_engine_options *options,
                          hy_backend **out);
    void (*close)(hy_backend *self);                 /* NULL is fine */
    const char *(*describe)(const hy_backend *self); /* "NVIDIA H200, 132 SMs" */
    void (*rates)(const hy_backend *self, hy_rates *out); /* as built in */

    /* (optional) Take some seconds to measure what of *out this backend has; the rest is
       left alone. Nothing else runs meanwhile. */
    hybrid_status (*measure)(hy_backend *self, hy_measured *out);

    /* Aligned to 256 bytes, unset. Counted on self->device or self->pinned. Freed
       blocks may be kept for the next alloc, and stay counted until trim.
       trim: gives back kept blocks that were made in call number `since` (ctx->call) or
       later; 0 means all. From any thread.
       `what` names the array in sentences.
       trim_scratch (optional): the same of workspaces that workers keep. No lane works. */
    hybrid_status (*alloc)(hy_backend *self, hy_space space, size_t bytes,
                           const char *what, hy_buffer *out);
    void (*free)(hy_backend *self, hy_buffer *buffer); /* zeroes it; empty is fine */
    void (*trim)(hy_backend *self, int64_t since);
    void (*trim_scratch)(hy_backend *self, int64_t since);

    /* urgent: its kernels are short, and go before those of other lanes. */
    hybrid_status (*lane_open)(hy_backend *self, const char *name, int urgent,
                               hy_lane **out);
    void (*lane_close)(hy_lane *lane); /* after its work is done; NULL is fine */
    /* Returns when all work of the lane is done or skipped. The lane has no error then. */
    void (*lane_drain)(hy_lane *lane);

    /* (optional) NULL when the backend computes on host memory in place. `dst` or
       `src` is device memory, the other pinned; or both are device memory. */
    hybrid_status (*copy)(hy_lane *lane, void *dst, const void *src, size_t bytes);

    /* (optional) The same of rows, all of the pinned ones in one pinned piece. */
    hybrid_status (*copy_rows)(hy_lane *lane, const hy_row_copy *rows);

    /* (optional) All of it in device memory, `to` and `from` apart. */
    hybrid_status (*turn)(hy_lane *lane, const hy_transposition *turning);

    hybrid_status (*mark_new)(hy_backend *self, hy_mark **out);
    void (*mark_free)(hy_mark *mark);                         /* NULL is fine */
    hybrid_status (*mark_set)(hy_lane *lane, hy_mark *mark);  /* lane reached here */
    hybrid_status (*lane_wait)(hy_lane *lane, hy_mark *mark); /* lane waits for mark */
    hybrid_status (*host_wait)(
        hy_mark *mark);                      /* caller waits; reports the lane's errors */
    /* Whether it was reached, without waiting; reports the lane's errors. */
    hybrid_status (*mark_reached)(hy_mark *mark, int *out);
    int64_t (*mark_ns)(const hy_mark *mark); /* when it was reached, as hy_now_ns() */

    /* (optional) mark_set() of a mark of which nobody will ask when it was reached: where
       a time between two copies would hold up the second. */
    hybrid_status (*mark_untimed)(hy_lane *lane, hy_mark *mark);

    /* (optional) Enqueue to[i] = from[i] - base. */
    hybrid_status (*rebase)(hy_lane *lane, const hy_rebasing *r);

    /* (optional) What operands and results in the memory of the device need; all or none.

       holds    whether the device has memory there, whoever allocated it
       fetch    copy such memory to ordinary host memory, and wait
       follow   note what is enqueued in the caller's stream, a cudaStream_t
       reached  whether that stream has done what was noted last
       borrow   a lane that is the caller's stream, which lives until the lane is closed
       combine  of elements in such memory, on a lane
       hash     that of hy_csr_hash(), of a pattern in such memory, and wait
       survey   enqueue what finds a hy_survey
       keep     memory of the caller's results: not counted, nor kept for others; drop
                frees it. Any thread */
    hy_held (*holds)(hy_backend *self, const void *ptr);
    hybrid_status (*fetch)(hy_backend *self, void *to, const void *from, size_t bytes);
    hybrid_status (*follow)(hy_backend *self, void *stream);
    hybrid_status (*reached)(hy_backend *self, int *out);
    hybrid_status (*borrow)(hy_backend *self, void *stream, hy_lane **out);
    hybrid_status (*combine)(hy_lane *lane, const hy_combining *c);
    hybrid_status (*hash)(hy_backend *self, const hybrid_csr *A, uint64_t *out);
    hybrid_status (*survey)(hy_lane *lane, const hy_surveying *s);
    size_t survey_bytes;
    hybrid_status (*keep)(hy_backend *self, size_t bytes, const char *what, void **out);
    void (*drop)(hy_backend *self, void *ptr);

    /* (optional) products[i] = scalar products of row i of A*B, fewer than 2^32: the sum of
       the lengths of B's rows over its entries. `products` is pinned, the rest is in
       device memory. */
    hybrid_status (*products)(hy_lane *lane, int64_t rows, const int64_t *a_row_ptr,
                              const int32_t *a_col, const int64_t *b_row_ptr,
                              uint32_t *products);

    /* (optional) Pack *count numbers, at most `most`, as partition/move/deltas.h says, all of it
       in device memory, and set *units, a word of pinned memory, to the units that their
       frames take. Numbers and `packed`, room for hy_deltas_bound(most) bytes, begin at
       multiples of 16 bytes. */
    hybrid_status (*pack_deltas)(hy_lane *lane, const int32_t *numbers,
                                 const int64_t *count, int64_t most, void *packed,
                                 int64_t *units);

    /* (optional) Let copies go straight to `bytes` of ordinary memory at ptr, which is
       slow to arrange and pays for memory that is used again. A copy must not cross
       from one piece that was pinned to the next: of results these have pin_bytes, of
       the caller's memory range_bytes. NO_MEMORY, without a sentence, if the system refuses;
       DEVICE_FAILED, with one, if the device does not work. Any thread. */
    size_t pin_bytes, range_bytes;
    hybrid_status (*pin)(hy_backend *self, void *ptr, size_t bytes);
    void (*unpin)(hy_backend *self, void *ptr);

    /* (optional) Bytes from ptr on, of so many, that one copy can take directly because
       somebody pinned them, in whichever way. Any thread. */
    size_t (*pinned)(hy_backend *self, const void *ptr, size_t bytes);

    /* (optional) Names what the calling thread does between the two in a profiler's
       timeline. Both or none. */
    void (*range_begin)(const char *name);
    void (*range_end)(void);
} hy_backend_ops;

enum { HY_MOST_DEVICES = 16 }; /* of one engine */

struct hy_backend {
    const hy_backend_ops *ops; /* first member of every backend's own struct */
    hy_context *ctx;
    int index; /* among the engine's devices */
    hy_meter device, pinned;
    hy_measured measured; /* in place of what is built in */
    hy_lane *caller_lane; /* (optional) what a thread enqueues here it does itself, at once,
                             and the call returns the status; it takes no marks */
};

/* How many of the engine's devices are options->device: they divide its free memory. */
static inline int hy_times_listed(const hybrid_engine_options *options)
{
    int times = 0;

    for (int i = 0; i < options->device_count; i++)
        times += options->devices[i] == options->device;
    return times > 0 ? times : 1;
}

struct hy_lane {
    hy_backend *backend; /* first member of every lane's own struct */
    const char *name;    /* lives as long as the lane */
};

#ifdef __cplusplus
}
#endif
#endif /* HY_BACKEND_H */
