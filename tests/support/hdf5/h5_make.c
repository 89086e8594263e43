#include "support/hdf5/h5_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t must(hid_t id, const char *what)
{
    if (id >= 0)
        return id;
    fprintf(stderr, "libhdf5 fails: %s\n", what);
    abort();
}

hid_t h5_new(const char *path)
{
    return must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path);
}

void h5_end(hid_t file)
{
    must(H5Fclose(file), "closing a file");
}

/* Returns the type that numbers of `type` have in the file: the same type in the byte
   order of the form. */
static hid_t stored_type(hid_t type, const h5_form *form)
{
    const hid_t stored = must(H5Tcopy(type), "a type");

    must(H5Tset_order(stored, form->big_endian ? H5T_ORDER_BE : H5T_ORDER_LE), "order");
    return stored;
}

static hid_t creation(const h5_form *form)
{
    const hid_t list = must(H5Pcreate(H5P_DATASET_CREATE), "a list");

    if (form->chunk)
        must(H5Pset_chunk(list, 1, &form->chunk), "chunks");
    if (form->shuffle)
        must(H5Pset_shuffle(list), "shuffle");
    if (form->deflate)
        must(H5Pset_deflate(list, (unsigned)form->deflate), "deflate");
    if (form->checksum)
        must(H5Pset_fletcher32(list), "checksum");
    return list;
}

void h5_numbers(hid_t at, const char *name, hid_t type, hsize_t count, const void *data,
                const h5_form *form)
{
    const hsize_t most = H5S_UNLIMITED;
    const hid_t stored = stored_type(type, form), list = creation(form);
    const hid_t space =
        must(H5Screate_simple(1, &count, form->chunk ? &most : NULL), name);
    const hid_t dataset =
        must(H5Dcreate2(at, name, stored, space, H5P_DEFAULT, list, H5P_DEFAULT), name);

    must(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
    must(H5Dclose(dataset), name);
    must(H5Sclose(space), name);
    must(H5Pclose(list), name);
    must(H5Tclose(stored), name);
}

void h5_text(hid_t at, const char *object, const char *name, const char *text)
{
    const hid_t type = must(H5Tcopy(H5T_C_S1), name), space = H5Screate(H5S_SCALAR);

    must(H5Tset_size(type, strlen(text) + 1), name);
    const hid_t made = must(H5Acreate_by_name(at, object, name, type, space, H5P_DEFAULT,
                                              H5P_DEFAULT, H5P_DEFAULT),
                            name);
    must(H5Awrite(made, type, text), name);
    must(H5Aclose(made), name);
    must(H5Sclose(space), name);
    must(H5Tclose(type), name);
}

void h5_sizes(hid_t at, const char *object, const char *name, int64_t rows, int64_t cols)
{
    const int64_t sizes[2] = {rows, cols};
    const hsize_t two      = 2;
    const hid_t space      = must(H5Screate_simple(1, &two, NULL), name);
    const hid_t made = must(H5Acreate_by_name(at, object, name, H5T_STD_I64LE, space,
                                              H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                            name);

    must(H5Awrite(made, H5T_NATIVE_INT64, sizes), name);
    must(H5Aclose(made), name);
    must(H5Sclose(space), name);
}

void h5_cells(hid_t at, const char *group, const hybrid_csr *A, const h5_form *form)
{
    const int wide = A->offset_type == HYBRID_I64, is_double = A->type == HYBRID_F64;
    const hid_t made =
        must(H5Gcreate2(at, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), group);

    h5_text(made, ".", "encoding-type", "csr_matrix");
    h5_sizes(made, ".", "shape", A->rows, A->cols);
    h5_numbers(made, "indptr", wide ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32,
               (hsize_t)A->rows + 1, A->row_ptr, form);
    h5_numbers(made, "indices", H5T_NATIVE_INT32, (hsize_t)A->nnz, A->col, form);
    h5_numbers(made, "data", is_double ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT,
               (hsize_t)A->nnz, A->val, form);
    must(H5Gclose(made), group);
}

void h5_store_cells(const char *path, const hybrid_csr *A, const h5_form *form)
{
    const hid_t file = h5_new(path);

    h5_cells(file, "X", A, form);
    h5_end(file);
}
