/* tests/unit/plan/test_struct_size.c - structs of programs with an older or newer header.

   Their structs are shorter or longer than the library's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/contract/context.h"
#include "engine/api/struct_size.h"
#include "support/engines/host_engine.h"
#include "support/engines/io_fixture.h"

/* Number of fields: of the longest struct, of the first version, of this version. */
enum { FIELDS = 8, FIRST = 3, HERE = 5 };

/* The longest struct that a program of another version can have. */
typedef struct numbers {
    size_t struct_size;
    int64_t of[FIELDS];
} numbers;

static const hy_struct NUMBERS = {"numbers", "NUMBERS_INIT", offsetof(numbers, of[FIRST]),
                                  offsetof(numbers, of[HERE])};

static int64_t ptr[]      = {0, 2, 3, 5};
static int32_t col[]      = {0, 1, 2, 0, 2};
static double val[]       = {1, 2, 3, 4, 5};
static const hybrid_csr A = {3, 3, 5, HYBRID_I64, ptr, col, val, HYBRID_F64};

/* ---- any struct ---- */

/* Returns a struct with the numbers 1, 2, 3 ... in its first `fields` fields, and 0
   behind those of this version. */
static numbers given(int fields)
{
    numbers n = {.struct_size = offsetof(numbers, of) + (size_t)fields * 8};

    for (int i = 0; i < fields; i++)
        n.of[i] = i < HERE ? i + 1 : 0;
    return n;
}

static void what_an_old_program_lacks_is_as_by_default(void **state)
{
    (void)state;
    for (int fields = FIRST; fields <= FIELDS; fields++) {
        const numbers from = given(fields);
        numbers to         = {.of = {-1, -2, -3, -4, -5, -6, -7, -8}};
        assert_int_equal(hy_struct_read(io_ctx, &NUMBERS, &from, &to), HYBRID_OK);
        assert_int_equal(to.struct_size, NUMBERS.size);
        for (int i = 0; i < FIELDS; i++)
            assert_int_equal(to.of[i], i < fields && i < HERE ? i + 1 : -i - 1);
    }
}

static void what_is_not_known_here_must_be_zero(void **state)
{
    (void)state;
    for (size_t k = NUMBERS.size; k < sizeof(numbers); k++) {
        numbers from = given(FIELDS), to = given(HERE);
        ((char *)&from)[k] = 1;
        hy_message_clear(&io_ctx->message);
        assert_int_equal(hy_struct_read(io_ctx, &NUMBERS, &from, &to),
                         HYBRID_BAD_ARGUMENT);
        assert_non_null(strstr(io_ctx->message.text, "numbers: byte "));
        from.struct_size = k; /* the program's struct is k bytes long: it ends before
                                 byte k */
        assert_int_equal(hy_struct_read(io_ctx, &NUMBERS, &from, &to), HYBRID_OK);
    }
}

static void sizes_of_no_version_are_refused(void **state)
{
    static const size_t sizes[] = {
        0, 1, sizeof(size_t), offsetof(numbers, of[FIRST]) - 1, 4097, SIZE_MAX};
    numbers from = given(HERE), to = given(HERE);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        from.struct_size = sizes[i];
        hy_message_clear(&io_ctx->message);
        assert_false(hy_struct_fits(&NUMBERS, sizes[i]));
        assert_int_equal(hy_struct_read(io_ctx, &NUMBERS, &from, &to),
                         HYBRID_BAD_ARGUMENT);
        assert_non_null(strstr(io_ctx->message.text, "start from NUMBERS_INIT"));
        assert_int_equal(to.struct_size, NUMBERS.size);
    }
}

/* Bytes behind a struct of an older program, which is shorter, must not be written. */
static void what_an_old_program_lacks_is_not_written(void **state)
{
    const numbers from = given(HERE);

    (void)state;
    for (int fields = FIRST; fields <= FIELDS; fields++) {
        const size_t room = offsetof(numbers, of) + (size_t)fields * 8;
        numbers to        = {room, {-1, -2, -3, -4, -5, -6, -7, -8}};
        hy_struct_write(&NUMBERS, &from, &to);
        assert_int_equal(to.struct_size, room);
        for (int i = 0; i < FIELDS; i++)
            assert_int_equal(to.of[i], i >= fields ? -i - 1 : i < HERE ? i + 1 : 0);
    }
}

/* ---- structs of the public header ---- */

#define END(type, last)                                                                  \
    (offsetof(hybrid_##type, last) + sizeof(((hybrid_##type *)0)->last))

/* The sizes of the first version must never change: old programs have them compiled
   in. */
static void first_sizes_stay(void **state)
{
    (void)state;
    assert_int_equal(hy_engine_options_struct.first, END(engine_options, rates_path));
    assert_int_equal(hy_plan_options_struct.first, END(plan_options, host_share));
    assert_int_equal(hy_calibration_struct.first, END(calibration, scaled));
    assert_int_equal(hy_report_struct.first, END(report, rates_measured));
    assert_int_equal(hy_machine_struct.first, END(machine, device_count));
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(hy_engine_options_struct.first, 88);
    assert_int_equal(hy_plan_options_struct.first, 48);
    assert_int_equal(hy_calibration_struct.first, 216);
    assert_int_equal(hy_report_struct.first, 408);
    assert_int_equal(hy_machine_struct.first, 72);
}

/* Structs of programs with a newer header: the structs of this version and more
   fields. */
typedef struct more_options {
    hybrid_plan_options now;
    char more[16];
} more_options;

typedef struct more_engine_options {
    hybrid_engine_options now;
    char more[16];
} more_engine_options;

typedef struct more_report {
    hybrid_report now;
    char more[16];
} more_report;

static hybrid_status plan_both(const more_options *options)
{
    hybrid_plan *plan          = NULL;
    const hybrid_status status = hybrid_spgemm_plan(engine, &A, &A, &options->now, &plan);

    assert_true(!plan == (status != HYBRID_OK));
    hybrid_plan_destroy(plan);
    plan = NULL;
    assert_int_equal(hybrid_spmm_plan(engine, &A, 2, &options->now, &plan), status);
    hybrid_plan_destroy(plan);
    return status;
}

static void plan_options_of_other_versions(void **state)
{
    more_options options = {.now = HYBRID_PLAN_OPTIONS_INIT};

    (void)state;
    options.now.struct_size = sizeof options;
    assert_int_equal(plan_both(&options), HYBRID_OK);
    options.more[15] = 1;
    assert_int_equal(plan_both(&options), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(engine), "plan options: byte "));
    options.now.struct_size = sizeof options - 1;
    assert_int_equal(plan_both(&options), HYBRID_OK);
    options.now.depth = -1; /* the fields of this version are read, and -1 is refused */
    assert_int_equal(plan_both(&options), HYBRID_BAD_ARGUMENT);
    options.now.depth   = 0;
    options.now.columns = HYBRID_INDEX_AUTO; /* invalid without offsets; the next call
                                                has a shorter struct_size and must not
                                                read it */
    options.now.struct_size = hy_plan_options_struct.first;
    assert_int_equal(plan_both(&options), HYBRID_OK);
    options.now.struct_size--;
    assert_int_equal(plan_both(&options), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(engine), "HYBRID_PLAN_OPTIONS_INIT"));
}

static void engine_options_of_other_versions(void **state)
{
    more_engine_options options = {.now = HYBRID_ENGINE_OPTIONS_INIT};
    hybrid_engine *other        = NULL;
    char message[200]           = "";

    (void)state;
    options.now.struct_size  = sizeof options;
    options.now.backend      = HYBRID_HOST;
    options.now.threads      = 1;
    options.now.message      = message;
    options.now.message_size = sizeof message;
    assert_int_equal(hybrid_engine_create(&options.now, &other), HYBRID_OK);
    assert_int_equal(hybrid_engine_threads(other), 1);
    hybrid_engine_destroy(other);
    options.more[0] = 1;
    assert_int_equal(hybrid_engine_create(&options.now, &other), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(message, "engine options: byte "));
    message[0]              = 0; /* the shorter struct ends before the field `message` */
    options.now.struct_size = hy_engine_options_struct.first - 1;
    assert_int_equal(hybrid_engine_create(&options.now, &other), HYBRID_BAD_ARGUMENT);
    assert_string_equal(message, "");
}

static void reports_of_other_versions(void **state)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    more_report more;
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    memset(&more, 0x55, sizeof more);
    more.now.struct_size = sizeof more;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &more.now), HYBRID_OK);
    assert_int_equal(more.now.struct_size, sizeof more);
    for (size_t k = 0; k < sizeof more.more; k++)
        assert_int_equal(more.more[k], 0);
    more.now.struct_size = sizeof report;
    assert_memory_equal(&more.now, &report, sizeof report);
    memset(&more, 0x55, sizeof more);
    more.now.struct_size = sizeof more;
    assert_int_equal(hybrid_plan_report(plan, &more.now), HYBRID_OK);
    assert_int_equal(more.now.nnz_out, report.nnz_out);
    assert_int_equal(more.more[0], 0);
    more.now.struct_size = hy_report_struct.first - 1;
    assert_int_equal(hybrid_plan_report(plan, &more.now), HYBRID_BAD_ARGUMENT);
    hybrid_plan_destroy(plan);
}

/* Calls that describe machines, with structs of other versions. Also checks the values
   for this machine. */
static void machines_of_other_versions(void **state)
{
    hybrid_machine m = HYBRID_MACHINE_INIT;

    (void)state;
    assert_int_equal(hybrid_engine_machine(engine, &m), HYBRID_OK);
    assert_true(m.processors >= m.cores && m.cores >= 1);
    assert_true(m.memory_bytes > 0 && m.host_bytes > 0);
    assert_int_equal(m.host_bytes, m.group_bytes > 0 && m.group_bytes < m.memory_bytes
                                       ? m.group_bytes
                                       : m.memory_bytes);
    assert_true(m.host_bytes_used > 0 && m.host_bytes_used < m.host_bytes);
    assert_string_equal(m.rates_path, "");
    assert_int_equal(m.device_count, 0);
    assert_string_equal(m.left_out, "");
    assert_int_equal(m.cuda_host_bytes + m.cuda_device_bytes, 0); /* no GPU */
    assert_int_equal(m.with_hdf5, HYBRID_WITH_HDF5);
    assert_int_equal(m.with_zstd, HYBRID_WITH_ZSTD);
    m.struct_size =
        hy_machine_struct.first; /* of a program that does not know left_out */
    m.left_out = NULL;
    assert_int_equal(hybrid_engine_machine(engine, &m), HYBRID_OK);
    assert_null(m.left_out);
    m.struct_size--;
    assert_int_equal(hybrid_engine_machine(engine, &m), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_engine_machine(engine, NULL), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_engine_machine(NULL, &m), HYBRID_BAD_ARGUMENT);
}

static int set_up(void **state)
{
    return open_engine(state) != 0 || io_group_open(state) != 0;
}

static int tear_down(void **state)
{
    return close_engine(state) != 0 || io_group_close(state) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_old_program_lacks_is_as_by_default),
        cmocka_unit_test(what_is_not_known_here_must_be_zero),
        cmocka_unit_test(sizes_of_no_version_are_refused),
        cmocka_unit_test(what_an_old_program_lacks_is_not_written),
        cmocka_unit_test(first_sizes_stay),
        cmocka_unit_test(plan_options_of_other_versions),
        cmocka_unit_test(engine_options_of_other_versions),
        cmocka_unit_test(reports_of_other_versions),
        cmocka_unit_test(machines_of_other_versions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
