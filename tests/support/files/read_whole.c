/* tests/support/files/read_whole.c - reads all numbers of a file of any format. */
#include "tests/support/files/read_whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/move/sources.h"
#include "tests/support/engines/io_fixture.h"

enum { PIECE = 4096 };

/* Reads all numbers in pieces of PIECE, and the last number once more by itself. */
static hybrid_status read_numbers(const hy_stored *numbers)
{
    double piece[PIECE];

    for (int64_t at = 0, n; at < numbers->count; at += n) {
        n = hy_min(PIECE, numbers->count - at);
        HY_TRY(hy_stored_read(numbers, at, n, piece));
    }
    return numbers->count == 0 ? HYBRID_OK
                               : hy_stored_read(numbers, numbers->count - 1, 1, piece);
}

static hybrid_status read_sparse(hy_context *ctx, const hy_matrix_file *file)
{
    const hybrid_csr *A = &file->csr;
    const hybrid_csr *whole;
    hybrid_csr B;

    io_must(ctx, A->rows >= 0 && A->cols >= 0 && A->cols <= INT32_MAX && A->nnz >= 0,
            "impossible sizes");
    io_must(ctx,
            file->row_ptr.count > A->rows && file->col.count >= A->nnz &&
                file->values.count >= A->nnz,
            "arrays are too short");
    io_must(ctx,
            file->col.size == 4 && file->values.size == hy_value_size(A->type) &&
                file->row_ptr.size == hy_offset_size(A),
            "wrong sizes of numbers");
    HY_TRY(read_numbers(&file->row_ptr));
    HY_TRY(read_numbers(&file->col));
    HY_TRY(read_numbers(&file->values));
    const hy_source source = hy_source_csr_file(file);
    HY_TRY(source.ops->whole(&source, &B, &whole));
    hy_csr_free(ctx, &B);
    return HYBRID_OK;
}

static hybrid_status read_dense(hy_context *ctx, const hy_matrix_file *file)
{
    const hybrid_dense *X = &file->dense;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines   = in_rows ? X->rows : X->cols;
    const int64_t line    = in_rows ? X->cols : X->rows;

    io_must(ctx, X->rows >= 0 && X->cols >= 0 && X->ld >= line, "impossible sizes");
    io_must(ctx,
            lines == 0 || line == 0 || file->values.count >= (lines - 1) * X->ld + line,
            "the array is too short");
    io_must(ctx, file->values.size == hy_value_size(X->type), "wrong size of numbers");
    return read_numbers(&file->values);
}

static hybrid_status read_entries(hy_context *ctx, hy_entry_reader *entries)
{
    hy_entry entry[100];
    int64_t count = 1, all = 0;

    while (count > 0) {
        HY_TRY(entries->ops->next(entries, 100, entry, &count));
        for (int64_t i = 0; i < count; i++)
            io_must(ctx,
                    entry[i].row >= entries->base && entry[i].col >= entries->base &&
                        entry[i].row - entries->base < entries->rows &&
                        entry[i].col - entries->base < entries->cols,
                    "an entry outside the matrix");
        all += count;
    }
    io_must(ctx, entries->nnz < 0 || all == entries->nnz, "a wrong number of entries");
    return HYBRID_OK;
}

static hybrid_status read_input(hy_context *ctx, const hy_file_format *format,
                                hy_input *input)
{
    const hy_opening opening = {input, NULL};
    hy_entry_reader entries  = {.ops = NULL};
    hy_matrix_file file      = {.ctx = ctx};
    void *name;

    HY_TRY(hy_array(ctx, 5, 1, "the name of a file", &name));
    file.name            = memcpy(name, "fuzz", 5);
    hybrid_status status = format->open(ctx, &opening, &file, &entries);
    if (status == HYBRID_OK && entries.ops)
        status = read_entries(ctx, &entries);
    else if (status == HYBRID_OK)
        status = file.sparse ? read_sparse(ctx, &file) : read_dense(ctx, &file);
    hy_entry_reader_close(&entries);
    hy_matrix_file_close(&file);
    return status;
}

/* Stores the bytes in a file in memory and returns its path, which is not one that stands
   for the open descriptor (hy_is_descriptor()). Temporary files of readers
   are in memory, too, if the system has a folder for that: a disk would take most of the
   time. */
static const char *store(hy_context *ctx, const void *data, size_t bytes)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fd);
        if (access("/dev/shm", W_OK) == 0)
            setenv("TMPDIR", "/dev/shm", 1);
    }
    io_must(ctx,
            fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
                pwrite(fd, data, bytes, 0) == (ssize_t)bytes,
            "no file in memory");
    return path;
}

void read_whole(hy_context *ctx, const hy_file_format *format, const void *data,
                size_t bytes)
{
    hybrid_status status = HYBRID_OK;
    hy_input input;

    ctx->memory.meter.cap = (int64_t)(2 * bytes) + (64 << 20);
    if (hy_input_open(ctx, store(ctx, data, bytes), &input) == HYBRID_OK) {
        if (!format->is || format->is(&input))
            status = read_input(ctx, format, &input);
        hy_input_close(ctx, &input);
        io_must(ctx,
                status == HYBRID_OK || status == HYBRID_BAD_FILE ||
                    status == HYBRID_BAD_MATRIX || status == HYBRID_NO_MEMORY,
                "unexpected status");
        io_must(ctx, (status == HYBRID_OK) == (ctx->message.text[0] == 0), "no sentence");
    }
    hy_message_clear(&ctx->message);
}
