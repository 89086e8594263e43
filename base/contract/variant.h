/* base/contract/variant.h - one algorithm for one product on one backend.

   A variant is a constant table of functions in a file of its own. To add a variant,
   write the file and add its name to engine/tables/variants.def. Tests, benchmarks,
   `list` and `explain` take variants from there. */
#ifndef HY_VARIANT_H
#define HY_VARIANT_H

#include "base/contract/image.h"
#include "base/contract/source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_variant hy_variant;

/* SpMV is SpMM with one column. */
typedef enum hy_op { HY_SPMM = 1, HY_SPGEMM = 2 } hy_op;

/* Maximum number of parameters of a variant. */
enum { HY_PARAMETERS = 6 };

/* Numbers that describe the patterns of a product or of a chunk
   (partition/pattern/inspect.c). */
typedef struct hy_features {
    int64_t rows, cols, nnz; /* sizes of A, or of the chunk of A */
    int64_t out_cols;        /* columns of the result */
    int64_t products;        /* scalar products; for SpMM nnz * out_cols */
    int64_t out_bound;       /* SpGEMM: upper bound on nnz(C), the sum over rows of
                                min(scalar products of the row, out_cols); SpMM: rows *
                                out_cols */
    int64_t out_room;        /* SpGEMM: entries of C for which a chunk has room on the
                                device, if these are fewer than out_bound; 0: the room is
                                out_bound */
    int64_t products_max;    /* largest number of scalar products of a row */
    double row_mean, row_cv; /* entries per row: mean, and standard deviation divided by
                                the mean */
    int64_t row_max;         /* largest number of entries in a row; 0 if unknown */
    double out_ratio;        /* SpGEMM: scalar products / estimated nnz(C), >= 1 */
    double tile_fill; /* SpMM: fill of tiles of 16 consecutive rows, 0 to 1: the mean
                         share of the 16 rows that have an entry in a column in which
                         at least one has; 0 if unknown */
    int block_rows, block_cols; /* SpMV: rows and columns of the blocks, up to 8 x 8, that
                                   hold A in the fewest bytes, or that `choose` has
                                   chosen */
    double block_fill;          /* SpMV: share of the elements of blocks of block_rows x
                                   block_cols that are entries, from a sample; 0 if
                                   unknown */
    float block_fills[HY_BLOCK_SHAPES]; /* SpMV: share of the elements of blocks of r x c
                                           that are entries, in element 8 (r - 1) + c - 1;
                                           0 if unknown */
    int64_t gather_rows; /* rows of B or X that the chunk brings in its pack; 0 if B or X
                            is on the device as an image */
    int64_t gather_nnz;  /* entries of the gathered rows of B */
    hybrid_type type;
    int allow_tf32; /* 1: tensor cores may round f32 to TF32 (HYBRID_ALLOW_TF32) */
    int32_t parameter[HY_PARAMETERS]; /* values of the variant's parameters, if options
                                         name the variant with parameters; 0: the variant
                                         chooses */
} hy_features;

/* Returns the number of entries, or elements, for which a chunk has room on the device. */
static inline int64_t hy_out_room(const hy_features *f)
{
    return f->out_room > 0 ? f->out_room : f->out_bound;
}

/* A rectangle of the work. Two chunks share rows of the result only if their columns
   differ. */
typedef struct hy_chunk {
    int64_t id;
    int64_t row_begin, row_end; /* rows of A and of the result */
    int64_t col_begin, col_end; /* SpGEMM: all columns of B; SpMM: columns of X */
    int fewer; /* 1: the chunk may need fewer rows of B or X than its features say,
                  because rows were taken from it after planning, or because planning
                  knows only upper bounds */
    int64_t x_end;              /* end of the rows of B or X that the chunk touches: it
                                   needs none from `x_end` on */
    int64_t x_begin; /* no row of B or X before `x_begin` is needed by this chunk or by a
                        later one */
    int cached;     /* 1: the pack is cached on the device, for the same rows of later
                       column blocks and runs */
    size_t cached_at; /* offset of the pack in the block of all cached packs, in bytes */
    hy_features features; /* features of this chunk. If X is on the device in column
                             blocks, all but the products are those of the widest block,
                             because one pack serves all blocks. */
    const hy_variant *variant;
} hy_chunk;

/* The operands of a run. All chunks share one problem. */
typedef struct hy_problem {
    hy_op op;
    hy_context *ctx;
    const hybrid_csr *A;
    const hybrid_csr *B;   /* operand B of SpGEMM */
    const hybrid_dense *X; /* operand X of SpMM */
    hybrid_dense *Y;       /* result of SpMM */
    const int32_t *a_rows; /* SpMM with a reduced A: the caller's row of each row of A,
                              for messages (partition/pattern/hypersparse.h); NULL: the
                              rows are the caller's */
    double alpha, beta;
    hy_source a_source; /* source of A */
    hy_source source;   /* source of B or X */
    hy_image image;     /* how B or X lies on the device or in a gathered pack */
    const struct hy_profile *profile; /* profile of the patterns of A and B
                                         (partition/pattern/inspect.h); the plan owns
                                         it */
    int collects; /* SpGEMM, 1: the arrays of B are pinned, so that devices read rows of B
                     themselves if the image is collected */
    hy_buffer image_memory; /* device memory of the image; empty if rows are gathered or
                               the variant computes in place */
} hy_problem;

/* Returns the caller's index of row `row` of the problem's A. */
static inline int64_t hy_row_of(const hy_problem *problem, int64_t row)
{
    return problem->a_rows ? problem->a_rows[row] : row;
}

/* Bytes that a chunk needs on the device, and seconds of its stages. No number of bytes
   may decrease when rows are added to the chunk. */
typedef struct hy_cost {
    size_t pack_bytes; /* bytes of operands sent with the chunk; they take as many bytes
                          of pinned memory */
    size_t work_bytes; /* bytes of scratch memory */
    size_t out_bytes;  /* bytes of the largest result for which the chunk has room */
    double sent_bytes; /* bytes of pack_bytes that are expected to be copied; 0: all of
                          them */
    double prepare_s, multiply_s, finish_s; /* predicted seconds of these stages;
                                               prepare_s is the time of one core */
} hy_cost;

/* Returns the bytes of the pack that are expected to be copied. */
static inline double hy_sent_bytes(const hy_cost *cost)
{
    return cost->sent_bytes > 0 ? cost->sent_bytes : (double)cost->pack_bytes;
}

/* Rows of a result as a chunk computes them, in host or device memory.

   SpGEMM: row i of the chunk has row_ptr[i+1] - row_ptr[i] entries. They start at
   row_at[i], or at row_ptr[i] if row_at is NULL.

   SpMM: val is A*X without alpha and without gaps. It is row-major with the chunk's
   columns, or, if X is in slabs, column-major with the chunk's rows.

   See hy_rows_in() in partition/format/pack.h. */
typedef struct hy_rows {
    int64_t *row_ptr; /* rows + 1 offsets; row_ptr[0] is 0 */
    int64_t *row_at;  /* index of the first entry of each row, or NULL */
    int32_t *col;
    void *val;
} hy_rows;

/* Maximum number of arrays, and of words of `head`, in a packed format. */
enum { HY_ARRAYS = 6, HY_HEAD_WORDS = 7 };

/* Several arrays in one block, which one copy moves. Array k is at ptr + at[k], in host
   and in device memory. */
typedef struct hy_pack {
    hy_buffer mem;
    size_t bytes; /* bytes of `mem` in use */
    size_t at[HY_ARRAYS];
    int64_t head[HY_HEAD_WORDS]; /* numbers that the host needs to launch kernels; their
                                    meaning depends on the format */
    size_t rest; /* with hy_variant.csr: offset of the data behind the arrays of
                    hy_pack_csr(), in bytes; 0 if there are none */
} hy_pack;

/* Rows of B that the device reads from the caller's arrays (hy_collecting). The list of
   these rows takes the place of their entries in the pack. */
typedef struct hy_listed {
    const int64_t *from; /* pinned memory of the pack; NULL: no rows are listed */
    int64_t rows, entries;
} hy_listed;

/* One pass of a chunk (partition/parts/passes.h). */
typedef struct hy_pass {
    int64_t number;          /* from 0 */
    int64_t begin, end;      /* rows of B that the pass brings */
    int64_t carried;         /* entries of the sums of earlier passes, in `out` */
    const hy_chunk *planned; /* the chunk with the features of its largest pass */
    hy_chunk chunk; /* the chunk with the features of this pass, which prepare sets */
} hy_pass;

/* One chunk on its way through the pipeline: prepare makes the pack, multiply reads it,
   and the result is stored. Exactly one stage owns a job at any time. */
typedef struct hy_job {
    const hy_problem *problem;
    const hy_chunk *chunk; /* the chunk; &pass.chunk if it brings B in passes */
    const hy_variant *variant;
    hy_pass pass;
    const hy_rates *rates; /* rates with which `cost` was called for this chunk */
    hy_pack pack;      /* the operands in pinned memory; prepare writes them */
    hy_listed listed;  /* rows of B that the copy to the device leaves out, because the
                          device reads them itself; prepare sets it */
    hy_buffer in;      /* device memory of the pack; pack.mem if nothing is copied */
    hy_buffer work;    /* scratch of hy_cost.work_bytes on the device */
    hy_rows out;       /* result on the device, with room for hy_cost.out_bytes of the
                          chunk */
    hy_rows back;      /* result in host memory, after the copy from the device */
    int64_t *out_nnz;  /* pinned word: entries of the rows that the job computes;
                          multiply or finish sets it. If there are more than `out` has
                          room for (hy_variant.overflows), `out` has none of them. */
    int64_t rows_before, rows_after; /* SpGEMM: leading and trailing rows of the chunk
                                        that the job leaves out, because `out` has no room
                                        for the entries of all rows
                                        (pipeline/run/pieces.h); else 0 */
    void *deltas;      /* SpGEMM: delta-coded columns of `out` in `work`, or NULL
                          (partition/move/deltas.h) */
    int64_t *units;    /* pinned word: bytes behind the head of `deltas`
                          (hy_deltas_head()), divided by 16 */
    int64_t nnz;       /* number of entries or elements in `out`; set in the stage
                          `reserve` */
    int64_t offset;    /* SpGEMM: index in C of the chunk's first entry; set in the stage
                          `reserve` */
    int a_on_device;   /* 1: the device has the rows of A already, in A's own arrays or as
                          rows of B in the image, and it computes the chunk's offsets */
    const int *gate;   /* word in device memory that `arrange` obeys; NULL: `arrange`
                          always fills the pack */
    int reused;        /* 1: the pack is cached. `in` holds it once earlier work of the
                          lane is done, and `pack` tells where its arrays are. */
    int direct;        /* 1: the device copied the numbers straight to the result */
    int stored;        /* 1: workers have nothing left to store */
    int transposed;    /* SpMM: 1 if `back` is column-major, as Y is, and `out` is
                          row-major */
    int decodes;       /* 1: only values were copied straight to the result (`direct`);
                          the columns arrive delta-coded */
    int64_t back_room; /* maximum number of entries or elements in `back`; larger results
                          are copied and stored in several rounds */
} hy_job;

/* Returns the number of rows of the result that the job computes. */
static inline int64_t hy_job_rows(const hy_job *job)
{
    return job->chunk->row_end - job->chunk->row_begin - job->rows_before -
           job->rows_after;
}

/* Returns 1 if the pack brings the rows of B or X that the chunk touches. */
static inline int hy_job_gathers(const hy_job *job)
{
    return hy_image_is_gathered(&job->problem->image);
}

/* Returns 1 if the device reads the rows of B that the chunk touches itself. */
static inline int hy_job_collects(const hy_job *job)
{
    return job->problem->collects && hy_image_is_collected(&job->problem->image);
}

/* Returns 1 if the pack brings the rows of B of one pass. */
static inline int hy_job_in_passes(const hy_job *job)
{
    return hy_image_in_passes(&job->problem->image);
}

struct hy_variant {
    const char *name;    /* product.backend.algorithm, for example "spmm.host.rows" */
    const char *summary; /* one line for the command `list` of the program */
    const char *source;  /* the paper or code that the variant follows */
    const char *parameters; /* parameters that options can set, and their values, such as
                               "R=32|64 sorted=off|on"; NULL: none. The k-th parameter is
                               hy_features.parameter[k]: a number stands for itself, which
                               is above 0, and a word for its place, from 1. */
    hy_op op;
    hy_form form; /* form of B or X on a device, whatever the order of the caller's X;
                     the chunk's part of Y has the same order. NONE: the variant reads no
                     image, because it computes in place or its packs carry what it needs
                     of B. */
    int csr; /* 1: packs begin with the arrays of hy_pack_csr(), and kernels read them one
                number at a time, at any alignment. Rows of A that are already on the
                device can then serve as the pack. */
    int in_place;   /* 1: multiply stores Y itself, and no stage stores a result */
    int by_name;    /* 1: the planner uses the variant only if options name it, because
                       estimates prefer another one on every measured product */
    int overflows;  /* SpGEMM, 1: rows may have more entries than `out` has room for
                       (hy_features.out_room). `finish` then counts them in *out_nnz and
                       out.row_ptr, and stores none. */
    int unordered;  /* 1: sums may differ in their last bits from run to run */
    int tail_lines; /* SpMM: hy_image.tail_lines of X on the device. The variant reads
                       tail columns where they are (hy_packed_x() in
                       partition/format/pack.h). */
    int rings;      /* SpGEMM, 1: B may be a ring of entries: kernels read only rows of B
                       that the chunk touches, through hy_packed_b(). SpMM, 1: X may be a
                       ring of row blocks, for which prepare renumbers
                       columns as partition/format/ring.h says, or of column blocks */

    /* (optional) Chooses what options leave open, once for the whole product: replaces
       zeros in f->parameter, and f->block_*. Pure. */
    void (*choose)(hy_features *f, const hy_rates *r);

    /* Returns NULL if the variant can run, else the reason as a static string. Pure. */
    const char *(*refuse)(const hy_features *f, const hy_rates *r);

    /* Predicts the needs of a chunk with these features. Pure. */
    hy_cost (*cost)(const hy_features *f, const hy_rates *r);

    /* (optional) Inspects A, all rows of a product with features `f`, and writes what the
       model of the variant's paper finds: lines of text for explain and the details of a
       plan. */
    hybrid_status (*model)(hy_context *ctx, const hybrid_csr *A, const hy_features *f,
                           const hy_rates *r, char *text, size_t room);

    /* (optional) Writes the chunk's operands to job->pack. Runs on a worker. */
    hybrid_status (*prepare)(hy_job *job);

    /* (optional, with csr) Replaces prepare and the copy to the device for a chunk that
       is all of an A in the memory of the lane's device (problem->a_source). Enqueues the
       work that fills job->in, which has room for hy_arranged_bytes(), and sets
       job->pack. If job->gate is a word that is 0 when the work executes, the pack is
       void: its offsets are -1, and `multiply` then reads no entries and stores
       nothing. */
    hybrid_status (*arrange)(hy_lane *lane, hy_job *job);

    /* Enqueues the product: job->in, job->work -> job->out. A variant that computes in
       place calls hy_progress_check() every few milliseconds and counts finished rows of
       C or elements of Y (hy_progress_add()). For other variants the driver counts
       chunks. */
    hybrid_status (*multiply)(hy_lane *lane, hy_job *job);

    /* (optional) Enqueues sort and compress of job->out, and sets *out_nnz. */
    hybrid_status (*finish)(hy_lane *lane, hy_job *job);
};

/* Returns the image, for this variant, of an operand of the given shape that lies on the
   device as a whole. */
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
