/* bench/program/bench_problem.c - makes operands in memory from malloc. */
#include "bench/program/bench.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/program/peers.h"

enum {
    MATRIX_SEED = 1,
    DENSE_SEED  = 2,
    LINE        = 128,
    PAGE        = 4096,
    LARGE       = 4 << 20,
    PANEL       = 16
};

static void *in_huge_pages(char *array, size_t bytes)
{
    const size_t skip = (PAGE - (uintptr_t)array % PAGE) % PAGE;

    if (array && bytes >= LARGE)
        /* an error is ignored: then the array has pages of the usual size */
        madvise(array + skip, bytes - skip, MADV_HUGEPAGE);
    return array;
}

void *bench_array(size_t bytes)
{
    return in_huge_pages(malloc(bytes ? bytes : 1), bytes);
}

/* Returns an array that begins at a multiple of LINE bytes, a cache line of the device,
   as hybrid_spmm.h advises for X and Y that are pinned. */
static void *array_in_lines(size_t bytes)
{
    return in_huge_pages(aligned_alloc(LINE, (bytes / LINE + 1) * LINE), bytes);
}

static size_t value_size(hybrid_type type)
{
    return type == HYBRID_F64 ? 8 : 4;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = bench_array(bytes);

    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

static void csr_free(hybrid_csr *m)
{
    free(m->row_ptr);
    free(m->col);
    free(m->val);
    *m = (hybrid_csr){0};
}

/* Moves the library's matrix into arrays from malloc. Returns 0 on success. */
static int adopt(hybrid_engine *tools, hybrid_csr *from, hybrid_csr *to)
{
    const size_t nnz = (size_t)from->nnz;

    *to         = *from;
    to->row_ptr = copy_of(from->row_ptr, ((size_t)from->rows + 1) * 8);
    to->col     = copy_of(from->col, nnz * 4);
    to->val     = copy_of(from->val, nnz * value_size(from->type));
    hybrid_csr_free(tools, from);
    hybrid_engine_trim(tools);
    if (to->row_ptr && to->col && to->val)
        return 0;
    csr_free(to);
    fprintf(stderr, "hybrid_spmm_bench: no memory for a matrix of %zu entries\n", nnz);
    return -1;
}

static int is_file(const char *spec)
{
    return strstr(spec, ".mtx") != NULL;
}

/* Writes the file's name without folder and ".mtx...", or the description. */
static void name_of(const char *spec, char *name)
{
    const char *slash = strrchr(spec, '/');

    snprintf(name, BENCH_NAME, "%s", is_file(spec) && slash ? slash + 1 : spec);
    if (is_file(spec))
        *strstr(name, ".mtx") = '\0';
}

/* Returns bench_problem.alpha: the mean share of the 16 rows of a row panel that have an
   entry in a column which the panel uses. `last` has, for each column, 1 + the number of
   the last panel that used it. */
static double alpha_of(const hybrid_csr *A)
{
    const int64_t *row_ptr = A->row_ptr;
    const int32_t *col     = A->col;
    int64_t *last          = calloc((size_t)A->cols + 1, sizeof *last);
    int64_t columns        = 0;

    for (int64_t i = 0; last && i < A->rows; i++)
        for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
            columns += last[col[k]] != i / PANEL + 1;
            last[col[k]] = i / PANEL + 1;
        }
    free(last);
    return columns > 0 ? (double)A->nnz / (double)(columns * PANEL) : NAN;
}

const hybrid_csr *bench_second(const bench_problem *problem)
{
    return problem->T.row_ptr ? &problem->T : &problem->A;
}

/* ---- the order of rows ------------------------------------------------------------- */

/* A row of A, and what it is sorted by: rows with smaller keys come first. */
typedef struct ranked {
    double key;
    int64_t row;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* Returns the key of a row: minus the number of its entries, or their mean column. */
static double key_of(const hybrid_csr *A, int64_t row, bench_rows by)
{
    const int64_t *offsets = A->row_ptr;
    const int32_t *col     = A->col;
    const int64_t entries  = offsets[row + 1] - offsets[row];
    double sum             = 0;

    if (by == BENCH_DEGREE)
        return -(double)entries;
    for (int64_t e = offsets[row]; e < offsets[row + 1]; e++)
        sum += col[e];
    return entries > 0 ? sum / (double)entries : 0;
}

/* Copies row `from` of A behind the `at` rows that `to` has. */
static void append_row(const hybrid_csr *A, int64_t from, int64_t at, hybrid_csr *to)
{
    const int64_t begin = ((const int64_t *)A->row_ptr)[from];
    const size_t count  = (size_t)(((const int64_t *)A->row_ptr)[from + 1] - begin);
    const size_t size   = value_size(A->type);
    int64_t *offsets    = to->row_ptr;
    const size_t place  = (size_t)offsets[at];

    memcpy((int32_t *)to->col + place, (const int32_t *)A->col + begin, 4 * count);
    memcpy((char *)to->val + size * place, (const char *)A->val + size * (size_t)begin,
           size * count);
    offsets[at + 1] = offsets[at] + (int64_t)count;
}

/* Makes the second operand of A, and A the same matrix with its rows in another order.
   Returns 0 on success. */
static int order_rows(bench_problem *p, bench_rows by)
{
    const hybrid_csr from = p->A;
    const size_t nnz      = (size_t)from.nnz;
    ranked *rows          = malloc(((size_t)from.rows + 1) * sizeof *rows);
    hybrid_csr to         = from;

    to.row_ptr = bench_array(((size_t)from.rows + 1) * 8);
    to.col     = bench_array(nnz * 4);
    to.val     = bench_array(nnz * value_size(from.type));
    if (!rows || !to.row_ptr || !to.col || !to.val) {
        fputs("hybrid_spmm_bench: no memory for --rows\n", stderr);
        free(rows);
        csr_free(&to);
        return -1;
    }
    for (int64_t i = 0; i < from.rows; i++)
        rows[i] = (ranked){key_of(&from, i, by), i};
    qsort(rows, (size_t)from.rows, sizeof *rows, by_key);
    *(int64_t *)to.row_ptr = 0;
    for (int64_t i = 0; i < from.rows; i++)
        append_row(&from, rows[i].row, i, &to);
    free(rows);
    p->T = from;
    p->A = to;
    return 0;
}

int bench_problem_load(hybrid_engine *tools, const char *spec, const bench_options *o,
                       bench_problem *out)
{
    hybrid_csr made;
    hybrid_status status;

    memset(out, 0, sizeof *out);
    name_of(spec, out->name);
    status = is_file(spec) ? hybrid_read_mtx(tools, spec, o->type, &made)
                           : hybrid_generate(tools, spec, o->type, MATRIX_SEED, &made);
    if (status == HYBRID_OK && adopt(tools, &made, &out->A))
        return -1;
    out->alpha = status == HYBRID_OK && o->op != BENCH_SPGEMM ? alpha_of(&out->A) : NAN;
    if (status == HYBRID_OK && o->op == BENCH_SPGEMM && out->A.rows != out->A.cols) {
        status = hybrid_csr_transpose(tools, &out->A, &made);
        if (status == HYBRID_OK && adopt(tools, &made, &out->T)) {
            bench_problem_free(out);
            return -1;
        }
    }
    if (status == HYBRID_OK && o->rows != BENCH_NATURAL &&
        (out->T.row_ptr || order_rows(out, o->rows))) {
        if (out->T.row_ptr)
            fprintf(stderr, "hybrid_spmm_bench: %s: --rows is for square matrices\n",
                    spec);
        bench_problem_free(out);
        return -1;
    }
    if (status == HYBRID_OK)
        return 0;
    fprintf(stderr, "hybrid_spmm_bench: %s: %s\n", spec, hybrid_engine_message(tools));
    bench_problem_free(out);
    return -1;
}

void bench_problem_free(bench_problem *problem)
{
    csr_free(&problem->A);
    csr_free(&problem->T);
}

int bench_dense_make(hybrid_engine *tools, int64_t rows, int64_t cols, hybrid_order order,
                     hybrid_type type, int random, int pinned, hybrid_dense *out)
{
    const size_t bytes = (size_t)rows * (size_t)cols * value_size(type);

    *out = (hybrid_dense){.rows  = rows,
                          .cols  = cols,
                          .ld    = order == HYBRID_ROW_MAJOR ? cols : rows,
                          .order = order,
                          .data  = pinned ? array_in_lines(bytes) : bench_array(bytes),
                          .type  = type};
    if (!out->data) {
        fprintf(stderr, "hybrid_spmm_bench: no memory for %zu bytes of X or Y\n", bytes);
        return -1;
    }
    memset(out->data, 0, bytes);
    if (!random || hybrid_dense_random(tools, DENSE_SEED, out) == HYBRID_OK)
        return 0;
    fprintf(stderr, "hybrid_spmm_bench: X: %s\n", hybrid_engine_message(tools));
    bench_dense_free(out);
    return -1;
}

void bench_dense_free(hybrid_dense *dense)
{
    free(dense->data);
    *dense = (hybrid_dense){0};
}
