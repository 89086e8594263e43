/* tests/support/files/written.c - results in files, for several programs. */
#include "support/files/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check/oracle.h"
#include "support/engines/io_fixture.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"
#include "support/files/listed_format.h"
#include "support/inputs/stored.h"

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
hybrid_engine *files_engine;
hybrid_csr files_a, files_c;
char files_path[128], files_parts[160];
static char folder[64] = "/dev/shm/hybrid_to_file_XXXXXX";

void files_name(const char *name)
{
    snprintf(files_path, sizeof files_path, "%s/%s", folder, name);
    snprintf(files_parts, sizeof files_parts, "%s.parts", files_path);
}

int files_exist(const char *name)
{
    return access(name, F_OK) == 0;
}

void files_ok(hybrid_status status)
{
    if (status != HYBRID_OK)
        print_error("%s\n", hybrid_engine_message(files_engine));
    assert_int_equal(status, HYBRID_OK);
}

/* Checks that nothing but the file is left of a run. */
static void expect_alone(void)
{
    const char *name = strrchr(files_path, '/') + 1;
    DIR *entries     = opendir(folder);
    const struct dirent *entry;

    assert_non_null(entries);
    while ((entry = readdir(entries)))
        assert_true(strncmp(entry->d_name, name, strlen(name)) != 0 ||
                    strcmp(entry->d_name, name) == 0);
    closedir(entries);
}

void files_expect(const char *wanted)
{
    size_t bytes;
    char *text = io_load(files_path, &bytes);

    assert_string_equal(text, wanted);
    free(text);
    expect_alone();
}

/* Returns files_a, or the file that files_group_open() has written. */
hybrid_operand files_operand(int in_file)
{
    hybrid_file *file = NULL;

    if (in_file)
        files_ok(hybrid_file_open(files_engine, io_temp("a.json"), &file));
    return (hybrid_operand){.csr = in_file ? NULL : &files_a, .file = file};
}

hybrid_status files_square(int in_file, const hybrid_file_options *options)
{
    const hybrid_operand a = files_operand(in_file);
    const hybrid_status status =
        hybrid_spgemm_to_file(files_engine, &a, &a, NULL, files_path, options);

    hybrid_file_close((hybrid_file *)a.file);
    return status;
}

void files_open(place where)
{
    files_engine = place_open(where, 0);
    fake_delays(1, 0);
    settings_of(files_engine)->formats     = listed_formats;
    settings_of(files_engine)->piece_bytes = 3000;
    listed_writes_left                     = -1;
}

hybrid_status files_multiply_dense(double alpha, const hybrid_dense *X, int resume)
{
    const hybrid_operand a = files_operand(0), x = {.dense = X};
    hybrid_file_options options = HYBRID_FILE_OPTIONS_INIT;

    options.resume = resume;
    return hybrid_spmm_to_file(files_engine, alpha, &a, &x, NULL, files_path, &options);
}

/* Makes files_a and its square files_c, which the oracle has checked. */
int files_group_open(void **state)
{
    oracle right;

    (void)state;
    if (access("/dev/shm", W_OK) !=
        0) /* a folder in memory, where fsync() takes no time */
        snprintf(folder, sizeof folder, "/tmp/hybrid_to_file_XXXXXX");
    assert_non_null(mkdtemp(folder));
    files_open(ON_HOST);
    matrix_random(FILES_ROWS, FILES_ROWS, 6, 3, kind, &files_a);
    oracle_spgemm(&files_a, &files_a, &right);
    files_ok(hybrid_spgemm(files_engine, &files_a, &files_a, &files_c));
    stored_write_csr("a", &files_a);
    assert_null(oracle_check(&right, &files_c, 1));
    oracle_free(&right);
    return 0;
}

int files_group_close(void **state)
{
    hybrid_csr_free(files_engine, &files_c);
    matrix_free(&files_a);
    hybrid_engine_destroy(files_engine);
    char command[200];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    return io_group_remove(state);
}
