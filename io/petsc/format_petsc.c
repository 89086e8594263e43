/* io/petsc/format_petsc.c - sparse and dense matrices in PETSc's binary form. */
#include <string.h>
#include <sys/stat.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/formats/plain_numbers.h"
#include "io/numbers/converted.h"
#include "io/petsc/petsc.h"
#include "io/petsc/row_lengths.h"

/* The header of a matrix, and where its arrays lie. */
typedef struct header {
    hy_number_kind index; /* kind of the integers in the file */
    int64_t rows, cols, nnz;
    int64_t lengths, columns, values; /* positions of the arrays, in bytes */
    int64_t bytes;                    /* bytes of the file from the first value on */
} header;

/* Returns integer `i` of the header. */
static int64_t integer(const hy_input *input, hy_number_kind kind, int i)
{
    int64_t value = 0;

    hy_convert_indices(kind, input->text + i * kind.size, 1, HYBRID_I64, &value);
    return value;
}

/* Sets *kind to the kind of the integers in the file. Returns 0 if the file is not in
   PETSc's form. */
static int find_kind(const hy_input *input, hy_number_kind *kind)
{
    for (int size = 4; size <= 8; size += 4) {
        *kind = (hy_number_kind){HY_SIGNED, size, 1};
        if (input->bytes >= (size_t)HY_PETSC_HEADER * (size_t)size &&
            integer(input, *kind, 0) == HY_PETSC_MAT)
            return 1;
    }
    return 0;
}

static int is_petsc(const hy_input *input)
{
    hy_number_kind kind;

    return find_kind(input, &kind);
}

static hybrid_status fail(hy_context *ctx, const hy_input *input, const char *why)
{
    return hy_fail(ctx, HYBRID_BAD_FILE, "%s: %s", input->path, why);
}

/* Sets h->bytes to the bytes of the file from byte h->values on; negative if the file
   ends before. */
static hybrid_status find_size(hy_context *ctx, const hy_input *input, header *h)
{
    struct stat st;

    if (hy_is_descriptor(input->path) || stat(input->path, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return fail(ctx, input, "a PETSc matrix must be in a regular file");
    h->bytes = st.st_size - h->values;
    return HYBRID_OK;
}

/* Reads the header, and checks that its sizes are valid numbers. find_values() compares
   them with the size of the file. */
static hybrid_status read_header(hy_context *ctx, const hy_input *input, header *h)
{
    *h = (header){.nnz = 0};
    if (!find_kind(input, &h->index))
        return fail(ctx, input, "is not a matrix of PETSc");
    h->rows    = integer(input, h->index, 1);
    h->cols    = integer(input, h->index, 2);
    h->nnz     = integer(input, h->index, 3);
    h->lengths = HY_PETSC_HEADER * h->index.size;
    if (h->rows < 0 || h->cols < 0 || h->nnz < HY_PETSC_DENSE)
        return fail(ctx, input, "its header has a negative size");
    if (h->cols > INT32_MAX)
        return fail(ctx, input, "has more than 2^31 - 1 columns");
    if (h->rows > INT64_MAX / 16 || h->nnz > INT64_MAX / 64)
        return fail(ctx, input, "its header has an impossible size");
    h->columns = h->values = h->lengths;
    if (h->nnz != HY_PETSC_DENSE) {
        h->columns += h->rows * h->index.size;
        h->values = h->columns + h->nnz * h->index.size;
    }
    return find_size(ctx, input, h);
}

/* Sets *kind to the kind of the values in the file. The header does not tell their size:
   they have 8 bytes, unless the file ends with the right number of values of 4 or 16
   bytes. */
static hybrid_status find_values(hy_context *ctx, const hy_input *input, const header *h,
                                 int64_t count, hy_number_kind *kind)
{
    *kind = (hy_number_kind){HY_FLOAT, 8, 1};
    if (count == 0 && h->bytes >= 0)
        return HYBRID_OK;
    if (h->bytes == count * 16)
        return fail(ctx, input, "holds complex numbers, and only real ones are read");
    if (h->bytes == count * 4)
        kind->size = 4;
    if (h->bytes < count * kind->size)
        return fail(ctx, input, "is shorter than its header announces");
    return HYBRID_OK;
}

static hybrid_status open_integers(hy_context *ctx, const hy_input *input,
                                   const header *h, int64_t at, int64_t count,
                                   hybrid_index type, hy_stored *out)
{
    HY_TRY(
        hy_plain_numbers_open(ctx, input->path, at, count, (size_t)h->index.size, out));
    return hy_stored_to_indices(out, h->index, type, input->path);
}

static hybrid_status open_values(hy_context *ctx, const hy_input *input, const header *h,
                                 int64_t count, hy_number_kind kind, hy_stored *out)
{
    HY_TRY(hy_plain_numbers_open(ctx, input->path, h->values, count, (size_t)kind.size,
                                 out));
    return hy_stored_to_values(out, kind, input->path);
}

static hybrid_status open_dense(hy_context *ctx, const hy_input *input, const header *h,
                                hy_matrix_file *out)
{
    hy_number_kind kind;
    int64_t count;

    if (__builtin_mul_overflow(h->rows, h->cols, &count) || count > INT64_MAX / 64)
        return fail(ctx, input, "its header has an impossible size");
    HY_TRY(find_values(ctx, input, h, count, &kind));
    out->dense = (hybrid_dense){.rows  = h->rows,
                                .cols  = h->cols,
                                .ld    = h->cols,
                                .order = HYBRID_ROW_MAJOR,
                                .type  = hy_type_of_kind(kind),
                                .space = HYBRID_SPACE_HOST};
    return open_values(ctx, input, h, count, kind, &out->values);
}

static hybrid_status open_offsets(hy_context *ctx, const hy_input *input, const header *h,
                                  hy_stored *out)
{
    hy_stored lengths = {.ops = NULL};

    const hybrid_status status =
        open_integers(ctx, input, h, h->lengths, h->rows, HYBRID_I64, &lengths);
    if (status != HYBRID_OK) {
        hy_stored_close(&lengths);
        return status;
    }
    return hy_row_lengths_open(ctx, input->path, &lengths, h->nnz, out);
}

static hybrid_status open_csr(hy_context *ctx, const hy_input *input, const header *h,
                              hy_matrix_file *out)
{
    hy_number_kind kind;

    HY_TRY(find_values(ctx, input, h, h->nnz, &kind));
    out->sparse = 1;
    out->csr    = (hybrid_csr){.rows        = h->rows,
                               .cols        = h->cols,
                               .nnz         = h->nnz,
                               .offset_type = HYBRID_I64,
                               .type        = hy_type_of_kind(kind),
                               .col_type    = HYBRID_I32,
                               .space       = HYBRID_SPACE_HOST};
    HY_TRY(open_offsets(ctx, input, h, &out->row_ptr));
    HY_TRY(open_integers(ctx, input, h, h->columns, h->nnz, HYBRID_I32, &out->col));
    return open_values(ctx, input, h, h->nnz, kind, &out->values);
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    header h;

    (void)entries;
    HY_TRY(read_header(ctx, opening->input, &h));
    return (h.nnz == HY_PETSC_DENSE ? open_dense : open_csr)(ctx, opening->input, &h,
                                                             out);
}

const hy_file_format hy_format_petsc = {.name      = "PETSc",
                                        .endings   = ".petsc",
                                        .is        = is_petsc,
                                        .open      = open_matrix,
                                        .create    = hy_petsc_create,
                                        .bytes     = hy_petsc_bytes,
                                        .nnz_first = 1};
