/* io/hdf5/h5_matrix.c - opens a matrix in an HDF5 file. */
#include "io/hdf5/h5_matrix.h"

#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/hdf5/h5_array.h"
#include "io/hdf5/h5_entries.h"
#include "io/hdf5/h5_layout.h"
#include "io/hdf5/h5_tree.h"
#include "io/numbers/number_kind.h"
#include "io/numbers/row_order.h"

enum { LIST_BYTES = 512 };

/* ---- which matrix ------------------------------------------------------------------ */

static hybrid_status fail_listing(const hy_h5_file *file, const char *what,
                                  const char *name)
{
    char list[LIST_BYTES], text[256];

    hy_h5_list_matrices(file, list, sizeof list);
    snprintf(text, sizeof text, what, name);
    return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: %s; matrices of this file: %s",
                   file->path, text, list);
}

/* Sets *out to the matrix to open if the name of the file has no member: the first that
   exists of the root of a Binsparse file, X of AnnData, and "matrix" or the only genome
   of 10x Genomics. Otherwise fails and lists the matrices. */
static hybrid_status choose_member(const hy_h5_file *file, char *genome, size_t bytes,
                                   const char **out)
{
    const int genomes = hy_h5_groups_with(file, "indptr", genome, bytes);

    if (H5Aexists_by_name(file->id, "/", "binsparse", H5P_DEFAULT) > 0)
        *out = "/";
    else if (hy_h5_exists(file, "X"))
        *out = "X";
    else if (hy_h5_exists(file, "matrix"))
        *out = "matrix";
    else if (genomes == 1)
        *out = genome;
    else
        return fail_listing(file, "select a matrix with '%s' after the name of the file",
                            "::NAME");
    return HYBRID_OK;
}

static hybrid_status find_layout(const hy_h5_file *file, const char *object,
                                 hy_h5_layout *out)
{
    static hy_h5_layout_of *const kinds[] = {hy_h5_binsparse, hy_h5_anndata, hy_h5_tenx};
    int found                             = 0;

    if (strcmp(object, "/") != 0 && !hy_h5_exists(file, object))
        return fail_listing(file, "there is no '%s'", object);
    if (strcmp(object, "/") != 0 && !hy_h5_is_group(file, object)) {
        *out = (hy_h5_layout){.storage = HY_H5_DENSE_ROWS, .rows = -1, .nnz = -1};
        return HYBRID_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !found; i++)
        HY_TRY(kinds[i](file, object, out, &found));
    return found ? HYBRID_OK
                 : fail_listing(file,
                                "group '%s' holds no matrix of AnnData, 10x Genomics or "
                                "Binsparse",
                                object);
}

/* ---- arrays ------------------------------------------------------------------------ */

/* Replaces *array, which must hold one number, by an array of `count` copies of it. */
static hybrid_status repeat(const hy_h5_file *file, hy_h5_array *array, int64_t count)
{
    hy_h5_array repeated = *array;
    hy_stored single     = {.ops = NULL};

    if (hy_h5_count(array) != 1) {
        hy_h5_array_free(file->ctx, array);
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: '%s' must hold the one value of all entries", file->path,
                       array->name);
    }
    const hybrid_status few = hy_h5_check_absent(file, array->name, count);
    if (few != HYBRID_OK) {
        hy_h5_array_free(file->ctx, array);
        return few;
    }
    repeated.number = (hy_h5_number){
        HY_H5_FLOAT, array->number.kind == HY_H5_FLOAT ? array->number.bytes : 8, 0};
    repeated.chunk[0] = repeated.chunk[1] = 0;
    repeated.dims[1]                      = count;
    repeated.at                           = -1;
    repeated.compact                      = NULL;
    repeated.places                       = NULL;
    HY_TRY(hy_h5_array_open(file->ctx, array, HY_H5_VALUES, &single));
    const hybrid_status status = hy_stored_read(&single, 0, 1, repeated.fill);
    hy_stored_close(&single);
    *array = repeated;
    return status;
}

static hybrid_status open_values(const hy_h5_file *file, const char *name,
                                 const hy_h5_layout *layout, hy_stored *out)
{
    hy_h5_array array;

    HY_TRY(hy_h5_array_describe(file, name, &array));
    if (layout->is_single)
        HY_TRY(repeat(file, &array, layout->nnz));
    return hy_h5_array_open(file->ctx, &array, HY_H5_VALUES, out);
}

static hybrid_type type_of(const hy_stored *values)
{
    return hy_type_of_kind((hy_number_kind){HY_FLOAT, (int)values->size, 0});
}

/* Opens the array `name` of a group; does nothing if `name` is NULL. */
static hybrid_status open_part(const hy_h5_file *file, const char *group,
                               const char *name, hy_h5_wanted wanted, hy_stored *out)
{
    char *path;

    if (!name)
        return HYBRID_OK;
    HY_TRY(hy_h5_join(file->ctx, group, name, &path));
    const hybrid_status status = hy_h5_vector_open(file, path, wanted, out, NULL);
    hy_array_free(file->ctx, path);
    return status;
}

static hybrid_status open_values_of(const hy_h5_file *file, const char *group,
                                    const hy_h5_layout *layout, hy_stored *out)
{
    char *path;

    HY_TRY(hy_h5_join(file->ctx, group, layout->values, &path));
    const hybrid_status status = open_values(file, path, layout, out);
    hy_array_free(file->ctx, path);
    return status;
}

static hybrid_status check_count(const hy_h5_file *file, const char *group,
                                 const char *name, const hy_stored *array, int64_t wanted)
{
    if (!array->ops || array->count == wanted)
        return HYBRID_OK;
    return hy_fail(file->ctx, HYBRID_BAD_FILE,
                   "%s: '%s' of '%s' has %lld numbers instead of %lld", file->path, name,
                   group, (long long)array->count, (long long)wanted);
}

/* ---- dense matrices ---------------------------------------------------------------- */

/* Opens a dataset as a dense matrix. A dataset of one axis is a column. */
static hybrid_status open_dataset(const hy_h5_file *file, const char *object,
                                  hy_matrix_file *out)
{
    hy_h5_array array;

    HY_TRY(hy_h5_array_describe(file, object, &array));
    const int is_column = array.rank == 1;
    out->dense          = (hybrid_dense){.rows  = array.dims[is_column ? 1 : 0],
                                         .cols  = is_column ? 1 : array.dims[1],
                                         .order = HYBRID_ROW_MAJOR};
    return hy_h5_array_open(file->ctx, &array, HY_H5_VALUES, &out->values);
}

static hybrid_status open_binsparse_dense(const hy_h5_file *file, const char *group,
                                          const hy_h5_layout *layout, hy_matrix_file *out)
{
    int64_t count;

    if (__builtin_mul_overflow(layout->rows, layout->cols, &count) ||
        count > INT64_MAX / 16)
        return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: '%s' takes 2^63 bytes or more",
                       file->path, group);
    if (count != layout->nnz)
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: dense matrix '%s' stores %lld values instead of %lld",
                       file->path, group, (long long)layout->nnz, (long long)count);
    out->dense =
        (hybrid_dense){.rows  = layout->rows,
                       .cols  = layout->cols,
                       .order = layout->storage == HY_H5_DENSE_COLS ? HYBRID_COL_MAJOR
                                                                    : HYBRID_ROW_MAJOR};
    HY_TRY(open_values_of(file, group, layout, &out->values));
    return check_count(file, group, layout->values, &out->values, count);
}

static hybrid_status open_dense(const hy_h5_file *file, const char *object,
                                const hy_h5_layout *layout, hy_matrix_file *out)
{
    hybrid_dense *X = &out->dense;

    if (layout->values)
        HY_TRY(open_binsparse_dense(file, object, layout, out));
    else
        HY_TRY(open_dataset(file, object, out));
    X->ld   = X->order == HYBRID_ROW_MAJOR ? X->cols : X->rows;
    X->type = type_of(&out->values);
    return HYBRID_OK;
}

/* ---- sparse matrices --------------------------------------------------------------- */

static hybrid_status check_sizes(const hy_h5_file *file, const char *group,
                                 const hy_h5_layout *layout)
{
    if (layout->cols > INT32_MAX)
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: '%s' has %lld columns, and must have less than 2^31",
                       file->path, group, (long long)layout->cols);
    if (layout->rows > INT64_MAX / 16)
        return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: '%s' takes 2^63 bytes or more",
                       file->path, group);
    return HYBRID_OK;
}

/* Checks the lengths of the arrays. The number of entries is layout->nnz or, if that is
   unknown, the length of the indices. */
static hybrid_status check_lengths(const hy_h5_file *file, const char *group,
                                   const hy_h5_layout *l, const hy_h5_lines *a)
{
    const int64_t lines   = l->by_cols ? l->cols : l->rows;
    const int64_t entries = l->nnz >= 0 ? l->nnz : a->indices.count;
    const int64_t listed  = l->pointers ? a->pointers.count - 1 : entries;

    HY_TRY(check_count(file, group, l->indices, &a->indices, entries));
    HY_TRY(check_count(file, group, l->values, &a->values, entries));
    if (l->lines)
        return check_count(file, group, l->lines, &a->lines, listed);
    return check_count(file, group, l->pointers, &a->pointers, lines + 1);
}

/* Returns 1 if the arrays are those of all rows. */
static int is_csr(const hy_h5_layout *layout)
{
    return layout->storage == HY_H5_SPARSE_LINES && !layout->by_cols && !layout->lines &&
           !layout->mirror;
}

static hybrid_status open_lines(const hy_h5_file *file, const char *group,
                                const hy_h5_layout *l, hy_h5_lines *a)
{
    const int stays = is_csr(l);

    HY_TRY(check_sizes(file, group, l));
    HY_TRY(open_part(file, group, l->pointers, stays ? HY_H5_OFFSETS : HY_H5_I64,
                     &a->pointers));
    HY_TRY(open_part(file, group, l->lines, HY_H5_I64, &a->lines));
    HY_TRY(
        open_part(file, group, l->indices, stays ? HY_H5_I32 : HY_H5_I64, &a->indices));
    HY_TRY(open_values_of(file, group, l, &a->values));
    return check_lengths(file, group, l, a);
}

static void use_csr(const hy_h5_layout *layout, const hy_h5_lines *arrays,
                    hy_matrix_file *out)
{
    out->sparse  = 1;
    out->row_ptr = arrays->pointers;
    out->col     = arrays->indices;
    out->values  = arrays->values;
    out->csr =
        (hybrid_csr){.rows        = layout->rows,
                     .cols        = layout->cols,
                     .nnz         = arrays->indices.count,
                     .offset_type = arrays->pointers.size == 4 ? HYBRID_I32 : HYBRID_I64,
                     .type        = type_of(&arrays->values),
                     .col_type    = HYBRID_I32,
                     .space       = HYBRID_SPACE_HOST};
}

static hybrid_status open_sparse(const hy_h5_file *file, const char *group,
                                 const hy_h5_layout *layout, hy_matrix_file *out,
                                 hy_entry_reader *entries)
{
    hy_h5_lines arrays         = {.by_cols = layout->by_cols};
    const hybrid_status status = open_lines(file, group, layout, &arrays);

    if (status != HYBRID_OK) {
        hy_h5_lines_close(&arrays);
        return status;
    }
    if (is_csr(layout)) {
        use_csr(layout, &arrays, out);
        return HYBRID_OK;
    }
    entries->rows   = layout->rows;
    entries->cols   = layout->cols;
    entries->nnz    = arrays.indices.count;
    entries->type   = type_of(&arrays.values);
    entries->mirror = layout->mirror;
    return hy_h5_entries_open(file->ctx, file->path, &arrays, entries);
}

/* ---- the file ---------------------------------------------------------------------- */

static hybrid_status open_member(const hy_h5_file *file, const char *member,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    char genome[256]    = "";
    hy_h5_layout layout = {.nnz = -1};

    if (!member)
        HY_TRY(choose_member(file, genome, sizeof genome, &member));
    HY_TRY(find_layout(file, member, &layout));
    if (layout.storage == HY_H5_DENSE_ROWS || layout.storage == HY_H5_DENSE_COLS)
        return open_dense(file, member, &layout, out);
    return open_sparse(file, member, &layout, out, entries);
}

hybrid_status hy_h5_matrix_open(hy_context *ctx, const hy_opening *opening,
                                hy_matrix_file *out, hy_entry_reader *entries)
{
    hy_h5_entered entered;
    hy_h5_file file;

    hy_h5_enter(&entered);
    hybrid_status status = hy_h5_file_open(ctx, opening->input->path, &file);
    if (status == HYBRID_OK) {
        status = open_member(&file, opening->member, out, entries);
        hy_h5_file_close(&file);
    }
    hy_h5_leave(&entered);
    /* the check reads rows, and the caller's function, which may be called meanwhile, may
       open a file with another engine */
    return status == HYBRID_OK && out->sparse ? hy_row_order_check(out, entries) : status;
}
