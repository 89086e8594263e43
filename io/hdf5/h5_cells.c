/* io/hdf5/h5_cells.c - files of single cells: AnnData (.h5ad) and 10x Genomics (.h5). */
#include <string.h>

#include "io/hdf5/h5_array.h"
#include "io/hdf5/h5_layout.h"
#include "io/hdf5/h5_tree.h"

static void use_lines(hy_h5_layout *out, int by_cols)
{
    *out = (hy_h5_layout){.storage  = HY_H5_SPARSE_LINES,
                          .by_cols  = by_cols,
                          .nnz      = -1,
                          .pointers = "indptr",
                          .indices  = "indices",
                          .values   = "data"};
}

/* ---- AnnData ----------------------------------------------------------------------- */

/* Reads "csr" or "csc", from "csr_matrix" in present files and "csr" in old ones. */
static hybrid_status take_kind(const hy_h5_file *file, const char *object, char *kind,
                               int *found)
{
    char *text;

    *found = 0;
    HY_TRY(hy_h5_text(file, object, "encoding-type", &text));
    if (!text)
        HY_TRY(hy_h5_text(file, object, "h5sparse_format", &text));
    if (!text)
        return HYBRID_OK;
    *found = strncmp(text, "csr", 3) == 0 || strncmp(text, "csc", 3) == 0;
    memcpy(kind, text, *found ? 4 : 0);
    hy_array_free(file->ctx, text);
    return HYBRID_OK;
}

hybrid_status hy_h5_anndata(const hy_h5_file *file, const char *object, hy_h5_layout *out,
                            int *found)
{
    char kind[4] = "";
    int64_t sizes[2];
    int has_sizes;

    HY_TRY(take_kind(file, object, kind, found));
    if (!*found)
        return HYBRID_OK;
    HY_TRY(hy_h5_sizes(file, object, "shape", sizes, &has_sizes));
    if (!has_sizes)
        HY_TRY(hy_h5_sizes(file, object, "h5sparse_shape", sizes, &has_sizes));
    if (!has_sizes)
        return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: '%s' has no attribute 'shape'",
                       file->path, object);
    use_lines(out, kind[2] == 'c');
    out->rows = sizes[0];
    out->cols = sizes[1];
    return HYBRID_OK;
}

/* ---- 10x Genomics ------------------------------------------------------------------ */

static hybrid_status read_shape(const hy_h5_file *file, const char *object,
                                int64_t *sizes)
{
    hy_stored shape = {.ops = NULL};
    char *name;

    HY_TRY(hy_h5_join(file->ctx, object, "shape", &name));
    hybrid_status status = hy_h5_vector_open(file, name, HY_H5_I64, &shape, NULL);
    if (status == HYBRID_OK && shape.count == 2)
        status = hy_stored_read(&shape, 0, 2, sizes);
    if (status == HYBRID_OK && (shape.count != 2 || sizes[0] < 0 || sizes[1] < 0))
        status = hy_fail(file->ctx, HYBRID_BAD_FILE,
                         "%s: '%s' is not two integers of 0 or more", file->path, name);
    hy_stored_close(&shape);
    hy_array_free(file->ctx, name);
    return status;
}

/* The file holds a matrix of genes x cells by columns. The arrays are read as the rows of
   its transpose, cells x genes. */
hybrid_status hy_h5_tenx(const hy_h5_file *file, const char *object, hy_h5_layout *out,
                         int *found)
{
    static const char *const parts[] = {"barcodes", "data", "indices", "indptr", "shape"};
    int64_t sizes[2]                 = {0, 0};

    *found = 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *found = *found && hy_h5_holds(file, object, parts[i]);
    if (!*found)
        return HYBRID_OK;
    HY_TRY(read_shape(file, object, sizes));
    use_lines(out, 0);
    out->rows = sizes[1];
    out->cols = sizes[0];
    return HYBRID_OK;
}
