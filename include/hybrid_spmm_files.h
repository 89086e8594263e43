/** @file
    hybrid_spmm_files.h - matrices in files: as operands, as results, and read completely.

    Programs include hybrid_spmm.h, which ends with this header and explains the parameters
    that functions have in common. */
#ifndef HYBRID_SPMM_FILES_H
#define HYBRID_SPMM_FILES_H

#ifndef HYBRID_SPMM_H
#error "include hybrid_spmm.h, which includes hybrid_spmm_files.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup files Files
    BAD_FILE names file, line and reason; IO_FAILED gives the system's reason. A regular file is
    written completely or not at all. Paths such as /dev/stdin or /dev/fd/N are open files of
    the process, read from their offset on. Only hybrid_write_mtx() and hybrid_write_npy() write
    to them, from their offset on, and may leave a part behind after an error. "Files" in the
    manual describes formats and limits. */ /** @{ */
/** Reads a Matrix Market coordinate file, plain or compressed: real, integer or pattern (ones);
    general, symmetric or skew-symmetric (expanded). Duplicates are summed. Reads a list of
    entries, too. */
HYBRID_API hybrid_status hybrid_read_mtx(hybrid_engine *engine, const char *path,
    hybrid_type type, hybrid_csr *out);
/** Verifies all rules of `matrix` and writes it as a Matrix Market file, compressed if `path`
    ends in .gz or .zst. UNSUPPORTED without the library that compresses. */
HYBRID_API hybrid_status hybrid_write_mtx(hybrid_engine *engine, const char *path,
    const hybrid_csr *matrix);
/** Reads a NumPy .npy file or a Matrix Market array file, of any real numbers, as `type`. */
HYBRID_API hybrid_status hybrid_read_dense(hybrid_engine *engine, const char *path,
    hybrid_type type, hybrid_dense *out);
/** Checks the fields of `matrix`, not its values, and writes it as a NumPy .npy file. */
HYBRID_API hybrid_status hybrid_write_npy(hybrid_engine *engine, const char *path,
    const hybrid_dense *matrix);
/** Reads a sparse matrix in any format that hybrid_file_open() knows. Values are f32 if those
    of the file are floating-point numbers of less than 64 bits, else f64. */
HYBRID_API hybrid_status hybrid_read_csr(hybrid_engine *engine, const char *path,
    hybrid_csr *out);
/** A sparse or dense matrix that stays in its file, from which calls read parts of it. Opening
    may copy numbers of a text file or of a compressed file to temporary files. */
typedef struct hybrid_file hybrid_file;
/** Opens a matrix; "Files" in the manual lists the formats. Close *file with
    hybrid_file_close() before the engine is destroyed. */
HYBRID_API hybrid_status hybrid_file_open(hybrid_engine *engine, const char *path,
    hybrid_file **file);
/** Sets *format to the name of the format that the file at `path` has by its contents, such
    as "npz", a static string: "raw" (JSON) if they fit no other format. Reads only the
    beginning of the file. */
HYBRID_API hybrid_status hybrid_file_recognise(hybrid_engine *engine, const char *path,
    const char **format);
/** Closes a file. NULL is allowed. */
HYBRID_API void hybrid_file_close(hybrid_file *file);
/** Returns shape and types of a sparse matrix with NULL for arrays; all zero if it is dense. */
HYBRID_API hybrid_csr hybrid_file_csr(const hybrid_file *file);
/** Returns shape and type of a dense matrix with NULL for data; all zero if it is sparse. */
HYBRID_API hybrid_dense hybrid_file_dense(const hybrid_file *file);
/** An operand in memory or in a file: one pointer is set, the others are NULL. */
typedef struct hybrid_operand {
    const hybrid_csr   *csr;   /**< sparse matrix in memory */
    const hybrid_dense *dense; /**< dense matrix in memory */
    const hybrid_file  *file;  /**< matrix in a file, opened with the engine of the call */
} hybrid_operand;
/** Computes C = A*B as hybrid_spgemm_with() does, for operands in memory or in files, which are
    read in parts and need not fit in memory. HYBRID_REUSE, HYBRID_RESIDENT and HYBRID_ASYNC are
    BAD_ARGUMENT. NO_MEMORY if a row of A does not fit with all rows of B that it touches, or if
    C clearly does not fit. Files are checked as they are read: BAD_MATRIX names file, row and
    index. */
HYBRID_API hybrid_status hybrid_spgemm_files(hybrid_engine *engine, const hybrid_operand *A,
    const hybrid_operand *B, const hybrid_plan_options *options, hybrid_csr *C);
/** Computes C as hybrid_spgemm_files() does, and hands its rows to `fn` as hybrid_spgemm_each()
    does. An error in a file may be found after fn has received rows. */
HYBRID_API hybrid_status hybrid_spgemm_files_each(hybrid_engine *engine,
    const hybrid_operand *A, const hybrid_operand *B, const hybrid_plan_options *options,
    hybrid_each_fn fn, void *user);
/** Predicts the size of C = A*B from columns of sampled rows: sets rows, flops,
    predicted_nnz_out and predicted_result_bytes of *out, and other fields to 0. */
HYBRID_API hybrid_status hybrid_spgemm_files_predict(hybrid_engine *engine,
    const hybrid_operand *A, const hybrid_operand *B, const hybrid_plan_options *options,
    hybrid_report *out);
/** Computes Y = alpha*A*X + beta*Y as hybrid_spmm_with() does, for operands as in
    hybrid_spgemm_files(). An error in a file may be found after rows of Y were written. */
HYBRID_API hybrid_status hybrid_spmm_files(hybrid_engine *engine, double alpha,
    const hybrid_operand *A, const hybrid_operand *X, double beta,
    const hybrid_plan_options *options, hybrid_dense *Y);
/** Predicts a call of hybrid_spmm_to_file() with these operands: sets rows, flops,
    predicted_nnz_out, predicted_result_bytes, peak_host_bytes, peak_device_bytes,
    peak_pinned_bytes, host_bytes (bytes that are read if each part of A touches all rows of X),
    file_bytes (bytes of the file) and predicted_s of *out, and other fields to 0. Reads some MB
    of the file of X to see how fast it is, and plans the first part of A for a GPU. */
HYBRID_API hybrid_status hybrid_spmm_files_predict(hybrid_engine *engine,
    const hybrid_operand *A, const hybrid_operand *X, const hybrid_plan_options *options,
    hybrid_report *out);
/** Computes Y = alpha*A*X + beta*Y as hybrid_spmm_run() does, for an X in a file that was
    opened with the plan's engine. X is read in parts; NO_MEMORY if one row does not fit. */
HYBRID_API hybrid_status hybrid_spmm_run_file(hybrid_plan *plan, double alpha,
    const hybrid_csr *A, const hybrid_file *X, double beta, hybrid_dense *Y);
/** Compression of the numbers in a file, if its format has a choice. */
typedef enum hybrid_compression {
    HYBRID_STORED = 0,  /**< none */
    HYBRID_DEFLATE = 1, /**< zlib */ HYBRID_ZSTD = 2 /**< Zstandard */
} hybrid_compression;
/** Options of a file that is written. */
typedef struct hybrid_file_options {
    size_t       struct_size; /**< set by HYBRID_FILE_OPTIONS_INIT */
    const char  *format;      /**< name of the format, such as "npz"; NULL = the one that the
        ending of the path selects */
    hybrid_compression compression; /**< compression; formats without it store numbers */
    int          shuffle;     /**< 1 to shuffle bytes before they are compressed, else 0 */
    int          resume;      /**< 1 to keep finished panels (files of some rows each), and to
        continue after those that an earlier call left. See "Resume a result" in the manual. */
    hybrid_type  type;        /**< type of the values in the file; 0 = that of the operands */
    hybrid_index offsets, columns; /**< types of offsets and columns in the file, if the format
        has a choice. Fields of these names in hybrid_plan_options do not count for files. */
    hybrid_order order;       /**< order of a dense matrix, if the format has a choice */
    int          transpose;   /**< hybrid_file_write(): 1 to write the transpose, else 0 */
    int64_t row_begin, row_end; /**< hybrid_file_write(): rows [row_begin, row_end) are written,
        with `transpose` of the transpose; row_end 0 = all from row_begin on */
    int64_t      part_rows;   /**< rows of each part of a raw (.json) result in several parts, at
        most 4096 of them; 0 = one part. UNSUPPORTED for other formats. */
} hybrid_file_options;
/** Default options. */
#define HYBRID_FILE_OPTIONS_INIT                                                            \
    { sizeof(hybrid_file_options), NULL, HYBRID_STORED, 0, 0, (hybrid_type)0,               \
      HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT, HYBRID_ROW_MAJOR, 0, 0, 0, 0 }
/** Returns the name of the format that the ending of `path` selects for a file that is
    written, or NULL if it selects none: a static string. */
HYBRID_API const char *hybrid_file_format(const char *path);
/** Computes C = A*B as hybrid_spgemm_files() does and writes it to `path`, with
    `file_options`, while it computes. C need not fit in memory. The file appears under its
    name when it is complete and on the disk; a previous file stays until then. UNSUPPORTED if
    no format is written under that name. Formats that begin with the number of entries, and
    resumable results, are first written as panels (files of some rows each), then assembled. */
HYBRID_API hybrid_status hybrid_spgemm_to_file(hybrid_engine *engine, const hybrid_operand *A,
    const hybrid_operand *B, const hybrid_plan_options *options, const char *path,
    const hybrid_file_options *file_options);
/** Predicts a call of hybrid_spgemm_to_file() with this `path`, these `file_options` and the
    other arguments: sets rows, flops, predicted_nnz_out, predicted_result_bytes,
    peak_host_bytes, peak_device_bytes, peak_pinned_bytes, host_bytes (bytes that are read),
    file_bytes (bytes on the disk at the end: the file and its panels; 0 if they depend on the
    values) and predicted_s of *out, and other fields to 0. Reads and plans two ranges of rows
    of A, with the rows of B that they touch, as that call does. Computes nothing; the file
    does not change. */
HYBRID_API hybrid_status hybrid_spgemm_to_file_predict(hybrid_engine *engine,
    const hybrid_operand *A, const hybrid_operand *B, const hybrid_plan_options *options,
    const char *path, const hybrid_file_options *file_options, hybrid_report *out);
/** Computes Y = alpha*A*X, some rows at a time, and writes it to `path` with `file_options` as
    hybrid_spgemm_to_file() writes C. */
HYBRID_API hybrid_status hybrid_spmm_to_file(hybrid_engine *engine, double alpha,
    const hybrid_operand *A, const hybrid_operand *X, const hybrid_plan_options *options,
    const char *path, const hybrid_file_options *file_options);
/** Writes the matrix M, or rows of it, or its transpose, to `path` with `file_options`
    as hybrid_spgemm_to_file() writes C, within the host memory of `engine`. A matrix in a file
    is copied in parts, so this function converts files. */
HYBRID_API hybrid_status hybrid_file_write(hybrid_engine *engine, const hybrid_operand *M,
    const char *path, const hybrid_file_options *file_options);
/** Returns the bytes that the engine's running or last call has written to its file. Functions
    that a call calls, such as that of hybrid_engine_progress(), may ask for it. */
HYBRID_API int64_t hybrid_engine_written(const hybrid_engine *engine);
/** Makes a matrix from a description `spec` such as "stencil27:80": see "Generated matrices" in
    the manual. The same spec, type and `seed` give the same matrix. */
HYBRID_API hybrid_status hybrid_generate(hybrid_engine *engine, const char *spec,
    hybrid_type type, uint64_t seed, hybrid_csr *out);
/** Fills `matrix` with values in [-1, 1) that depend on `seed`. */
HYBRID_API hybrid_status hybrid_dense_random(hybrid_engine *engine, uint64_t seed,
    hybrid_dense *matrix);

/** @} */
#ifdef __cplusplus
}
#endif
#endif
