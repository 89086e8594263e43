/* tests/variants/test_verify_errors.c - verification finds errors as often as
   hybrid_spmm.h states.

   Rows have one to a million scalar products. The argument "slow" uses more seeds and a
   larger matrix. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/inputs/long_rows.h"

enum { TRIALS = 3, SMALL = 1000 };
enum { FEW_SEEDS = 12, MORE_SEEDS = 50, MANY_SEEDS = 200 };

static hybrid_engine *engine;
static int slow; /* 1: matrices with more than SMALL entries are verified with more
                    seeds */

typedef enum defect { ZEROED, DOUBLED, FLIPPED, MOVED, DROPPED, SWAPPED, DEFECTS } defect;

static const char *const defect_names[] = {
    "zeroed", "doubled", "sign flipped", "moved a column", "row dropped", "rows swapped"};

static void *allocate(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);

    if (!memory)
        abort();
    return memory;
}

/* ---- a wrong C ---- */

static int64_t offset(const hybrid_csr *M, int64_t i)
{
    return ((const int64_t *)M->row_ptr)[i];
}

/* Appends row `from` of C to `out`, as its next row. */
static void append(const hybrid_csr *C, int64_t from, hybrid_csr *out)
{
    for (int64_t k = offset(C, from); k < offset(C, from + 1); k++, out->nnz++) {
        hy_cols(out)[out->nnz] = hy_cols(C)[k];
        value_set(out->val, out->type, out->nnz, value_at(C->val, C->type, k));
    }
}

/* Returns a copy of C with the defect `what` in row i, or in the last entry of row i. */
static hybrid_csr spoil(const hybrid_csr *C, defect what, int64_t i)
{
    hybrid_csr out = *C;
    int64_t *ptr   = allocate(C->rows + 1, sizeof *ptr);

    out.nnz     = 0;
    out.row_ptr = ptr;
    out.col     = allocate(C->nnz, sizeof(int32_t));
    out.val     = allocate(C->nnz, sizeof(double));
    for (int64_t row = 0; row < C->rows; row++) {
        const int other = what == SWAPPED && (row == i || row == i + 1);
        if (what != DROPPED || row != i)
            append(C, other ? 2 * i + 1 - row : row, &out);
        ptr[row + 1] = out.nnz;
    }
    const int64_t last = ptr[i + 1] - 1;
    const double v     = last >= 0 ? value_at(out.val, out.type, last) : 0;
    if (what == MOVED)
        hy_cols(&out)[last]++;
    else if (what <= FLIPPED)
        value_set(out.val, out.type, last,
                  what == ZEROED    ? 0
                  : what == DOUBLED ? 2 * v
                                    : -v);
    return out;
}

static void free_csr(hybrid_csr *M)
{
    free(M->row_ptr);
    free(M->col);
    free(M->val);
}

/* ---- the bound of hybrid_spmm.h ---- */

/* Adds row i of C, times `factor`, to `sum`, an array of all columns. */
static void add_row(const hybrid_csr *C, int64_t i, double factor, double *sum)
{
    for (int64_t k = offset(C, i); k < offset(C, i + 1); k++)
        sum[hy_cols(C)[k]] += factor * value_at(C->val, C->type, k);
}

static long double norm(const hybrid_csr *B, int64_t l)
{
    long double sum = 0, squares = 0;

    for (int64_t k = offset(B, l); k < offset(B, l + 1); k++) {
        const long double b = value_at(B->val, B->type, k);
        sum += fabsl(b);
        squares += b * b;
    }
    return fminl(sum, 8 * sqrtl(squares));
}

/* Returns the sum of |a_il| * norm(row l of B) over the entries of row i of A. */
static long double row_size(const hybrid_csr *A, const hybrid_csr *B, int64_t i)
{
    long double size = 0;

    for (int64_t k = offset(A, i); k < offset(A, i + 1); k++)
        size += fabsl((long double)value_at(A->val, A->type, k)) * norm(B, hy_cols(A)[k]);
    return size;
}

/* Returns the largest error of row i of `wrong`, divided by the error that verification
   must find according to docs/manual.md. */
static double excess(const hybrid_csr *A, const hybrid_csr *B, const hybrid_csr *C,
                     const hybrid_csr *wrong, int64_t i)
{
    const double eps  = A->type == HYBRID_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const int64_t a   = offset(A, i + 1) - offset(A, i);
    const double size = (double)row_size(A, B, i);
    double *error = allocate(B->cols, sizeof *error), most = 0;
    int64_t *column = allocate(B->cols, sizeof *column);

    for (int64_t k = 0; k < B->nnz; k++)
        column[hy_cols(B)[k]]++;
    add_row(wrong, i, 1, error);
    add_row(C, i, -1, error);
    for (int64_t j = 0; j < B->cols; j++) {
        const int64_t k = a < column[j] ? a : column[j];
        most            = fmax(most, fabs(error[j]) / (2 * (double)(k + 6) * eps * size));
    }
    free(error);
    free(column);
    return most;
}

/* ---- probability ---- */

/* Returns 1 if `misses` is significantly more than expected (2^-trials of the seeds): by
   more than four standard deviations. */
static int too_many(int misses, int seeds, int trials)
{
    const double share = ldexp(1, -trials);
    return misses > share * seeds + 4 * sqrt(share * (1 - share) * seeds);
}

static int look_for(const hybrid_csr *A, const hybrid_csr *B, const hybrid_csr *wrong,
                    const char *name, const char *what)
{
    const int large = B->nnz > SMALL;
    const int seeds = !large ? MANY_SEEDS : slow ? MORE_SEEDS : FEW_SEEDS;
    int failed      = 0;

    for (int trials = seeds == FEW_SEEDS ? TRIALS : 1; trials <= TRIALS; trials++) {
        int misses = 0;
        for (int seed = 0; seed < seeds; seed++) {
            int64_t row;
            if (hybrid_verify_spgemm(engine, A, B, wrong, trials, (uint64_t)seed, &row)) {
                fprintf(stderr, "%s\n", hybrid_engine_message(engine));
                return 1;
            }
            misses += row < 0;
        }
        if (too_many(misses, seeds, trials)) {
            fprintf(stderr, "%s, f%d, %s: %d of %d seeds with %d trials miss it\n", name,
                    A->type == HYBRID_F32 ? 32 : 64, what, misses, seeds, trials);
            failed++;
        }
    }
    return failed;
}

/* Checks that verification finds each defect of row i of A*B that exceeds the bound of
   docs/manual.md. Counts smaller defects in *small. Returns the number of failures. */
static int check_row(const char *name, const hybrid_csr *A, const hybrid_csr *B,
                     const hybrid_csr *C, int64_t i, int *small)
{
    int failed = 0;

    for (int d = 0; d < DEFECTS; d++) {
        hybrid_csr wrong = spoil(C, (defect)d, i);
        if (excess(A, B, C, &wrong, i) > 1.5) /* 1.5 instead of 1, because C itself is
                                                 rounded */
            failed += look_for(A, B, &wrong, name, defect_names[d]);
        else
            ++*small;
        free_csr(&wrong);
    }
    return failed;
}

static int check_long(const long_rows *shape, hybrid_type type, long_values values,
                      int *small)
{
    hybrid_csr A, B, C;
    int failed = 1;

    long_rows_make(shape, type, values, &A, &B);
    if (hybrid_spgemm(engine, &A, &B, &C) == HYBRID_OK) {
        failed = check_row(shape->name, &A, &B, &C, 0, small);
        hybrid_csr_free(engine, &C);
    }
    matrix_free(&A);
    matrix_free(&B);
    return failed;
}

/* ---- rows of a graph ---- */

static int64_t products(const hybrid_csr *A, int64_t i)
{
    int64_t sum = 0;

    for (int64_t k = offset(A, i); k < offset(A, i + 1); k++)
        sum += offset(A, hy_cols(A)[k] + 1) - offset(A, hy_cols(A)[k]);
    return sum;
}

/* Returns the row of A*A with the most scalar products, of those with at most `most`. */
static int64_t heaviest(const hybrid_csr *A, int64_t most)
{
    int64_t row = 0, found = -1;

    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t p = products(A, i);
        if (p > found && p <= most) {
            found = p;
            row   = i;
        }
    }
    return row;
}

/* Returns the index of the entry of C whose value is nearest to the mean. */
static int64_t average_entry(const hybrid_csr *C)
{
    double mean  = 0;
    int64_t best = 0;

    for (int64_t k = 0; k < C->nnz; k++)
        mean += value_at(C->val, C->type, k) / (double)C->nnz;
    for (int64_t k = 1; k < C->nnz; k++)
        if (fabs(value_at(C->val, C->type, k) - mean) <
            fabs(value_at(C->val, C->type, best) - mean))
            best = k;
    return best;
}

/* Multiplies one entry of C by `factor`, and checks that verification finds it. The
   entry has average size, and lies in the row with the most scalar products up to
   `most`. */
static int check_average(const hybrid_csr *B, int64_t most, double factor)
{
    const int64_t i   = heaviest(B, most);
    int64_t row_ptr[] = {0, offset(B, i + 1) - offset(B, i)};
    hybrid_csr C, A = *B;

    A.rows    = 1;
    A.nnz     = row_ptr[1];
    A.row_ptr = row_ptr;
    A.col     = hy_cols(B) + offset(B, i);
    A.val     = (char *)B->val + offset(B, i) * (B->type == HYBRID_F32 ? 4 : 8);
    if (hybrid_spgemm(engine, &A, B, &C) != HYBRID_OK)
        return 1;
    const int64_t k = average_entry(&C);
    value_set(C.val, C.type, k, factor * value_at(C.val, C.type, k));
    char name[64];
    snprintf(name, sizeof name, "a row of %lld products", (long long)products(B, i));
    const int failed = look_for(&A, B, &C, name, "an average entry");
    hybrid_csr_free(engine, &C);
    return failed;
}

/* Sets one after the other of the `rows` heaviest rows of A*A to zero. Each of `runs`
   verifications with two trials must find it. */
static int check_heavy_rows(const char *spec, int rows, int runs)
{
    hybrid_csr A, C;
    int missed = 0;

    if (hybrid_generate(engine, spec, HYBRID_F32, 1, &A) != HYBRID_OK ||
        hybrid_spgemm(engine, &A, &A, &C) != HYBRID_OK)
        return 1;
    for (int64_t most = INT64_MAX; rows > 0; rows--) {
        const int64_t i = heaviest(&A, most);
        most            = products(&A, i) - 1;
        memset((float *)C.val + offset(&C, i), 0,
               (size_t)(offset(&C, i + 1) - offset(&C, i)) * sizeof(float));
    }
    for (int seed = 0; seed < runs; seed++) {
        int64_t row = -1;
        missed +=
            hybrid_verify_spgemm(engine, &A, &A, &C, 2, (uint64_t)seed, &row) || row < 0;
    }
    if (missed)
        fprintf(stderr, "%s with heavy rows zeroed: %d of %d runs miss it\n", spec,
                missed, runs);
    hybrid_csr_free(engine, &C);
    hybrid_csr_free(engine, &A);
    return missed;
}

static int check_graph(void)
{
    static const int64_t products[] = {INT64_MAX, 20 * 1000, 5911, 500};
    static const double factors[]   = {0, 2, 10};
    hybrid_csr B;
    int failed = 0;

    if (hybrid_generate(engine, "rmat:14,8", HYBRID_F32, 1, &B) != HYBRID_OK)
        return 1;
    for (size_t n = 0; n < sizeof products / sizeof *products; n++)
        for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
            failed += check_average(&B, products[n], factors[f]);
    hybrid_csr_free(engine, &B);
    return failed;
}

int main(int argc, char **argv)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    int failed = 0, small = 0;

    options.backend = HYBRID_HOST;
    options.threads = 2;
    if (hybrid_engine_create(&options, &engine) != HYBRID_OK)
        return 1;
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    for (int n = 0; n < LONG_ROWS; n++) {
        failed += check_long(&long_rows_table[n], HYBRID_F32, LONG_POSITIVE, &small);
        failed += check_long(&long_rows_table[n], HYBRID_F64, LONG_SIGNED, &small);
    }
    failed += check_graph();
    failed += check_heavy_rows(slow ? "rmat:16,8" : "rmat:13,8", 55, slow ? 10 : 3);
    printf("%d defects missed, %d too small to be found\n", failed, small);
    hybrid_engine_destroy(engine);
    return failed + small > 0;
}
