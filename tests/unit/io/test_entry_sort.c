/* tests/unit/io/test_entry_sort.c - entries in any order become compressed rows.

   The oracle adds the entries one after the other to a list for each row. Runs, blocks,
   pieces, batches and the number of threads must not change a bit of the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/results.h"
#include "io/sort/entry_sort.h"
#include "io/sort/records.h"
#include "io/sort/runs.h"
#include "partition/move/sources.h"
#include "io/formats/file_format.h"
#include "support/engines/io_fixture.h"
#include "support/inputs/random.h"

/* ---- a reader of entries in memory ---- */

typedef struct list {
    hy_entry *entry;
    int64_t count, next;
    int64_t rows, cols; /* sizes of the matrix */
    int grows;          /* 1: the reader learns the sizes from the entries */
    int64_t batch;      /* entries of a call of next(); 0: all that fit */
    int64_t calls_left; /* number of calls of next() that succeed before one fails; -1:
                           none fails */
    int truncates;      /* 1: the last call of next() cuts temporary files */
    int closed;
} list;

/* Cuts the process's open files without a name, which are temporary files, to 0 bytes. */
static void cut_temporary_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *file;

    assert_non_null(folder);
    while ((file = readdir(folder))) {
        struct stat st;
        const int fd = atoi(file->d_name);
        if (fd > STDERR_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
            st.st_nlink == 0)
            assert_int_equal(ftruncate(fd, 0), 0);
    }
    closedir(folder);
}

static hybrid_status next_entries(hy_entry_reader *self, int64_t most, hy_entry *to,
                                  int64_t *count)
{
    list *l = self->reader;

    if (l->calls_left >= 0 && l->calls_left-- == 0)
        return hy_fail(self->ctx, HYBRID_IO_FAILED, "an entry is lost");
    *count = hy_min(most, l->count - l->next);
    if (l->batch > 0)
        *count = hy_min(*count, l->batch);
    for (int64_t k = 0; k < *count; k++) {
        to[k] = l->entry[l->next + k];
        if (l->grows) {
            self->rows = hy_max(self->rows, to[k].row + 1);
            self->cols = hy_max(self->cols, to[k].col + 1);
        }
    }
    l->next += *count;
    if (*count == 0 && l->truncates)
        cut_temporary_files();
    return HYBRID_OK;
}

static void close_entries(hy_entry_reader *self)
{
    ((list *)self->reader)->closed = 1;
}

static hybrid_status sort_list(list *l, hybrid_type type, hy_matrix_file *out)
{
    static const hy_entry_reader_ops ops = {next_entries, close_entries};
    hy_entry_reader reader               = {.ops    = &ops,
                                            .ctx    = io_ctx,
                                            .rows   = l->grows ? 0 : l->rows,
                                            .cols   = l->grows ? 0 : l->cols,
                                            .nnz    = -1,
                                            .type   = type,
                                            .reader = l};
    void *name;

    l->next = l->closed = 0;
    HY_TRY(hy_array(io_ctx, 5, 1, "a name", &name));
    *out = (hy_matrix_file){.ctx = io_ctx, .name = memcpy(name, "list", 5)};
    const hybrid_status status = hy_entry_sort(io_ctx, &reader, out);
    if (status != HYBRID_OK)
        hy_matrix_file_close(out);
    return status;
}

/* ---- the oracle ---- */

typedef struct sum {
    int64_t row, col, order;
    double value;
} sum;

static int compare(const void *a, const void *b)
{
    const sum *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->col != y->col)
        return x->col < y->col ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Returns the sorted sums, and sets *count. `transposed` exchanges rows and columns. */
static sum *add_up(const list *l, int transposed, int64_t *count)
{
    sum *all    = malloc((size_t)(l->count + 1) * sizeof *all);
    int64_t out = 0;

    assert_non_null(all);
    for (int64_t k = 0; k < l->count; k++)
        all[k] =
            (sum){transposed ? l->entry[k].col : l->entry[k].row,
                  transposed ? l->entry[k].row : l->entry[k].col, k, l->entry[k].value};
    qsort(all, (size_t)l->count, sizeof *all, compare);
    for (int64_t k = 0; k < l->count; k++)
        if (out > 0 && all[out - 1].row == all[k].row && all[out - 1].col == all[k].col)
            all[out - 1].value += all[k].value;
        else
            all[out++] = all[k];
    *count = out;
    return all;
}

static hybrid_status read_whole(const hy_matrix_file *A, hybrid_csr *out)
{
    const hy_source source = hy_source_csr_file(A);
    const hybrid_csr *whole;

    return source.ops->whole(&source, out, &whole);
}

static void check_matrix(const hy_matrix_file *A, const list *l, int transposed,
                         hybrid_type type)
{
    const int64_t rows = transposed ? l->cols : l->rows;
    int64_t count, k = 0;
    hybrid_csr C;
    sum *want = add_up(l, transposed, &count);

    if (read_whole(A, &C) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    assert_int_equal(C.rows, rows);
    assert_int_equal(C.cols, transposed ? l->rows : l->cols);
    assert_int_equal(C.nnz, count);
    assert_int_equal(C.type, type);
    for (int64_t i = 0; i < rows; i++)
        for (; k < hy_offset(&C, i + 1); k++) {
            assert_int_equal(want[k].row, i);
            assert_int_equal(want[k].col, hy_cols(&C)[k]);
            if (type == HYBRID_F64)
                assert_memory_equal(&want[k].value, (double *)C.val + k, 8);
            else
                assert_true((float)want[k].value == ((float *)C.val)[k]);
        }
    assert_int_equal(k, count);
    free(want);
    hy_csr_free(io_ctx, &C);
}

/* ---- inputs ---- */

typedef enum pattern {
    RANDOM,
    ASCENDING,
    DESCENDING,
    ONE_KEY,
    ONE_ROW,
    NARROW,
    PATTERNS
} pattern;

static list make_list(pattern p, int64_t count, int64_t rows, int64_t cols)
{
    list l = {.count = count, .rows = rows, .cols = cols, .calls_left = -1};

    l.entry       = malloc((size_t)(count + 1) * sizeof *l.entry);
    uint64_t seed = 5;
    assert_non_null(l.entry);
    for (int64_t k = 0; k < count; k++) {
        const uint64_t r = random_next(&seed) >> 8;
        const int64_t at = p == DESCENDING ? count - 1 - k : k;
        int64_t row = (int64_t)(r % (uint64_t)rows), col = (int64_t)(r >> 24) % cols;
        if (p == ASCENDING || p == DESCENDING) {
            row = at * rows / count;
            col = at % 3;
        } else if (p == ONE_KEY || p == ONE_ROW) {
            row = rows / 2;
            col = p == ONE_KEY ? cols / 3 : col;
        } else if (p == NARROW)
            col %= 3;
        l.entry[k] = (hy_entry){row, col, (double)(r % 1000) / 7 + 1e-3};
    }
    /* an entry in the last row and column, so that readers can learn the sizes */
    if (count > 0 && p == RANDOM)
        l.entry[0] = (hy_entry){rows - 1, cols - 1, 1};
    return l;
}

static void check_list(list *l, hybrid_type type)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    hy_matrix_file A;

    if (sort_list(l, type, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    check_matrix(&A, l, 0, type);
    hy_matrix_file_close(&A);
    hy_results_trim(io_ctx);
    assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
}

static void set_sizes(int64_t run, int64_t block, int64_t piece)
{
    hy_entry_sort_run = run;
    hy_runs_block     = block;
    hy_records_piece  = piece;
}

static int reset_sizes(void **state)
{
    (void)state;
    set_sizes(0, 4096, 1 << 16);
    io_ctx->memory.meter.cap = 0;
    hy_message_clear(&io_ctx->message);
    return 0;
}

/* ---- tests ---- */

static void every_size_of_run_and_block(void **state)
{
    static const struct {
        int64_t run, block, piece, batch;
    } sizes[] = {{0, 4096, 1 << 16, 0}, {0, 1, 3, 7},    {1, 1, 1, 1},
                 {2, 1, 2, 0},          {7, 2, 3, 5},    {100, 3, 16, 0},
                 {997, 1, 64, 13},      {5000, 10, 5, 0}};

    (void)state;
    for (pattern p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            list l = make_list(p, sizes[i].run == 0 || sizes[i].run > 50 ? 3000 : 300,
                               123, 77);
            set_sizes(sizes[i].run, sizes[i].block, sizes[i].piece);
            l.batch = sizes[i].batch;
            check_list(&l, i % 2 ? HYBRID_F32 : HYBRID_F64);
            free(l.entry);
        }
}

/* Values that are all the same are not stored. They are stored from the first other value
   on, wherever it comes, and after the first sum of two of them. */
static void values_may_be_all_the_same(void **state)
{
    static const int64_t others[] = {3000, 0, 1, 1700, 2999};

    (void)state;
    for (pattern p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < 2 * sizeof others / sizeof *others; i++) {
            list l = make_list(p, 3000, 1 << 20, i % 2 ? 1 << 20 : 77);
            for (int64_t k = 0; k < l.count; k++)
                l.entry[k].value = k < others[i / 2] ? 1 : 1.5;
            set_sizes(i % 3 == 0 ? 200 : 2000, 4, 16);
            check_list(&l, i % 2 ? HYBRID_F32 : HYBRID_F64);
            free(l.entry);
        }
}

static void sizes_may_be_learnt(void **state)
{
    (void)state;
    for (int64_t run = 0; run <= 50; run += 50) {
        list l  = make_list(RANDOM, 1000, 40, 5000);
        l.grows = 1;
        set_sizes(run, 4, 16);
        check_list(&l, HYBRID_F64);
        free(l.entry);
    }
}

static void keys_of_all_widths(void **state)
{
    static const int64_t sizes[][2] = {
        {1, 1}, {1, INT32_MAX}, {1 << 20, 1}, {1 << 20, INT32_MAX}, {257, 511}};

    (void)state;
    for (int i = 0; i < 10; i++) {
        list l = make_list(RANDOM, 20000, sizes[i / 2][0], sizes[i / 2][1]);
        set_sizes(i % 2 ? 3000 : 0, 16, 1000);
        check_list(&l, HYBRID_F64);
        free(l.entry);
    }
}

static void empty_matrices(void **state)
{
    static const int64_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {20000, 3}};

    (void)state;
    for (int i = 0; i < 8; i++) {
        list l = {.rows = sizes[i / 2][0], .cols = sizes[i / 2][1], .calls_left = -1};
        set_sizes(i % 2 ? 4 : 0, 4, 16);
        check_list(&l, HYBRID_F64);
    }
}

/* The records, and the matrix, take more than the budget, so that both go to temporary
   files. */
static void memory_is_bounded(void **state)
{
    const int64_t cap = 12 << 20;
    list l            = make_list(RANDOM, 1500000, 300000, 300000);
    hy_matrix_file A;

    (void)state;
    io_ctx->memory.meter.cap = hy_meter_used(&io_ctx->memory.meter) + cap;
    if (sort_list(&l, HYBRID_F64, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    assert_true(hy_meter_used(&io_ctx->memory.meter) < 1 << 20);
    io_ctx->memory.meter.cap = 0;
    check_matrix(&A, &l, 0, HYBRID_F64);
    hy_matrix_file_close(&A);
    free(l.entry);
}

static hybrid_status transpose_file(const hy_matrix_file *A, hy_matrix_file *out)
{
    const hy_source source = hy_source_csr_file(A);

    return hy_source_transpose(&source, out);
}

static void transposes(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const hybrid_type type = i % 2 ? HYBRID_F32 : HYBRID_F64;
        list l                 = make_list(NARROW, 2000, 40000, 50);
        hy_matrix_file A, T = {.ctx = io_ctx};
        void *name;
        for (int64_t k = 0; k < l.count;
             k++) /* the values are whole numbers, whose sums do not depend on order */
            l.entry[k].value = (double)(k % 9);
        set_sizes(i < 2 ? 0 : 100, 8, 16);
        assert_int_equal(sort_list(&l, type, &A), HYBRID_OK);
        assert_int_equal(hy_array(io_ctx, 2, 1, "a name", &name), HYBRID_OK);
        T.name                  = memcpy(name, "T", 2);
        io_ctx->memory.failures = 1;
        assert_int_equal(transpose_file(&A, &T), HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
        if (transpose_file(&A, &T) != HYBRID_OK)
            fail_msg("%s", io_ctx->message.text);
        check_matrix(&T, &l, 1, type);
        hy_matrix_file_close(&T);
        hy_matrix_file_close(&A);
        free(l.entry);
    }
}

/* ---- failures ---- */

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count   = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int64_t run = 0; run <= 60; run += 60) {
        list l          = make_list(RANDOM, 500, 30, 30);
        const int files = open_files();
        hy_results_trim(io_ctx);
        const int64_t used = hy_meter_used(&io_ctx->memory.meter);
        hybrid_status status;
        int64_t failing = 0;
        set_sizes(run, 4, 50);
        do {
            hy_matrix_file A        = {.ctx = NULL};
            io_ctx->memory.failures = ++failing;
            status                  = sort_list(&l, HYBRID_F64, &A);
            io_ctx->memory.failures = 0;
            assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
            if (status == HYBRID_OK)
                check_matrix(&A, &l, 0, HYBRID_F64);
            hy_matrix_file_close(&A);
            hy_message_clear(&io_ctx->message);
            hy_results_trim(io_ctx);
            assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
            assert_int_equal(open_files(), files);
        } while (status != HYBRID_OK);
        assert_true(failing > 8);
        free(l.entry);
    }
}

static void each_batch_may_fail(void **state)
{
    list l          = make_list(RANDOM, 300, 30, 30);
    const int files = open_files();
    hy_matrix_file A;
    hybrid_status status;
    int64_t calls = 0;

    (void)state;
    set_sizes(40, 4, 50);
    l.batch = 20;
    do {
        hy_message_clear(&io_ctx->message);
        l.calls_left = calls++;
        status       = sort_list(&l, HYBRID_F64, &A);
        assert_true(status == HYBRID_OK || strstr(io_ctx->message.text, "is lost"));
        hy_matrix_file_close(&A);
        assert_int_equal(open_files(), files);
    } while (status != HYBRID_OK);
    assert_true(calls > 10);
    free(l.entry);
}

static void check_spill_error(list *l, const char *sentence)
{
    const int files = open_files();
    hy_matrix_file A;

    hy_message_clear(&io_ctx->message);
    assert_int_equal(sort_list(l, HYBRID_F64, &A), HYBRID_IO_FAILED);
    if (!strstr(io_ctx->message.text, sentence))
        fail_msg("'%s', not '%s'", io_ctx->message.text, sentence);
    assert_int_equal(open_files(), files);
}

/* Sorting fails with a message if temporary files may not grow beyond some size, as on a
   full disk, whatever that size is. */
static void a_limit_on_files_gives_a_sentence(void **state)
{
    list l = make_list(RANDOM, 3000, 300, 30);
    struct rlimit before, limit;
    rlim_t bytes;

    (void)state;
    set_sizes(100, 4, 50);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (bytes = 9999; bytes < 3000 * sizeof(hy_record); bytes += 4999) {
        limit = (struct rlimit){bytes, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        check_spill_error(&l, "cannot write a temporary file in the folder '");
        assert_non_null(strstr(io_ctx->message.text, "File too large"));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    }
    check_list(&l, HYBRID_F64);
    free(l.entry);
}

/* The offsets of a matrix of many rows are not begun on a disk that they would fill. */
static void offsets_need_room_on_the_disk(void **state)
{
    list l = make_list(RANDOM, 300, 3000, 30);

    (void)state;
    set_sizes(100, 4, 50);
    hy_spill_most = 24008;
    check_list(&l, HYBRID_F64);
    hy_spill_most = 24007;
    check_spill_error(&l, "the offsets of 3000 rows take 23.4 KiB, and the folder '");
    assert_non_null(
        strstr(io_ctx->message.text, " left for temporary files; give another"));
    hy_spill_most = INT64_MAX;
    check_list(&l, HYBRID_F64);
    free(l.entry);
}

static void a_missing_folder_gives_a_sentence(void **state)
{
    list l = make_list(RANDOM, 300, 30, 30);

    (void)state;
    set_sizes(100, 4, 50);
    assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
    check_spill_error(&l, "in the folder '/no/such/folder': No such file or directory");
    assert_int_equal(unsetenv("TMPDIR"), 0);
    check_list(&l, HYBRID_F64);
    free(l.entry);
}

static void lost_temporary_data_give_a_sentence(void **state)
{
    list l = make_list(RANDOM, 288, 30, 30); /* 288 entries fill a whole number of runs */
    hy_matrix_file A;
    hybrid_csr C;

    (void)state;
    set_sizes(100, 4, 50);
    assert_int_equal(sort_list(&l, HYBRID_F64, &A), HYBRID_OK);
    cut_temporary_files();
    assert_int_equal(read_whole(&A, &C), HYBRID_IO_FAILED);
    assert_string_equal(io_ctx->message.text,
                        "temporary data of list: byte 0 is missing: the file became "
                        "shorter after it was opened");
    hy_matrix_file_close(&A);
    l.truncates = 1;
    check_spill_error(&l, "cannot read a temporary file in the folder '");
    free(l.entry);
}

static void sizes_beyond_the_limits(void **state)
{
    hy_entry far = {.row = 0, .col = INT32_MAX, .value = 1};
    list l       = {.entry = &far, .count = 1, .grows = 1, .calls_left = -1};
    hy_matrix_file A;

    (void)state;
    hy_message_clear(&io_ctx->message);
    assert_int_equal(sort_list(&l, HYBRID_F64, &A), HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text,
                           "list: has 1 rows and 2147483648 columns; the limits are"));
}

/* Transposing a matrix with a wrong column index reports the entry, and gives no
   matrix. */
static void a_bad_matrix_is_not_transposed(void **state)
{
    static const struct {
        int32_t col;
        const char *sentence;
    } bad[] = {{7, "A: row 1, entry 1: column 7 is not in 0..6"},
               {-1, "A: row 1, entry 1: column -1 is not in 0..6"},
               {2, "A: row 1, entry 1: column 2 does not come after column 2"},
               {3, NULL}};
    static const char json[] =
        "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": 2, \"cols\": 7, "
        "\"nnz\": 3, \"type\": \"f64\", \"row_ptr\": {\"file\": \"p\", \"type\": "
        "\"i64\"}, "
        "\"col\": {\"file\": \"c\", \"type\": \"i32\"}, \"values\": {\"file\": \"v\"}}";
    const int64_t row_ptr[] = {0, 1, 3};
    const double values[]   = {1, 2, 3};

    (void)state;
    io_store(io_temp("p"), row_ptr, sizeof row_ptr);
    io_store(io_temp("v"), values, sizeof values);
    io_store(io_temp("A.json"), json, sizeof json - 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int32_t col[] = {6, 2, bad[i].col};
        hy_matrix_file A, T = {.ctx = io_ctx};
        hy_message_clear(&io_ctx->message);
        io_store(io_temp("c"), col, sizeof col);
        assert_int_equal(
            hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("A.json"), &A),
            HYBRID_OK);
        A.name[0] = 'A', A.name[1] = '\0';
        const hybrid_status status = transpose_file(&A, &T);
        assert_int_equal(status, bad[i].sentence ? HYBRID_BAD_MATRIX : HYBRID_OK);
        if (bad[i].sentence)
            assert_string_equal(io_ctx->message.text, bad[i].sentence);
        hy_matrix_file_close(&T);
        hy_matrix_file_close(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_size_of_run_and_block, reset_sizes),
        cmocka_unit_test_teardown(values_may_be_all_the_same, reset_sizes),
        cmocka_unit_test_teardown(sizes_may_be_learnt, reset_sizes),
        cmocka_unit_test_teardown(keys_of_all_widths, reset_sizes),
        cmocka_unit_test_teardown(empty_matrices, reset_sizes),
        cmocka_unit_test_teardown(memory_is_bounded, reset_sizes),
        cmocka_unit_test_teardown(transposes, reset_sizes),
        cmocka_unit_test_teardown(each_allocation_may_fail, reset_sizes),
        cmocka_unit_test_teardown(each_batch_may_fail, reset_sizes),
        cmocka_unit_test_teardown(a_limit_on_files_gives_a_sentence, reset_sizes),
        cmocka_unit_test_teardown(offsets_need_room_on_the_disk, reset_sizes),
        cmocka_unit_test_teardown(a_missing_folder_gives_a_sentence, reset_sizes),
        cmocka_unit_test_teardown(lost_temporary_data_give_a_sentence, reset_sizes),
        cmocka_unit_test_teardown(sizes_beyond_the_limits, reset_sizes),
        cmocka_unit_test_teardown(a_bad_matrix_is_not_transposed, reset_sizes),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
