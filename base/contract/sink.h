/* base/contract/sink.h - where rows of a result go.

   Chunks of a product are computed in some order, by a device or by the host, and each
   brings a part of the result. A sink knows where the part belongs. The pipeline sees
   only this table, as it sees a backend:

       reserve   once for each part, in order of rows if in_order
       direct    memory of the result that a copy engine may write the part to
       store     what is not written so, from host memory
       finish    all parts are stored: the result is handed out
       abort     in place of finish after an error, and after a finish that failed

   A variant that stores the result itself (hy_variant.in_place) has its parts reserved only.

   One thread, which runs the product, reserves, finishes and aborts. Any worker stores a
   part, and several store different parts at once; or that thread does, one part after the
   other (by_caller). Functions are called for a part, never for a row. */
#ifndef HY_SINK_H
#define HY_SINK_H

#include "base/contract/backend.h"
#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_sink hy_sink;

/* What a chunk brings. A result in CSR has entries, a dense one elements. */
typedef struct hy_part {
    const hy_chunk *chunk;
    int64_t counted;      /* entries that were computed */
    int64_t nnz;          /* from reserve on: entries or elements, */
    int64_t offset;       /* and where the entries start in the result */
    hy_rows rows;         /* direct: as they were computed; store: in host memory, */
    int64_t first, count; /* entries [first, first + count) at the front of these arrays,
                             all if rows have gaps between them (rows.row_at) */

    /* dense */
    hybrid_order order; /* in which it lies where it is copied or stored from */
    int by_lines;    /* 1: direct() may say that its lines, rows or columns, are copied one
                        by one; 0: all of it, as it lies in the result, or nothing */
} hy_part;

/* A copy of a part to memory of the result. */
typedef struct hy_landing {
    hy_row_copy rows;
    const char *base; /* a copy must not cross from one piece, counted from here, */
    size_t piece;     /* to the next; 0: memory of the caller, see base/memory/pinned.h */
} hy_landing;

enum { HY_LANDINGS = 2 }; /* most of a part */

typedef struct hy_direct {
    hy_landing to[HY_LANDINGS];
    int count; /* 0: store() does all */
    int all;   /* 1: store() has nothing to do */
} hy_direct;

/* What becomes of sums in a dense result: Y = alpha * sums + beta * Y. With beta 0, Y is
   not read. */
typedef struct hy_update {
    hybrid_dense *Y;
    double alpha, beta;
} hy_update;

/* Everything is required unless marked optional. */
typedef struct hy_sink_ops {
    int by_caller; /* 1: the thread that runs the product stores, parts in the order in which
                      they were reserved; 0: any worker */

    /* Sets part->nnz and part->offset. If the sink `counts`, part->counted is known. BAD_STATE
       if the sink is in_order and it is not the part's turn. */
    hybrid_status (*reserve)(hy_sink *self, hy_part *part);

    /* After reserve. Which memory it is may change from call to call. */
    hy_direct (*direct)(const hy_sink *self, const hy_part *part);

    /* (optional) Enqueue all of a part, as it was computed, on its way to a result in the
       memory of the lane's device. Then there are no copies, and nothing is stored. */
    hybrid_status (*land)(hy_sink *self, hy_lane *lane, const hy_part *part);

    /* Entries [first, first + count), and with those from 0 on, or none if direct() took
       all, what else belongs to the part. Entries that come in turns come in order. */
    hybrid_status (*store)(hy_sink *self, const hy_part *part);

    /* (optional) Columns, which are the first landing of direct(), may come delta-coded
       (partition/move/deltas.h): whether that can be of use, and all of a part's from there to
       where they belong. */
    int (*takes_deltas)(const hy_sink *self);
    hybrid_status (*store_deltas)(hy_sink *self, const hy_part *part, const void *deltas);

    hybrid_status (*finish)(hy_sink *self);
    void (*abort)(hy_sink *self);
} hy_sink_ops;

struct hy_sink {
    const hy_sink_ops *ops; /* first member of every sink's own struct */
    hy_context *ctx;
    int in_order; /* 1: where a part starts follows from those before it: parts are reserved
                     in order of rows */
    int counts;   /* 1: it reads how many entries rows have (hy_rows.row_ptr), and a part is
                     reserved when it is counted */
    hybrid_order order; /* dense: in which the result lies */
    int reads; /* 1: what a part is stored over is read first */
    int64_t own_bytes; /* of host memory that it reads and writes besides the parts */
    size_t offset_bytes, col_bytes; /* CSR: of an offset and of a column, as stored */
};

static inline int hy_sink_takes_deltas(const hy_sink *sink)
{
    return sink->ops->takes_deltas && sink->ops->takes_deltas(sink);
}

#ifdef __cplusplus
}
#endif
#endif /* HY_SINK_H */
