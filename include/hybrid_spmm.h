/* hybrid_spmm.h - sparse products computed by the CPU and a GPU together.

     hybrid_spmv     y = alpha*A*x + beta*y     A sparse, x and y dense vectors
     hybrid_spmm     Y = alpha*A*X + beta*Y     A sparse, X and Y dense matrices
     hybrid_spgemm   C = A*B                    A, B and C sparse

   Each product can be called at three levels, simplest first:
     one shot   hybrid_spgemm (engine, &A, &B, &C), or hybrid_spgemm_with plan options
     planned    hybrid_spgemm_plan, then hybrid_spgemm_run as often as wanted
     explained  hybrid_plan_explain, hybrid_plan_details, hybrid_plan_report,
                hybrid_engine_report, hybrid_engine_trace, hybrid_engine_machine

   Errors     Every function that can fail returns a hybrid_status; 0 is success.
              After a failure, pointers and matrices that the call should have
              made are untouched, and what Y or y holds is unspecified.
              hybrid_engine_message() says in words what went wrong.
   Ownership  Inputs are borrowed: read during the call, never written or kept.
              What the library allocates is freed by the function named beside it.
   Checks     Shapes, types, and pointers that are NULL, not aligned to their type, or
              overlap what is written are found in every call (BAD_ARGUMENT, BAD_MATRIX,
              BAD_SHAPE). Of a sparse matrix each call says how much of its arrays it
              checks; what it does not check and breaks the rules stated at hybrid_csr is
              undefined behaviour.
   Numbers    Arithmetic is that of IEEE 754, rounded to nearest. Every sum of products begins
              with +0, so an entry of C or A*X is +0 if all its products are zeros of either
              sign. Y is then alpha*sum + beta*y, or alpha*sum if beta is 0, or beta*y if
              alpha is 0, or +0 if both are. A zero may have the other sign if it comes from
              a product too small for the type, unless HYBRID_DETERMINISTIC computes a
              SpGEMM; and if HYBRID_ALLOW_TF32 is set. The sign and the payload of a NaN
              are not specified.
   Threads    One engine, and the plans made from it, serve one thread at a time; only
              hybrid_csr_free() and hybrid_dense_free() may be called by any thread at
              any time.
              Different engines are independent, on one GPU too; they share its memory
              (hybrid_engine_options.device_bytes), and memory is pinned for all of them
              (hybrid_pin). A call on an engine with a GPU makes that GPU the calling
              thread's current one (cudaSetDevice), and may clear an error that CUDA has
              pending there.
   Versions   The soname carries major and minor: for another minor version a program is
              compiled anew. From 0.2 on structs that begin with struct_size grow at their
              end alone, so a program may have been compiled with a header that is older or
              newer than the library. Fields that only the library knows are as by default
              in options, and not written in results; those that only the program knows
              must be zero in options (BAD_ARGUMENT), and become zero in results. A
              struct_size is BAD_ARGUMENT if it is more than 4096, or less than a struct
              takes that ends with rates_path (hybrid_engine_options), host_share
              (hybrid_plan_options), scaled (hybrid_calibration), rates_measured
              (hybrid_report) or device_count (hybrid_machine).
   Units      Sizes are bytes, times are seconds, unless the name says otherwise. */
#ifndef HYBRID_SPMM_H
#define HYBRID_SPMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------ */

#define HYBRID_VERSION_MAJOR 0
#define HYBRID_VERSION_MINOR 2
#define HYBRID_VERSION_PATCH 0
#define HYBRID_VERSION \
    (HYBRID_VERSION_MAJOR * 10000 + HYBRID_VERSION_MINOR * 100 + HYBRID_VERSION_PATCH)

#if defined(__GNUC__)
#define HYBRID_API __attribute__((visibility("default")))
#else
#define HYBRID_API
#endif

/* Version of the library that is running; compare with HYBRID_VERSION. */
HYBRID_API int hybrid_version(void);

/* ---- status ------------------------------------------------------------- */

/* Numbers are fixed for ever: new codes are appended, old ones never reused. */
#define HYBRID_STATUS_MAP(X)                                                   \
    X(OK,               0, "success")                                          \
    X(BAD_ARGUMENT,     1, "argument is NULL or out of range")                 \
    X(BAD_MATRIX,       2, "matrix breaks the CSR rules stated at hybrid_csr") \
    X(BAD_SHAPE,        3, "operand shapes do not fit together")               \
    X(BAD_STATE,        4, "call does not fit the plan or engine it is given") \
    X(UNSUPPORTED,      5, "no registered variant can compute this product")   \
    X(NO_MEMORY,        6, "host memory exhausted")                            \
    X(NO_DEVICE_MEMORY, 7, "device memory exhausted, even for one row")        \
    X(NO_DEVICE,        8, "requested device is absent")                       \
    X(DEVICE_FAILED,    9, "device reported an error")                         \
    X(IO_FAILED,       10, "file could not be read or written")                \
    X(BAD_FILE,        11, "file is not in the expected format")               \
    X(CANCELLED,       12, "a function of the caller ended the call")

typedef enum hybrid_status {
#define HYBRID_ENUM(name, number, text) HYBRID_##name = number,
    HYBRID_STATUS_MAP(HYBRID_ENUM)
#undef HYBRID_ENUM
    HYBRID_STATUS_FORCE_INT = 0x7fffffff /* keep the size of an int */
} hybrid_status;

/* The text beside `status` in the table above; never NULL, never freed. */
HYBRID_API const char *hybrid_status_text(hybrid_status status);

/* ---- matrices ----------------------------------------------------------- */

typedef enum hybrid_type { HYBRID_F32 = 1, HYBRID_F64 = 2 } hybrid_type;
typedef enum hybrid_index {
    HYBRID_INDEX_DEFAULT = 0,
    HYBRID_I32           = 1,
    HYBRID_I64           = 2,
    HYBRID_INDEX_AUTO    = 3 /* of results alone: see hybrid_plan_options */
} hybrid_index;
typedef enum hybrid_order { HYBRID_ROW_MAJOR = 1, HYBRID_COL_MAJOR = 2 } hybrid_order;
typedef enum hybrid_space { HYBRID_SPACE_HOST = 0, HYBRID_SPACE_DEVICE = 1 } hybrid_space;

/* Sparse matrix in compressed sparse rows. Row i holds entries
   row_ptr[i] .. row_ptr[i+1]-1. Rules: row_ptr[0] == 0, row_ptr never falls,
   row_ptr[rows] == nnz, and columns ascend without repeats inside a row.
   hybrid_csr_check() verifies all of them.
   Offsets and columns may be 32 or 64 bit, so that what SciPy, PyTorch or cuSPARSE hold is
   taken as it is. The library computes with columns of 32 bits: a call makes a copy of those
   of 64 bits in all operands that it reads, 4 bytes an entry until it returns, and
   BAD_MATRIX names row and entry if one is not in [0, cols).
   Results carry 64-bit offsets and 32-bit columns, and lie in host memory, unless C is asked
   for in other types or on a device (hybrid_plan_options).

   Operands on a device. Products in memory take all arrays of an operand, A, B, X or Y, in
   the memory of a GPU of the engine, each operand where it is: `space` says it. Such operands
   are on one GPU, which computes the product alone. Their memory is the caller's and counts
   against no cap; what kernels do not read as it is needs a copy there that counts: an X in
   columns, or not aligned to 16 bytes; columns of 64 bits; of B, offsets of 32. Their
   values and elements never pass the bus. One-shot calls whose operands and result are all
   there leave patterns there, too: the GPU counts what planning needs. Only a product that
   does not fit in one chunk, or for which plan options ask for more, is planned by the host.
   Then, and for a plan, offsets and columns are read once, to host memory; a plan keeps 8
   bytes a row of A. Calls wait for a stream (hybrid_engine_stream()) and have done all when
   they return, but for runs with HYBRID_ASYNC.
   BAD_ARGUMENT if an operand is not where it says; managed memory is in both, and on any GPU:
   on that of the other operands, or the engine's first. An engine without a GPU cannot tell:
   there memory of a GPU that is said to be the host's is undefined behaviour.
   UNSUPPORTED: an engine without a GPU, operands on two GPUs, a `variant` that orders values
   of A, a split that gives the CPU work. All other calls take host memory alone: UNSUPPORTED.
   Columns of 64 bits are held against [0, cols) by calls that plan, not by runs of plans;
   columns of 32 bits by one-shot calls that the GPU plans. */
typedef struct hybrid_csr {
    int64_t      rows, cols;   /* cols < 2^31 */
    int64_t      nnz;
    hybrid_index offset_type;  /* of row_ptr */
    void        *row_ptr;      /* rows+1 offsets */
    void        *col;          /* nnz column indices of `col_type`, each in [0, cols) */
    void        *val;          /* nnz values of `type` */
    hybrid_type  type;
    hybrid_index col_type;     /* of col; 0 = HYBRID_I32 */
    hybrid_space space;        /* where the arrays are; 0 = host */
} hybrid_csr;

/* Dense matrix. Element (i,j) is data[i*ld + j] in row-major order and
   data[i + j*ld] in column-major order. As an operand it may be on a device: see
   hybrid_csr. */
typedef struct hybrid_dense {
    int64_t      rows, cols;
    int64_t      ld;           /* elements from one row (column) to the next */
    hybrid_order order;
    void        *data;
    hybrid_type  type;
    hybrid_space space;        /* where data is; 0 = host */
} hybrid_dense;

/* ---- engine ------------------------------------------------------------- */

typedef struct hybrid_engine hybrid_engine;

/* Host allocator. `free` receives what `alloc` returned. Both must be
   callable from any thread. `alloc` may return NULL. */
typedef struct hybrid_allocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *ptr);
    void *user;
} hybrid_allocator;

/* Where products are computed. AUTO takes a GPU if one answers, else the CPU. */
typedef enum hybrid_backend {
    HYBRID_AUTO = 0,
    HYBRID_HOST = 1,
    HYBRID_CUDA = 2
} hybrid_backend;

/* What the engine may use. Start from HYBRID_ENGINE_OPTIONS_INIT; a zero
   means "choose for me". */
typedef struct hybrid_engine_options {
    size_t           struct_size;  /* set by the initializer; do not touch */
    hybrid_backend   backend;
    int              threads;      /* CPU workers; 0 = the environment variable
                                      HYBRID_NUM_THREADS, else OMP_NUM_THREADS, but no more
                                      than cores, else one per available core. In the last
                                      case an engine with a GPU leaves three cores of eight
                                      or more to the threads that feed the GPU, unless the
                                      CPU computes alone. BAD_ARGUMENT if HYBRID_NUM_THREADS
                                      is no whole number from 1 on */
    int              device;       /* CUDA ordinal */
    size_t           device_bytes; /* hard cap on device memory; 0 = nine tenths of what is
                                      free now, so engines that share a GPU and work at
                                      once want caps that add up. The host backend keeps
                                      the same cap on the buffers of its chunks. */
    size_t           host_bytes;   /* hard cap on what the engine allocates in RAM,
                                      results included, by whole pages; 0 = what the
                                      machine has without swap, or the process's control
                                      groups (version 1 or 2) allow if that is less. With
                                      one that is not 0 no result is touched ahead of its
                                      use, by default the CPU takes no part in a product of
                                      the GPU, and, without an allocator of yours, what is
                                      freed goes back to the system: at most the cap is
                                      resident, and besides less than 16 MiB of code,
                                      stacks and small blocks */
    hybrid_allocator allocator;    /* of working memory; all zero = malloc and free.
                                      Arrays of results are mapped pages: see
                                      hybrid_engine_trim() */
    char            *message;      /* NULL, or where a failed create writes its sentence */
    size_t           message_size; /* bytes at `message` */
    const char      *rates_path;   /* file of hybrid_engine_calibrate(); NULL = the one in
                                      the user's cache folder, if it is there and about
                                      this device; "" = none: speeds as built in */
    const int       *devices;      /* CUDA ordinals of GPUs that compute products together, in
                                      place of `device`; NULL, and device_count 0: that one
                                      alone. Read during the call. One that is listed twice
                                      counts as two. device_bytes is the cap of each; 0
                                      leaves those on one GPU equal parts of nine tenths of
                                      what is free there. If one of them does not answer
                                      there is none: AUTO takes the CPU, and CUDA is
                                      NO_DEVICE */
    int64_t          device_count; /* of them, up to 16 */
} hybrid_engine_options;

#define HYBRID_ENGINE_OPTIONS_INIT                                             \
    { sizeof(hybrid_engine_options), HYBRID_AUTO, 0, 0, 0, 0,                  \
      { NULL, NULL, NULL }, NULL, 0, NULL, NULL, 0 }

/* Start worker threads and open the device. `options` may be NULL.
   A file of rates that is malformed is an error, BAD_FILE, the user's too; so is one that
   `options` names and that is about other devices, BAD_STATE.
   On success *engine is to be closed with hybrid_engine_destroy(). On failure
   there is no engine to ask: the sentence is at options->message.
   An engine belongs to the process that created it. In a child made by fork() calls on it,
   and on its plans, return BAD_STATE; arrays of results can be read there; functions that
   free leave the parent's memory alone, and hybrid_engine_destroy() unmaps the results.
   The child may create an engine of its own. CUDA does not survive fork(): if the parent
   has used it, HYBRID_AUTO takes the CPU in the child, and HYBRID_CUDA is NO_DEVICE. */
HYBRID_API hybrid_status hybrid_engine_create(const hybrid_engine_options *options,
                                              hybrid_engine **engine);

/* Stop the workers and release everything. Destroy plans first. NULL is fine.
   A kernel that faults, this library's or anybody's, ends CUDA for the process: then all
   calls that need the GPU return DEVICE_FAILED, of every engine, and so does creating one
   with CUDA or AUTO. Engines are destroyed as ever, and those of the CPU go on. */
HYBRID_API void hybrid_engine_destroy(hybrid_engine *engine);

/* What went wrong in the last call that failed on `engine`: one sentence with
   names and numbers. Valid until the next call on `engine`; never NULL. Calls that
   only tell (reports, hybrid_plan_candidate, hybrid_variant_at) leave it as it is. */
HYBRID_API const char *hybrid_engine_message(const hybrid_engine *engine);

/* The backend in use, and in words what it runs on, "0: NVIDIA H200, ...; 1: ..." if
   several GPUs are listed, or, after AUTO fell back to the CPU, why there is no GPU. Valid
   as long as the engine. */
HYBRID_API hybrid_backend hybrid_engine_backend(const hybrid_engine *engine);
HYBRID_API const char    *hybrid_engine_device(const hybrid_engine *engine);
HYBRID_API int            hybrid_engine_threads(const hybrid_engine *engine); /* CPU workers */

/* What an engine has to work with. Start from HYBRID_MACHINE_INIT. */
typedef struct hybrid_machine {
    size_t      struct_size;     /* set by the initializer; do not touch */
    int         processors;      /* logical processors of the machine */
    int         cores;           /* cores that the affinity of the process and its control
                                    groups leave */
    int64_t     memory_bytes;    /* memory of the machine, without swap; 0 = unknown */
    int64_t     group_bytes;     /* limit of the control groups on memory; 0 = none */
    int64_t     host_bytes;      /* the engine's cap on host memory: that of the options, or
                                    the lesser of the two above; 0 = none */
    int64_t     host_bytes_used; /* of these in use: results count, pages that the engine
                                    keeps for later ones do not */
    const char *rates_path;      /* file of measured rates that plans use; "" = built-in
                                    rates. Valid until the engine is calibrated */
    const char *rates_date;      /* day of the measurement, as the file has it; or "" */
    int         with_cuda;       /* 1: the library was built with CUDA */
    int         device_count;    /* GPUs on which the engine computes */
} hybrid_machine;

#define HYBRID_MACHINE_INIT \
    { sizeof(hybrid_machine), 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0 }

/* BAD_ARGUMENT if an argument is NULL or struct_size is wrong. */
HYBRID_API hybrid_status hybrid_engine_machine(const hybrid_engine *engine,
                                               hybrid_machine *out);

/* Arrays of results live in pages that the engine keeps when they are freed,
   because touching fresh pages costs more than computing what goes in them; and
   plans leave buffers, streams and threads to the next plan. This gives what is
   kept and not in use back to the system.

   A call that fails, for whatever reason, leaves nothing behind: afterwards the engine holds
   no more memory than before the call.

   Live plans share device_bytes. A plan that no call runs gives its device memory to calls
   that need it, and allocates it again when it runs. Only rows of A that stay on the device
   (HYBRID_RESIDENT) are never given away; other plans are made for the memory that these
   leave, and NO_DEVICE_MEMORY names the plan that holds most. */
HYBRID_API void hybrid_engine_trim(hybrid_engine *engine);

/* The cudaStream_t with which operands and results in the memory of a GPU are used, of that
   GPU; NULL, as at first, is CUDA's default stream. Calls that are given such operands wait
   until all that is enqueued in it is done, before they read or write any, and may be ended
   meanwhile (hybrid_engine_progress()); they return when their own work is done, so what is
   enqueued afterwards finds it. The stream is borrowed: it lives until it is replaced. An
   engine that is NULL is fine. */
HYBRID_API void hybrid_engine_stream(hybrid_engine *engine, void *stream);

/* ---- calibrate ----------------------------------------------------------- */

/* Plans predict times from the speeds of the machine: built-in ones, which are those of
   one machine, or what was measured here. Zero: this place has no such thing. */
typedef struct hybrid_speeds {
    const char *name;        /* "NVIDIA H200, 132 SMs, ..."; as long as the engine */
    double h2d_Bps, d2h_Bps; /* bytes a second of pinned memory to and from the device */
    double both_Bps;         /* both at once, summed */
    double mem_Bps;          /* bytes a second that a copy in its memory reads and writes */
    double flops;            /* of all cores, 16 a cycle of each */
    double launch_s;         /* to start a kernel or a parallel loop */
} hybrid_speeds;

/* How good a rule is at choosing between spmm.cuda.rows and spmm.cuda.merge. */
typedef struct hybrid_rule {
    double accuracy; /* share of products for which it picks the faster */
    double slowdown; /* time of its picks over that of the faster, geometric mean */
} hybrid_rule;

typedef struct hybrid_calibration {
    size_t        struct_size;  /* set by the initializer; do not touch */
    const char   *path;         /* of the file; valid until the next call */
    hybrid_speeds host, device; /* device.name is NULL without a GPU */
    int64_t       products;     /* timed with rows and with merge; 0 without a GPU, and
                                   then what follows is 0 too */
    hybrid_rule   paper;        /* merge where a row has less than 9.35 entries on average */
    double        threshold;    /* the number that suits this device best, */
    hybrid_rule   fitted;       /* and the rule with it */
    hybrid_rule   model;        /* the cost model, by which plans choose, as built in */
    double        merge_factor; /* what its times of merge are to be multiplied by here, */
    hybrid_rule   scaled;       /* and the model with that and the speeds found: what
                                   plans do from now on */
} hybrid_calibration;

#define HYBRID_CALIBRATION_INIT                                                \
    { sizeof(hybrid_calibration), NULL, { NULL, 0, 0, 0, 0, 0, 0 },            \
      { NULL, 0, 0, 0, 0, 0, 0 }, 0, { 0, 0 }, 0, { 0, 0 }, { 0, 0 }, 0, { 0, 0 } }

/* One product, timed by both variants on the device, operands and result there. */
typedef struct hybrid_timing {
    const char *problem;           /* as hybrid_generate() takes it; static string */
    int64_t     columns;           /* of X */
    double      row_mean;          /* entries a row */
    double      rows_s, merge_s;   /* medians */
    double      rows_model_s, merge_model_s; /* by the cost model with the speeds found */
} hybrid_timing;

/* What goes on: a step begins, `timing` NULL, or a product was timed. */
typedef void (*hybrid_calibrate_fn)(void *user, const char *step,
                                    const hybrid_timing *timing);

/* Measure this machine, in less than 30 s, with nothing else running on it; write a file
   for hybrid_engine_options.rates_path, complete or not at all; and let plans made from
   now on use what it says. Of several GPUs the first is measured, and those of its model
   have the same speeds. `path` NULL is the user's file for this device:
   $XDG_CACHE_HOME/hybrid_spmm/DEVICE.rates, or that in $HOME/.cache. `fn` and `out` may be
   NULL. */
HYBRID_API hybrid_status hybrid_engine_calibrate(hybrid_engine *engine, const char *path,
                                                 hybrid_calibrate_fn fn, void *user,
                                                 hybrid_calibration *out);

/* ---- pin ----------------------------------------------------------------- */

/* Pin an array of your own that products will use again and again: a GPU then copies
   from and to it directly, at the full speed of the bus, where pageable memory goes
   through a copy by the CPU. X without gaps is read so (ld as small as can be; row-major
   for all variants but those in columns, and with rows of whole 16 bytes, or of at most
   8), and B of a SpGEMM; Y is written so when it is row-major without gaps, alpha == 1
   and beta == 0. X and Y of two columns or more that are column-major, and that the GPU
   turns, are copied so whatever ld is, Y if alpha == 1 and beta == 0. Where the planner
   has X come in panels of columns, which it prefers for large ones that are pinned with
   Y, both may have gaps if Y and each of its rows begin on 128 bytes; without gaps, and
   with rows of whole 128 bytes, they may begin anywhere.
   Where it leaves out what belongs to empty rows and columns of A, it makes no difference.
   All else takes the way of pageable memory, with the same result. Pinning takes as long
   as a few products and keeps the pages from being swapped. Memory from cudaHostAlloc, or
   that you registered with CUDA in one piece, is used in the same way and needs no call;
   a run may fail with BAD_STATE if it is taken back meanwhile. Without a GPU the range is
   noted and nothing else is done.
   BAD_ARGUMENT if ptr is NULL, bytes is 0, or some of the bytes are in a range that was
   given before; NO_MEMORY if the system does not pin so much, or if some of it is pinned
   by other means, as arrays of results are that the engine has used before, or by another
   engine: these are copied from directly as they are, the latter as long as that engine
   has them pinned. Not during a run. */
HYBRID_API hybrid_status hybrid_pin(hybrid_engine *engine, void *ptr, size_t bytes);

/* Take it back, before the array is freed: `ptr` is where the range began. BAD_ARGUMENT
   if none begins there. hybrid_engine_destroy() does it for those that are left, so
   their arrays must still be there then. Not during a run. */
HYBRID_API hybrid_status hybrid_unpin(hybrid_engine *engine, void *ptr);

/* ---- one-shot products --------------------------------------------------- */

/* C = A*B. What `C` holds is overwritten, and not read; free its arrays with
   hybrid_csr_free().
   A and B may be the same matrix. Columns of C ascend; sums that cancel to
   zero stay as stored entries.
   Fails with BAD_SHAPE unless A.cols == B.rows and the types agree. Offsets of A and B are
   checked: BAD_MATRIX names the row. Columns of 32 bits are not: undefined behaviour if one
   is not in [0, cols). So it is if columns, of either width, do not ascend. */
HYBRID_API hybrid_status hybrid_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                       const hybrid_csr *B, hybrid_csr *C);


/* Y = alpha*A*X + beta*Y. The caller allocates Y. With beta == 0, Y need not
   be initialised (NaN in it does not spread). Y must not overlap X, each from its first
   element to its last, gaps included, nor an array of A: BAD_ARGUMENT. With alpha == 0,
   as in BLAS, Y = beta*Y: arguments are checked, but arrays of A and X are not read, so
   NaN in them does not spread; the report is of a run without products.
   Offsets of A are checked if alpha != 0: BAD_MATRIX names the row. Of columns holds what
   hybrid_spgemm() says. */
HYBRID_API hybrid_status hybrid_spmm(hybrid_engine *engine, double alpha,
                                     const hybrid_csr *A, const hybrid_dense *X,
                                     double beta, hybrid_dense *Y);

/* y = alpha*A*x + beta*y. x has A->cols and y A->rows elements of A->type, in host memory or
   in that of a GPU of the engine, which the pointers tell; BAD_ARGUMENT if one is in that of
   another GPU. What is said at
   hybrid_spmm() of alpha, beta, overlap and checks holds here too. */
HYBRID_API hybrid_status hybrid_spmv(hybrid_engine *engine, double alpha,
                                     const hybrid_csr *A, const void *x,
                                     double beta, void *y);

/* Free the arrays of a matrix that the library filled, wherever they are, and zero the
   struct. By any thread,
   also while others free matrices of the same engine, while it computes, and from inside a
   function that it calls; but not before a call that reads the matrix has returned, nor once
   hybrid_engine_destroy() has begun. With a GPU it may unpin pages, which makes that GPU the
   calling thread's current one. */
HYBRID_API void hybrid_csr_free(hybrid_engine *engine, hybrid_csr *matrix);

/* Allocate data for a dense matrix of `rows` x `cols` with the smallest ld, unset. The data
   begins at a multiple of 128 bytes: the GPU copies such a Y fastest if it is pinned. Free with hybrid_dense_free(), which also zeroes the struct, and may be called
   when hybrid_csr_free() may. */
HYBRID_API hybrid_status hybrid_dense_create(hybrid_engine *engine, int64_t rows,
                                             int64_t cols, hybrid_order order,
                                             hybrid_type type, hybrid_dense *out);
HYBRID_API void hybrid_dense_free(hybrid_engine *engine, hybrid_dense *matrix);

/* ---- plans --------------------------------------------------------------- */

typedef struct hybrid_plan hybrid_plan;

enum {
    HYBRID_DETERMINISTIC = 1u << 0, /* same bits on every run, but for the sign and the
                                       payload of a NaN. SpGEMM: also for every
                                       budget, chunking, number of threads and backend:
                                       products are rounded and added to +0 in the order of
                                       A's entries. Variants that cannot are refused.
                                       SpMM on several GPUs: those of one model compute,
                                       each the same rows in every run */
    HYBRID_REUSE         = 1u << 1, /* the plan will run again with other values: runs
                                       compare the patterns with those planned for, and
                                       all but the first know where rows of C start */
    HYBRID_EXPLAIN       = 1u << 2, /* predict the bytes of ways not taken too, and look
                                       for what no variant here asks of the pattern, which
                                       takes some milliseconds */
    HYBRID_CHECK         = 1u << 3, /* verify all CSR rules of what is planned for,
                                       columns too */
    HYBRID_RESIDENT      = 1u << 4, /* SpMM and SpMV again with the same A: what of A fits
                                       stays on the device, packed. The plan is made for
                                       the runs after the first: see
                                       hybrid_plan_refresh(). On the host, which computes
                                       in place, it changes nothing. SpGEMM: refused */
    HYBRID_ALLOW_TF32    = 1u << 5, /* SpMM in f32 may round A and X to the 11 bits of
                                       TF32: errors of about 5e-4 of sum |a||x|, not 1e-6.
                                       Only variants on tensor cores make use of it */
    HYBRID_ASYNC         = 1u << 6  /* SpMM and SpMV with A, X and Y on one GPU: runs return
                                       before their work is done. See hybrid_spmm_run() */
};

/* Who computes. The CPU can take a part of an SpMM from the GPU: pieces of rows, while the
   GPU waits for its copies. Packing for the GPU and storing what comes back go before
   computing. An SpGEMM is not shared: with SHARE the GPU computes it, with AUTO the CPU if it
   is predicted to be sooner. Of an engine without a GPU the CPU computes all, whatever is
   said here, but GPU and SHARE are refused (NO_DEVICE).
   Of an engine with several GPUs "the GPU" is those of them that are predicted to make the
   product short, in all runs: the fastest alone where others would not. The CPU's part is
   predicted, or its share counted, of what they do together. */
typedef enum hybrid_split {
    HYBRID_SPLIT_DEFAULT = 0, /* choose for me: AUTO in runs of SpMM that leave the CPU
                                 idle: X and Y are pinned and copied directly, as at
                                 hybrid_pin(), alpha is 1, beta 0, and the planner does
                                 not leave out what belongs to empty rows and columns of
                                 A; else the GPU alone, or the CPU alone as with AUTO. Who
                                 computes a row depends on time, and with it the last bits
                                 of a sum: HYBRID_DETERMINISTIC shares nothing */
    HYBRID_SPLIT_AUTO    = 1, /* the CPU takes what it is predicted, then seen, to finish
                                 before the GPU would; nothing if that gains little. Runs
                                 that leave the CPU idle have a prediction of their own.
                                 All of an SpMM if the CPU is predicted to be done much
                                 sooner, as with few columns; unless A is to stay there
                                 (HYBRID_RESIDENT), or variant or engine are for the
                                 GPU */
    HYBRID_SPLIT_GPU     = 2, /* the GPU alone */
    HYBRID_SPLIT_HOST    = 3, /* the CPU alone */
    HYBRID_SPLIT_SHARE   = 4  /* about host_share of an SpMM for the CPU. UNSUPPORTED if it
                                 can take part in no run */
} hybrid_split;

/* How to compute. Start from HYBRID_PLAN_OPTIONS_INIT. */
typedef struct hybrid_plan_options {
    size_t      struct_size; /* set by the initializer; do not touch */
    unsigned    flags;       /* HYBRID_DETERMINISTIC, ... */
    int         depth;       /* chunks in flight; 0 = 4, or 6 where they are small */
    int64_t     chunk_rows;  /* rows a chunk, if they fit; 0 = from the work and memory */
    const char *variant;     /* NULL = cheapest; else a name such as
                                "spgemm.cuda.esc", or a prefix such as "spgemm.host" */
    hybrid_split split;      /* between CPU and GPU */
    hybrid_order order;      /* SpMM: of X and Y in most runs; they may have the other */
    double      host_share;  /* with HYBRID_SPLIT_SHARE: 0 to 1 */
    hybrid_index offsets;    /* SpGEMM: of C; 0 = HYBRID_I64. With HYBRID_I32 a C of more than
                                2^31 - 1 entries is UNSUPPORTED, as soon as so many are
                                counted */
    hybrid_index columns;    /* SpGEMM: of C; 0 = HYBRID_I32. HYBRID_I64 is stored by workers
                                where the GPU would have copied to C itself.
                                HYBRID_INDEX_AUTO in both, or in neither: 32 bits for both if
                                C has less than 2^31 entries, as SciPy wants it, else 64 for
                                both. If the plan cannot tell which, one of the arrays is
                                converted in the end: with its copy, memory is 4 bytes a row
                                or 4 an entry more meanwhile */
    hybrid_space x_space;      /* SpMM: where X is in runs, which is host memory by default.
                                  On a GPU: on that of A, or on the engine's first if A is
                                  in host memory or managed. BAD_STATE, with both in words,
                                  if a run's is elsewhere, on another GPU too, and so for A
                                  and B */
    hybrid_space result_space; /* SpMM: the same of Y. SpGEMM: where C is left. On a GPU, that
                                  of the operands or the engine's first, its arrays count
                                  against no cap, and rows are counted in every run; twice
                                  C is there at the end of a run of several chunks */
} hybrid_plan_options;

#define HYBRID_PLAN_OPTIONS_INIT                                                              \
    { sizeof(hybrid_plan_options), 0, 0, 0, NULL, HYBRID_SPLIT_DEFAULT, HYBRID_ROW_MAJOR, 0,  \
      HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT, HYBRID_SPACE_HOST, HYBRID_SPACE_HOST }

/* hybrid_spgemm() with options, which may be NULL: a plan is made, run once and destroyed.
   HYBRID_REUSE, HYBRID_RESIDENT and HYBRID_ASYNC are refused. */
HYBRID_API hybrid_status hybrid_spgemm_with(hybrid_engine *engine,
                                            const hybrid_plan_options *options,
                                            const hybrid_csr *A, const hybrid_csr *B,
                                            hybrid_csr *C);

/* hybrid_spmm() with options in the same way. x_space, result_space and order are those of X
   and Y, whatever the options say. */
HYBRID_API hybrid_status hybrid_spmm_with(hybrid_engine *engine,
                                          const hybrid_plan_options *options, double alpha,
                                          const hybrid_csr *A, const hybrid_dense *X,
                                          double beta, hybrid_dense *Y);

/* Inspect the operands' patterns, cut the work into chunks and pick variants.
   Values are not read. `options` may be NULL. Free *plan with
   hybrid_plan_destroy(). A planned SpMV is an SpMM with dense_cols == 1.
   Offsets are checked: BAD_MATRIX names the row. Columns are checked with HYBRID_CHECK;
   without it of them holds what hybrid_spgemm() says. */
HYBRID_API hybrid_status hybrid_spgemm_plan(hybrid_engine *engine, const hybrid_csr *A,
                                            const hybrid_csr *B,
                                            const hybrid_plan_options *options,
                                            hybrid_plan **plan);
HYBRID_API hybrid_status hybrid_spmm_plan(hybrid_engine *engine, const hybrid_csr *A,
                                          int64_t dense_cols,
                                          const hybrid_plan_options *options,
                                          hybrid_plan **plan);

/* Compute with a plan. Patterns must equal those planned for; values, and the
   widths of offsets and columns, are free to change. Shapes, type and nnz are compared:
   BAD_STATE if they differ. With HYBRID_REUSE, SpGEMM also compares a 64-bit hash of
   offsets and columns (one parallel pass over them) before it writes anything,
   and a second run counts nothing: rows of C start where they did in the first,
   whose offsets (8 bytes a row) the plan keeps. The bits of C depend on the
   values alone, not on which run. Other runs take the pattern on trust: undefined
   behaviour, with HYBRID_CHECK too, if offsets or columns are not those planned for.
   Of alpha == 0, beta and overlap hybrid_spmm() says what holds for hybrid_spmm_run().

   With HYBRID_ASYNC a run of an SpMM enqueues its work in the stream of the engine
   (hybrid_engine_stream()) and returns. The caller synchronises that stream before he reads Y
   elsewhere. The arrays of A, X and Y stay as they are until the stream has done the work;
   they may be freed or written by work that is enqueued in the same stream later. Arguments
   are checked before the run returns. What fails on the device is reported by a later call of
   the engine. hybrid_plan_destroy() waits for runs of the plan. In the report total_s is the
   time in which the run was enqueued, and the times of stages are 0; runs make no event for
   hybrid_trace_fn, and progress is not told. Such a plan is UNSUPPORTED if A, X or Y is in host
   memory, or if the product does not fit the GPU in one chunk; SpGEMM refuses the flag. */
HYBRID_API hybrid_status hybrid_spgemm_run(hybrid_plan *plan, const hybrid_csr *A,
                                           const hybrid_csr *B, hybrid_csr *C);
HYBRID_API hybrid_status hybrid_spmm_run(hybrid_plan *plan, double alpha,
                                         const hybrid_csr *A, const hybrid_dense *X,
                                         double beta, hybrid_dense *Y);

/* Rows row_begin to row_begin + rows->rows - 1 of C, one at least: `rows` is a matrix of
   its own, with all columns of C, offsets of 64 bits that begin at 0, and columns of 32 bits,
   whatever the plan says of C. Its arrays are the library's, not to be written, and there
   until the function returns. 0: go on; anything else ends the call. */
typedef int (*hybrid_each_fn)(void *user, int64_t row_begin, const hybrid_csr *rows);

/* C = A*B with a plan, but C is not stored: `fn` is given its rows, each once and in ascending
   order, a chunk of the plan at a time, always by the thread that makes this call. Later
   chunks are computed meanwhile, as many as are in flight (hybrid_plan_options.depth). Memory
   is that of these chunks and of one more, whatever the size of C. Rows are as
   hybrid_spgemm_run() stores them, with HYBRID_DETERMINISTIC bit by bit. What is said there
   of A and B holds here too.
   CANCELLED if fn returned other than 0. Then, and after any other error, fn is not called
   again; the engine is as good as before, and after CANCELLED so is the plan. fn returns: it
   is not left by an exception or longjmp().
   From inside fn, calls on this engine and its plans return BAD_STATE. Those that return
   nothing do nothing, but hybrid_csr_free() and hybrid_dense_free(), which free. Other
   engines can be used, with `rows` as an operand too.
   GPUs compute, or the CPU alone, however the plan is split: the CPU's part would be the
   last rows. With HYBRID_REUSE patterns are compared; where rows of C start is
   neither used nor kept for later runs. In the report place_s includes the time of fn, and
   what fn was given counts as stored. */
HYBRID_API hybrid_status hybrid_spgemm_each(hybrid_plan *plan, const hybrid_csr *A,
                                            const hybrid_csr *B, hybrid_each_fn fn,
                                            void *user);

HYBRID_API void hybrid_plan_destroy(hybrid_plan *plan);

/* A has changed values: the next run packs it anew. With HYBRID_RESIDENT, if
   resident_chunks == chunks in the report, A's arrays are read up to the first run
   that succeeds with an alpha that is not 0, and again from this call up to the next that
   does; other runs are given A's shape, and pointers as if it were there. If less is
   resident, the rest is read in every run, and without this call a run mixes old and new
   values. What the
   CPU computes of a split product is not resident, so such a plan reports fewer
   chunks, and none before its first run; once a run has reported all of them, the GPU
   is alone up to this call. Other plans, those of the host, and those of an A on a device
   read A in every run.
   NULL is fine. */
HYBRID_API void hybrid_plan_refresh(hybrid_plan *plan);

/* ---- explain ------------------------------------------------------------- */

/* Writes the plan in plain words: the operands, the size of the result and whether it fits
   host memory, who computes, by which algorithm and in how many parts, what is copied, the
   predicted time, and the alternatives. Returns the length needed without the final NUL,
   like snprintf(); nothing is written if `text` is NULL. */
HYBRID_API size_t hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity);

/* Writes the numbers behind the plan in the same way, in the terms of docs/design.md:
   features found, every candidate with its predicted time or why it was refused, chunks and
   slots, and the estimate of each resource. */
HYBRID_API size_t hybrid_plan_details(const hybrid_plan *plan, char *text, size_t capacity);

/* One registered variant, as the planner saw it. */
typedef struct hybrid_candidate {
    const char *variant;     /* "spmm.cuda.merge"; static string */
    const char *refused;     /* NULL, or why it cannot run; static string */
    double      predicted_s; /* whole pipeline; meaningless when refused */
    int         chosen;
} hybrid_candidate;

/* Candidate i of the plan, cheapest first. BAD_ARGUMENT past the last one. */
HYBRID_API hybrid_status hybrid_plan_candidate(const hybrid_plan *plan, int i,
                                               hybrid_candidate *out);

/* Row i of the table of variants compiled in; BAD_ARGUMENT past the last. */
typedef struct hybrid_variant_info {
    const char *name, *summary, *source; /* static strings */
} hybrid_variant_info;

HYBRID_API hybrid_status hybrid_variant_at(int i, hybrid_variant_info *out);

/* What can bound a run. */
#define HYBRID_RESOURCE_MAP(X)       \
    X(CORES,       0, "cores")       \
    X(HOST_MEMORY, 1, "host memory") \
    X(BUS_UP,      2, "bus up")      \
    X(BUS_DOWN,    3, "bus down")    \
    X(DEVICE,      4, "device")

typedef enum hybrid_resource {
#define HYBRID_ENUM(name, number, text) HYBRID_##name = number,
    HYBRID_RESOURCE_MAP(HYBRID_ENUM)
#undef HYBRID_ENUM
    HYBRID_RESOURCES          = 5, /* how many there are */
    HYBRID_RESOURCE_FORCE_INT = 0x7fffffff
} hybrid_resource;

/* The text beside `resource` in the table above; never NULL, never freed. */
HYBRID_API const char *hybrid_resource_text(hybrid_resource resource);

/* Where a rate comes from. A run that moves more than its rate allows shows that the rate is
   too low: what the run itself did takes its place, in the report of this run alone. */
typedef enum hybrid_origin {
    HYBRID_BUILT_IN = 0, /* of one machine, which need not be this one */
    HYBRID_MEASURED = 1, /* by hybrid_engine_calibrate() */
    HYBRID_OBSERVED = 2  /* by this run */
} hybrid_origin;

/* "built in", "measured", "observed"; never NULL, never freed. */
HYBRID_API const char *hybrid_origin_text(hybrid_origin origin);

/* What a run used of a resource. */
typedef struct hybrid_use {
    double rate;        /* bytes a second, of several GPUs together, of CORES the number of
                           workers; 0: the run has no such thing */
    double utilisation; /* used / (rate * total_s), 0 to 1. Used are h2d_bytes, d2h_bytes,
                           host_bytes and device_bytes; of CORES the seconds in which
                           workers had a task or the calling thread computed, summed up */
    hybrid_origin origin; /* of the rate; CORES are counted: OBSERVED */
} hybrid_use;

/* What a plan will do and where its last run's time went. Stage times are busy
   times summed over chunks, so their sum exceeds total_s when stages
   overlapped; without a trace those of copies, load_s, h2d_s and d2h_s, are by
   when the host saw them end, as timing each on the device slows small ones down.
   Before the first run only chunks, rows, flops, what is resident and what is
   predicted are set: for that run, which sends the packs that stay, too.
   Start from HYBRID_REPORT_INIT. */
typedef struct hybrid_report {
    size_t  struct_size;     /* set by the initializer; do not touch */
    double  total_s;         /* wall time of the run */
    double  predicted_s;     /* of total_s, when the operands were known, but nothing was
                                computed; of a one-shot call planning is in it as measured.
                                Before the first run as of one whose X and Y are not pinned.
                                0: alpha is 0 */
    double  plan_s;          /* planning: of a one-shot call what of total_s passed before the
                                first chunk was begun; of a plan the call that made it, which
                                is not in total_s. 0: alpha is 0 */
    double  load_s;          /* B or X to the device, ahead of chunks that touch it */
    double  prepare_s, h2d_s, multiply_s, finish_s, d2h_s, place_s;
    double  overlap;         /* sum of busy times / total_s */
    double  bus_utilisation; /* of use[HYBRID_BUS_UP] and [HYBRID_BUS_DOWN] the larger */
    double  reference_s;     /* in which the operands as CSR with 64-bit offsets (X dense)
                                and the result pass the bus once, uncompressed, both ways
                                at once; an A that is there from an earlier run does not,
                                nor what is in the memory of the GPU anyway.
                                Where the CPU alone computes: host memory */
    double  speedup_over_reference; /* reference_s / total_s. It exceeds 1 where less is
                                moved: columns of C come packed, rows and columns of A are
                                empty, CPU and GPU share the product, or caches hold it */
    int64_t chunks, rows;
    int64_t flops;           /* 2 * scalar products */
    int64_t nnz_out;         /* SpGEMM: entries of C; SpMM: elements of Y */
    int64_t h2d_bytes, d2h_bytes; /* d2h: columns of C as packed as they came. Patterns that
                                are read to plan are in pattern_bytes */
    int64_t host_bytes;      /* at least: what workers write for the bus, read of A where
                                they compute, store of the result, and read of Y if beta
                                is not 0, each byte once. Not what they read for that, nor
                                B or X where they compute: caches may hold it */
    int64_t device_bytes;    /* at least, in its memory: what comes up is written, what
                                stayed of A is read, the result written, what goes down
                                read, each byte once */
    int64_t peak_device_bytes, peak_pinned_bytes, peak_host_bytes; /* of several GPUs the
                                sum of their peaks */
    int64_t predicted_h2d_bytes, predicted_d2h_bytes; /* by the plan, columns of C as they
                                are; 0 if nothing is copied */
    int64_t other_h2d_bytes; /* predicted if B or X were held the other way; -1: there
                                is none, or it was not asked for by HYBRID_EXPLAIN */
    int     gathered;        /* 1: chunks bring the rows of B or X that they touch;
                                0: it stays on the device, passes through it in
                                a window (X), or is read in place */
    int     reused_pattern;  /* 1: sizes of C were known from an earlier run */
    int64_t resident_chunks; /* HYBRID_RESIDENT: so many, the first, keep their rows of A */
    int64_t resident_bytes;  /* on the device, which has so many bytes for them */
    int64_t host_chunks, host_products; /* of a split product: what the CPU computed, */
    double  host_s;          /* and its busy time for that, not counted in multiply_s */
    hybrid_use use[HYBRID_RESOURCES]; /* by hybrid_resource */
    hybrid_resource bound;   /* what was busy for most of the run: the bus for load_s + h2d_s
                                and for d2h_s, the device for multiply_s + finish_s, cores
                                by their use. HOST_MEMORY in place of CORES if its use is
                                more than half of theirs, as it is where they only copy */
    int     rates_measured;  /* 1: the machine's rates were measured; 0: some of those in
                                `use`, or what they were before the run, are built in */
    int64_t predicted_nnz_out;      /* nnz_out, by the plan: of C an estimate from a sample;
                                       0 of calls on files, and if alpha is 0 */
    int64_t predicted_result_bytes; /* host memory for as many: C or Y; 0 if the result is
                                       left on a device */
    int64_t pattern_bytes;          /* offsets and columns of A and B that planning copied
                                       from the memory of a device; a plan copied them while
                                       it was made. 0: A and B are in host memory, or the
                                       device planned */
} hybrid_report;

#define HYBRID_REPORT_INIT                                                         \
    { sizeof(hybrid_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                              \
      { { 0, 0, HYBRID_BUILT_IN } }, HYBRID_CORES, 0, 0, 0, 0 }

HYBRID_API hybrid_status hybrid_plan_report(const hybrid_plan *plan, hybrid_report *out);

/* The report of the engine's last run that finished, of a plan or of a one-shot call;
   BAD_STATE if there was none. Of a one-shot call total_s includes planning, and no
   bytes are predicted. */
HYBRID_API hybrid_status hybrid_engine_report(const hybrid_engine *engine,
                                              hybrid_report *out);

/* ---- trace --------------------------------------------------------------- */

/* One stage of one chunk: on a lane of a GPU, or by one thread of the CPU. A stage on which
   several threads work has an event for each of them. Times are nanoseconds of
   CLOCK_MONOTONIC; those of GPU stages are taken by CUDA events and shifted to that clock.
   Events of one lane do not overlap. Strings live as long as the engine. */
typedef struct hybrid_event {
    const char *stage;       /* "load", "prepare", "h2d", "multiply", ... */
    const char *variant;
    const char *lane;        /* "cpu3": a worker; "caller": the thread that runs the product;
                                "load", "h2d", "run", "d2h": the first GPU; "load1",
                                "h2d1", ...: other GPUs */
    int64_t     chunk;       /* 0, 1, ...; -1 for "load" */
    int64_t     row_begin, row_end; /* of the chunk */
    int64_t     begin_ns, end_ns;
    int64_t     bytes;       /* that the stage moves over the bus or in host memory, as
                                hybrid_report counts them; 0 for kernels of a GPU */
    int64_t     flops;       /* 2 * scalar products. Bytes and flops of a stage are divided
                                among its threads in proportion to their times */
    int64_t     device_bytes, host_bytes; /* in use when the event was collected, on its GPU */
    int         part, parts; /* 0 to parts - 1: which of the events of the stage this is. Part
                                0 is of the thread that began the stage, and lasts as long
                                as the stage */
    int64_t     pass;        /* 0, 1, ...: the pass of the engine over its operands, which
                                counts chunks from 0; a run has one pass, or one for each
                                panel of operands in files */
    hybrid_resource bound;   /* the resource that bounds the stage: the bus or the device on
                                lanes of a GPU; of a thread HYBRID_HOST_MEMORY if its bytes
                                took more than half of the memory rate that a worker has if
                                all work, else HYBRID_CORES. HYBRID_RESOURCES: none of
                                these, in events of your own */
} hybrid_event;

/* Call `fn` for every finished stage, from the thread that runs the product, never
   two calls at once, and never after the run has returned. NULL stops it. An engine that
   is NULL is fine. */
typedef void (*hybrid_trace_fn)(void *user, const hybrid_event *event);
HYBRID_API void hybrid_engine_trace(hybrid_engine *engine, hybrid_trace_fn fn, void *user);

/* Events that are kept until they are written:

       hybrid_trace *trace;
       hybrid_trace_create(engine, &trace);
       hybrid_engine_trace(engine, hybrid_trace_add, trace);
       hybrid_spgemm(engine, &A, &B, &C);
       hybrid_engine_trace(engine, NULL, NULL);
       hybrid_trace_write_json(trace, "trace.json");
       hybrid_trace_destroy(trace);

   Errors are omitted here. */
typedef struct hybrid_trace hybrid_trace;

/* Makes an empty trace. Destroy it with hybrid_trace_destroy(), before the engine. */
HYBRID_API hybrid_status hybrid_trace_create(hybrid_engine *engine, hybrid_trace **trace);
HYBRID_API void hybrid_trace_destroy(hybrid_trace *trace); /* NULL is fine */

/* Copies an event to `trace`, a hybrid_trace. It is a hybrid_trace_fn, and may be called with
   events of your own: strings are borrowed until the trace is destroyed, and a lane whose
   name begins with main, reader or writer stands before or after those of the library. One
   thread at a time. If there is no memory for an event, hybrid_trace_write_json() says so. */
HYBRID_API void hybrid_trace_add(void *trace, const hybrid_event *event);

/* Writes the events as Chrome Trace Event JSON, which ui.perfetto.dev opens: a line for each
   lane, a bar for each event with its chunk, variant, bytes, flops and the resource that
   bounds it, arrows from stage to stage of a chunk, and the memory in use. "otherData" is
   what the last run of the engine used (hybrid_report): it is empty before the first run.
   The file appears when it is complete, as at hybrid_write_mtx(). The trace may be added to
   and written again. NO_MEMORY if an event was lost; IO_FAILED, with the system's reason. */
HYBRID_API hybrid_status hybrid_trace_write_json(hybrid_trace *trace, const char *path);

/* ---- progress ------------------------------------------------------------- */

/* How far a call is: so many of the rows of its result, from 0 to `rows`, never fewer than
   before. 0: go on; anything else ends the call. */
typedef int (*hybrid_progress_fn)(void *user, int64_t rows_done, int64_t rows);

/* Call `fn` at least every 100 ms while a product is planned, computed or verified: in
   hybrid_spgemm(), hybrid_spmm(), hybrid_spmv(), the functions that plan and run,
   hybrid_spgemm_each(), hybrid_spgemm_files() and its like, and those that verify. It is
   always called by the thread that makes the call. rows_done is 0 while that waits for a
   stream, plans or verifies, and less than `rows` until all is done. A call that succeeds
   calls fn last with rows_done == rows; if it takes less than 50 ms, only then. NULL stops
   it, and costs nothing. An engine that is NULL is fine.
   If fn returns other than 0 the call returns CANCELLED within a second, and does not call
   fn again; what it returns for rows_done == rows is ignored. Then the engine is as good as
   before, and so is the plan of a run, but a call that plans leaves none, and what Y holds
   is unspecified.
   Both times may be longer where something cannot be divided: memory of many GB that is
   allocated or pinned; a chunk that the GPU has begun, which is waited for; the file system;
   a row of C with 10^8 entries that one worker sorts; single rows of 10^8 entries where all
   columns are checked, or verified; and while hybrid_each_fn or hybrid_trace_fn runs.
   hybrid_read_mtx(), hybrid_read_dense(), hybrid_read_csr(), hybrid_write_mtx() and
   hybrid_write_npy() call fn in the same way with bytes of the file in place of rows: those
   read or written, and the size of the file, or of the arrays that a file of JSON describes. While text is written the size is an estimate that changes, and of a pipe that
   is read it is -1. A call that waits for bytes of a pipe does not call fn meanwhile.
   From inside fn, calls on this engine and its plans are refused, as at
   hybrid_spgemm_each(). fn returns: it is not left by an exception or longjmp(). */
HYBRID_API void hybrid_engine_progress(hybrid_engine *engine, hybrid_progress_fn fn,
                                       void *user);

/* ---- inspect and verify --------------------------------------------------- */

/* Verify the CSR rules; BAD_MATRIX and a sentence that names the first row and
   index that break them. */
HYBRID_API hybrid_status hybrid_csr_check(hybrid_engine *engine, const hybrid_csr *A);

/* T = transpose of A, all of whose rules are verified. Free with hybrid_csr_free(). */
HYBRID_API hybrid_status hybrid_csr_transpose(hybrid_engine *engine, const hybrid_csr *A,
                                              hybrid_csr *T);

/* What a pattern looks like. */
typedef struct hybrid_matrix_info {
    int64_t row_min, row_max; /* entries in the shortest and the longest row */
    double  row_mean, row_cv; /* mean, and standard deviation / mean */
    int64_t empty_rows;
    int64_t bandwidth;        /* largest |i - j| of an entry */
    int     square;
    int     pattern_symmetric, value_symmetric; /* values: bit by bit; 0 unless square */
    int64_t products;         /* scalar products of A*A; -1 unless square */
    int64_t square_nnz;       /* estimated entries of A*A; -1 unless square */
    int64_t square_bytes;     /* estimated bytes of A*A as hybrid_csr */
    double  synergy;          /* with tensor cores: of 16 consecutive rows, the mean share
                                 that has an entry in a column that one of them has, from
                                 256 places at most; 0 without entries */
    const char *synergy_class; /* "low" below 1/8, "medium" below 1/4, else "high";
                                 static */
} hybrid_matrix_info;

/* All rules of A are verified. */
HYBRID_API hybrid_status hybrid_csr_info(hybrid_engine *engine, const hybrid_csr *A,
                                         hybrid_matrix_info *out);

/* Freivalds' check of C = A*B, row by row: C r against A (B r) for seeded vectors r of
   random signs, one a trial. *row is the first row that some trial finds off by more than
   rounding explains, or -1.

   Found        Each trial finds row i with a probability of 1/2 at least, and `trials` of
                them with 1 - 2^-trials, if one of its entries, stored or not, is off by
                more than
                    2 (k + 6) eps sum_l |a_il| norm(B_l)
                k        the lesser of the entries of row i of A and of column j of B
                eps      FLT_EPSILON or DBL_EPSILON
                norm(b)  the lesser of sum_j |b_j| and 8 sqrt(sum_j b_j^2)
                where sums do not overflow, and operands and products are 0 or not below
                1e-30 (f64: 1e-290). Smaller errors may be found too.
   False alarm  A right row is told with a probability of less than 1e-13 a trial, whatever
                the order in which its products were added.
   Not finite   NaN and infinity in operands spread: a row that they reach passes if C has
                one there. So does a row whose sums may overflow.
   Pattern      BAD_MATRIX if A, B or C breaks a rule of hybrid_csr: offsets that do not go
                from 0 to nnz or that fall, and columns that do not ascend or are out of
                range. A row of C with more entries than it has products is told as off.
                An entry that is zero and one that is not stored are the same otherwise.

   Time is that of a few passes over A, B and C, and of one more for each trial. */
HYBRID_API hybrid_status hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                              const hybrid_csr *B, const hybrid_csr *C,
                                              int trials, uint64_t seed, int64_t *row);

/* The same for Y = A*X; k is the number of entries of row i of A. */
HYBRID_API hybrid_status hybrid_verify_spmm(hybrid_engine *engine, const hybrid_csr *A,
                                            const hybrid_dense *X, const hybrid_dense *Y,
                                            int trials, uint64_t seed, int64_t *row);

/* The same for a product of a plan with HYBRID_ALLOW_TF32: what rounding explains
   includes that of f32 operands to TF32. Errors are found from
   (4 (k + 6) eps + 2^-8) sum_l |a_il| norm(X_l) on; in f64 as above. */
HYBRID_API hybrid_status hybrid_verify_spmm_tf32(hybrid_engine *engine,
                                                 const hybrid_csr *A,
                                                 const hybrid_dense *X,
                                                 const hybrid_dense *Y, int trials,
                                                 uint64_t seed, int64_t *row);

/* ---- files and generated matrices ------------------------------------------ */

/* Paths of the functions below: /dev/stdin, /dev/stdout, /dev/stderr and /dev/fd/N stand for
   open files of the process, which are read or written from their present offset on. */

/* Matrix Market coordinate file, plain or gzip: real, integer or pattern (read
   as ones); general, symmetric or skew-symmetric (expanded). Duplicates are
   summed. BAD_FILE names file, line and reason. Free with hybrid_csr_free().

   Banner, comments and sizes are in the first MiB, or the file is refused with no
   more of it read. Any number of rows below 2^31 is accepted if the matrix fits
   host memory; an empty row takes 8 bytes. A regular file is mapped and must not
   shrink meanwhile. A pipe, a device or a gzip file is read through a window of
   16 MiB: a line must fit in it, the entries announced must fit host memory, and an
   entry whose mirror is stored too is named without its line.
   An integer field holds digits with or without a sign: "inf" and "nan" are values
   of real fields alone. Integers beyond 2^53 are rounded to `type`. A
   skew-symmetric file stores no diagonal: an entry on it is kept if it is 0,
   and else the file is refused. */
HYBRID_API hybrid_status hybrid_read_mtx(hybrid_engine *engine, const char *path,
                                         hybrid_type type, hybrid_csr *out);

/* Written under a temporary name beside `path` and renamed when complete; a link at
   `path` is replaced. The name is "<path>.<process>.partial"; if <path> ends in a
   name of more than 236 bytes, its first 219 and a hash of it stand for that name. The file
   is locked (flock, shared) while it is written: one that is not locked was left behind by
   a process that died, and may be removed. All rules of the matrix are verified. */
HYBRID_API hybrid_status hybrid_write_mtx(hybrid_engine *engine, const char *path,
                                          const hybrid_csr *matrix);

/* NumPy .npy (version 1 or 2, f4 or f8, either order) or Matrix Market array
   file, plain or gzip, converted to `type`. The header is in the first MiB, and pipes,
   devices and gzip files are read through a window, as above. Free with
   hybrid_dense_free(). */
HYBRID_API hybrid_status hybrid_read_dense(hybrid_engine *engine, const char *path,
                                           hybrid_type type, hybrid_dense *out);
HYBRID_API hybrid_status hybrid_write_npy(hybrid_engine *engine, const char *path,
                                          const hybrid_dense *matrix);

/* Matrices of raw numbers, little endian, in files that a file of JSON describes. `path` is
   that of the JSON file, in whose folder relative names begin:

       {"format": "hybrid-dense", "version": 1, "rows": 4, "cols": 2, "type": "f32",
        "order": "row", "ld": 2, "values": {"file": "x.bin", "offset": 0}}

       {"format": "hybrid-csr", "version": 1, "rows": 4, "cols": 4, "nnz": 7, "type": "f64",
        "row_ptr": {"file": "a.bin", "offset": 0, "type": "i64"},
        "col": {"file": "a.bin", "offset": 40, "type": "i32"},
        "values": {"file": "a.bin", "offset": 72}}

   "format" comes first. "type" is f32 or f64, of "row_ptr" i32 or i64; "order" is row or col;
   "offset" is in bytes. "ld" and "offset" may be left out: the smallest, and 0. Strings are
   UTF-8 and may hold any escape of JSON but \u0000. BAD_FILE names file, line and reason: the JSON is of another
   form, or a file is no regular one or ends before the last number. IO_FAILED, with the
   system's reason, if one cannot be opened or read. */

/* A sparse one, read as a whole. All rules of hybrid_csr are verified: BAD_MATRIX. Free with
   hybrid_csr_free(). */
HYBRID_API hybrid_status hybrid_read_csr(hybrid_engine *engine, const char *path,
                                         hybrid_csr *out);

/* Either, which stays in its file. On success *file is to be closed with
   hybrid_file_close(), before the engine is destroyed. NULL is fine. */
typedef struct hybrid_file hybrid_file;
HYBRID_API hybrid_status hybrid_file_open(hybrid_engine *engine, const char *path,
                                          hybrid_file **file);
HYBRID_API void hybrid_file_close(hybrid_file *file);

/* What it holds, without the arrays, which are NULL. All zero if it holds the other kind. */
HYBRID_API hybrid_csr   hybrid_file_csr(const hybrid_file *file);
HYBRID_API hybrid_dense hybrid_file_dense(const hybrid_file *file);

/* An operand in memory or in a file: one of the three, the others are NULL. */
typedef struct hybrid_operand {
    const hybrid_csr   *csr;
    const hybrid_dense *dense;
    const hybrid_file  *file;
} hybrid_operand;

/* One-shot products of operands in memory and in files, in any mixture, which need not fit
   in memory: C = A*B with C stored as hybrid_spgemm_with() does it, or its rows handed to `fn` as
   hybrid_spgemm_each() does it, and Y = alpha*A*X + beta*Y as hybrid_spmm() does it. A and B
   may be the same file. `options` may be NULL; HYBRID_REUSE and HYBRID_RESIDENT are refused,
   HYBRID_EXPLAIN does nothing. What is in memory is as at those functions.

   Of files is in memory at a time, as parts of the host memory that the engine has left
   (hybrid_engine_options.host_bytes):
     an operand of at most a quarter   all of it
     A     two panels of rows, of an eighth each: one is multiplied while the next is read
     B     an eighth of rows that rows of A touch. Each part of A has its own, so rows of B
           that many parts touch are read as many times
     X     as at hybrid_spmm_run_file(), for each panel of A
   NO_MEMORY names the row of A that takes more than there is, with all rows of B that it
   touches. Each panel is a product of its own: with HYBRID_DETERMINISTIC, C has the bits that
   it has of operands in memory.

   Files are checked where they are read: BAD_MATRIX names file, row and index, IO_FAILED file
   and offset. By then rows may have been handed to fn, and rows of Y written. A file that is
   written meanwhile gives the numbers that were found, or one of these errors.
   hybrid_engine_report() sums up the panels; reading A is not in its stages. */
HYBRID_API hybrid_status hybrid_spgemm_files(hybrid_engine *engine, const hybrid_operand *A,
                                             const hybrid_operand *B,
                                             const hybrid_plan_options *options,
                                             hybrid_csr *C);
HYBRID_API hybrid_status hybrid_spgemm_files_each(hybrid_engine *engine,
                                                  const hybrid_operand *A,
                                                  const hybrid_operand *B,
                                                  const hybrid_plan_options *options,
                                                  hybrid_each_fn fn, void *user);

/* Predicts the size of C = A*B from a sample of rows, of which columns but no values are
   read: rows, flops, predicted_nnz_out and predicted_result_bytes of *out; the other fields
   become 0. struct_size of *out is set (HYBRID_REPORT_INIT). Operands in memory are
   checked as hybrid_spgemm() does. hybrid_spgemm_files() looks at such a sample, too: it returns
   NO_MEMORY before anything is computed if C clearly exceeds the host memory that is left. */
HYBRID_API hybrid_status hybrid_spgemm_files_predict(hybrid_engine *engine,
                                                     const hybrid_operand *A,
                                                     const hybrid_operand *B,
                                                     const hybrid_plan_options *options,
                                                     hybrid_report *out);
HYBRID_API hybrid_status hybrid_spmm_files(hybrid_engine *engine, double alpha,
                                           const hybrid_operand *A, const hybrid_operand *X,
                                           double beta, const hybrid_plan_options *options,
                                           hybrid_dense *Y);

/* hybrid_spmm_run() with an X that stays in its file, opened with the plan's engine. It is
   read by pieces, and what is resident of it at a time is
     on a GPU     a few pieces of at most 8 MiB; the GPU has it whole or as a ring, and CPU
                  and GPU share nothing. Chunks that bring the rows they touch read these one
                  by one
     on the CPU   a panel of its columns, of no more than half of the host memory that the
                  engine has left (hybrid_engine_options.host_bytes), or one column: NO_MEMORY
                  if that does not fit. A is read once for each panel, and an X in rows may be
                  too, so one in columns is faster where there are several
   IO_FAILED names file and offset if a piece cannot be read, or if the file has become
   shorter. Numbers that are written meanwhile come as they are found. */
HYBRID_API hybrid_status hybrid_spmm_run_file(hybrid_plan *plan, double alpha,
                                              const hybrid_csr *A, const hybrid_file *X,
                                              double beta, hybrid_dense *Y);

/* Matrix from a description: stencil7:N, stencil27:N, fem3:N, er:ROWS,PER_ROW,
   rmat:SCALE,EDGES, powerlaw:ROWS,MEAN,MAX, road:N or band:ROWS,HALF (docs/manual.md).
   The same spec, type and seed give the same matrix on any number of threads.
   Values lie in [0.5, 1.5). Free with hybrid_csr_free(). */
HYBRID_API hybrid_status hybrid_generate(hybrid_engine *engine, const char *spec,
                                         hybrid_type type, uint64_t seed, hybrid_csr *out);

/* Fill with seeded values in [-1, 1). */
HYBRID_API hybrid_status hybrid_dense_random(hybrid_engine *engine, uint64_t seed,
                                             hybrid_dense *matrix);

#ifdef __cplusplus
}
#endif
#endif /* HYBRID_SPMM_H */
