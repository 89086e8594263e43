/* tests/support/check/oracle.c - slow and obvious products, to compare with. */
#include "tests/support/check/oracle.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UNWATCHED functions are not checked by the thread sanitizer. They read only operands
   and the oracle's own memory; the test thread wrote both, so they cannot race. Functions
   that read the library's results are not UNWATCHED. */
#define UNWATCHED __attribute__((no_sanitize("thread")))
#define INLINED                                                                          \
    static inline __attribute__((always_inline)) /* checked by the thread sanitizer if   \
                                                    the calling function is */

static _Thread_local char sentence[256];

static void *allocate(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);

    if (!memory) {
        fprintf(stderr, "no memory for the oracle: %lld x %zu bytes\n", (long long)count,
                size);
        abort();
    }
    return memory;
}

INLINED int64_t offset(const hybrid_csr *M, int64_t i)
{
    if (M->offset_type == HYBRID_I32)
        return ((const int32_t *)M->row_ptr)[i];
    return ((const int64_t *)M->row_ptr)[i];
}

INLINED int64_t column(const hybrid_csr *M, int64_t k)
{
    if (M->col_type == HYBRID_I64)
        return ((const int64_t *)M->col)[k];
    return ((const int32_t *)M->col)[k];
}

INLINED long double value(const hybrid_csr *M, int64_t k)
{
    if (M->type == HYBRID_F32)
        return (long double)((const float *)M->val)[k];
    return (long double)((const double *)M->val)[k];
}

INLINED long double element(const hybrid_dense *M, int64_t i, int64_t j)
{
    const int64_t at = M->order == HYBRID_COL_MAJOR ? j * M->ld + i : i * M->ld + j;
    if (M->type == HYBRID_F32)
        return (long double)((const float *)M->data)[at];
    return (long double)((const double *)M->data)[at];
}

/* ---- C = A*B ---- */

typedef struct entry {
    long double sum, magnitude;
    int64_t terms; /* number of scalar products of the entry; 0: the row has no entry in
                      this column */
} entry;

/* One row of C as an array of all columns, and the list of columns that occur. */
typedef struct dense_row {
    entry *at;
    int32_t *seen;
    int64_t count;
} dense_row;

UNWATCHED static void multiply_row(const hybrid_csr *A, const hybrid_csr *B, int64_t i,
                                   dense_row *r)
{
    r->count = 0;
    for (int64_t k = offset(A, i); k < offset(A, i + 1); k++) {
        const int64_t middle = column(A, k);
        const long double a  = value(A, k);
        for (int64_t l = offset(B, middle); l < offset(B, middle + 1); l++) {
            const int32_t j           = (int32_t)column(B, l);
            const long double product = a * value(B, l);
            if (r->at[j].terms == 0)
                r->seen[r->count++] = j;
            r->at[j].terms++;
            r->at[j].sum += product;
            r->at[j].magnitude += fabsl(product);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void *grown(void *memory, int64_t count, size_t size)
{
    void *more = realloc(memory, (size_t)count * size);

    if (!more) {
        fprintf(stderr, "no memory for the oracle\n");
        abort();
    }
    return more;
}

/* Provides room for `nnz` entries. Doubles the capacity, because a sanitizer copies the
   whole array whenever it grows. */
static void make_room(oracle *o, int64_t nnz)
{
    if (nnz < o->room)
        return;
    o->room      = 2 * nnz + 1;
    o->col       = grown(o->col, o->room, sizeof *o->col);
    o->sum       = grown(o->sum, o->room, sizeof *o->sum);
    o->magnitude = grown(o->magnitude, o->room, sizeof *o->magnitude);
    o->terms     = grown(o->terms, o->room, sizeof *o->terms);
}

/* Appends row i of C, which `r` holds, to the oracle's arrays, and clears `r`. */
UNWATCHED static void append_row(oracle *o, int64_t i, dense_row *r)
{
    const int64_t nnz = o->nnz + r->count;

    make_room(o, nnz);
    qsort(r->seen, (size_t)r->count, sizeof *r->seen, ascending);
    for (int64_t n = 0; n < r->count; n++) {
        const int32_t j          = r->seen[n];
        o->col[o->nnz + n]       = j;
        o->sum[o->nnz + n]       = r->at[j].sum;
        o->magnitude[o->nnz + n] = r->at[j].magnitude;
        o->terms[o->nnz + n]     = r->at[j].terms;
        r->at[j]                 = (entry){0};
    }
    o->nnz            = nnz;
    o->row_ptr[i + 1] = nnz;
}

void oracle_spgemm(const hybrid_csr *A, const hybrid_csr *B, oracle *out)
{
    dense_row r = {.at   = allocate(B->cols, sizeof *r.at),
                   .seen = allocate(B->cols, sizeof *r.seen)};

    memset(out, 0, sizeof *out);
    out->rows    = A->rows;
    out->cols    = B->cols;
    out->row_ptr = allocate(A->rows + 1, sizeof *out->row_ptr);
    for (int64_t i = 0; i < A->rows; i++) {
        multiply_row(A, B, i, &r);
        append_row(out, i, &r);
    }
    free(r.at);
    free(r.seen);
}

void oracle_free(oracle *o)
{
    free(o->row_ptr);
    free(o->col);
    free(o->sum);
    free(o->magnitude);
    free(o->terms);
    memset(o, 0, sizeof *o);
}

/* ---- checks ---- */

static long double relative_bound(int64_t terms, hybrid_type type)
{
    return (long double)(terms + 2) * (type == HYBRID_F32 ? FLT_EPSILON : DBL_EPSILON);
}

static long double tf32_bound(int64_t terms, hybrid_type type)
{
    return 0x1p-10L + 0x1p-22L + 2 * relative_bound(terms, type);
}

/* Comparisons are written so that a NaN in `got` fails them: NaN is never right. */
static int is_right(long double got, long double reference, long double bound, int exact)
{
    if (exact)
        return got == reference;
    return fabsl(got - reference) <= bound;
}

static const char *wrong_value(int64_t i, int64_t j, long double got,
                               long double reference, int64_t terms)
{
    snprintf(sentence, sizeof sentence,
             "(%lld,%lld) is %.17Lg, not %.17Lg (%lld products)", (long long)i,
             (long long)j, got, reference, (long long)terms);
    return sentence;
}

static const char *check_shape(const oracle *o, const hybrid_csr *C)
{
    snprintf(sentence, sizeof sentence,
             "C is %lld x %lld with %lld entries, not %lld x %lld with %lld",
             (long long)C->rows, (long long)C->cols, (long long)C->nnz,
             (long long)o->rows, (long long)o->cols, (long long)o->nnz);
    return C->rows == o->rows && C->cols == o->cols && C->nnz == o->nnz ? NULL : sentence;
}

const char *oracle_check(const oracle *o, const hybrid_csr *C, int exact)
{
    if (check_shape(o, C))
        return sentence;
    for (int64_t i = 0; i <= o->rows; i++)
        if (offset(C, i) != o->row_ptr[i]) {
            snprintf(sentence, sizeof sentence, "row_ptr[%lld] is %lld, not %lld",
                     (long long)i, (long long)offset(C, i), (long long)o->row_ptr[i]);
            return sentence;
        }
    for (int64_t i = 0; i < o->rows; i++)
        for (int64_t k = o->row_ptr[i]; k < o->row_ptr[i + 1]; k++) {
            if (column(C, k) != o->col[k]) {
                snprintf(sentence, sizeof sentence, "row %lld: column %d at %lld, not %d",
                         (long long)i, (int)column(C, k), (long long)k, (int)o->col[k]);
                return sentence;
            }
            if (!is_right(value(C, k), o->sum[k],
                          relative_bound(o->terms[k], C->type) * o->magnitude[k], exact))
                return wrong_value(i, o->col[k], value(C, k), o->sum[k], o->terms[k]);
        }
    return NULL;
}

/* Computes alpha * row i of A*X + beta * row i of `before`, one entry per column. */
UNWATCHED static void dense_row_of(double alpha, const hybrid_csr *A, int64_t i,
                                   const hybrid_dense *X, double beta,
                                   const hybrid_dense *before, entry *row)
{
    for (int64_t j = 0; j < X->cols; j++)
        row[j] = (entry){0};
    for (int64_t k = offset(A, i); k < offset(A, i + 1); k++) {
        const int64_t middle = column(A, k);
        const long double a  = value(A, k);
        for (int64_t j = 0; j < X->cols; j++) {
            const long double product = a * element(X, middle, j);
            row[j].terms++;
            row[j].sum += product;
            row[j].magnitude += fabsl(product);
        }
    }
    for (int64_t j = 0; j < X->cols; j++) {
        const long double old = beta != 0 ? beta * element(before, i, j) : 0;
        row[j].sum            = row[j].sum * alpha + old;
        row[j].magnitude      = row[j].magnitude * fabsl((long double)alpha) + fabsl(old);
    }
}

typedef long double (*bound_of)(int64_t terms, hybrid_type type);

static const char *check_row(const hybrid_dense *Y, int64_t i, int64_t cols,
                             const entry *row, bound_of bound, int exact)
{
    for (int64_t j = 0; j < cols; j++) {
        const entry *e        = &row[j];
        const long double got = element(Y, i, j);
        if (!is_right(got, e->sum, bound(e->terms, Y->type) * e->magnitude, exact))
            return wrong_value(i, j, got, e->sum, e->terms);
    }
    return NULL;
}

static const char *check_spmm(double alpha, const hybrid_csr *A, const hybrid_dense *X,
                              double beta, const hybrid_dense *before,
                              const hybrid_dense *Y, bound_of bound, int exact)
{
    const char *wrong = NULL;
    entry *row        = allocate(X->cols, sizeof *row);

    for (int64_t i = 0; i < A->rows && !wrong; i++) {
        dense_row_of(alpha, A, i, X, beta, before, row);
        wrong = check_row(Y, i, X->cols, row, bound, exact);
    }
    free(row);
    return wrong;
}

const char *oracle_check_spmm(double alpha, const hybrid_csr *A, const hybrid_dense *X,
                              double beta, const hybrid_dense *before,
                              const hybrid_dense *Y, int exact)
{
    return check_spmm(alpha, A, X, beta, before, Y, relative_bound, exact);
}

const char *oracle_check_spmm_tf32(double alpha, const hybrid_csr *A,
                                   const hybrid_dense *X, double beta,
                                   const hybrid_dense *before, const hybrid_dense *Y,
                                   int exact)
{
    return check_spmm(alpha, A, X, beta, before, Y, tf32_bound, exact);
}
