/* tests/support/subjects/entry_list.c - entries in memory, which are sorted into
   compressed rows, and the oracle for the result. */
#include "support/subjects/entry_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/results.h"
#include "io/formats/file_format.h"
#include "io/sort/entry_sort.h"
#include "io/sort/records.h"
#include "io/sort/runs.h"
#include "partition/move/sources.h"
#include "support/engines/io_fixture.h"
#include "support/inputs/random.h"

void entry_list_cut_files(void)
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
    entry_list *l = self->reader;

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
        entry_list_cut_files();
    return HYBRID_OK;
}

static void close_entries(hy_entry_reader *self)
{
    ((entry_list *)self->reader)->closed = 1;
}

hybrid_status entry_list_sort(entry_list *l, hybrid_type type, hy_matrix_file *out)
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
static sum *add_up(const entry_list *l, int transposed, int64_t *count)
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

hybrid_status entry_list_read(const hy_matrix_file *A, hybrid_csr *out)
{
    const hy_source source = hy_source_csr_file(A);
    const hybrid_csr *whole;

    return source.ops->whole(&source, out, &whole);
}

void entry_list_expect(const hy_matrix_file *A, const entry_list *l, int transposed,
                       hybrid_type type)
{
    const int64_t rows = transposed ? l->cols : l->rows;
    int64_t count, k = 0;
    hybrid_csr C;
    sum *want = add_up(l, transposed, &count);

    if (entry_list_read(A, &C) != HYBRID_OK)
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

entry_list entry_list_make(entry_pattern p, int64_t count, int64_t rows, int64_t cols)
{
    entry_list l = {.count = count, .rows = rows, .cols = cols, .calls_left = -1};

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

void entry_list_check(entry_list *l, hybrid_type type)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    hy_matrix_file A;

    if (entry_list_sort(l, type, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    entry_list_expect(&A, l, 0, type);
    hy_matrix_file_close(&A);
    hy_results_trim(io_ctx);
    assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
}

void entry_list_sizes(int64_t run, int64_t block, int64_t piece)
{
    io_sizes.run           = run;
    io_sizes.merge_block   = block;
    io_sizes.records_piece = piece;
}

int entry_list_reset(void **state)
{
    (void)state;
    io_sizes                 = hy_usual_io_sizes;
    io_ctx->memory.meter.cap = 0;
    hy_message_clear(&io_ctx->message);
    return 0;
}
