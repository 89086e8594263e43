/* tests/unit/io/test_input.c - input that is no matrix is refused after its first block.

   An endless input must not be read or stored beyond this block. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "engine/rates/rates.h"
#include "io/text/io.h"
#include "tests/support/inputs/feed.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/inputs/random.h"

enum { MIB = 1 << 20 };

typedef hybrid_status (*read_fn)(const char *path);

static hybrid_status read_sparse(const char *path)
{
    hybrid_csr A;
    return hy_read_mtx(io_ctx, path, HYBRID_F64, &A);
}

static hybrid_status read_dense(const char *path)
{
    hybrid_dense X;
    return hy_read_dense(io_ctx, path, HYBRID_F64, &X);
}

static hybrid_status read_rates(const char *path)
{
    hy_rates_file file;
    return hy_rates_read(io_ctx, path, &file);
}

/* Checks that an endless input is refused after one block, with memory for one block. */
static void check_judged(read_fn read, const char *head, size_t head_bytes,
                         const char *body, size_t body_bytes, const char *sentence)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    feed f             = {
                    .head = head, .head_bytes = head_bytes, .body = body, .body_bytes = body_bytes};

    hy_message_clear(&io_ctx->message);
    hy_meter_reset_peak(&io_ctx->memory.meter);
    const hybrid_status status = read(feed_begin(&f));
    const size_t taken         = feed_end(&f);
    if (status != HYBRID_BAD_FILE || !strstr(io_ctx->message.text, sentence))
        fail_msg("status %d, '%s', not '%s'", status, io_ctx->message.text, sentence);
    assert_in_range(taken, 1, HY_HEAD_BYTES + FEED_PIPE_BYTES);
    assert_in_range(hy_meter_peak(&io_ctx->memory.meter) - used, 1,
                    2 * HY_HEAD_BYTES + FEED_PIPE_BYTES);
    assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"
#define ARRAY "%%MatrixMarket matrix array real general\n"

static void check_text(read_fn read, const char *head, const char *body,
                       const char *sentence)
{
    check_judged(read, head, strlen(head), body, strlen(body), sentence);
}

static void endless_bytes(void **state)
{
    static char zeros[4096], noise[4096];
    static const char npy[] = "\x93NUMPY\x02\x00\xff\xff\xff\x7f{";
    uint64_t seed           = 1;
    (void)state;

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(random_next(&seed) >> 33);
    check_judged(read_sparse, "", 0, zeros, sizeof zeros, ":1: the banner");
    check_judged(read_sparse, "", 0, noise, sizeof noise, ":1: the banner");
    check_judged(read_dense, "", 0, zeros, sizeof zeros, "is neither a .npy file nor");
    check_judged(read_dense, "", 0, noise, sizeof noise, "is neither a .npy file nor");
    check_judged(
        read_dense, npy, sizeof npy - 1, zeros, sizeof zeros,
        ".npy header of 2147483647 bytes does not end within the first 1048576 bytes");
    check_judged(read_rates, "", 0, zeros, sizeof zeros, "a rates file has less than");
}

static void endless_lines(void **state)
{
    static const char late[] = "the sizes are not within the first";
    (void)state;

    check_text(read_rates, "", "# nothing\n", "a rates file has less than");
    check_text(read_sparse, BANNER, "% nothing\n", late);
    check_text(read_sparse, BANNER, "\n", late);
    check_text(read_sparse, BANNER, " ", late);
    check_text(read_sparse, BANNER "3 3 ", "1", late);
    check_text(read_dense, ARRAY, "% nothing\n", late);
    check_text(read_sparse, "%%MatrixMarket ", " ", ":1: object ''");
    check_text(read_sparse, ARRAY "3 3\n", "1\n", "an array file is dense");
    check_text(read_dense, BANNER "3 3 1\n", "1\n", "a coordinate file is sparse");
}

/* A file whose comments are longer than the first 1 MiB, in which the sizes must be, is
   refused, also if it is mapped. */
static void long_comments(void **state)
{
    const size_t bytes = 3 * MIB;
    char *data         = malloc(bytes);
    (void)state;

    assert_non_null(data);
    memset(data, '%', bytes);
    memcpy(data, BANNER, sizeof BANNER - 1);
    memcpy(data + bytes - 8, "\n3 3 0\n", 7);
    io_store(io_temp("comments.mtx"), data, bytes - 1);
    hy_message_clear(&io_ctx->message);
    assert_int_equal(read_sparse(io_temp("comments.mtx")), HYBRID_BAD_FILE);
    assert_non_null(
        strstr(io_ctx->message.text, ":2: the sizes are not within the first 1048576"));
    free(data);
}

/* Input that is 3 GB of zeros, compressed to 3 MB, is refused without being decompressed
   further than its first bytes. */
static void compressed_zeros(void **state)
{
    const size_t bytes = 50 * MIB;
    char *zeros        = calloc(bytes, 1);
    size_t packed;
    char *data         = feed_compress(zeros, bytes, 60, &packed);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    (void)state;

    check_judged(read_sparse, "", 0, data, packed, ":1: the banner");
    check_judged(read_dense, "", 0, data, packed, "is neither a .npy file nor");
    io_store(io_temp("zeros.gz"), data, packed);
    hy_meter_reset_peak(&io_ctx->memory.meter);
    assert_int_equal(read_sparse(io_temp("zeros.gz")), HYBRID_BAD_FILE);
    assert_int_equal(read_dense(io_temp("zeros.gz")), HYBRID_BAD_FILE);
    assert_in_range(hy_meter_peak(&io_ctx->memory.meter) - used, 1, HY_HEAD_BYTES + 4096);
    free(data);
    free(zeros);
}

#if HYBRID_WITH_ZSTD
/* The header of a zstd frame demands a window of 2^27 bytes. The memory budget decides
   whether the file may be read. */
static void a_window_of_zstd_may_be_too_large(void **state)
{
    static const char matrix[] = BANNER "3 3 0\n";
    const size_t bytes         = sizeof matrix - 1;
    /* header of a block that is the last one and not compressed */
    const size_t block            = bytes << 3 | 1;
    char frame[9 + sizeof matrix] = "\x28\xb5\x2f\xfd\x00\x88";
    hybrid_csr A;
    (void)state;

    for (int i = 0; i < 3; i++)
        frame[6 + i] = (char)(block >> (8 * i) & 0xff);
    memcpy(frame + 9, matrix, bytes);
    io_store(io_temp("wide.zst"), frame, 9 + bytes);
    hy_message_clear(&io_ctx->message);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    assert_int_equal(hy_read_mtx(io_ctx, io_temp("wide.zst"), HYBRID_F64, &A), HYBRID_OK);
    hy_csr_free(io_ctx, &A);
    hy_results_trim(io_ctx);
    io_ctx->memory.meter.cap = used + 80 * MIB;
    assert_int_equal(read_sparse(io_temp("wide.zst")), HYBRID_NO_MEMORY);
    assert_non_null(strstr(io_ctx->message.text, "a window of more than 8388608 bytes"));
    io_ctx->memory.meter.cap = 0;
    hy_message_clear(&io_ctx->message);
    assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
}
#endif

static int open_all(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    return io_group_open(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_bytes),
        cmocka_unit_test(endless_lines),
        cmocka_unit_test(long_comments),
        cmocka_unit_test(compressed_zeros),
#if HYBRID_WITH_ZSTD
        cmocka_unit_test(a_window_of_zstd_may_be_too_large),
#endif
    };
    return cmocka_run_group_tests(tests, open_all, io_group_close);
}
