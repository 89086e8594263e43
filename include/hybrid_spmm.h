/** @file
    hybrid_spmm.h - products of sparse matrices, computed by the CPU and GPUs together.

        hybrid_spmv()     y = alpha*A*x + beta*y     A sparse, x and y dense vectors
        hybrid_spmm()     Y = alpha*A*X + beta*Y     A sparse, X and Y dense matrices
        hybrid_spgemm()   C = A*B                    A, B and C sparse

    One call computes a product; a plan is made once and run often. docs/manual.md (called "the
    manual" below) describes tasks, and details that this file leaves out.
    - Errors: a function that can fail returns a hybrid_status, HYBRID_OK or an error. Errors
      are named here without the prefix HYBRID_. After an error, matrices and pointers that the
      call should have made are unchanged, and the contents of Y or y are unspecified.
    - Ownership: a call never writes its inputs, and keeps no pointer to them unless it says so.
      Arrays of a matrix that a call has made belong to the engine of the call. The caller
      frees them with hybrid_csr_free() or hybrid_dense_free() and the same engine.
      hybrid_engine_destroy() frees those that are left, so they cannot be used after it.
    - Checks: BAD_ARGUMENT, BAD_MATRIX or BAD_SHAPE reports a wrong shape or type, and a pointer
      that is NULL, misaligned, or overlaps memory that the call writes. Each function says
      which arrays of a sparse matrix it checks. Unchecked arrays that break the rules at
      hybrid_csr are undefined behaviour.
    - Numbers: IEEE 754, rounded to nearest. A sum of products starts with +0. Y is alpha*A*X if
      beta is 0, beta*Y if alpha is 0, and +0 if both are 0. See "Numbers" in the manual.
    - Threads: one thread at a time uses an engine and its plans; functions that free matrices
      are exceptions. Engines are independent. See "Use several threads" in the manual.
    - Versions: programs are compiled for one minor version. See "Versions" in the manual.
    - Units: sizes are bytes and times are seconds, unless a name says otherwise.
    - Common parameters: `A`, `B` and `C` are sparse matrices of m x k, k x n and m x n; `X` and
      `Y` are dense matrices of k x n and m x n. All have one value type. `alpha` and `beta` are
      the factors above. `engine`, `plan`, `trace` and `file` come from functions that end in
      _create, _plan or _open. `options` start from their initializer; NULL selects the
      defaults. `path` names a file: see "Files". `type` is the value type of a new matrix.
      `out` receives the result if the call succeeds. `user` is passed to a function of the
      caller. */
#ifndef HYBRID_SPMM_H
#define HYBRID_SPMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup version Version and status */ /** @{ */
#define HYBRID_VERSION_MAJOR 0 /**< first number of the version */
#define HYBRID_VERSION_MINOR 2 /**< second number of the version */
#define HYBRID_VERSION_PATCH 0 /**< third number of the version */
/** Version of this header as one number. */
#define HYBRID_VERSION \
    (HYBRID_VERSION_MAJOR * 10000 + HYBRID_VERSION_MINOR * 100 + HYBRID_VERSION_PATCH)
#if defined(__GNUC__)
#define HYBRID_API __attribute__((visibility("default")))
#else
#define HYBRID_API
#endif
/** Returns the version of the library that is running, in the form of HYBRID_VERSION. */
HYBRID_API int hybrid_version(void);

/** Status codes. The meaning of a number never changes: new codes are appended. */
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

/** Outcome of a call. */
typedef enum hybrid_status {
#define HYBRID_ENUM(name, number, text) HYBRID_##name = number,
    HYBRID_STATUS_MAP(HYBRID_ENUM)
#undef HYBRID_ENUM
    HYBRID_STATUS_FORCE_INT = 0x7fffffff /**< no status; makes it an int */
} hybrid_status;

/** Returns the text for `status` in HYBRID_STATUS_MAP: a static string, never NULL. */
HYBRID_API const char *hybrid_status_text(hybrid_status status);

/** @} */ /** @defgroup engine Engine */ /** @{ */
/** Host allocator. Several threads of the engine may call its functions at the same time. */
typedef struct hybrid_allocator {
    void *(*alloc)(void *user, size_t bytes); /**< returns `bytes` bytes of memory, or NULL; the
        address may have any alignment */
    void (*free)(void *user, void *ptr);      /**< frees `ptr`, which alloc has returned */
    void *user;                               /**< passed to alloc and free */
} hybrid_allocator;
/** Processors that compute products. */
typedef enum hybrid_backend {
    HYBRID_AUTO = 0, /**< GPU if one answers, else CPU. The CPU beside a GPU may compute
        products, or rows of an SpMM, that it is predicted to finish sooner. */
    HYBRID_HOST = 1, /**< CPU */
    HYBRID_CUDA = 2  /**< GPU; NO_DEVICE if none answers. The CPU may take rows of an SpMM, but
        computes a product alone only with HYBRID_SPLIT_HOST or a variant of the CPU. */
} hybrid_backend;

/** Resources that an engine may use. */
typedef struct hybrid_engine_options {
    size_t           struct_size;  /**< set by HYBRID_ENGINE_OPTIONS_INIT */
    hybrid_backend   backend;      /**< processors that compute */
    int              threads;      /**< number of CPU workers; 0 = HYBRID_NUM_THREADS, else
        OMP_NUM_THREADS, else one per core: see "Use several threads" in the manual */
    int              device;       /**< CUDA ordinal of the GPU, 0 or more */
    size_t           device_bytes; /**< hard limit on memory of each GPU, or of chunk buffers on
        the CPU; 0 = nine tenths of what is free now. Limits of engines on one GPU add up. */
    size_t           host_bytes;   /**< hard limit on host memory, results included; 0 = memory
        of the machine, or limit of its control groups if that is lower. See "Stay within
        memory" in the manual. */
    hybrid_allocator allocator;    /**< for working memory; all NULL = malloc() and free() */
    char            *message;      /**< where a failed create writes its sentence, or NULL */
    size_t           message_size; /**< bytes at message */
    const char      *rates_path;   /**< file of rates; NULL = the user's, if any; "" = none */
    const int       *devices;      /**< CUDA ordinals of GPUs that compute together; NULL =
        device alone. device_bytes is the limit of each entry. */
    int64_t          device_count; /**< number of entries of devices, 0 to 16 */
    const char      *spill_path;   /**< folder for temporary files of operands and results that
        exceed host_bytes; NULL = $TMPDIR, else /tmp. See "Files" in the manual. */
    int64_t          devices_optional; /**< 1 = open without those GPUs that fail to open, which
        hybrid_machine::left_out tells; 0 = every entry of devices must open */
} hybrid_engine_options;
#define HYBRID_ENGINE_OPTIONS_INIT                                             \
    { sizeof(hybrid_engine_options), HYBRID_AUTO, 0, 0, 0, 0,                  \
      { NULL, NULL, NULL }, NULL, 0, NULL, NULL, 0, NULL, 0 } /**< default options */
/** CPU workers, GPUs and memory, which all products of the engine use. */
typedef struct hybrid_engine hybrid_engine;
/** Starts the workers, opens the GPU, and stores the new engine in *engine. Close it with
    hybrid_engine_destroy(). BAD_FILE if the file of rates is malformed; BAD_STATE if `options`
    names rates of another device. A child made by fork() cannot use the engine. Example:

        char message[256];
        hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
        options.message = message, options.message_size = sizeof message;
        if (hybrid_engine_create(&options, &engine) != HYBRID_OK)
            printf("%s\n", message); */
HYBRID_API hybrid_status hybrid_engine_create(const hybrid_engine_options *options,
    hybrid_engine **engine);
/** Stops the workers and frees what `engine` owns: also arrays of results that the caller has
    not freed. Destroy its plans and traces, and close its files, first. NULL is allowed. */
HYBRID_API void hybrid_engine_destroy(hybrid_engine *engine);
/** Returns a sentence about the last failed call on `engine`, with names and numbers: never
    NULL, valid until the next call. Functions that only report leave it unchanged. */
HYBRID_API const char *hybrid_engine_message(const hybrid_engine *engine);
/** Returns a sentence with what the last call guessed about a list of edges that it read, such
    as its separator and first index; "" if nothing. Valid until the next call. */
HYBRID_API const char *hybrid_engine_note(const hybrid_engine *engine);
/** Returns the processors that compute: HYBRID_HOST or HYBRID_CUDA. */
HYBRID_API hybrid_backend hybrid_engine_backend(const hybrid_engine *engine);
/** Describes the processors that compute ("NVIDIA H200, ..." or "0: NVIDIA H200, ...; 1: ..."),
    or says why HYBRID_AUTO has found no GPU. The string is valid as long as `engine`. */
HYBRID_API const char *hybrid_engine_device(const hybrid_engine *engine);
/** Returns the number of CPU workers. */
HYBRID_API int hybrid_engine_threads(const hybrid_engine *engine);

/** Resources of an engine and of its machine. */
typedef struct hybrid_machine {
    size_t      struct_size;     /**< set by HYBRID_MACHINE_INIT */
    int         processors;      /**< number of logical processors */
    int         cores;           /**< cores that affinity and control groups allow */
    int64_t     memory_bytes;    /**< memory of the machine without swap; 0 = unknown */
    int64_t     group_bytes;     /**< memory limit of the control groups; 0 = none */
    int64_t     host_bytes;      /**< limit of the engine on host memory, which is that of its
        options, or else the one that it has found; 0 = it has found none */
    int64_t     host_bytes_used; /**< bytes in use: with results, without pooled memory */
    const char *rates_path;      /**< file of measured rates; "" = none: rates are built in */
    const char *rates_date;      /**< day of the measurement, such as "2026-11-21"; "" = none. A
        file without a day is ignored: see "Calibrate a machine" in the manual. */
    int         with_cuda;       /**< 1 if the library was built with CUDA, else 0 */
    int         device_count;    /**< number of GPUs that the engine uses */
    const char *left_out;        /**< why GPUs were left out (devices_optional); "" = none */
    int64_t     cuda_host_bytes; /**< host memory that CUDA itself took when the GPUs opened. It
        counts against no limit. 0 = none: an earlier engine had started CUDA, or no GPU */
    int64_t     cuda_device_bytes; /**< memory in use on all GPUs when they opened: by CUDA
        itself, by other engines and by other programs */
    int         with_hdf5, with_zstd; /**< 1 if the library reads and writes HDF5, zstd; else 0 */
} hybrid_machine;
#define HYBRID_MACHINE_INIT \
    { sizeof(hybrid_machine), 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, NULL, 0, 0, 0, 0 } /**< empty */
/** Describes the resources of `engine`; BAD_ARGUMENT if an argument is NULL. */
HYBRID_API hybrid_status hybrid_engine_machine(const hybrid_engine *engine,
    hybrid_machine *out);
/** Returns pooled memory to the system: pages of freed results, and buffers, streams and
    threads of destroyed plans. The engine keeps them to make later calls faster. */
HYBRID_API void hybrid_engine_trim(hybrid_engine *engine);
/** Function of the caller that is told how far a call is: `rows_done` of the `rows` rows of its
    result. Return 0 to go on; other values end the call with CANCELLED within a second. */
typedef int (*hybrid_progress_fn)(void *user, int64_t rows_done, int64_t rows);
/** Calls `fn` at least every 100 ms during calls on `engine` that plan, compute, verify, read
    or write; NULL ends this. The calling thread calls fn, which may do what a function of
    hybrid_spgemm_each() may do. rows_done never decreases, and reaches `rows` on success. Calls
    that only read or write a file count bytes, with `rows` -1 if unknown. See "Progress" in the
    manual. Does nothing if `engine` is NULL. */
HYBRID_API void hybrid_engine_progress(hybrid_engine *engine, hybrid_progress_fn fn,
    void *user);

/** @} */ /** @defgroup devices Devices
    Operands and results of products may lie in GPU memory: see `space` of a matrix, x_space and
    result_space of hybrid_plan_options, and "Operands in GPU memory" in the manual.
    - All such operands are on one GPU of the engine, which computes the product alone.
    - The caller owns the memory of operands, y and Y. The arrays of a C that is left on a GPU
      belong to the engine, like other arrays of C: free them with hybrid_csr_free().
    - None of this memory counts against a limit. Copies that kernels need do.
    - BAD_ARGUMENT if an operand is not where `space` says. Only engines with a GPU detect it.
    - UNSUPPORTED if the engine has no GPU, operands are on two GPUs, the split is
      HYBRID_SPLIT_HOST or HYBRID_SPLIT_SHARE, the variant packs values of an operand on the
      host, or the function computes no product. */ /** @{ */
/** Sets the stream of `engine`, in which the caller works on operands in GPU memory: a
    cudaStream_t of that GPU, or NULL for CUDA's default stream, which is set at first. A call
    with such operands waits, in the calling thread, until the work that is in the stream when
    the call begins is done. Only runs with HYBRID_ASYNC do not wait: they enqueue their work
    behind it. The stream must live until another one is set or the engine is destroyed. Does
    nothing if `engine` is NULL. */
HYBRID_API void hybrid_engine_stream(hybrid_engine *engine, void *stream);

/** @} */ /** @defgroup matrices Matrices */ /** @{ */
/** Type of values. */
typedef enum hybrid_type { HYBRID_F32 = 1, /**< float */ HYBRID_F64 = 2 /**< double */
} hybrid_type;
/** Type of row offsets or of column indices. */
typedef enum hybrid_index {
    HYBRID_INDEX_DEFAULT = 0, /**< HYBRID_I32 for columns; for offsets of results HYBRID_I64 */
    HYBRID_I32 = 1, /**< int32_t */ HYBRID_I64 = 2, /**< int64_t */
    HYBRID_INDEX_AUTO    = 3  /**< only in hybrid_plan_options::offsets and columns */
} hybrid_index;
/** Order of a dense matrix, which gives the position of element (i,j) in data. */
typedef enum hybrid_order {
    HYBRID_ROW_MAJOR = 1, /**< i*ld + j */ HYBRID_COL_MAJOR = 2 /**< i + j*ld */
} hybrid_order;
/** Memory that holds the arrays of a matrix: of the host, or of a GPU (see "Devices"). */
typedef enum hybrid_space {
    HYBRID_SPACE_HOST = 0, /**< host */ HYBRID_SPACE_DEVICE = 1 /**< GPU of the engine */
} hybrid_space;

/** Sparse matrix in compressed sparse rows (CSR). Row i holds entries row_ptr[i] to
    row_ptr[i+1] - 1. A call computes with 32-bit copies of 64-bit columns. BAD_MATRIX names the
    row and entry of such a column outside [0, cols); only runs of plans for an A or B in GPU
    memory trust them. Results have 64-bit offsets and 32-bit columns and lie in host memory,
    unless hybrid_plan_options say otherwise.
    hybrid_csr_check() verifies the rules:
    - row_ptr[0] == 0, row_ptr never decreases, and row_ptr[rows] == nnz.
    - Column indices ascend within a row, do not repeat, and lie in [0, cols). */
typedef struct hybrid_csr {
    int64_t      rows, cols;  /**< number of rows and of columns, 0 or more; cols < 2^31 */
    int64_t      nnz;         /**< number of stored entries, 0 or more */
    hybrid_index offset_type; /**< type of row_ptr: HYBRID_I32 or HYBRID_I64 */
    void        *row_ptr;     /**< rows + 1 offsets, counted in entries */
    void        *col;         /**< nnz column indices */
    void        *val;         /**< nnz values */
    hybrid_type  type;        /**< type of val */
    hybrid_index col_type;    /**< type of col; HYBRID_INDEX_DEFAULT means HYBRID_I32 */
    hybrid_space space;       /**< memory that holds row_ptr, col and val */
} hybrid_csr;
/** Dense matrix. */
typedef struct hybrid_dense {
    int64_t      rows, cols; /**< number of rows and of columns, 0 or more */
    int64_t      ld;         /**< elements from a row (column-major: column) to the next */
    hybrid_order order;      /**< order of the elements */
    void        *data;       /**< the elements */
    hybrid_type  type;       /**< type of the elements */
    hybrid_space space;      /**< memory that holds data */
} hybrid_dense;
/** Frees the arrays of `matrix`, which a call on `engine` has made, and zeroes the struct. Any
    thread may call this at any time, even while the engine computes, if no running call reads
    `matrix`. hybrid_engine_destroy() frees arrays that are left; call this only before it. */
HYBRID_API void hybrid_csr_free(hybrid_engine *engine, hybrid_csr *matrix);
/** Frees the data of `matrix` and zeroes the struct, under the rules of hybrid_csr_free(). */
HYBRID_API void hybrid_dense_free(hybrid_engine *engine, hybrid_dense *matrix);
/** Allocates an uninitialised dense matrix of `rows` x `cols` elements in `order` in host
    memory, with the smallest ld and data aligned to 128 bytes. Free: hybrid_dense_free(). */
HYBRID_API hybrid_status hybrid_dense_create(hybrid_engine *engine, int64_t rows, int64_t cols,
    hybrid_order order, hybrid_type type, hybrid_dense *out);

/** @} */ /** @defgroup calibration Calibration
    Plans predict times from built-in rates of one machine, or from measured rates. */ /** @{ */
/** Rates of the host or of a GPU; 0 = it has no such rate. */
typedef struct hybrid_speeds {
    const char *name;        /**< "NVIDIA H200, 132 SMs, ..."; valid as long as the engine */
    double h2d_Bps, d2h_Bps; /**< bytes per second from pinned memory to device, and back */
    double both_Bps;         /**< bytes per second of both directions at once, summed */
    double mem_Bps;          /**< bytes per second that a copy in its memory reads and writes */
    double flops;            /**< CPU: operations per second, 16 per cycle of each core */
    double launch_s;         /**< time to start a kernel or a parallel loop */
} hybrid_speeds;
/** Quality of a rule that chooses between the variants spmm.cuda.rows and spmm.cuda.merge. */
typedef struct hybrid_rule {
    double accuracy; /**< share of products for which it picks the faster variant, 0 to 1 */
    double slowdown; /**< time of its picks / time of the faster variants, geometric mean */
} hybrid_rule;
/** Result of a calibration. Without a GPU, products and the fields after it are 0. */
typedef struct hybrid_calibration {
    size_t        struct_size;  /**< set by HYBRID_CALIBRATION_INIT */
    const char   *path;         /**< file that was written; valid until the next call */
    hybrid_speeds host, device; /**< rates of CPU and first GPU; device.name may be NULL */
    int64_t       products;     /**< number of products timed with both variants */
    hybrid_rule   paper;        /**< rule: merge below 9.35 entries per row, arXiv:1803.08601 */
    double        threshold;    /**< limit of entries per row that picks best on this GPU */
    hybrid_rule   fitted;       /**< rule: merge below `threshold` entries per row */
    hybrid_rule   model;        /**< rule: faster by the cost model with built-in rates */
    double        merge_factor; /**< measured / predicted time of merge, over that of rows */
    hybrid_rule   scaled;       /**< rule: faster by the cost model with measured rates */
} hybrid_calibration;
/** Empty calibration. */
#define HYBRID_CALIBRATION_INIT                                                           \
    { sizeof(hybrid_calibration), NULL, { NULL, 0, 0, 0, 0, 0, 0 },                       \
      { NULL, 0, 0, 0, 0, 0, 0 }, 0, { 0, 0 }, 0, { 0, 0 }, { 0, 0 }, 0, { 0, 0 } }
/** A product timed with both variants, with operands and result on the device. */
typedef struct hybrid_timing {
    const char *problem;                /**< description for hybrid_generate(); static string */
    int64_t     columns;                /**< columns of X */
    double      row_mean;               /**< mean number of entries per row of A */
    double      rows_s, merge_s;        /**< median times of the variants */
    double      rows_model_s, merge_model_s; /**< predicted times with measured rates */
} hybrid_timing;
/** Function of the caller that is told when a `step` of the calibration begins (`timing` is
    NULL) and when a product has been timed. */
typedef void (*hybrid_calibrate_fn)(void *user, const char *step, const hybrid_timing *timing);
/** Measures this machine in less than 60 s, while nothing else should run. Later plans of
    `engine` use the rates. They are written to `path`, for engines that are created later with
    this rates_path; NULL names the user's file, which engines read by default: see "Calibrate a
    machine" in the manual. `fn` and `out` may be NULL. */
HYBRID_API hybrid_status hybrid_engine_calibrate(hybrid_engine *engine, const char *path,
    hybrid_calibrate_fn fn, void *user, hybrid_calibration *out);

/** @} */ /** @defgroup pinning Pinning */ /** @{ */
/** Pins the `bytes` bytes at `ptr`, an array that many products will use, so that a GPU copies
    it directly and at full bus speed. Must not be called during a run. BAD_ARGUMENT if `ptr` is
    NULL, `bytes` is 0, or the range overlaps a pinned one. NO_MEMORY if the system refuses, or
    if a part of the range is pinned by other means. On engines with a GPU it has an effect on:
    - B of a SpGEMM.
    - Row-major X without gaps (ld == cols), if a row takes up to 8 or a multiple of 16 bytes.
    - Row-major Y without gaps, if alpha == 1 and beta == 0.
    - Some others: see "Pin arrays that many products use" in the manual. */
HYBRID_API hybrid_status hybrid_pin(hybrid_engine *engine, void *ptr, size_t bytes);
/** Unpins the range that begins at `ptr`; BAD_ARGUMENT if no pinned range does. An array is
    unpinned before it is freed, and not during a run. hybrid_engine_destroy() unpins the ranges
    that are left. */
HYBRID_API hybrid_status hybrid_unpin(hybrid_engine *engine, void *ptr);

/** @} */ /** @defgroup calls One-shot calls */ /** @{ */
/** Computes C = A*B. C is overwritten, not read; free it with hybrid_csr_free(). A and B may be
    the same matrix. Columns of C ascend; sums that cancel to zero stay as entries. BAD_SHAPE
    unless A.cols == B.rows and the value types agree. Offsets are checked: BAD_MATRIX names the
    first bad row. 32-bit columns outside [0, cols), and columns of any width that do not
    ascend, are undefined behaviour: HYBRID_CHECK or hybrid_csr_check() finds them. Example:

        hybrid_csr C;
        if (hybrid_spgemm(engine, &A, &B, &C) == HYBRID_OK)
            hybrid_csr_free(engine, &C); */
HYBRID_API hybrid_status hybrid_spgemm(hybrid_engine *engine, const hybrid_csr *A,
    const hybrid_csr *B, hybrid_csr *C);

/** Computes Y = alpha*A*X + beta*Y; the caller allocates Y. Example:

        if (hybrid_spmm(engine, 1, &A, &X, 0, &Y) != HYBRID_OK)
            printf("%s\n", hybrid_engine_message(engine));

    - beta == 0: Y is not read, so it may be uninitialised, and a NaN in it does not spread.
    - alpha == 0: arguments are checked, but the arrays of A and X are not read, as in BLAS.
    - alpha != 0: A is checked as in hybrid_spgemm().
    - BAD_ARGUMENT if the memory of Y overlaps an array of A, or that of X. Gaps between the
      rows or columns of a dense matrix belong to its memory. */
HYBRID_API hybrid_status hybrid_spmm(hybrid_engine *engine, double alpha, const hybrid_csr *A,
    const hybrid_dense *X, double beta, hybrid_dense *Y);

/** Computes y = alpha*A*x + beta*y under the rules of hybrid_spmm(). `x` has A->cols and `y`
    has A->rows elements of A->type. The call detects whether each is in host memory or in that
    of a GPU of the engine; BAD_ARGUMENT if it is in that of another GPU. */
HYBRID_API hybrid_status hybrid_spmv(hybrid_engine *engine, double alpha, const hybrid_csr *A,
    const void *x, double beta, void *y);

/** @} */ /** @defgroup plans Plans */ /** @{ */
/** A prepared product: chunks of rows, a variant (implementation) per processor, memory. */
typedef struct hybrid_plan hybrid_plan;
/** Flags of a plan. */
enum {
    HYBRID_DETERMINISTIC = 1u << 0, /**< every run of the plan gives the same bits, but for NaN.
        SpGEMM: also plans with another limit, chunking, number of threads or backend */
    HYBRID_REUSE         = 1u << 1, /**< SpGEMM: the plan will run again with other values; runs
        verify the pattern, and later runs know where rows of C start */
    HYBRID_EXPLAIN       = 1u << 2, /**< inspect also what only alternatives depend on, so that
        their predictions can be compared; takes some milliseconds */
    HYBRID_CHECK         = 1u << 3, /**< planning verifies all rules of operands; runs do not */
    HYBRID_RESIDENT      = 1u << 4, /**< SpMM: the plan will run again with the same A, which is
        cached on the device as far as it fits: see hybrid_plan_refresh() */
    HYBRID_ALLOW_TF32    = 1u << 5, /**< SpMM in f32 on tensor cores may round operands to 11
        bits: errors of about 5e-4 (else 1e-6) times the sum of |a||x| */
    HYBRID_ASYNC         = 1u << 6  /**< SpMM on one GPU: hybrid_spmm_run() enqueues its work
        and returns before the work is done */
};

/** Division of a product between CPU and GPU. They compute together only in SpMM; with SHARE
    the GPU computes an SpGEMM alone. Without a GPU, HYBRID_SPLIT_GPU and HYBRID_SPLIT_SHARE
    are NO_DEVICE. See "Divide a product between CPU and GPU" in the manual. */
typedef enum hybrid_split {
    HYBRID_SPLIT_DEFAULT = 0, /**< as AUTO in runs in which the GPU copies pinned X and Y
        directly; in other runs CPU or GPU alone (with HYBRID_CUDA the GPU) */
    HYBRID_SPLIT_AUTO    = 1, /**< CPU takes the share, 0 to 1, that is predicted to be best */
    HYBRID_SPLIT_GPU = 2, /**< GPU alone */ HYBRID_SPLIT_HOST = 3, /**< CPU alone */
    HYBRID_SPLIT_SHARE   = 4  /**< SpMM: CPU takes about host_share; UNSUPPORTED if it cannot */
} hybrid_split;
/** Options of a plan. */
typedef struct hybrid_plan_options {
    size_t       struct_size; /**< set by HYBRID_PLAN_OPTIONS_INIT */
    unsigned     flags;       /**< HYBRID_DETERMINISTIC and others, combined with | */
    int          depth;       /**< chunks in flight, 1 to 64; 0 = chosen by the plan, 1 to 6 */
    int64_t      chunk_rows;  /**< rows per chunk if they fit; 0 = chosen by the plan */
    const char  *variant;     /**< variant, or prefix such as "spgemm.host"; NULL = fastest. A
                                   full name may have parameters: "spmv.cuda.bcsr:r=4,c=2" */
    hybrid_split split;       /**< division between CPU and GPU */
    hybrid_order order;       /**< SpMM: expected order of X and Y; runs may have the other */
    double       host_share;  /**< share of the CPU with HYBRID_SPLIT_SHARE, 0 to 1 */
    hybrid_index offsets;     /**< SpGEMM: type of C's offsets, HYBRID_I64 by default. With
        HYBRID_I32 a C of 2^31 entries or more is UNSUPPORTED. */
    hybrid_index columns;     /**< SpGEMM: type of C's columns, HYBRID_I32 by default.
        HYBRID_INDEX_AUTO must be set in both fields or in neither: both types are then 32 bits
        if C has less than 2^31 entries, else 64. */
    hybrid_space x_space;     /**< SpMM: where X is in runs, BAD_STATE if it is elsewhere.
        HYBRID_SPACE_DEVICE is the GPU of A, or else the engine's first. */
    hybrid_space result_space; /**< SpMM: where Y is in runs, BAD_STATE if it is elsewhere.
        SpGEMM: where C is left; its arrays on a GPU count against no limit. */
} hybrid_plan_options;
/** Default options. */
#define HYBRID_PLAN_OPTIONS_INIT                                                              \
    { sizeof(hybrid_plan_options), 0, 0, 0, NULL, HYBRID_SPLIT_DEFAULT, HYBRID_ROW_MAJOR, 0,  \
      HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT, HYBRID_SPACE_HOST, HYBRID_SPACE_HOST }
/** Computes C as hybrid_spgemm() does, with `options`: makes a plan, runs it once and destroys
    it. BAD_ARGUMENT for HYBRID_REUSE, HYBRID_RESIDENT and HYBRID_ASYNC. */
HYBRID_API hybrid_status hybrid_spgemm_with(hybrid_engine *engine,
    const hybrid_plan_options *options, const hybrid_csr *A, const hybrid_csr *B,
    hybrid_csr *C);
/** Computes Y as hybrid_spmm() does, with `options` as in hybrid_spgemm_with(); x_space,
    result_space and order are taken from X and Y. */
HYBRID_API hybrid_status hybrid_spmm_with(hybrid_engine *engine,
    const hybrid_plan_options *options, double alpha, const hybrid_csr *A,
    const hybrid_dense *X, double beta, hybrid_dense *Y);

/** Plans C = A*B: inspects patterns but no values, cuts the rows into chunks and selects
    variants. Destroy *plan with hybrid_plan_destroy(). Operands are checked as in
    hybrid_spgemm(), and with HYBRID_CHECK entirely. */
HYBRID_API hybrid_status hybrid_spgemm_plan(hybrid_engine *engine, const hybrid_csr *A,
    const hybrid_csr *B, const hybrid_plan_options *options, hybrid_plan **plan);
/** Plans Y = alpha*A*X + beta*Y as hybrid_spgemm_plan() plans C; X has `dense_cols` columns. */
HYBRID_API hybrid_status hybrid_spmm_plan(hybrid_engine *engine, const hybrid_csr *A,
    int64_t dense_cols, const hybrid_plan_options *options, hybrid_plan **plan);

/** Computes C = A*B with a plan. Patterns must be those planned for; values and index types may
    differ. BAD_STATE if shapes, value type or nnz differ, and with HYBRID_REUSE if a hash of a
    pattern differs. Another pattern that passes these checks is undefined behaviour. */
HYBRID_API hybrid_status hybrid_spgemm_run(hybrid_plan *plan, const hybrid_csr *A,
    const hybrid_csr *B, hybrid_csr *C);
/** Computes Y = alpha*A*X + beta*Y with a plan. X and Y follow the rules of hybrid_spmm(), A
    those of hybrid_spgemm_run(): of its arrays, a run checks only 64-bit columns in host
    memory. With HYBRID_ASYNC a run checks its arguments, enqueues its work in the stream of
    hybrid_engine_stream() and returns. The flag is UNSUPPORTED if A, X or Y is in host memory
    or several chunks are needed.
    Synchronise the stream before you read Y elsewhere or change A, X or Y. If the work fails
    on the device, the next call that uses the GPU returns DEVICE_FAILED. Example:

        hybrid_plan *plan;
        if (hybrid_spmm_plan(engine, &A, X.cols, NULL, &plan) == HYBRID_OK) {
            hybrid_spmm_run(plan, 1, &A, &X, 0, &Y);
            hybrid_plan_destroy(plan);
        } */
HYBRID_API hybrid_status hybrid_spmm_run(hybrid_plan *plan, double alpha, const hybrid_csr *A,
    const hybrid_dense *X, double beta, hybrid_dense *Y);
/** Function of the caller that receives rows of C, from row `row_begin` on. `rows` has one row
    or more, all columns of C, 64-bit offsets that start at 0, and 32-bit columns. Its arrays
    are read-only and valid until the function returns. Return 0 to go on. */
typedef int (*hybrid_each_fn)(void *user, int64_t row_begin, const hybrid_csr *rows);
/** Computes the rows of hybrid_spgemm_run() but does not store C: `fn` receives each row once,
    in order, a chunk at a time. Memory is that of chunks in flight (depth) and one more.
    - The calling thread calls fn, and fn returns: it does not throw or longjmp(). CANCELLED if
      fn returned other than 0; the plan stays usable. After an error fn is not called again.
    - Within fn, calls on this engine, its plans and its files return BAD_STATE or have no
      effect. Only these work as ever: hybrid_csr_free(), hybrid_dense_free(),
      hybrid_trace_add(), and hybrid_engine_written(), _backend(), _device(), _threads() and
      _note(). hybrid_engine_message() says that fn is running. Other engines may use `rows` as
      an operand. */
HYBRID_API hybrid_status hybrid_spgemm_each(hybrid_plan *plan, const hybrid_csr *A,
    const hybrid_csr *B, hybrid_each_fn fn, void *user);
/** Destroys a plan. First waits until the work of its runs with HYBRID_ASYNC is done. NULL is
    allowed. */
HYBRID_API void hybrid_plan_destroy(hybrid_plan *plan);
/** Tells a plan with HYBRID_RESIDENT that values of A have changed: the next run packs A again.
    Until then, runs after the first read A's arrays only if the report has resident_chunks <
    chunks: see "Compute a product again" in the manual. NULL is allowed. */
HYBRID_API void hybrid_plan_refresh(hybrid_plan *plan);

/** @} */ /** @defgroup reports Reports */ /** @{ */
/** Writes in plain words to `text` what `plan` will do: result, processors, variant, copies,
    time and alternatives. `capacity` and the value returned are as in snprintf(). */
HYBRID_API size_t hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity);
/** Writes the numbers behind `plan` to `text`; `capacity` as in hybrid_plan_explain(). */
HYBRID_API size_t hybrid_plan_details(const hybrid_plan *plan, char *text, size_t capacity);
/** A variant as the planner saw it. */
typedef struct hybrid_candidate {
    const char *variant;     /**< name such as "spmm.cuda.merge"; static string */
    const char *refused;     /**< why it cannot run, a static string; NULL if it can */
    double      predicted_s; /**< predicted time of the product; meaningless if refused */
    int         chosen;      /**< 1 for the variant of the plan, else 0 */
} hybrid_candidate;
/** Describes candidate `i` of a plan, 0 or more; BAD_ARGUMENT beyond the last. Variants of the
    GPU come before those of the CPU. In both groups the fastest comes first, and refused ones
    come last. A processor that the engine or the split excludes has no candidates. */
HYBRID_API hybrid_status hybrid_plan_candidate(const hybrid_plan *plan, int i,
    hybrid_candidate *out);
/** A variant: name, description, and source (a paper). */
typedef struct hybrid_variant_info {
    const char *name, *summary, *source; /**< static strings */
    const char *parameters; /**< names and permitted values: "R=4|8 sorted=off|on"; "": none */
    int by_name; /**< 1: only computes if options name it */
} hybrid_variant_info;
/** Describes variant `i` of the library, 0 or more; BAD_ARGUMENT beyond the last. */
HYBRID_API hybrid_status hybrid_variant_at(int i, hybrid_variant_info *out);
/** Resources that can bound a run. */
#define HYBRID_RESOURCE_MAP(X)       \
    X(CORES,       0, "cores")       \
    X(HOST_MEMORY, 1, "host memory") \
    X(BUS_UP,      2, "bus up")      \
    X(BUS_DOWN,    3, "bus down")    \
    X(DEVICE,      4, "device")
/** A resource. */
typedef enum hybrid_resource {
#define HYBRID_ENUM(name, number, text) HYBRID_##name = number,
    HYBRID_RESOURCE_MAP(HYBRID_ENUM)
#undef HYBRID_ENUM
    HYBRID_RESOURCES          = 5,         /**< number of resources */
    HYBRID_RESOURCE_FORCE_INT = 0x7fffffff /**< no resource; makes it an int */
} hybrid_resource;
/** Returns the text for `resource` in HYBRID_RESOURCE_MAP: a static string, never NULL. */
HYBRID_API const char *hybrid_resource_text(hybrid_resource resource);
/** Origin of a rate. */
typedef enum hybrid_origin {
    HYBRID_BUILT_IN = 0, /**< built-in rate of one machine, which need not be this one */
    HYBRID_MEASURED = 1, /**< measured by hybrid_engine_calibrate() */
    HYBRID_OBSERVED = 2  /**< reached by this run, which was faster than the known rate */
} hybrid_origin;
/** Returns "built in", "measured" or "observed" for `origin`: a static string, never NULL. */
HYBRID_API const char *hybrid_origin_text(hybrid_origin origin);
/** Use of a resource by a run. */
typedef struct hybrid_use {
    double rate;          /**< bytes per second; for HYBRID_CORES the number of workers */
    double utilisation;   /**< bytes moved (cores: busy seconds) / (rate * total_s), 0 to 1 */
    hybrid_origin origin; /**< origin of rate; HYBRID_OBSERVED for HYBRID_CORES */
} hybrid_use;

/** What a plan will do, or what its last run did. Before the first run only chunks, rows,
    flops, plan_s, gathered, pattern_bytes, other_h2d_bytes, b_h2d_bytes, least_b_h2d_bytes,
    resident_* and predicted_* are set. Stages overlap, so the sum of their times may exceed
    total_s. See "See what a run did" in the manual. */
typedef struct hybrid_report {
    size_t  struct_size;     /**< set by HYBRID_REPORT_INIT */
    double  total_s;         /**< wall time of the run; with planning for a one-shot call */
    double  predicted_s;     /**< prediction of total_s, made before computing began */
    double  plan_s;          /**< planning time; part of total_s for a one-shot call only */
    double  load_s;          /**< busy time of copies of B or X to the device ahead of chunks */
    double  prepare_s, h2d_s, multiply_s, finish_s, d2h_s, place_s; /**< busy times of
        packing chunks, copying to the device, computing, sorting C, copying back, storing */
    double  overlap;         /**< sum of the times of all stages / total_s */
    double  bus_utilisation; /**< larger one of use[HYBRID_BUS_UP] and use[HYBRID_BUS_DOWN] */
    double  reference_s;     /**< time to move operands and result once by bus or memory */
    double  speedup_over_reference; /**< reference_s / total_s; above 1 if a run moved less */
    int64_t chunks, rows;    /**< chunks of the run, and rows of the result */
    int64_t flops;           /**< 2 * number of scalar products */
    int64_t nnz_out;         /**< SpGEMM: entries of C; SpMM: elements of Y */
    int64_t h2d_bytes, d2h_bytes; /**< bytes copied to and from the device */
    int64_t host_bytes, device_bytes; /**< bytes moved in host and device memory, at least */
    int64_t peak_device_bytes, peak_pinned_bytes, peak_host_bytes; /**< most bytes at a time */
    int64_t predicted_h2d_bytes, predicted_d2h_bytes; /**< bytes to be copied; 0 if one-shot */
    int64_t other_h2d_bytes; /**< predicted_h2d_bytes of the same plan with the other value of
        `gathered`: 1 in place of 0, or 0 in place of 1; -1 = unknown, or no HYBRID_EXPLAIN */
    int     gathered;        /**< 1 if chunks bring the rows of B or X that they need, else 0 */
    int     reused_pattern;  /**< 1 if C's row sizes were known from an earlier run, else 0 */
    int64_t resident_chunks, resident_bytes; /**< leading chunks whose packs of A are cached
        on the device, and bytes reserved for packs there */
    int64_t host_chunks, host_products; /**< chunks and scalar products that the CPU computed
        beside a GPU; 0 if it computes alone */
    double  host_s;          /**< busy time of the CPU for host_chunks, not in multiply_s */
    hybrid_use use[HYBRID_RESOURCES]; /**< use of each hybrid_resource */
    hybrid_resource bound;   /**< resource that was busy for most of the run */
    int     rates_measured;  /**< 1 if all rates in use were measured, 0 if some are built in */
    int64_t predicted_nnz_out, predicted_result_bytes; /**< planned entries, bytes of result */
    int64_t pattern_bytes, pooled_bytes; /**< bytes of patterns copied from a GPU to plan;
        bytes of pages that the engine keeps of freed results */
    double  predicted_device_s; /**< prediction of multiply_s + finish_s; 0 on the CPU */
    int64_t b_h2d_bytes, least_b_h2d_bytes; /**< planned bytes of B that a run sends to the GPU,
        and the fewest bytes that its chunks and memory permit; -1 = unknown, or no
        HYBRID_EXPLAIN */
    double  write_s, assemble_s; /**< busy time of writing to a file; time from the last panel
        (file of some rows) to the complete file, if panels were assembled */
    int64_t file_bytes, resumed_rows; /**< bytes written; rows that an earlier run had made */
} hybrid_report;
#define HYBRID_REPORT_INIT                                                                   \
    { sizeof(hybrid_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { { 0, 0, HYBRID_BUILT_IN } }, HYBRID_CORES,      \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } /**< empty report */
/** Reports what `plan` will do, or its last run. Example:

        hybrid_report report = HYBRID_REPORT_INIT;
        hybrid_plan_report(plan, &report);
        printf("%g s, bound by %s\n", report.total_s, hybrid_resource_text(report.bound)); */
HYBRID_API hybrid_status hybrid_plan_report(const hybrid_plan *plan, hybrid_report *out);
/** Reports the last finished run of `engine`; BAD_STATE if there was none. */
HYBRID_API hybrid_status hybrid_engine_report(const hybrid_engine *engine, hybrid_report *out);

/** A stage of a chunk on a lane of a GPU or in a thread. A stage of several threads has an
    event for each. Strings live as long as the engine. */
typedef struct hybrid_event {
    const char *stage;       /**< "load", "h2d", "d2h", "place"; SpGEMM: "prepare", "multiply",
        "compress" (finish_s of the report); SpMM: "tile" (prepare_s), "accumulate"
        (multiply_s). "pin": planning allocated pinned memory of a GPU */
    const char *variant;     /**< variant of the chunk; "" for "load" and "pin" */
    const char *lane;        /**< "cpu3" (worker), "caller" (thread of the call), "h2d" (GPU) */
    int64_t chunk;           /**< number of the chunk in its pass, 0 or more; -1 for "load", "pin" */
    int64_t row_begin, row_end; /**< rows of the chunk: [row_begin, row_end) */
    int64_t begin_ns, end_ns; /**< nanoseconds of CLOCK_MONOTONIC */
    int64_t bytes, flops;    /**< share of this event in bytes and flops of the stage */
    int64_t device_bytes, host_bytes; /**< memory in use on the GPU and on the host */
    int     part, parts;     /**< number of this event, 0 to parts - 1, in its stage */
    int64_t pass;            /**< number of the pass over the chunks, 0 or more, among all
        passes of the engine. A run has one pass; with operands in files it has one for
        each part that is read. */
    hybrid_resource bound;   /**< resource that bounds the stage; HYBRID_RESOURCES = unknown */
} hybrid_event;
/** Function of the caller that receives an `event`: a stage that has ended. */
typedef void (*hybrid_trace_fn)(void *user, const hybrid_event *event);
/** Calls `fn` for every finished stage, from the thread that runs the product, one call at a
    time, and not after the run has returned; runs with HYBRID_ASYNC have none. fn may call
    hybrid_trace_add() and functions that free matrices, and makes no other call on the engine.
    NULL ends the trace. Does nothing if `engine` is NULL. */
HYBRID_API void hybrid_engine_trace(hybrid_engine *engine, hybrid_trace_fn fn, void *user);
/** Events kept until they are written: see "See what a run did" in the manual. */
typedef struct hybrid_trace hybrid_trace;
/** Makes an empty trace. Destroy it with hybrid_trace_destroy() before the engine. */
HYBRID_API hybrid_status hybrid_trace_create(hybrid_engine *engine, hybrid_trace **trace);
/** Destroys a trace. NULL is allowed. */
HYBRID_API void hybrid_trace_destroy(hybrid_trace *trace);
/** Copies `event` to a trace, by one thread at a time. It is a hybrid_trace_fn, and takes
    events of your own, whose strings must outlive the trace. */
HYBRID_API void hybrid_trace_add(void *trace, const hybrid_event *event);
/** Writes events and the engine's last report to `path` as Chrome Trace Event JSON for
    ui.perfetto.dev, completely or not at all. NO_MEMORY if an event was lost. */
HYBRID_API hybrid_status hybrid_trace_write_json(hybrid_trace *trace, const char *path);

/** @} */ /** @defgroup checks Checks */ /** @{ */
/** Verifies the rules of hybrid_csr; BAD_MATRIX names the first bad row and index. */
HYBRID_API hybrid_status hybrid_csr_check(hybrid_engine *engine, const hybrid_csr *A);
/** Verifies all rules of A and stores its transpose in *T. Free with hybrid_csr_free(). */
HYBRID_API hybrid_status hybrid_csr_transpose(hybrid_engine *engine, const hybrid_csr *A,
    hybrid_csr *T);
/** Properties of a sparse matrix. */
typedef struct hybrid_matrix_info {
    int64_t row_min, row_max; /**< entries in the shortest and in the longest row */
    double row_mean, row_cv;  /**< mean entries per row, and their standard deviation / mean */
    int64_t empty_rows, bandwidth; /**< rows without entries; largest |i - j| of an entry */
    int square;               /**< 1 if rows == cols, else 0 */
    int pattern_symmetric, value_symmetric; /**< 1 if symmetric, in values bit by bit; else 0 */
    int64_t products;         /**< scalar products of A*A; -1 unless square */
    int64_t square_nnz, square_bytes; /**< estimated entries, bytes of A*A; -1 unless square */
    double synergy;           /**< fill of blocks of 16 rows, 0 to 1: share of the 16 rows that
        have an entry in a column, averaged over the columns in which the block has entries,
        and over a sample of blocks */
    const char *synergy_class; /**< synergy up to 1/8: "low"; up to 1/4: "medium"; above:
        "high" (arXiv:2504.06443) */
} hybrid_matrix_info;
/** Verifies all rules of A and stores its properties in *out. */
HYBRID_API hybrid_status hybrid_csr_info(hybrid_engine *engine, const hybrid_csr *A,
    hybrid_matrix_info *out);

/** Verifies C = A*B row by row in the time of a few passes over A, B and C, plus one per trial
    (R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977): compares C*r
    with A*(B*r) for `trials` vectors r of random signs from `seed`. *row receives the first
    wrong row, or -1; the call returns HYBRID_OK in both cases. Each trial finds a row that is
    wrong by more than rounding explains with a probability of 1/2 or more: "Verify a result" in
    the manual has the bound. BAD_MATRIX if A, B or C breaks a rule of hybrid_csr. */
HYBRID_API hybrid_status hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
    const hybrid_csr *B, const hybrid_csr *C, int trials, uint64_t seed, int64_t *row);
/** Verifies Y = A*X as hybrid_verify_spgemm() verifies C, with the same `trials`, `seed` and
    `row`. */
HYBRID_API hybrid_status hybrid_verify_spmm(hybrid_engine *engine, const hybrid_csr *A,
    const hybrid_dense *X, const hybrid_dense *Y, int trials, uint64_t seed, int64_t *row);
/** Verifies Y = A*X of HYBRID_ALLOW_TF32, with the same `trials`, `seed` and `row`. */
HYBRID_API hybrid_status hybrid_verify_spmm_tf32(hybrid_engine *engine, const hybrid_csr *A,
    const hybrid_dense *X, const hybrid_dense *Y, int trials, uint64_t seed, int64_t *row);

/** @} */
#ifdef __cplusplus
}
#endif

#include "hybrid_spmm_files.h"
#endif
