/* tests/variants/test_beyond_32_bits.c - more than 2^31 entries of A and C, and elements
   of X and Y.

   Without an argument the host computes, with "fake" a fake device, with "cuda" a GPU. A
   part for which the machine has too little memory is skipped with a message, and then
   the test counts as skipped. It is plain C without a test framework, because GPU
   machines seldom have one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "engine/api/engine.h"
#include "support/check/expect.h"
#include "support/fake/fake_backend.h"
#include "support/engines/open_cuda.h"

enum { SKIP = 77 };

static const int64_t BEYOND = (int64_t)1 << 31;

static hybrid_engine *engine;
static int skipped;

static int ok(hybrid_status status)
{
    if (status != HYBRID_OK)
        fprintf(stderr, "%s\n", hybrid_engine_message(engine));
    return status == HYBRID_OK;
}

/* ---- memory ---- */

static int64_t available_mib(void)
{
    FILE *file   = fopen("/proc/meminfo", "r");
    long long kb = 0;
    char line[128];

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kb) == 1)
            break;
    if (file)
        fclose(file);
    return kb >> 10;
}

static int has_memory(int64_t gib, const char *what)
{
    const int64_t mib = available_mib();

    if (mib >= gib << 10)
        return 1;
    printf("skipped: %s takes %lld GiB of memory, and %lld MiB are available\n", what,
           (long long)gib, (long long)mib);
    skipped = 1;
    return 0;
}

static void *need(void *memory)
{
    if (!memory || memory == MAP_FAILED) {
        perror("no memory for the test");
        exit(1);
    }
    return memory;
}

/* Returns `bytes` bytes of memory that repeat `piece`, a number of whole pages. All
   copies share the memory of one piece. */
static void *repeated(const void *piece, size_t piece_bytes, size_t bytes)
{
    const int file = memfd_create("piece", 0);
    const int on   = PROT_READ | PROT_WRITE;
    char *all = need(mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    if (file < 0 || write(file, piece, piece_bytes) != (ssize_t)piece_bytes)
        need(NULL);
    for (size_t at = 0; at < bytes; at += piece_bytes) {
        const size_t here = bytes - at < piece_bytes ? bytes - at : piece_bytes;
        need(mmap(all + at, here, on, MAP_SHARED | MAP_FIXED, file, 0));
    }
    close(file);
    return all;
}

/* ---- A ---- */

/* A row has the same entries as the row PERIOD before it. It has 3 * 2^14 entries, so
   that an index that overflows 32 bits does not reach an equal row. */
enum { EACH = 3 << 14, PERIOD = 83, ROWS = 530 * PERIOD, COLS = 2 * EACH };

static float a_value(int64_t i, int64_t k)
{
    return (float)(1 + (i % PERIOD * 5 + k) % 7);
}

static int32_t a_col(int64_t i, int64_t k)
{
    return (int32_t)(2 * k + i % PERIOD % 2);
}

static hybrid_csr make_a(void)
{
    const size_t bytes = (size_t)EACH * PERIOD * 4, all = (size_t)EACH * ROWS * 4;
    int64_t *row_ptr = need(malloc((ROWS + 1) * sizeof *row_ptr));
    int32_t *col     = need(malloc(bytes));
    float *val       = need(malloc(bytes));

    for (int64_t i = 0; i <= ROWS; i++)
        row_ptr[i] = i * EACH;
    for (int64_t i = 0; i < PERIOD; i++)
        for (int64_t k = 0; k < EACH; k++) {
            col[i * EACH + k] = a_col(i, k);
            val[i * EACH + k] = a_value(i, k);
        }
    const hybrid_csr A = {ROWS,
                          COLS,
                          (int64_t)ROWS * EACH,
                          HYBRID_I64,
                          row_ptr,
                          repeated(col, bytes, all),
                          repeated(val, bytes, all),
                          HYBRID_F32};
    free(col);
    free(val);
    return A;
}

static void free_a(hybrid_csr *A)
{
    const size_t bytes = (size_t)A->nnz * 4;

    free(A->row_ptr);
    munmap(A->col, bytes);
    munmap(A->val, bytes);
}

static float x_value(int64_t row)
{
    return (float)(row % 11 - 5);
}

/* Returns row i of A times the vector of x_value(), over the columns with column % every
   == rest. */
static float sum_of(int64_t i, int64_t every, int64_t rest)
{
    float sum = 0;

    for (int64_t k = 0; k < EACH; k++)
        if (a_col(i, k) % every == rest)
            sum += a_value(i, k) * x_value(a_col(i, k));
    return sum;
}

static void check_entries_spmm(const hybrid_csr *A)
{
    float *x = need(malloc(COLS * sizeof *x)), *y = need(calloc(ROWS, sizeof *y));
    const hybrid_dense X = {COLS, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F32};
    hybrid_dense Y       = {ROWS, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F32};
    float right[PERIOD];
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS; j++)
        x[j] = x_value(j);
    for (int64_t i = 0; i < PERIOD; i++)
        right[i] = sum_of(i, 1, 0);
    expect(ok(hybrid_spmm(engine, 1, A, &X, 0, &Y)), "A*X, A of more than 2^31 entries");
    for (int64_t i = 0; i < ROWS; i++)
        wrong += y[i] != right[i % PERIOD];
    expect(wrong == 0, "rows of A*X, A of more than 2^31 entries");
    free(x);
    free(y);
}

/* Checks A*B, where A has more than 2^31 entries and B three columns and one entry per
   row. */
static void check_entries_spgemm(const hybrid_csr *A)
{
    int64_t *row_ptr = need(malloc((COLS + 1) * sizeof *row_ptr)), wrong = 0;
    int32_t *col       = need(malloc(COLS * sizeof *col));
    float *val         = need(malloc(COLS * sizeof *val)), right[PERIOD][3];
    const hybrid_csr B = {COLS, 3, COLS, HYBRID_I64, row_ptr, col, val, HYBRID_F32};
    hybrid_csr C;

    for (int64_t j = 0; j <= COLS; j++)
        row_ptr[j] = j;
    for (int64_t j = 0; j < COLS; j++) {
        col[j] = (int32_t)(j % 3);
        val[j] = x_value(j);
    }
    for (int64_t i = 0; i < PERIOD; i++)
        for (int j = 0; j < 3; j++)
            right[i][j] = sum_of(i, 3, j);
    if (ok(hybrid_spgemm(engine, A, &B, &C))) {
        expect(C.nnz == 3 * ROWS, "entries of A*B, A of more than 2^31");
        for (int64_t k = 0; k < C.nnz && C.nnz == 3 * ROWS; k++)
            wrong += hy_cols(&C)[k] != k % 3 ||
                     ((const float *)C.val)[k] != right[k / 3 % PERIOD][k % 3];
        expect(wrong == 0, "values of A*B, A of more than 2^31 entries");
        hybrid_csr_free(engine, &C);
    } else {
        expect(0, "A*B, A of more than 2^31 entries");
    }
    free(row_ptr);
    free(col);
    free(val);
}

static void check_entries(int with_spgemm)
{
    if (!has_memory(2, "A of more than 2^31 entries"))
        return;
    hybrid_csr A = make_a();
    expect(A.nnz > BEYOND, "that many entries");
    check_entries_spmm(&A);
    if (with_spgemm)
        check_entries_spgemm(&A);
    free_a(&A);
}

/* ---- X and Y ---- */

/* Columns of X and Y, and rows of A, which have one entry each. */
enum { WIDTH = 96, Y_ROWS = 23000000, X_ROWS = Y_ROWS, X_PERIOD = 4096 * 7 };

static hybrid_csr one_entry_a_row(int64_t rows, int64_t cols, int64_t step)
{
    int64_t *row_ptr = need(malloc((size_t)(rows + 1) * 8));
    int32_t *col     = need(malloc((size_t)rows * 4));
    float *val       = need(malloc((size_t)rows * 4));

    for (int64_t i = 0; i <= rows; i++)
        row_ptr[i] = i;
    for (int64_t i = 0; i < rows; i++) {
        col[i] = (int32_t)(i * step % cols);
        val[i] = (float)(1 + i % 5);
    }
    return (hybrid_csr){rows, cols, rows, HYBRID_I64, row_ptr, col, val, HYBRID_F32};
}

static void free_arrays(hybrid_csr *A)
{
    free(A->row_ptr);
    free(A->col);
    free(A->val);
}

static float dense_value(int64_t i, int64_t j)
{
    return (float)(i * 13 % 1021 + j);
}

static void fill(float *x, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < WIDTH; j++)
            x[i * WIDTH + j] = dense_value(i, j);
}

/* Returns the number of wrong rows of Y = A*X, where A has one entry per row and row r of
   X equals row r % period. */
static int64_t wrong_rows(const hybrid_csr *A, int64_t period, const float *y)
{
    int64_t wrong = 0;

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < WIDTH; j++)
            if (y[i * WIDTH + j] !=
                ((const float *)A->val)[i] * dense_value(hy_cols(A)[i] % period, j)) {
                wrong++;
                break;
            }
    return wrong;
}

static void check_y(void)
{
    enum { FEW = 1009 };
    const size_t bytes = (size_t)Y_ROWS * WIDTH * 4;

    if (!has_memory(11, "Y of more than 2^31 elements"))
        return;
    hybrid_csr A = one_entry_a_row(Y_ROWS, FEW, 1);
    float *x = need(malloc((size_t)FEW * WIDTH * 4)), *y = need(malloc(bytes));
    const hybrid_dense X = {FEW, WIDTH, WIDTH, HYBRID_ROW_MAJOR, x, HYBRID_F32};
    hybrid_dense Y       = {Y_ROWS, WIDTH, WIDTH, HYBRID_ROW_MAJOR, y, HYBRID_F32};

    expect(Y.rows * Y.cols > BEYOND, "that many elements of Y");
    fill(x, FEW);
    expect(ok(hybrid_spmm(engine, 1, &A, &X, 0, &Y)), "Y of more than 2^31 elements");
    expect(wrong_rows(&A, FEW, y) == 0, "rows of a Y of more than 2^31 elements");
    free(x);
    free(y);
    free_arrays(&A);
}

/* Checks A*X with more than 2^31 elements of X, of which A needs all parts. */
static void check_x(void)
{
    enum { FEW = 200000 };
    const size_t piece = (size_t)X_PERIOD * WIDTH * 4;
    const size_t bytes = (size_t)X_ROWS * WIDTH * 4;

    if (!has_memory(4, "X of more than 2^31 elements"))
        return;
    hybrid_csr A = one_entry_a_row(FEW, X_ROWS, 22999933);
    float *x = need(malloc(piece)), *y = need(malloc((size_t)FEW * WIDTH * 4));
    fill(x, X_PERIOD);
    const hybrid_dense X = {
        X_ROWS, WIDTH, WIDTH, HYBRID_ROW_MAJOR, repeated(x, piece, bytes), HYBRID_F32};
    hybrid_dense Y = {FEW, WIDTH, WIDTH, HYBRID_ROW_MAJOR, y, HYBRID_F32};

    expect(X.rows * X.cols > BEYOND, "that many elements of X");
    expect(ok(hybrid_spmm(engine, 1, &A, &X, 0, &Y)), "X of more than 2^31 elements");
    expect(wrong_rows(&A, X_PERIOD, y) == 0, "rows with an X of more than 2^31 elements");
    munmap(X.data, bytes);
    free(x);
    free(y);
    free_arrays(&A);
}

/* ---- C ---- */

/* Returns the number of wrong rows of C, whose row i is a_ik times row k of B. */
static int64_t wrong_products(const hybrid_csr *A, const hybrid_csr *B,
                              const hybrid_csr *C)
{
    int64_t wrong = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t b = hy_cols(A)[i] * (int64_t)EACH, c = i * EACH;
        const float a = ((const float *)A->val)[i];
        int right     = hy_offset(C, i) == c;
        for (int64_t k = 0; k < EACH; k++)
            right &=
                (hy_col(C, c + k) == hy_cols(B)[b + k]) &
                (((const float *)C->val)[c + k] == a * ((const float *)B->val)[b + k]);
        wrong += !right;
    }
    return wrong;
}

/* Requested bits of offsets and columns, and resulting bits of columns; 0: C is
   refused. */
typedef struct widths {
    const char *name;
    hybrid_index offsets, columns;
    size_t bits;
    int64_t gib; /* memory needed, in GiB */
} widths;

static const widths all_widths[] = {
    {"C of more than 2^31 entries", HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT, 32, 19},
    {"C with 32-bit offsets", HYBRID_I32, HYBRID_I32, 0, 19},
    {"C with 64-bit columns", HYBRID_I64, HYBRID_I64, 64, 27},
    {"C with columns that are widened", HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO, 64, 36}};

static void check_widths(const hybrid_csr *A, const hybrid_csr *B, const widths *w)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr C                = {0};

    if (!has_memory(w->gib, w->name))
        return;
    options.offsets            = w->offsets;
    options.columns            = w->columns;
    const hybrid_status status = hybrid_spgemm_with(engine, &options, A, B, &C);
    if (w->bits == 0)
        expect(status == HYBRID_UNSUPPORTED && !C.row_ptr, w->name);
    else
        expect(ok(status) && C.nnz == (int64_t)ROWS * EACH && C.nnz > BEYOND &&
                   C.offset_type == HYBRID_I64 && hy_col_size(&C) * 8 == w->bits &&
                   wrong_products(A, B, &C) == 0,
               w->name);
    hybrid_csr_free(engine, &C);
    hybrid_engine_trim(engine); /* frees the pages of C, so that the next result fits into
                                   memory */
}

/* Checks results C of more than 2^31 entries: each row of A needs one row of B, which has
   EACH entries. */
static void check_c(void)
{
    enum { B_ROWS = 101 };
    hybrid_csr all = make_a(), B = all, A = one_entry_a_row(ROWS, B_ROWS, 1);

    B.rows = B_ROWS;
    B.nnz  = (int64_t)B_ROWS * EACH;
    for (size_t i = 0; i < sizeof all_widths / sizeof *all_widths; i++)
        check_widths(&A, &B, &all_widths[i]);
    free_arrays(&A);
    free_a(&all);
}

/* ---- engines ---- */

static hybrid_status open_fake(void)
{
    extern const hy_backend_ops hy_host_backend_ops;
    static const hy_backend_ops *const places[] = {&hy_fake_backend_ops,
                                                   &hy_host_backend_ops, NULL};
    static const hy_variant *const variants[]   = {&hy_spmm_fake_rows, NULL};
    hybrid_engine_options options               = HYBRID_ENGINE_OPTIONS_INIT;

    options.device_bytes = (size_t)256 << 20; /* device memory; the fake device's is host
                                                 memory */
    return fake_engine_open(&options, places, variants, &engine);
}

static hybrid_status open_host(void)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend = HYBRID_HOST;
    return hybrid_engine_create(&options, &engine);
}

int main(int argc, char **argv)
{
    const char *where = argc > 1 ? argv[1] : "host";
    const int fake = strcmp(where, "fake") == 0, cuda = strcmp(where, "cuda") == 0;

    const hybrid_status status = fake   ? open_fake()
                                 : cuda ? open_cuda(0, &engine)
                                        : open_host();
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    check_entries(!fake);
    check_x();
    if (!fake) {
        check_y();
        check_c();
    }
    hybrid_engine_destroy(engine);
    return expect_failed() > 0 ? 1 : skipped ? SKIP : 0;
}
