/* io/npz/format_npz.c - sparse matrices of SciPy's save_npz(), and dense arrays of
   NumPy's savez(), in a .npz file.

   A .npz file is a ZIP file whose members are .npy files. A sparse matrix has the members
   `format`, `shape` and `data`, and `indptr` and `indices` (CSR, CSC) or `row` and `col`
   (COO). */
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/arrays/npy.h"
#include "io/formats/file_format.h"
#include "io/npz/npz.h"
#include "io/npz/zip_bytes.h"
#include "io/npz/zip_file.h"
#include "io/numbers/converted.h"
#include "io/numbers/entry_arrays.h"
#include "io/numbers/row_order.h"

enum { HEAD_BYTES = 4096, NAME_BYTES = 512 };

/* A member of the .npz file, and its .npy header. */
typedef struct array {
    const hy_zip_member *member;
    hy_npy_header header;
    int64_t skip;          /* bytes of the member before its numbers */
    char name[NAME_BYTES]; /* for messages: "FILE::MEMBER" */
} array;

/* ---- members ----------------------------------------------------------------------- */

static hybrid_status find(const hy_zip *zip, const char *name, const hy_zip_member **out)
{
    HY_TRY(hy_zip_find(zip, name, out));
    if (*out)
        return HYBRID_OK;
    if (strcmp(name, "format") == 0 && zip->count > 0)
        return hy_fail(zip->ctx, HYBRID_BAD_FILE,
                       "%s: is not a sparse matrix of SciPy, because it has no member "
                       "'format.npy'; a dense array is selected by its name, as in "
                       "'%s::%.*s'",
                       zip->path, zip->path,
                       (int)hy_smaller(zip->member->length, 64) -
                           4 * (zip->member->length > 4),
                       zip->member->name);
    return hy_fail(zip->ctx, HYBRID_BAD_FILE, "%s: has no member '%s.npy'", zip->path,
                   name);
}

/* Reads and checks the header of an array, whose numbers must fill the member. */
static hybrid_status read_header(const hy_zip *zip, const char *name, array *out)
{
    char head[HEAD_BYTES];
    hy_input input = {.path = out->name, .text = head};

    snprintf(out->name, sizeof out->name, "%s::%s", zip->path, name);
    HY_TRY(find(zip, name, &out->member));
    HY_TRY(hy_zip_head(zip, out->member, head, sizeof head, &input.bytes));
    input.last = (int64_t)input.bytes == out->member->bytes;
    if (!hy_npy_is(&input))
        return hy_fail(zip->ctx, HYBRID_BAD_FILE, "%s: is not a .npy file", out->name);
    HY_TRY(hy_npy_read_header(zip->ctx, &input, &out->header));
    out->skip  = out->header.data - head;
    input.last = 1;
    return hy_npy_check_bytes(zip->ctx, &input, &out->header,
                              out->member->bytes - out->skip);
}

/* Reads the header of the member `name`, which must be an array of one axis. */
static hybrid_status read_vector(const hy_zip *zip, const char *name, array *out)
{
    HY_TRY(read_header(zip, name, out));
    return out->header.axes == 1
               ? HYBRID_OK
               : hy_fail(zip->ctx, HYBRID_BAD_FILE, "%s: must have one axis, but has %d",
                         out->name, out->header.axes);
}

/* How the numbers of an array are opened: hy_zip_numbers(), or hy_zip_stream() if they
   are read once and in order. */
typedef hybrid_status (*open_fn)(const hy_zip *zip, const hy_zip_member *member,
                                 int64_t skip, int64_t count, size_t size,
                                 hy_stored *out);

static hybrid_status open_array(const hy_zip *zip, const array *a, open_fn open,
                                hy_stored *out)
{
    const hy_npy_header *h = &a->header;

    return open(zip, a->member, a->skip, h->rows * h->cols, (size_t)h->kind.size, out);
}

static hybrid_status open_indices(const hy_zip *zip, const array *a, hybrid_index type,
                                  open_fn open, hy_stored *out)
{
    HY_TRY(open_array(zip, a, open, out));
    return hy_stored_to_indices(out, a->header.kind, type, a->name);
}

static hybrid_status open_values(const hy_zip *zip, const array *a, open_fn open,
                                 hy_stored *out)
{
    HY_TRY(open_array(zip, a, open, out));
    return hy_stored_to_values(out, a->header.kind, a->name);
}

/* ---- format and shape -------------------------------------------------------------- */

typedef enum npz_layout { CSR, CSC, COO, LAYOUTS } npz_layout;
static const char *const layouts[] = {"csr", "csc", "coo"};

/* The member `format` is one word, of bytes or of UTF-32 characters in either byte order:
   without zeros, all are the same. */
static hybrid_status read_format(const hy_zip *zip, npz_layout *out)
{
    const hy_zip_member *member;
    char head[HEAD_BYTES], word[8] = "";
    size_t bytes, length           = 0;

    HY_TRY(find(zip, "format", &member));
    HY_TRY(hy_zip_head(zip, member, head, sizeof head, &bytes));
    const size_t begin = bytes < 10 ? bytes : 10 + (size_t)hy_zip_get(head + 8, 2);
    for (size_t i = begin; i < bytes && length + 1 < sizeof word; i++)
        if (head[i])
            word[length++] = head[i] >= ' ' && head[i] <= '~' ? head[i] : '?';
    for (*out = CSR; *out < LAYOUTS; ++*out)
        if (strcmp(word, layouts[*out]) == 0)
            return HYBRID_OK;
    return hy_fail(zip->ctx, HYBRID_BAD_FILE,
                   "%s: has the sparse format '%s', and only csr, csc and coo are read; "
                   "convert it with tocsr()",
                   zip->path, word);
}

static hybrid_status read_shape(const hy_zip *zip, int64_t shape[2])
{
    char head[HEAD_BYTES];
    size_t bytes;
    array a;

    HY_TRY(read_vector(zip, "shape", &a));
    HY_TRY(hy_zip_head(zip, a.member, head, sizeof head, &bytes));
    const char *numbers = head + a.skip;
    if (a.header.rows != 2 || a.skip + a.header.bytes > (int64_t)bytes ||
        hy_convert_indices(a.header.kind, numbers, 2, HYBRID_I64, shape) < 2 ||
        shape[0] < 0 || shape[1] < 0 || shape[0] > INT64_MAX / 16)
        return hy_fail(zip->ctx, HYBRID_BAD_FILE,
                       "%s: must be the numbers of rows and columns", a.name);
    return HYBRID_OK;
}

static hybrid_status check_count(const hy_zip *zip, const array *a, int64_t wanted)
{
    if (a->header.rows == wanted)
        return HYBRID_OK;
    return hy_fail(zip->ctx, HYBRID_BAD_FILE,
                   "%s: has %lld numbers, and the matrix needs %lld", a->name,
                   (long long)a->header.rows, (long long)wanted);
}

/* ---- sparse matrices --------------------------------------------------------------- */

typedef struct parts {
    array indptr, indices, data; /* COO: row indices, column indices, values */
} parts;

/* Lowers file->csr.nnz to the last offset, because SciPy's arrays may be longer;
   open_csr() then shortens them. If they are shorter, the source of the matrix refuses
   the offset. */
static hybrid_status take_nnz(hy_matrix_file *file)
{
    int64_t wide   = 0;
    int32_t narrow = 0;

    HY_TRY(hy_stored_read(&file->row_ptr, file->csr.rows, 1,
                          file->row_ptr.size == 4 ? (void *)&narrow : (void *)&wide));
    const int64_t last = file->row_ptr.size == 4 ? narrow : wide;
    if (last >= 0 && last < file->csr.nnz)
        file->csr.nnz = last;
    return HYBRID_OK;
}

static hybrid_status open_csr(const hy_zip *zip, const parts *p, const int64_t shape[2],
                              hy_matrix_file *out)
{
    const hy_number_kind kind = p->indptr.header.kind;
    const hybrid_index type =
        hy_same_kind(kind, hy_kind_of_index(HYBRID_I32)) ? HYBRID_I32 : HYBRID_I64;

    HY_TRY(check_count(zip, &p->indptr, shape[0] + 1));
    HY_TRY(check_count(zip, &p->data, p->indices.header.rows));
    if (shape[1] > INT32_MAX)
        return hy_fail(zip->ctx, HYBRID_BAD_FILE,
                       "%s: has %lld columns, and the limit is 2^31 - 1", zip->path,
                       (long long)shape[1]);
    out->sparse = 1;
    out->csr    = (hybrid_csr){.rows        = shape[0],
                               .cols        = shape[1],
                               .nnz         = p->data.header.rows,
                               .offset_type = type,
                               .type        = hy_type_of_kind(p->data.header.kind),
                               .col_type    = HYBRID_I32,
                               .space       = HYBRID_SPACE_HOST};
    HY_TRY(open_indices(zip, &p->indptr, type, hy_zip_numbers, &out->row_ptr));
    HY_TRY(take_nnz(out));
    HY_TRY(open_indices(zip, &p->indices, HYBRID_I32, hy_zip_numbers, &out->col));
    HY_TRY(open_values(zip, &p->data, hy_zip_numbers, &out->values));
    out->col.count = out->values.count = out->csr.nnz;
    return HYBRID_OK;
}

static hybrid_status open_entries(const hy_zip *zip, const parts *p,
                                  const int64_t shape[2], npz_layout layout,
                                  hy_entry_reader *entries)
{
    hy_entry_arrays arrays = {.name = zip->path,
                              .rows = shape[0],
                              .cols = shape[1],
                              .type = hy_type_of_kind(p->data.header.kind)};
    const array *row       = layout == COO ? &p->indptr : &p->indices;
    const array *col       = layout == COO ? &p->indices : &p->indptr;
    hybrid_status status;

    if (layout == CSC)
        HY_TRY(check_count(zip, col, shape[1] + 1));
    else
        HY_TRY(check_count(zip, col, row->header.rows));
    HY_TRY(check_count(zip, &p->data, row->header.rows));
    HY_TRY_ELSE_DONE(open_indices(zip, row, HYBRID_I64, hy_zip_stream, &arrays.row));
    HY_TRY_ELSE_DONE(open_indices(zip, col, HYBRID_I64, hy_zip_stream, &arrays.col));
    HY_TRY_ELSE_DONE(open_values(zip, &p->data, hy_zip_stream, &arrays.values));
    return (layout == COO ? hy_entry_reader_coo : hy_entry_reader_csc)(zip->ctx, &arrays,
                                                                       entries);
done:
    hy_stored_close(&arrays.row);
    hy_stored_close(&arrays.col);
    hy_stored_close(&arrays.values);
    return status;
}

static hybrid_status open_sparse(const hy_zip *zip, hy_matrix_file *out,
                                 hy_entry_reader *entries)
{
    int64_t shape[2];
    npz_layout layout;
    parts p;

    HY_TRY(read_format(zip, &layout));
    HY_TRY(read_shape(zip, shape));
    HY_TRY(read_vector(zip, layout == COO ? "row" : "indptr", &p.indptr));
    HY_TRY(read_vector(zip, layout == COO ? "col" : "indices", &p.indices));
    HY_TRY(read_vector(zip, "data", &p.data));
    if (layout != CSR)
        return open_entries(zip, &p, shape, layout, entries);
    HY_TRY(open_csr(zip, &p, shape, out));
    return hy_row_order_check(out, entries);
}

/* ---- dense arrays ------------------------------------------------------------------ */

static hybrid_status open_dense(const hy_zip *zip, const char *name, hy_matrix_file *out)
{
    array a;

    HY_TRY(read_header(zip, name, &a));
    const hy_npy_header *h = &a.header;
    out->dense             = (hybrid_dense){.rows  = h->rows,
                                            .cols  = h->cols,
                                            .ld    = h->order == HYBRID_ROW_MAJOR ? h->cols : h->rows,
                                            .order = h->order,
                                            .type  = hy_type_of_kind(h->kind),
                                            .space = HYBRID_SPACE_HOST};
    return open_values(zip, &a, hy_zip_numbers, &out->values);
}

/* ---- the format -------------------------------------------------------------------- */

/* Returns 1 for a ZIP file whose first member is a .npy file. */
static int is_npz(const hy_input *input)
{
    const char *text = input->text;

    if (input->bytes < HY_ZIP_LOCAL || hy_zip_get(text, 4) != HY_ZIP_LOCAL_MARK)
        return 0;
    const size_t length = (size_t)hy_zip_get(text + 26, 2);
    return length > 4 && input->bytes >= HY_ZIP_LOCAL + length &&
           memcmp(text + HY_ZIP_LOCAL + length - 4, ".npy", 4) == 0;
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    hy_zip zip;

    HY_TRY(hy_zip_open(ctx, opening->input->path, &zip));
    const hybrid_status status = opening->member ? open_dense(&zip, opening->member, out)
                                                 : open_sparse(&zip, out, entries);
    hy_zip_close(&zip);
    return status;
}

const hy_file_format hy_format_npz = {.name        = "npz",
                                      .endings     = ".npz",
                                      .has_members = 1,
                                      .is          = is_npz,
                                      .open        = open_matrix,
                                      .create      = hy_npz_create,
                                      .bytes       = hy_npz_bytes,
                                      .nnz_first   = 1};
