#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/formats/file_format.h"
#include "support/engines/io_fixture.h"
#include "support/hdf5/h5_refuse.h"
#include "support/inputs/cases.h"
#include "base/data/csr.h"

const h5_form h5_plain, h5_packed = {.chunk = 16, .deflate = 1, .checksum = 1};
static hybrid_csr A;

void h5_put(hid_t at, const char *name, hid_t type, hsize_t count, int64_t number)
{
    int64_t *numbers = malloc(count * sizeof *numbers);

    assert_non_null(numbers);
    for (hsize_t i = 0; i < count; i++)
        numbers[i] = number;
    (void)H5Ldelete(at, name, H5P_DEFAULT);
    h5_numbers(at, name, type, count, numbers, &h5_plain);
    free(numbers);
}

void h5_put_empty(hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims,
                  hid_t list)
{
    const hid_t space = H5Screate_simple(rank, dims, NULL);

    (void)H5Ldelete(at, name, H5P_DEFAULT);
    const hid_t made = H5Dcreate2(at, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(made >= 0);
    H5Dclose(made);
    H5Sclose(space);
    H5Pclose(list);
}

hid_t h5_chunks_of(hsize_t chunk)
{
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);

    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0);
    return list;
}

hid_t h5_layout(H5D_layout_t layout)
{
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);

    assert_true(H5Pset_layout(list, layout) >= 0);
    return list;
}

void h5_store_changed(void (*change)(hid_t file))
{
    const hid_t file = h5_new(io_temp("a.h5"));

    h5_cells(file, "X", &A, &h5_packed);
    change(file);
    h5_end(file);
}

void h5_refuse(const char *member, hybrid_status wanted, const char *sentence)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    hy_matrix_file file;
    char name[512];
    double numbers[10];
    hybrid_csr B = {.rows = -7};

    snprintf(name, sizeof name, "%s%s%s", io_temp("a.h5"), member ? "::" : "",
             member ? member : "");
    hybrid_status status = hy_matrix_file_open(io_ctx, hy_file_formats, name, &file);
    if (status == HYBRID_OK && !file.sparse)
        status = hy_stored_read(&file.values, 0, file.dense.rows, numbers);
    hy_matrix_file_close(&file);
    if (hy_meter_used(&io_ctx->memory.meter) > used)
        fail_msg("memory stays allocated: %s", sentence);
    if (status == HYBRID_OK)
        status = hy_matrix_file_read(io_ctx, hy_file_formats, name, &B);
    if (status != wanted || !strstr(io_ctx->message.text, sentence))
        fail_msg("%d: '%s' is not in '%s'", status, sentence, io_ctx->message.text);
    assert_true(strncmp(io_ctx->message.text, io_temp("a.h5"), strlen(io_temp("a.h5"))) ==
                0);
    assert_true(B.rows == -7);
    hy_message_clear(&io_ctx->message);
}

const hybrid_csr *h5_matrix(void)
{
    return &A;
}

int h5_group_open(void **state)
{
    matrix_random(60, 40, 5, 1, (test_kind){HYBRID_F64, HYBRID_I64, 0}, &A);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* libhdf5 prints nothing, because its errors
                                              are wanted here */
    return io_group_open(state);
}

int h5_group_close(void **state)
{
    matrix_free(&A);
    return io_group_close(state);
}
