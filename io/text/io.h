/* io/text/io.h - matrix files: what the engine calls, and the input and output under it.

   Matrices that are read are made of pages of results: free a hybrid_csr with
   hy_csr_free() and the data of a hybrid_dense with hy_results_release(). */
#ifndef HY_IO_H
#define HY_IO_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Matrix Market coordinate file, plain or gzip. */
hybrid_status hy_read_mtx(hy_context *ctx, const char *path, hybrid_type type,
                          hybrid_csr *out);
hybrid_status hy_write_mtx(hy_context *ctx, const char *path, const hybrid_csr *A);

/* .npy file or Matrix Market array file. */
hybrid_status hy_read_dense(hy_context *ctx, const char *path, hybrid_type type,
                            hybrid_dense *out);
hybrid_status hy_write_npy(hy_context *ctx, const char *path, const hybrid_dense *X);

/* The same readers for the contents of a file; `name` stands in sentences. */
hybrid_status hy_read_mtx_memory(hy_context *ctx, const char *name, const void *data,
                                 size_t bytes, hybrid_type type, hybrid_csr *out);
hybrid_status hy_read_dense_memory(hy_context *ctx, const char *name, const void *data,
                                   size_t bytes, hybrid_type type, hybrid_dense *out);

/* ---- paths ------------------------------------------------------------------ */

/* /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N stand for an open file
   of the process. To open such a path would begin at the start of a regular file, and fails
   for a socket. */
int hy_is_descriptor(const char *path);

/* Opens a file as open(path, flags | O_CLOEXEC) does, or duplicates the descriptor that the
   path stands for. Returns a descriptor, or -1 and sets errno. */
int hy_open(const char *path, int flags);

/* ---- input: the text of a file, a window at a time ------------------------ */

enum { HY_HEAD_BYTES = 1 << 20 }; /* the first window: a file says in there what it is */

extern size_t hy_window_bytes; /* of the others, if more; tests make it small */

/* A regular file is mapped whole and must not shrink meanwhile. What comes from a pipe or
   a device, is compressed, or is the rest of a file behind a descriptor's offset, is read as
   it is asked for: a window is all that is kept of it. The bytes after the text, 1 + HY_TEXT_PAD of them, can be read and are 0, so that
   scanning for a character that ends a token needs no bound. */
typedef struct hy_input {
    const char *path; /* borrowed */
    const char *text; /* the window: `bytes` bytes and zeros */
    size_t bytes;
    int last;                 /* the file ends with this window */
    int64_t lines;            /* before the window */
    struct hy_stream *stream; /* NULL, or where later windows come from */
    void *map;                /* NULL, or the mapping that holds the file */
    size_t map_bytes;         /* of the mapping, which is longer than the file */
    int64_t file_bytes;       /* -1 if unknown */
    void *array; /* NULL, or the array that holds the text, */
    size_t room; /* up to so many bytes of it */
} hy_input;

/* Open `path` and read the first window. IO_FAILED and the system's reason when it cannot
   be read; BAD_FILE when gzip data are damaged. */
hybrid_status hy_input_open(hy_context *ctx, const char *path, hy_input *out);
hybrid_status hy_input_copy(hy_context *ctx, const char *name, const void *data,
                            size_t bytes, hy_input *out);
/* The window after one that is not the last: what that holds from `from` on, and the next
   bytes of the file. Pointers into the text are no longer good. */
hybrid_status hy_input_next(hy_context *ctx, hy_input *input, const char *from);
void hy_input_close(hy_context *ctx, hy_input *input); /* zeroed is fine */

/* A call begins that reads the input to its end, and tells how far it is (base/text/progress.h). */
void hy_input_begin(hy_context *ctx, const hy_input *input);
/* So many bytes of the text have been taken in. By any thread. */
void hy_input_took(hy_context *ctx, const hy_input *input, int64_t bytes);

/* Bytes of the text that belong to the head of the file. */
static inline size_t hy_input_head(const hy_input *input)
{
    return hy_smaller(input->bytes, HY_HEAD_BYTES);
}

/* ---- output: a file that appears when it is complete ----------------------- */

/* What is written goes to hy_output_partial() until hy_output_finish() renames it, so
   that two programs that write the same file do not meet. The file is locked (flock,
   shared) while its program lives: one that can be locked exclusively was left behind,
   and whoever finds it may remove it. Devices, pipes and descriptors of the process are
   written directly. */

/* "<path>.<process>.partial", allocated; of a name that is too long for that, its first
   bytes and a hash of it. */
hybrid_status hy_output_partial(hy_context *ctx, const char *path, char **out);

typedef struct hy_output {
    const char *path; /* borrowed */
    const char *name; /* of the open file: `path` or `partial` */
    char *partial;    /* NULL if direct */
    char *buffer;
    size_t filled;
    int fd;
    int direct; /* the open file is `path` itself */
} hy_output;

hybrid_status hy_output_open(hy_context *ctx, const char *path, hy_output *out);
hybrid_status hy_output_write(hy_context *ctx, hy_output *output, const void *data,
                              size_t bytes);
/* Close, and rename if `status` and closing are OK, else remove what was written and
   leave a previous file at `path` alone. Returns the first error. */
hybrid_status hy_output_finish(hy_context *ctx, hy_output *output, hybrid_status status);

#ifdef __cplusplus
}
#endif
#endif /* HY_IO_H */
