/* io/raw_open.c - matrices of raw numbers: a dense one is opened, a sparse one read. */
#include <string.h>

#include "base/csr.h"
#include "io/raw.h"

/* ---- an array -----------------------------------------------------------------------
 */

/* Without the '\' of escapes, which stand for themselves. */
static void copy_name(const hy_raw_array *array, char *to)
{
    for (size_t i = 0; i < array->length; i++)
        if (array->name[i] != '\\' || ++i < array->length)
            *to++ = array->name[i];
    *to = '\0';
}

/* A relative name begins in the folder of the file that holds it. */
static size_t folder_of(const hy_input *input, const hy_raw_array *array)
{
    const char *slash = strrchr(input->path, '/');

    return array->name[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - input->path);
}

hybrid_status hy_raw_open(hy_context *ctx, const hy_input *input,
                          const hy_raw_array *array, int64_t bytes, hy_stored *out)
{
    const size_t folder = folder_of(input, array);
    void *path;

    HY_TRY(
        hy_array(ctx, (int64_t)(folder + array->length + 1), 1, "name of a file", &path));
    memcpy(path, input->path, folder);
    copy_name(array, (char *)path + folder);
    const hybrid_status status = hy_stored_open(ctx, path, array->offset, bytes, out);
    hy_array_free(ctx, path);
    return status;
}

static hybrid_status read_array(hy_context *ctx, const hy_input *input,
                                const hy_raw_array *array, int64_t bytes, void *to)
{
    hy_stored stored;

    HY_TRY(hy_raw_open(ctx, input, array, bytes, &stored));
    const hybrid_status status = hy_stored_read(&stored, 0, to, (size_t)bytes);
    hy_stored_close(&stored);
    return status;
}

/* ---- dense --------------------------------------------------------------------------
 */

/* From the first element to the last. */
static int64_t dense_bytes(const hybrid_dense *X)
{
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = in_rows ? X->rows : X->cols;
    const int64_t line  = in_rows ? X->cols : X->rows;

    return lines == 0 || line == 0
               ? 0
               : ((lines - 1) * X->ld + line) * (int64_t)hy_value_size(X->type);
}

static hybrid_status open_dense(hy_context *ctx, const hy_input *input,
                                hy_dense_file *out)
{
    hy_raw_header h;

    HY_TRY(hy_raw_parse(ctx, input, &h));
    if (h.sparse)
        return hy_fail(ctx, HYBRID_BAD_FILE, "%s: holds a sparse matrix, no dense one",
                       input->path);
    const hybrid_dense shape = {.rows  = h.rows,
                                .cols  = h.cols,
                                .ld    = h.ld,
                                .order = (hybrid_order)h.order,
                                .type  = (hybrid_type)h.type,
                                .space = HYBRID_SPACE_HOST};
    hy_stored stored;
    HY_TRY(hy_raw_open(ctx, input, &h.values, dense_bytes(&shape), &stored));
    *out = (hy_dense_file){shape, stored};
    return HYBRID_OK;
}

hybrid_status hy_raw_open_dense(hy_context *ctx, const char *path, hy_dense_file *out)
{
    hy_input input;

    HY_TRY(hy_input_open(ctx, path, &input));
    const hybrid_status status = open_dense(ctx, &input, out);
    hy_input_close(ctx, &input);
    return status;
}

/* ---- sparse -------------------------------------------------------------------------
 */

/* Offsets of 32 bits lie behind the room of as many: each is read before its place is
   written to. */
static void widen(char *room, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t narrow;
        memcpy(&narrow, room + (count + i) * 4, 4);
        const int64_t wide = narrow;
        memcpy(room + i * 8, &wide, 8);
    }
}

static hybrid_status read_arrays(hy_context *ctx, const hy_input *input,
                                 const hy_raw_header *h, const hybrid_csr *A)
{
    const int64_t count = A->rows + 1, size = (int64_t)hy_value_size(A->type);
    const int is_narrow = h->row_ptr.type == HYBRID_I32;
    char *offsets       = A->row_ptr;

    HY_TRY(read_array(ctx, input, &h->row_ptr, count * (is_narrow ? 4 : 8),
                      offsets + (is_narrow ? count * 4 : 0)));
    if (is_narrow)
        widen(offsets, count);
    HY_TRY(read_array(ctx, input, &h->col, A->nnz * 4, A->col));
    HY_TRY(read_array(ctx, input, &h->values, A->nnz * size, A->val));
    return hy_csr_check(ctx, A, input->path);
}

static hybrid_status read_csr(hy_context *ctx, const hy_input *input, hybrid_csr *out)
{
    hy_raw_header h;
    hybrid_csr A;

    HY_TRY(hy_raw_parse(ctx, input, &h));
    if (!h.sparse)
        return hy_fail(ctx, HYBRID_BAD_FILE, "%s: holds a dense matrix, no sparse one",
                       input->path);
    HY_TRY(hy_csr_alloc(ctx, h.rows, h.cols, h.nnz, (hybrid_type)h.type, &A));
    const hybrid_status status = read_arrays(ctx, input, &h, &A);
    if (status != HYBRID_OK)
        hy_csr_free(ctx, &A);
    else
        *out = A;
    return status;
}

hybrid_status hy_raw_read_csr(hy_context *ctx, const char *path, hybrid_csr *out)
{
    hy_input input;

    HY_TRY(hy_input_open(ctx, path, &input));
    const hybrid_status status = read_csr(ctx, &input, out);
    hy_input_close(ctx, &input);
    return status;
}
