/* tests/unit/hdf5/test_h5_errors.c - files with a fault each are refused with a sentence
   that names the file and the fault, and nothing stays allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/hdf5/h5_file.h"
#include "support/engines/io_fixture.h"
#include "support/hdf5/h5_refuse.h"

/* ---- functions of libhdf5 that fail when `failing` names them ---- */

static const char *failing;

#define WRAP(type, name, declared, passed)                                               \
    type __real_##name declared;                                                         \
    type __wrap_##name declared;                                                         \
    type __wrap_##name declared                                                          \
    {                                                                                    \
        return failing && strcmp(failing, #name) == 0 ? (type)-1 : __real_##name passed; \
    }

WRAP(herr_t, H5Aread, (hid_t id, hid_t type, void *to), (id, type, to))
WRAP(hid_t, H5Aopen_by_name,
     (hid_t at, const char *object, const char *name, hid_t a, hid_t b),
     (at, object, name, a, b))
WRAP(herr_t, H5Pfill_value_defined, (hid_t list, H5D_fill_value_t *to), (list, to))
WRAP(hid_t, H5Dget_space, (hid_t id), (id))
WRAP(int, H5Pget_chunk, (hid_t list, int most, hsize_t *to), (list, most, to))
WRAP(herr_t, H5Dread_chunk,
     (hid_t id, hid_t list, const hsize_t *first, uint32_t *mask, void *to),
     (id, list, first, mask, to))
WRAP(herr_t, H5Dread, (hid_t id, hid_t type, hid_t a, hid_t b, hid_t c, void *to),
     (id, type, a, b, c, to))
WRAP(int, fcntl, (int fd, int call, int least), (fd, call, least))

/* ---- faults ---- */

static void nothing(hid_t f)
{
    (void)f;
}

static void no_matrix(hid_t f)
{
    H5Ldelete(f, "X", H5P_DEFAULT);
}

static void no_shape(hid_t f)
{
    H5Adelete_by_name(f, "X", "shape", H5P_DEFAULT);
}

static void negative_shape(hid_t f)
{
    no_shape(f);
    h5_sizes(f, "X", "shape", 4, -1);
}

static void wide(hid_t f)
{
    no_shape(f);
    h5_sizes(f, "X", "shape", 4, 1ll << 31);
}

static void tall(hid_t f)
{
    no_shape(f);
    h5_sizes(f, "X", "shape", 1ll << 62, 4);
}

static void odd_encoding(hid_t f)
{
    H5Adelete_by_name(f, "X", "encoding-type", H5P_DEFAULT);
    h5_sizes(f, "X", "encoding-type", 1, 2);
}

/* Changes the file to one of 10x Genomics in which the shape has three numbers instead
   of two. */
static void odd_cells(hid_t f)
{
    H5Gclose(H5Gcreate2(f, "matrix", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    h5_put(f, "matrix/barcodes", H5T_NATIVE_INT32, 1, 0);
    h5_put(f, "matrix/data", H5T_NATIVE_INT32, 1, 0);
    h5_put(f, "matrix/indices", H5T_NATIVE_INT32, 1, 0);
    h5_put(f, "matrix/indptr", H5T_NATIVE_INT32, 1, 0);
    h5_put(f, "matrix/shape", H5T_NATIVE_INT32, 3, 0);
}

static void no_indices(hid_t f)
{
    H5Ldelete(f, "X/indices", H5P_DEFAULT);
}

static void text_values(hid_t f)
{
    const hsize_t one = 1;

    h5_put_empty(f, "X/data", H5T_C_S1, 1, &one, h5_layout(H5D_CONTIGUOUS));
}

static void cube(hid_t f)
{
    const hsize_t dims[3] = {2, 2, 2};

    h5_put_empty(f, "cube", H5T_STD_I32LE, 3, dims, h5_layout(H5D_CONTIGUOUS));
}

static void square_indices(hid_t f)
{
    const hsize_t dims[2] = {2, 2};

    h5_put_empty(f, "X/indices", H5T_STD_I32LE, 2, dims, h5_layout(H5D_CONTIGUOUS));
}

static void huge(hid_t f)
{
    const hsize_t dims[2] = {1ull << 40, 1ull << 40};

    h5_put_empty(f, "Y", H5T_STD_I32LE, 2, dims, h5_layout(H5D_CONTIGUOUS));
}

static void float_pointers(hid_t f)
{
    h5_put(f, "X/indptr", H5T_NATIVE_DOUBLE, 61, 0);
}

static void large_indices(hid_t f)
{
    h5_put(f, "X/indices", H5T_NATIVE_INT64, (hsize_t)h5_matrix()->nnz, 1ll << 40);
}

static void large_pointers(hid_t f)
{
    h5_put(f, "X/indptr", H5T_NATIVE_UINT64, 61, -1);
}

static void few_pointers(hid_t f)
{
    h5_put(f, "X/indptr", H5T_NATIVE_INT64, 4, 0);
}

static void many_chunks(hid_t f)
{
    const hsize_t count = 1ull << 50;

    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &count, h5_chunks_of(1));
}

/* 2^40 numbers of which none was written, in chunks or not. */
static void absent(hid_t f)
{
    const hsize_t count = 1ull << 40;

    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &count, h5_layout(H5D_CONTIGUOUS));
    h5_put_empty(f, "Z", H5T_STD_I32LE, 1, &count, h5_chunks_of(1 << 29));
}

/* Numbers of 32 bits with a longer exponent than those of IEEE 754, or with 24 bits in
   use. */
static void odd_numbers(hid_t f)
{
    const hsize_t one = 1;
    const hid_t real = H5Tcopy(H5T_IEEE_F32LE), whole = H5Tcopy(H5T_STD_I32LE);
    const hid_t list = h5_layout(H5D_CONTIGUOUS), copy = h5_layout(H5D_CONTIGUOUS);

    assert_true(H5Tset_fields(real, 31, 20, 11, 0, 20) >= 0);
    assert_true(H5Tset_precision(whole, 24) >= 0);
    h5_put_empty(f, "Y", real, 1, &one, list);
    h5_put_empty(f, "Z", whole, 1, &one, copy);
    H5Tclose(real);
    H5Tclose(whole);
}

/* 100 groups in each other: the list of matrices ends before the last one, and so before
   X. */
static void deep(hid_t f)
{
    char path[300] = "";

    for (int i = 0; i < 100; i++) {
        strcat(path, "/A");
        H5Gclose(H5Gcreate2(f, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    strcat(path, "/data");
    h5_put(f, path, H5T_NATIVE_INT32, 1, 0);
}

static void put_filtered(hid_t f, const int *filters, int count)
{
    const hsize_t ten = 10;
    const hid_t list  = h5_chunks_of(10);

    for (int i = 0; i < count; i++)
        assert_true(H5Pset_filter(list, filters[i], H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &ten, list);
}

static void bitshuffle(hid_t f)
{
    put_filtered(f, (const int[]){32008}, 1);
}

static void unknown_filter(hid_t f)
{
    put_filtered(f, (const int[]){40404}, 1);
}

static void nine_filters(hid_t f)
{
    put_filtered(f, (const int[]){400, 401, 402, 403, 404, 405, 406, 407, 408}, 9);
}

static void outside(hid_t f)
{
    const hsize_t ten = 10;
    const hid_t list  = h5_layout(H5D_CONTIGUOUS);

    assert_true(H5Pset_external(list, "other.bin", 0, 40) >= 0);
    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &ten, list);
}

static void virtual(hid_t f)
{
    const hsize_t ten = 10;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE), s = H5Screate_simple(1, &ten, NULL);

    assert_true(H5Pset_virtual(list, s, "other.h5", "d", s) >= 0);
    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &ten, list);
    H5Sclose(s);
}

static void compact(hid_t f)
{
    const hsize_t ten = 10;

    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &ten, h5_layout(H5D_COMPACT));
}

static const struct fault {
    void (*change)(hid_t file);
    const char *member, *fails, *sentence;
} faults[] = {
    {no_matrix, NULL, NULL,
     "select a matrix with '::NAME' after the name of the file; matrices of this file: "
     "none"},
    {nothing, "no", NULL, "there is no 'no'; matrices of this file: X"},
    {no_indices, "/", NULL,
     "group '/' holds no matrix of AnnData, 10x Genomics or Binspar"},
    {no_shape, NULL, NULL, "'X' has no attribute 'shape'"},
    {negative_shape, NULL, NULL,
     "attribute 'shape' of 'X' is not two integers of 0 or more"},
    {wide, NULL, NULL, "'X' has 2147483648 columns, and must have less than 2^31"},
    {odd_cells, "matrix", NULL, "'matrix/shape' is not two integers of 0 or more"},
    {tall, NULL, NULL, "'X' takes 2^63 bytes or more"},
    {odd_encoding, NULL, NULL,
     "attribute 'encoding-type' of 'X' is not one text of at most 1 MiB"},
    {no_indices, NULL, NULL, "libhdf5 cannot open the dataset 'X/indices': "},
    {text_values, NULL, NULL, "'X/data' holds neither integers of 8 to 64 bits nor"},
    {cube, "cube", NULL, "'cube' must have one or two axes"},
    {square_indices, NULL, NULL, "'X/indices' must have one axis"},
    {huge, "Y", NULL, "'Y' takes 2^63 bytes or more"},
    {float_pointers, NULL, NULL,
     "'X/indptr' must hold integers, but holds floating-point numbers"},
    {large_indices, NULL, NULL,
     "number 0 of 'X/indices' does not fit a signed integer of 32 bits"},
    {large_pointers, NULL, NULL,
     "number 0 of 'X/indptr' does not fit a signed integer of 64 bits"},
    {few_pointers, NULL, NULL, "'indptr' of 'X' has 4 numbers instead of 61"},
    {many_chunks, "Y", NULL, "'Y' has more chunks than the file has bytes"},
    {absent, "Y", NULL, "'Y' stands for 1099511627776 numbers that are not in the file"},
    {absent, "Z", NULL, "'Z' stands for 1099511627776 numbers that are not in the file"},
    {odd_numbers, "Y", NULL, "'Y' holds neither integers of 8 to 64 bits nor"},
    {odd_numbers, "Z", NULL, "'Z' holds neither integers of 8 to 64 bits nor"},
    {deep, "no", NULL, "there is no 'no'; matrices of this file: none"},
    {bitshuffle, "Y", NULL,
     "'Y' is compressed by a filter that this build cannot decode: Bitshuffle, number "
     "320"},
    {unknown_filter, "Y", NULL,
     "'Y' is compressed by a filter that this build cannot decode: unknown, number "
     "40404"},
    {nine_filters, "Y", NULL, "'Y' has more than 8 filters"},
    {outside, "Y", NULL, "'Y' lies in other files"},
    {virtual, "Y", NULL, "'Y' is virtual: its numbers lie in other files"},
    {nothing, NULL, "H5Aread", "libhdf5 cannot read the attribute 'encoding-type': "},
    {nothing, NULL, "H5Aopen_by_name",
     "libhdf5 cannot open the attribute 'encoding-type': libhdf5 gives no reason"},
    {nothing, NULL, "H5Pfill_value_defined",
     "libhdf5 cannot read the fill value of 'X/indptr': "},
    {nothing, NULL, "H5Dget_space", "libhdf5 cannot describe 'X/indptr': "},
    {nothing, NULL, "H5Pget_chunk", "'X/indptr' has chunks of an impossible size"},
    {nothing, NULL, "H5Dread_chunk", "libhdf5 cannot find a chunk of 'X/indptr': "},
    {nothing, NULL, "fcntl", "the process has too many open files"},
    {compact, "Y", "H5Dread", "libhdf5 cannot read 'Y': "},
};

static void each_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct fault *f = &faults[i];
        h5_store_changed(f->change);
        failing = f->fails;
        h5_refuse(f->member,
                  f->fails && strcmp(f->fails, "fcntl") == 0 ? HYBRID_IO_FAILED
                                                             : HYBRID_BAD_FILE,
                  f->sentence);
        failing = NULL;
    }
}

static void other_files_are_refused(void **state)
{
    hy_h5_entered entered;
    hy_h5_file file;
    char byte;

    (void)state;
    hy_h5_enter(&entered);
    assert_int_equal(hy_h5_file_open(io_ctx, "/dev/null", &file), HYBRID_BAD_FILE);
    assert_non_null(
        strstr(io_ctx->message.text, "is not a regular file, and HDF5 is read"));
    hy_message_clear(&io_ctx->message);
    assert_int_equal(hy_h5_file_open(io_ctx, io_temp("none.h5"), &file),
                     HYBRID_IO_FAILED);
    assert_non_null(strstr(io_ctx->message.text, "cannot be opened: No such file"));
    hy_message_clear(&io_ctx->message);
    hy_h5_leave(&entered);
    assert_int_equal(hy_h5_pread(io_ctx, -1, "a.h5", 0, 1, &byte), HYBRID_IO_FAILED);
    assert_string_equal(io_ctx->message.text,
                        "a.h5: numbers cannot be read: Bad file descriptor");
    hy_message_clear(&io_ctx->message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(other_files_are_refused),
    };

    return cmocka_run_group_tests(tests, h5_group_open, h5_group_close);
}
