/* base/contract/variant.h - one way to compute one product on one backend.

   A variant is a constant table of functions in a file of its own. Adding one
   is: write the file, add its name to engine/tables/variants.def. Tests, benchmarks,
   `list` and `explain` pick it up from there. */
#ifndef HY_VARIANT_H
#define HY_VARIANT_H

#include "base/contract/image.h"
#include "base/contract/source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_variant hy_variant;

typedef enum hy_op { HY_SPMM = 1, HY_SPGEMM = 2 } hy_op; /* SpMV is SpMM, n = 1 */

/* What partition/pattern/inspect.c learns of the operands' patterns. Pure numbers. */
typedef struct hy_features {
    int64_t rows, cols, nnz; /* of A, or of the chunk of A */
    int64_t out_cols;        /* of the result: columns of X, or of B */
    int64_t products;        /* scalar products; for SpMM nnz * out_cols */
    int64_t out_bound;       /* SpGEMM: bound on nnz(C), the sum over rows of
                                min(products, out_cols); SpMM: rows * out_cols */
    int64_t products_max;    /* products of the costliest row */
    double row_mean, row_cv; /* entries a row: mean, std/mean */
    int64_t row_max;     /* 0: unknown, or there are no entries */
    double out_ratio;    /* SpGEMM: products / estimated nnz(C), >= 1 */
    double tile_fill;    /* SpMM: of 16 consecutive rows, the mean share that has an
                            entry in a column that one of them has; 0 = unknown */
    int block_rows, block_cols; /* SpMV: the blocks, up to 8 x 8, that hold A in the */
    double block_fill;          /* fewest bytes, and the share of their elements that are
                                   entries, from a sample; 0 = unknown */
    int64_t gather_rows; /* rows of B or X that travel with the chunk, and their */
    int64_t gather_nnz;  /* entries; 0 when B or X is resident on the device */
    hybrid_type type;
    int allow_tf32; /* 1: f32 on tensor cores may be rounded to TF32 (HYBRID_ALLOW_TF32) */
} hy_features;

/* A rectangle of the work. Chunks never share rows of the result unless they
   differ in columns. */
typedef struct hy_chunk {
    int64_t id;
    int64_t row_begin, row_end; /* rows of A and of the result */
    int64_t col_begin, col_end; /* SpGEMM: columns of B, all; SpMM: of X */
    int gathered;               /* 1: the rows of B or X it needs are in its pack; */
    int trimmed;                /* if 1, no more of them than its features say: it lost rows
                                   that it was cut with */
    int64_t needs; /* rows 0 .. needs-1 of B or X hold all that it touches, */
    int64_t first; /* and no chunk from this one on touches a row before `first` */
    int kept;      /* 1: its pack stays on the device, for the same rows of later blocks */
    size_t kept_at; /* and runs: there, in the block of all that are kept */
    hy_features features; /* of this rectangle; where X is on the device in column blocks,
                             but for the products those of the widest that there can be, as
                             one pack is for all of them */
    const hy_variant *variant;
} hy_chunk;

/* The operands of a run; the same for all chunks. */
typedef struct hy_problem {
    hy_op op;
    hy_context *ctx;
    const hybrid_csr *A;
    const hybrid_csr *B;   /* SpGEMM */
    const hybrid_dense *X; /* SpMM */
    hybrid_dense *Y;       /* SpMM */
    const int32_t *a_rows; /* SpMM, of an A without its empty rows and columns: which row of
                              the caller's A a row of A is, for what is said of it. NULL: the
                              same (partition/pattern/hypersparse.h) */
    double alpha, beta;
    const hybrid_csr *device_a; /* as it lies on the run's device, whose A has its offsets in */
    const hybrid_csr *device_b; /* host memory alone; NULL: it is in host memory. B too, */
    const hybrid_dense *device_x; /* and X, of a run whose kernels read it where it is */
    hy_source source; /* where B or X comes from, */
    hy_image image;   /* and how it lies on the device, or in what chunks bring of it */
    const struct hy_profile *profile; /* the plan's, of these patterns (partition/pattern/inspect.h) */
    hy_buffer shared; /* there; empty when gathered, or when computing in place */
} hy_problem;

/* A row of the problem's A, among the caller's. */
static inline int64_t hy_row_of(const hy_problem *problem, int64_t row)
{
    return problem->a_rows ? problem->a_rows[row] : row;
}

/* Bytes a chunk needs on the device and seconds its stages take. Each count of bytes
   must not fall when rows are added to a chunk. */
typedef struct hy_cost {
    size_t
        pack_bytes; /* operands sent with the chunk; also their size in pinned memory */
    size_t work_bytes; /* scratch */
    size_t
        out_bytes; /* room for the result, at its bound; also its size in pinned memory */
    double sent_bytes; /* of pack_bytes, those that are expected to be used; 0 = all */
    double prepare_s, multiply_s,
        finish_s; /* prepare: one core; copies follow from bytes */
} hy_cost;

/* Bytes of the pack that are expected to be copied. */
static inline double hy_sent_bytes(const hy_cost *cost)
{
    return cost->sent_bytes > 0 ? cost->sent_bytes : (double)cost->pack_bytes;
}

/* Rows of a result as a chunk computes them, in the memory of whoever holds them.
   SpGEMM: row i of the chunk has row_ptr[i+1] - row_ptr[i] entries; they start at
   row_at[i], or at row_ptr[i] when row_at is NULL. SpMM: alpha-free A*X at val without
   gaps: dense rows, chunk columns wide; or, where X is in slabs, dense columns, chunk rows
   long. See hy_rows_in() of partition/format/pack.h. */
typedef struct hy_rows {
    int64_t *row_ptr; /* rows+1, from 0 */
    int64_t *row_at;  /* rows, or NULL */
    int32_t *col;
    void *val;
} hy_rows;

enum { HY_ARRAYS = 6, HY_HEAD_WORDS = 6 }; /* most arrays that a packed format has */

/* Several arrays in one block, so that one copy moves them all. Array k is at
   ptr + at[k], in host and device memory alike. */
typedef struct hy_pack {
    hy_buffer mem;
    size_t bytes; /* used part */
    size_t at[HY_ARRAYS];
    int64_t head[HY_HEAD_WORDS]; /* what the host needs of it to launch, by its format */
    size_t rest; /* with hy_variant.csr: where what follows hy_pack_csr()'s arrays begins; 0:
                    nothing does */
} hy_pack;

/* One chunk on its way: what prepare makes, multiply reads, assembly stores.
   Exactly one stage owns a job at any time. */
typedef struct hy_job {
    const hy_problem *problem;
    const hy_chunk *chunk;
    const hy_variant *variant;
    hy_pack pack;     /* host side of the operands, pinned; written by prepare */
    hy_buffer in;     /* device side of pack; pack.mem if nothing is copied */
    hy_buffer work;   /* scratch of hy_cost.work_bytes on the device */
    hy_rows out;      /* result where it is computed; room for its bound */
    hy_rows back;     /* result in host memory, after d2h */
    int64_t *out_nnz; /* pinned word: entries in out, set by multiply or finish */
    void *deltas;     /* SpGEMM: columns of out once more, packed (partition/move/deltas.h), in
                         `work`, or NULL; */
    int64_t *units;   /* pinned word: units of 16 bytes that their frames take */
    int64_t nnz;      /* from reserve on: entries or elements in out, */
    int64_t offset;   /* SpGEMM: and where they start in C */
    int shared_a;       /* rows of A are on the device, as A or as rows of B: their offsets
                           are made there */
    int there;          /* `in` holds the pack, of a chunk that is kept, by its turn on the
                           lanes; `pack` then says where its arrays are */
    int direct;         /* d2h copied the entries or elements to the result itself, */
    int stored;         /* and nothing is left to be stored */
    int turned;         /* SpMM: `back` lies in columns, as Y does, `out` in rows */
    int unpacks;        /* and direct: but for the columns, which came packed */
    int64_t back_room;  /* entries or elements that `back` has room for; more come in turns */
} hy_job;

struct hy_variant {
    const char *name;    /* "spmm.host.rows": product.backend.algorithm */
    const char *summary; /* one line for `list` */
    const char *source;  /* the paper or code it follows */
    hy_op op;
    hy_form form;  /* in which it reads B or X on a device, whichever order the caller's X
                      has; a chunk's part of Y lies in the same order there. NONE: it reads
                      neither there, but computes in place, or its packs carry all it needs
                      of B */
    int csr; /* 1: packs begin with the arrays of hy_pack_csr(), and kernels read those by
                single numbers, wherever they begin: rows of A may lie on the device */
    int in_place;  /* 1: multiply stores Y itself; nothing is placed after it */
    int unordered; /* 1: real sums may differ in their last bits from run to run */
    int tail_lines; /* SpMM: hy_image.tail_lines of an X on the device, whose tail columns
                       the variant reads where they are (hy_packed_x() of partition/format/pack.h) */
    int rings;      /* SpMM, 1: X may come in blocks of rows, for which prepare numbers columns
                       as partition/format/ring.h says, or in blocks of columns */

    /* NULL if it can run, else why not, as a static string. Pure. */
    const char *(*refuse)(const hy_features *f, const hy_rates *r);

    /* Predicted needs of a chunk with these features. Pure. */
    hy_cost (*cost)(const hy_features *f, const hy_rates *r);

    /* (optional) CPU: turn the chunk into job->pack. Runs on a worker. */
    hybrid_status (*prepare)(hy_job *job);

    /* (optional, with csr) In place of prepare and of the copy to the device, for a chunk
       that is all of an A in the memory of the lane's device (problem->device_a): enqueue
       what makes job->in, which has room for hy_arranged_bytes(), and set job->pack. */
    hybrid_status (*arrange)(hy_lane *lane, hy_job *job);

    /* Enqueue the product: job->in, job->work -> job->out. Of a backend in place it asks
       hy_progress_check() every some ms, and counts the rows of C or elements of Y that are
       done (hy_progress_add()); else the driver counts the chunk. */
    hybrid_status (*multiply)(hy_lane *lane, hy_job *job);

    /* (optional) Enqueue sort and compress of job->out, and set *out_nnz. */
    hybrid_status (*finish)(hy_lane *lane, hy_job *job);
};

/* How an operand of that shape lies that is whole, for the variant to read it. */
static inline hy_image hy_variant_image(const hy_variant *variant, int64_t rows,
                                        int64_t cols, int64_t nnz, hybrid_type type)
{
    if (variant->form == HY_FORM_CSR)
        return hy_image_of_csr(rows, cols, nnz, type);
    return hy_image_of_dense(variant->form, rows, cols, type, variant->tail_lines);
}

#ifdef __cplusplus
}
#endif
#endif /* HY_VARIANT_H */
