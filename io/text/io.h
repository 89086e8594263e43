/* io/text/io.h - matrix files: functions for the engine, and the input and output below.

   Matrices that are read are results: free a hybrid_csr with hy_csr_free(), and the data
   of a hybrid_dense with hy_results_release(). */
#ifndef HY_IO_H
#define HY_IO_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read and write a Matrix Market coordinate file. A file that is read may be compressed, or
   a list of edges (io/lists/list.h).
   BAD_FILE names file and line; IO_FAILED gives the system's reason. */
hybrid_status hy_read_mtx(hy_context *ctx, const char *path, hybrid_type type,
                          hybrid_csr *out);
hybrid_status hy_write_mtx(hy_context *ctx, const char *path, const hybrid_csr *A);

/* Read a .npy file or a Matrix Market array file, and write a .npy file. */
hybrid_status hy_read_dense(hy_context *ctx, const char *path, hybrid_type type,
                            hybrid_dense *out);
hybrid_status hy_write_npy(hy_context *ctx, const char *path, const hybrid_dense *X);

/* Read the contents of a file from memory. `name` stands for the path in messages. */
hybrid_status hy_read_mtx_memory(hy_context *ctx, const char *name, const void *data,
                                 size_t bytes, hybrid_type type, hybrid_csr *out);
hybrid_status hy_read_dense_memory(hy_context *ctx, const char *name, const void *data,
                                   size_t bytes, hybrid_type type, hybrid_dense *out);

/* ---- paths ------------------------------------------------------------------ */

/* Returns 1 for /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N,
   which stand for an open file of the process. Opening such a path would begin at the
   start of a regular file, and would fail for a socket. */
int hy_is_descriptor(const char *path);

/* Opens a file as open(path, flags | O_CLOEXEC) does, or duplicates the descriptor that
   the path stands for. Returns a descriptor, or -1 and sets errno. */
int hy_open(const char *path, int flags);

/* ---- input: the text of a file, a window at a time ------------------------ */

/* Bytes of the first window, in which a file declares its format. */
enum { HY_HEAD_BYTES = 1 << 20 };

/* The text of a file. A regular file is mapped as a whole and must not shrink. Other
   inputs are read window by window: pipes, devices, compressed files, and the rest of a
   file behind a descriptor's offset. The 1 + HY_TEXT_PAD bytes after the text are
   readable zeros, so a search for the end of a token needs no bound. */
typedef struct hy_input {
    const char *path; /* path of the file; borrowed */
    const char *text; /* the window: `bytes` bytes, followed by zeros */
    size_t bytes;
    int last;                 /* 1: the file ends with this window */
    int64_t lines;            /* number of lines before the window */
    struct hy_stream *stream; /* source of later windows; NULL: there are none */
    void *map;                /* mapping that holds the file, or NULL */
    size_t map_bytes;         /* bytes of the mapping, which is longer than the file */
    int64_t file_bytes;       /* bytes of the file; -1 if unknown */
    void *array;              /* array that holds the text, or NULL */
    size_t room;              /* maximum bytes of text in `array` */
    size_t window;            /* minimum bytes of each window but the first */
} hy_input;

/* Open a file, or copy its contents from memory, and read the first window. IO_FAILED,
   with the system's reason, if the file cannot be read; BAD_FILE if compressed data are
   damaged. hy_input_open_windows() maps nothing: its windows are small if the budget of
   host memory is small, and a file that shrinks or cannot be read gives a status. */
hybrid_status hy_input_open(hy_context *ctx, const char *path, hy_input *out);
hybrid_status hy_input_open_windows(hy_context *ctx, const char *path, hy_input *out);
hybrid_status hy_input_copy(hy_context *ctx, const char *name, const void *data,
                            size_t bytes, hy_input *out);
/* Moves to the next window, which begins with the part of the present text from `from`
   on. Pointers into the text become invalid. The present window must not be the last. */
hybrid_status hy_input_next(hy_context *ctx, hy_input *input, const char *from);
void hy_input_close(hy_context *ctx, hy_input *input); /* accepts a zeroed struct */

/* Moves the input out of *input, which keeps its path and can still be closed. */
hy_input hy_input_take(hy_input *input);

/* Begins the progress of a call that reads the input to its end
   (base/text/progress.h). */
void hy_input_begin(hy_context *ctx, const hy_input *input);
/* Counts `bytes` bytes of the text as read. Any thread may call this. */
void hy_input_took(hy_context *ctx, const hy_input *input, int64_t bytes);

/* Returns the bytes of the text that belong to the head of the file, its first
   HY_HEAD_BYTES. */
static inline size_t hy_input_head(const hy_input *input)
{
    return hy_smaller(input->bytes, HY_HEAD_BYTES);
}

/* ---- output: a file that appears when it is complete ----------------------- */

/* An output is written to the partial file hy_output_partial(), which hy_output_finish()
   renames. Two programs that write the same file therefore do not collide. A program
   locks its partial file (flock, shared) while it runs. A partial file that can be locked
   exclusively was left behind and may be removed. Devices, pipes and descriptors of the
   process are written directly. */

/* Returns "<path>.<process>.partial", to be freed with hy_array_free(). If the file's
   name would be too long, it is cut and a hash of it is added. */
hybrid_status hy_output_partial(hy_context *ctx, const char *path, char **out);

typedef struct hy_output {
    const char *path; /* path of the finished file; borrowed */
    const char *name; /* name of the open file: `path` or `partial` */
    char *partial;    /* path of the partial file; NULL if `direct` is 1 */
    char *buffer;
    size_t filled;
    int fd;
    int direct; /* 1: the open file is `path` itself */
} hy_output;

hybrid_status hy_output_open(hy_context *ctx, const char *path, hy_output *out);
hybrid_status hy_output_write(hy_context *ctx, hy_output *output, const void *data,
                              size_t bytes);
/* Closes the file. If `status` and closing are OK, renames it; else removes it and leaves
   a previous file at `path` alone. Returns the first error. */
hybrid_status hy_output_finish(hy_context *ctx, hy_output *output, hybrid_status status);

#ifdef __cplusplus
}
#endif
#endif /* HY_IO_H */
