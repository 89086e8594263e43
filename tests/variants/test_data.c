/* tests/variants/test_data.c - real matrices, multiplied out of core on the host.

   HYBRID_DATA names a folder of NAME.mtx.xz files with MANIFEST.tsv. Each matrix is
   multiplied by itself, or by its transpose if it is not square, and by 32 dense columns,
   with 64 MiB of device memory. Up to 300 M scalar products the results are compared with
   the oracle bit for bit, because values are small integers. Larger products (argument
   "slow") are verified by Freivalds' method. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/check/oracle.h"

static const size_t HOST_BYTES = (size_t)16 << 30; /* cap on host memory; a product that
                                                      needs more is reported and not an
                                                      error */

enum { SKIP = 77, BUDGET = 64 << 20, COLUMNS = 32, ORACLE_PRODUCTS = 300000000 };

static hybrid_engine *engine;

static int fails(const char *name, const char *why)
{
    fprintf(stderr, "%s: %s\n", name, why);
    return 1;
}

/* Unpacks `folder`/`name`.mtx.xz to a file in the current folder, and reads it. Returns
   0, or 1 after printing why that failed. */
static int read_packed(const char *folder, const char *name, hybrid_csr *A)
{
    char command[3 * PATH_MAX], path[64];

    snprintf(path, sizeof path, "test_data.%ld.mtx", (long)getpid());
    snprintf(command, sizeof command, "xz -dc '%s/%s.mtx.xz' > '%s'", folder, name, path);
    if (system(command) != 0)
        return fails(name, "cannot be unpacked");
    const hybrid_status status = hybrid_read_mtx(engine, path, HYBRID_F64, A);
    remove(path);
    return status == HYBRID_OK ? 0 : fails(name, hybrid_engine_message(engine));
}

static int64_t count_products(const hybrid_csr *A, const hybrid_csr *B)
{
    const int64_t *row_ptr = B->row_ptr;
    int64_t sum            = 0;

    for (int64_t k = 0; k < A->nnz; k++)
        sum += row_ptr[hy_cols(A)[k] + 1] - row_ptr[hy_cols(A)[k]];
    return sum;
}

static int check_spgemm(const char *name, const hybrid_csr *A, const hybrid_csr *B,
                        int64_t products)
{
    hybrid_plan *plan;
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C;
    int failed = 0;

    if (hybrid_spgemm_plan(engine, A, B, NULL, &plan) != HYBRID_OK)
        return fails(name, hybrid_engine_message(engine));
    if (hybrid_spgemm_run(plan, A, B, &C) != HYBRID_OK) {
        failed = fails(name, hybrid_engine_message(engine));
    } else {
        hybrid_plan_report(plan, &report);
        if (report.peak_device_bytes > BUDGET)
            failed += fails(name, "more device memory than the budget");
        if (products <= ORACLE_PRODUCTS) {
            oracle reference;
            oracle_spgemm(A, B, &reference);
            const char *wrong = oracle_check(&reference, &C, 1);
            failed += wrong ? fails(name, wrong) : 0;
            oracle_free(&reference);
        } else {
            int64_t row = 0;
            if (hybrid_verify_spgemm(engine, A, B, &C, 3, 1, &row) != HYBRID_OK ||
                row >= 0)
                failed += fails(name, "Freivalds' check failed");
        }
        printf("%-18s %11lld products, %10lld entries, %4lld chunks\n", name,
               (long long)products, (long long)C.nnz, (long long)report.chunks);
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
    return failed;
}

static int check_spmm(const char *name, const hybrid_csr *A)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_dense X, Y, before;
    int failed = 0;

    dense_make(A->cols, COLUMNS, 0, HYBRID_ROW_MAJOR, 3, kind, &X);
    dense_make(A->rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 4, kind, &Y);
    dense_copy(&Y, &before);
    if (hybrid_spmm(engine, 1, A, &X, 2, &Y) != HYBRID_OK) {
        failed = fails(name, hybrid_engine_message(engine));
    } else {
        const char *wrong = oracle_check_spmm(1, A, &X, 2, &before, &Y, 1);
        failed            = wrong ? fails(name, wrong) : 0;
    }
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    return failed;
}

/* Sets all values of A to small whole numbers, so that every sum is exact. */
static void set_integers(hybrid_csr *A)
{
    for (int64_t k = 0; k < A->nnz; k++)
        value_set(A->val, A->type, k, test_number(9, k, 1));
}

/* Checks A*A or, if A is not square, the smaller of A*A' and A'*A (A' is the transpose).
   Counts in *checked. Returns the number of failures. */
static int check_matrix(const char *folder, const char *name, int slow, int *checked)
{
    hybrid_csr A, T = {0};
    int failed = 0;

    if (read_packed(folder, name, &A) != 0)
        return 1;
    set_integers(&A);
    const int square = A.rows == A.cols;
    if (!square && hybrid_csr_transpose(engine, &A, &T) != HYBRID_OK)
        failed = fails(name, hybrid_engine_message(engine));
    if (failed == 0) {
        const hybrid_csr *left  = A.rows <= A.cols ? &A : &T;
        const hybrid_csr *right = square ? &A : A.rows <= A.cols ? &T : &A;
        const int64_t products  = count_products(left, right);
        if ((products > ORACLE_PRODUCTS) == slow) {
            failed += check_spgemm(name, left, right, products);
            failed += check_spmm(name, &A);
            ++*checked;
        }
    }
    hybrid_csr_free(engine, &T);
    hybrid_csr_free(engine, &A);
    hybrid_engine_trim(engine);
    fflush(stdout);
    return failed;
}

int main(int argc, char **argv)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    const int slow                = argc > 1 && strcmp(argv[1], "slow") == 0;
    const char *folder            = getenv("HYBRID_DATA");
    char path[PATH_MAX], line[4096];
    int failed = 0, checked = 0;

    snprintf(path, sizeof path, "%s/MANIFEST.tsv", folder ? folder : ".");
    FILE *manifest = fopen(path, "r");
    if (!manifest) {
        printf("skipped: no %s\n", path);
        return SKIP;
    }
    options.backend      = HYBRID_HOST;
    options.device_bytes = BUDGET;
    options.host_bytes   = HOST_BYTES;
    if (hybrid_engine_create(&options, &engine) != HYBRID_OK)
        return 1;
    if (!fgets(line, sizeof line, manifest)) /* skips the header line */
        failed = fails(path, "is empty");
    while (fgets(line, sizeof line, manifest)) {
        line[strcspn(line, "\t\n")] = '\0';
        failed += check_matrix(folder, line, slow, &checked);
    }
    fclose(manifest);
    hybrid_engine_destroy(engine);
    printf("%d matrices checked, %d failures\n", checked, failed);
    return failed > 0 || checked == 0;
}
