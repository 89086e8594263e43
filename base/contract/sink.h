/* base/contract/sink.h - the interface of a sink: where rows of a result go.

   Chunks of a product are computed in some order, by a device or by the host, and each
   brings a part of the result. A sink knows the position of the part:

     reserve   called once for each part, in order of rows if in_order
     direct    tells which memory of the result a copy engine may write the part to
     store     stores what was not written directly, from host memory
     finish    all parts are stored: hands out the result
     abort     called in place of finish after an error, and after a failed finish

   A variant that stores the result itself (hy_variant.in_place) only reserves its parts.

   The thread that runs the product reserves, finishes and aborts. Any worker stores a
   part, and several workers store different parts at once. With by_caller, the thread
   that runs the product stores all parts, one after the other. Functions are called per
   part, never per row. */
#ifndef HY_SINK_H
#define HY_SINK_H

#include "base/contract/backend.h"
#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_sink hy_sink;

/* The part of the result that a chunk brings. A sparse result has entries, a dense one
   elements. */
typedef struct hy_part {
    const hy_chunk *chunk;
    int64_t counted;      /* number of entries that were computed */
    int64_t nnz;          /* number of entries or elements; set by reserve */
    int64_t offset;       /* index of the first entry in the result; set by reserve */
    hy_rows rows;         /* for direct(): the rows as computed; for store(): the rows in
                             host memory */
    int home;             /* hy_backend_home() of the backend that computed the part */
    int64_t first, count; /* range of entries of the part that the arrays begin with:
                             [first, first + count); used if a part is stored in several
                             rounds. If rows have gaps between them (rows.row_at), the
                             arrays hold all entries */

    /* `order` and `by_lines` are set for dense results only. */
    hybrid_order order; /* order of the part in the memory that it is copied or stored
                           from */
    int by_lines;       /* 1: direct() may ask for a copy of each line (row or column); 0:
                           direct() asks for one copy of the whole part, or for none */
} hy_part;

/* A copy from a part, as it was computed, to memory of the result. */
typedef struct hy_landing {
    hy_row_copy rows;
    const char *base; /* start of the memory that consists of pieces of `piece` bytes */
    size_t piece;     /* bytes of a piece: no copy may cross from one piece to the next;
                         0: memory of the caller, with its own pieces
                         (base/memory/pinned.h) */
} hy_landing;

enum { HY_LANDINGS = 2 }; /* maximum number of copies for one part */

typedef struct hy_direct {
    hy_landing to[HY_LANDINGS];
    int count; /* number of copies; 0: store() stores the whole part */
    int all;   /* 1: the copies bring the whole part, and store() has nothing to do */
} hy_direct;

/* How sums become elements of a dense result: Y = alpha * sums + beta * Y. With beta ==
   0, Y is not read. */
typedef struct hy_update {
    hybrid_dense *Y;
    double alpha, beta;
} hy_update;

/* Every function is required unless marked optional. */
typedef struct hy_sink_ops {
    int by_caller; /* 1: the thread that runs the product stores the parts, in the order
                      of reserve; 0: any worker does */

    /* (optional) Begins a product that makes rows [first, end) of a result of several
       products, and about `expected` entries. Products make all rows in order. Without
       this call, one product makes the result. */
    void (*begin)(hy_sink *self, int64_t first, int64_t end, int64_t expected);

    /* Sets part->nnz and part->offset. If sink->counts is 1, part->counted must be set
       before. If sink->in_order is 1 and the preceding part is not reserved, reserve()
       returns BAD_STATE. */
    hybrid_status (*reserve)(hy_sink *self, hy_part *part);

    /* Returns the memory of the result to which a copy engine may write the part. Called
       after reserve. Calls for the same part may return different memory. */
    hy_direct (*direct)(const hy_sink *self, const hy_part *part);

    /* (optional) Enqueues the move of a whole part, as computed, to a result in the
       memory of the lane's device. The part is then neither copied nor stored. */
    hybrid_status (*land)(hy_sink *self, hy_lane *lane, const hy_part *part);

    /* Stores entries [first, first + count) of the part, or none if direct() took all.
       The call with first == 0 also stores the rest of the part, such as its offsets.
       Ranges of one part are stored in order. */
    hybrid_status (*store)(hy_sink *self, const hy_part *part);

    /* (optional) Delta-coded columns (partition/move/deltas.h). accepts_deltas: returns 1
       if coded columns can replace the first copy of direct(). store_deltas: decodes all
       columns of a part into the result. */
    int (*accepts_deltas)(const hy_sink *self);
    hybrid_status (*store_deltas)(hy_sink *self, const hy_part *part, const void *deltas);

    hybrid_status (*finish)(hy_sink *self);
    void (*abort)(hy_sink *self);
} hy_sink_ops;

struct hy_sink {
    const hy_sink_ops *ops; /* functions of the sink; each sink's own struct begins with a
                               hy_sink */
    hy_context *ctx;
    int in_order;       /* 1: the position of a part follows from the parts before it, so
                           parts must be reserved in order of rows */
    int counts;         /* 1: the sink reads the lengths of rows (hy_rows.row_ptr), so a
                           part can be reserved only after its entries are counted */
    int64_t nnz;        /* sparse result: number of entries in all reserved parts */
    hybrid_order order; /* order of a dense result */
    int reads;          /* 1: storing a part reads the old contents of the result */
    int64_t own_bytes;  /* bytes of host memory that the sink reads and writes besides the
                           parts */
    size_t offset_bytes, col_bytes; /* CSR: bytes of a stored offset and of a stored
                                       column index */
};

static inline int hy_sink_accepts_deltas(const hy_sink *sink)
{
    return sink->ops->accepts_deltas && sink->ops->accepts_deltas(sink);
}

#ifdef __cplusplus
}
#endif
#endif /* HY_SINK_H */
