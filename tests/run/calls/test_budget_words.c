/* tests/run/calls/test_budget_words.c - messages about budgets that are too small.

   A message names the array, its size, the budget and a remedy. Sizes are in KiB, MiB or
   GiB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "base/text/size_text.h"
#include "engine/api/engine.h"
#include "pipeline/site/tenant.h"
#include "support/fake/fault.h"
#include "support/engines/io_fixture.h"
#include "support/engines/places.h"

enum { MIB = 1 << 20 };

static hybrid_engine *open_with(size_t host_bytes, size_t device_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend      = HYBRID_HOST;
    options.threads      = 2;
    options.host_bytes   = host_bytes;
    options.device_bytes = device_bytes;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    return engine;
}

/* Returns the length of the longest sequence of digits in the text. In these tests a
   plain number of bytes has more digits than any row number. */
static int longest_number(const char *text)
{
    int longest = 0, length = 0;

    for (; *text; text++) {
        length  = isdigit((unsigned char)*text) ? length + 1 : 0;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Fails the test unless the engine's last message contains all of `parts` (NULL ends
   them) and no plain number of bytes. */
static void check_words(const hybrid_engine *engine, const char *const *parts)
{
    const char *message = hybrid_engine_message(engine);

    for (; *parts; parts++)
        if (!strstr(message, *parts))
            fail_msg("'%s' is not in: %s", *parts, message);
    if (longest_number(message) > 5)
        fail_msg("a number without a unit: %s", message);
}

#define SAYS(engine, ...) check_words(engine, (const char *const[]){__VA_ARGS__, NULL})

static void a_matrix_that_is_made_or_read(void **state)
{
    hybrid_engine *roomy = open_with(0, 0), *engine = open_with(8 * MIB, 0);
    const char *path = io_temp("A.mtx");
    hybrid_csr A, B;
    hybrid_dense X;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "er:60000,20", HYBRID_F64, 1, &A),
                     HYBRID_NO_MEMORY);
    SAYS(engine, "[the matrix 'er:60000,20']", "cannot allocate 14.5 MiB of host memory",
         "of the budget of 8.0 MiB", "raise host_bytes (--host-memory)");
    assert_int_equal(
        hybrid_dense_create(engine, 60000, 30, HYBRID_ROW_MAJOR, HYBRID_F64, &X),
        HYBRID_NO_MEMORY);
    SAYS(engine, "cannot allocate 13.7 MiB of host memory", "[a dense matrix]",
         "of the budget of 8.0 MiB");
    assert_int_equal(hybrid_generate(roomy, "er:60000,20", HYBRID_F64, 1, &B), HYBRID_OK);
    assert_int_equal(hybrid_write_mtx(roomy, path, &B), HYBRID_OK);
    assert_int_equal(hybrid_read_mtx(engine, path, HYBRID_F64, &A), HYBRID_NO_MEMORY);
    SAYS(engine, path, "cannot allocate 4.6 MiB of host memory", "[columns of entries]",
         "of the budget of 8.0 MiB");
    hybrid_csr_free(roomy, &B);
    hybrid_engine_destroy(roomy);
    hybrid_engine_destroy(engine);
}

/* The size of C is estimated from the plan. C is refused before any of its rows is
   computed. */
static void a_result(void **state)
{
    hybrid_engine *engine = open_with(64 * MIB, 0);
    hybrid_csr A, C;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "er:20000,24", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_NO_MEMORY);
    SAYS(engine, "cannot allocate 1",
         " MiB of host memory: ", "of the budget of 64.0 MiB",
         "raise host_bytes (--host-memory)", "hybrid_spgemm_each");
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
}

static void a_row(void **state)
{
    hybrid_engine *engine = open_with(0, 1024);
    hybrid_csr A, C;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "stencil27:8", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_NO_DEVICE_MEMORY);
    SAYS(engine, "row 0 of the product needs 2.0 KiB", "leaves 1.0 KiB",
         "raise device_bytes (--device-memory)");
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
}

/* ---- all messages ---- */

/* Fails the test unless the engine's last message has the form "cannot allocate SIZE
   UNIT of MEMORY: ...; REMEDY [WHAT]", or names the row that needs SIZE UNIT of memory,
   and contains no plain number of bytes. */
static void check_form(const hybrid_engine *engine)
{
    static const char *const remedies[] = {"; raise ", "; free ", "; leave "};
    const char *message                 = hybrid_engine_message(engine);
    const char *size                    = strpbrk(message, "0123456789");
    const char *of                      = strstr(message, "B of ");
    const int begins =
        strncmp(message, "cannot allocate ", 16) == 0 || strncmp(message, "row ", 4) == 0;
    int has_remedy = 0;

    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        has_remedy |= strstr(message, remedies[i]) != NULL;
    if (!begins || !of || !size || size > of || !has_remedy ||
        strstr(message, "a buffer") || longest_number(message) > 5)
        fail_msg("the sentence has another form: %s", message);
}

static hybrid_status square(hybrid_engine *engine, const hybrid_csr *A)
{
    hybrid_csr C;
    const hybrid_status status = hybrid_spgemm(engine, A, A, &C);

    if (status == HYBRID_OK)
        hybrid_csr_free(engine, &C);
    else
        check_form(engine);
    return status;
}

static void of_each_allocation(void **state)
{
    (void)state;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        hybrid_csr A;
        int struck = 1;
        assert_int_equal(hybrid_generate(engine, "er:300,6", HYBRID_F32, 1, &A),
                         HYBRID_OK);
        for (int64_t n = 1; struck; n++) {
            fault_allocation.arm(engine, n);
            const hybrid_status status = square(engine, &A);
            struck                     = !fault_allocation.is_armed(engine);
            fault_allocation.arm(engine, 0);
            assert_true(struck || status == HYBRID_OK);
        }
        hybrid_csr_free(engine, &A);
        hybrid_engine_destroy(engine);
    }
}

/* The caps on device memory grow from one that holds no row to one that holds
   everything. */
static void of_each_budget_of_a_device(void **state)
{
    hybrid_engine *roomy = place_open(ON_HOST, 0);
    hybrid_csr A;

    (void)state;
    assert_int_equal(hybrid_generate(roomy, "er:300,6", HYBRID_F32, 1, &A), HYBRID_OK);
    for (place where = 0; where < PLACES; where++)
        for (size_t bytes = 300; bytes < MIB; bytes += bytes / 2) {
            hybrid_engine *engine = place_open(where, bytes);
            (void)square(engine, &A);
            hybrid_engine_destroy(engine);
        }
    hybrid_csr_free(roomy, &A);
    hybrid_engine_destroy(roomy);
}

static void of_each_budget_of_the_host(void **state)
{
    hybrid_engine *roomy = open_with(0, 0);
    int failed           = 0;
    hybrid_csr A;

    (void)state;
    assert_int_equal(hybrid_generate(roomy, "er:3000,6", HYBRID_F32, 1, &A), HYBRID_OK);
    for (size_t bytes = 64 << 10; bytes < 16 * MIB; bytes += bytes / 2) {
        hybrid_engine *engine = open_with(bytes, 0);
        failed += square(engine, &A) != HYBRID_OK;
        hybrid_engine_destroy(engine);
    }
    assert_true(failed > 0);
    hybrid_csr_free(roomy, &A);
    hybrid_engine_destroy(roomy);
}

/* A message of a backend names the array that the backend was asked to allocate. */
static void of_a_device(void **state)
{
    hybrid_engine *engine = place_open(ON_DEVICE, 4096);
    hy_backend *device    = engine->device;
    hy_buffer buffer;

    (void)state;
    assert_int_equal(hy_tenants_alloc(device, 5000, "packs of A", &(hy_buffer){0}),
                     HYBRID_NO_DEVICE_MEMORY);
    SAYS(engine, "cannot allocate 4.9 KiB of device memory of fake device 0: ",
         "0 B of the budget of 4.0 KiB is in use; raise device_bytes (--device-memory) "
         "[packs of A]");
    hy_message_clear(&engine->ctx.message);
    assert_int_equal(engine->host->ops->alloc(engine->host, HY_PINNED, SIZE_MAX,
                                              "chunk buffers", &buffer),
                     HYBRID_NO_MEMORY);
    SAYS(engine, "cannot allocate more than 8.0 EiB of host memory: ", "[chunk buffers]");
    hybrid_engine_destroy(engine);
}

static void sizes_have_units(void **state)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {{-1, "0 B"},
                 {0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1536, "1.5 KiB"},
                 {1048575, "1.0 MiB"}, /* the largest number of bytes that is rounded up
                                          to the next unit, not to "1024.0 KiB" */
                 {12670153523, "11.8 GiB"},
                 {INT64_MAX, "8.0 EiB"}};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_string_equal(hy_size(sizes[i].bytes).s, sizes[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_that_is_made_or_read),
        cmocka_unit_test(a_result),
        cmocka_unit_test(a_row),
        cmocka_unit_test(of_each_allocation),
        cmocka_unit_test(of_each_budget_of_a_device),
        cmocka_unit_test(of_each_budget_of_the_host),
        cmocka_unit_test(of_a_device),
        cmocka_unit_test(sizes_have_units),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
