/* tests/unit/io/test_input_dense.c - dense matrices that are read window by window. A
   window is the part of the text that is in memory.

   The input is a pipe or compressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "io/text/io.h"
#include "tests/support/inputs/feed.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/inputs/random.h"

#define ARRAY "%%MatrixMarket matrix array real general\n"

enum { MIB = 1 << 20 };

static void fill_random(char *to, int64_t count, hybrid_type type)
{
    uint64_t seed = 3;

    for (int64_t k = 0; k < count; k++) {
        const float value = (float)(random_next(&seed) >> 40) / 64;
        const double wide = value;
        if (type == HYBRID_F32)
            memcpy(to + 4 * k, &value, 4);
        else
            memcpy(to + 8 * k, &wide, 8);
    }
}

/* Makes a .npy file with a rows x 3 matrix, without its last `missing` bytes. */
static text make_npy(int64_t rows, hybrid_type type, int64_t missing)
{
    const int64_t size = type == HYBRID_F64 ? 8 : 4;
    text t             = text_open((size_t)(rows * 3 * size) + 256);
    const int length   = sprintf(
          t.data + 10, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%lld, 3)}",
          (int)size, (long long)rows);

    memcpy(t.data, "\x93NUMPY\x01\x00", 8);
    t.data[8] = (char)length;
    t.data[9] = 0;
    fill_random(t.data + 10 + length, rows * 3, type);
    t.bytes = (size_t)(10 + length + rows * 3 * size - missing);
    return t;
}

static hybrid_status read_way(const text *t, int how, hybrid_type type, hybrid_dense *X)
{
    way w;

    hy_message_clear(&io_ctx->message);
    const hybrid_status status = hy_read_dense(io_ctx, way_open(&w, how, t), type, X);
    way_close(&w, t);
    return status;
}

/* Converts both types to both types. A value may lie in two windows. */
static void dense_in_windows(void **state)
{
    const int64_t rows = 300001;
    hybrid_dense X;
    (void)state;

    for (int i = 0; i < 4; i++) {
        const hybrid_type from = i / 2 ? HYBRID_F64 : HYBRID_F32;
        const hybrid_type to   = i % 2 ? HYBRID_F64 : HYBRID_F32;
        const size_t bytes     = (size_t)rows * 3 * hy_value_size(to);
        const text t           = make_npy(rows, from, 0);
        char *want             = malloc(bytes);
        assert_non_null(want);
        fill_random(want, rows * 3, to);
        for (int how = 0; how < WAYS; how++) {
            if (read_way(&t, how, to, &X) != HYBRID_OK)
                fail_msg("way %d: %s", how, io_ctx->message.text);
            assert_int_equal(X.rows, rows);
            assert_int_equal(X.cols, 3);
            assert_memory_equal(X.data, want, bytes);
            hy_results_release(io_ctx, X.data);
        }
        free(want);
        free(t.data);
    }
}

static void wrong_dense_in_windows(void **state)
{
    const text few  = make_npy(300000, HYBRID_F64, 1);
    const text none = make_npy(300000, HYBRID_F64, 0), more = {none.data, none.bytes + 9};
    hybrid_dense X = {.rows = -1};
    (void)state;

    for (int how = 0; how < WAYS; how++) {
        assert_int_equal(read_way(&few, how, HYBRID_F32, &X), HYBRID_BAD_FILE);
        assert_non_null(strstr(io_ctx->message.text,
                               ": 7199999 bytes of data where the shape needs 7200000"));
        assert_int_equal(read_way(&more, how, HYBRID_F32, &X), HYBRID_BAD_FILE);
        assert_non_null(strstr(io_ctx->message.text,
                               ": 7200009 bytes of data where the shape needs 7200000"));
        assert_int_equal(X.rows, -1);
    }
    free(few.data);
    free(none.data);
}

static void arrays_in_windows(void **state)
{
    const int count = 400000;
    text t          = text_open((size_t)count * 8 + 256);
    hybrid_dense X;
    (void)state;

    t.bytes = (size_t)sprintf(t.data, "%s%d 4\n", ARRAY, count / 4);
    for (int k = 0; k < count; k++)
        t.bytes += (size_t)sprintf(t.data + t.bytes, "%d\n", k);
    assert_true(t.bytes > 2 * MIB);
    for (int how = 0; how < WAYS; how++) {
        if (read_way(&t, how, HYBRID_F64, &X) != HYBRID_OK)
            fail_msg("way %d: %s", how, io_ctx->message.text);
        for (int k = 0; k < count; k++)
            if (((const double *)X.data)[k] != k)
                fail_msg("way %d: value %d is %g", how, k, ((const double *)X.data)[k]);
        hy_results_release(io_ctx, X.data);
    }
    free(t.data);
}

static int open_all(void **state)
{
    io_group_open(state);
    io_sizes.window = 0; /* all windows are as small as the first */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_in_windows),
        cmocka_unit_test(wrong_dense_in_windows),
        cmocka_unit_test(arrays_in_windows),
    };
    return cmocka_run_group_tests(tests, open_all, io_group_close);
}
