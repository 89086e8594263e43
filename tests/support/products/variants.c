/* tests/support/products/variants.c - every variant of a backend on every test case. */
#include "support/products/variants.h"

#include <stdio.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/check/oracle.h"

enum { PRIME_ROWS = 7 };

static const int64_t chunk_rows[] = {1, PRIME_ROWS, 0};
/* Widths of X. Each case is multiplied with the first FEW_WIDTHS of them; the case named
   MANY_WIDTHS with all, but not in chunks of one row. */
static const int64_t widths[]   = {1,   4,   33,  129, 2,   3,   8,   9,  16, 17,
                                   18,  31,  32,  34,  35,  36,  64,  65, 66, 98,
                                   100, 128, 256, 512, 130, 131, 132, 257};
static const char MANY_WIDTHS[] = "random";
/* Value type, offset type, and whether values are whole numbers. Kinds i and i + 2
   differ in both types, so that a case with every second kind still has all types. */
static const test_kind kinds[] = {
    {HYBRID_F32, HYBRID_I32, 1},
    {HYBRID_F32, HYBRID_I64, 0},
    {HYBRID_F64, HYBRID_I64, 1},
    {HYBRID_F64, HYBRID_I32, 0},
};

enum {
    KINDS      = sizeof kinds / sizeof *kinds,
    F32_KINDS  = 2, /* number of the leading kinds that are f32 */
    CHUNKINGS  = 3,
    FEW_WIDTHS = 4,
    WIDTHS     = sizeof widths / sizeof *widths,
    MANY_ROWS  = 1000
};

/* One variant, one case and the options of its products. */
typedef struct trial {
    hybrid_engine *engine;
    const char *variant;
    const test_case *c;
    test_kind kind;
    int many_chunks; /* 1: chunks may be so small that a product has thousands */
    int pinned;      /* 1: operands and Y are pinned */
    hybrid_plan_options options;
    int64_t *rounded; /* counter of rounded products (see variants_check_tf32()); NULL:
                         HYBRID_ALLOW_TF32 is not set */
    int64_t *shared;  /* counter of shared products (see variants_check_shared()); NULL:
                         host and device do not share */
} trial;

static int complain(const trial *t, const char *what)
{
    fprintf(stderr, "%s, case %s, f%d, %s offsets, %s, %lld rows a chunk: %s\n",
            t->variant, t->c->name, t->kind.type == HYBRID_F64 ? 64 : 32,
            t->kind.offsets == HYBRID_I64 ? "64-bit" : "32-bit",
            t->kind.integers ? "integers" : "reals", (long long)t->options.chunk_rows,
            what);
    return 1;
}

/* Adds 1 to *t->shared if both the host and the device computed some chunks of the
   run. */
static void count_shared(const trial *t, const hybrid_plan *plan)
{
    hybrid_report r = HYBRID_REPORT_INIT;

    if (t->shared && hybrid_plan_report(plan, &r) == HYBRID_OK)
        *t->shared += r.host_chunks > 0 && r.host_chunks < r.chunks;
}

static int check_spgemm(const trial *t, const oracle *reference)
{
    hybrid_plan *plan;
    hybrid_csr C;
    int failed = 0;

    if (hybrid_spgemm_plan(t->engine, &t->c->A, &t->c->B, &t->options, &plan) !=
        HYBRID_OK)
        return complain(t, hybrid_engine_message(t->engine));
    if (hybrid_spgemm_run(plan, &t->c->A, &t->c->B, &C) != HYBRID_OK) {
        failed = complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong = oracle_check(reference, &C, t->kind.integers);
        failed            = wrong ? complain(t, wrong) : 0;
        hybrid_csr_free(t->engine, &C);
    }
    hybrid_plan_destroy(plan);
    return failed;
}

/* Pins (on = 1) or unpins an array if the trial is a pinned one. NULL and arrays of 0
   bytes are skipped. Returns the number of failures. */
static int pin(const trial *t, void *array, size_t bytes, int on)
{
    if (!t->pinned || !array || bytes == 0)
        return 0;
    const hybrid_status status =
        on ? hybrid_pin(t->engine, array, bytes) : hybrid_unpin(t->engine, array);
    return status == HYBRID_OK ? 0 : complain(t, hybrid_engine_message(t->engine));
}

static int pin_dense(const trial *t, const hybrid_dense *m, int on)
{
    const size_t size = m->type == HYBRID_F64 ? 8 : 4;
    return pin(t, m->data, (size_t)(m->rows * m->cols) * size, on);
}

static int pin_csr(const trial *t, const hybrid_csr *m, int on)
{
    const size_t size   = m->type == HYBRID_F64 ? 8 : 4;
    const size_t offset = m->offset_type == HYBRID_I64 ? 8 : 4;

    return pin(t, m->row_ptr, (size_t)(m->rows + 1) * offset, on) +
           pin(t, m->col, (size_t)m->nnz * 4, on) +
           pin(t, m->val, (size_t)m->nnz * size, on);
}

/* Returns 1 if the variant's refusal, which is the engine's last message, is allowed:
   SpMV variants may refuse more than one column of X, and matrices whose blocks would be
   too empty. */
static int may_refuse(const trial *t, int64_t cols)
{
    const char *message = hybrid_engine_message(t->engine);

    return strncmp(t->variant, "spmv.", 5) == 0 &&
           strstr(message,
                  cols == 1 ? "blocks would be too empty" : "one column of X only");
}

static const char *check_y(const trial *t, double alpha, const hybrid_dense *X,
                           double beta, const hybrid_dense *before, const hybrid_dense *Y)
{
    const hybrid_csr *A = &t->c->A;
    const int exact     = t->kind.integers;
    const char *wrong   = oracle_check_spmm(alpha, A, X, beta, before, Y, exact);

    if (!wrong || !t->rounded)
        return wrong;
    ++*t->rounded;
    return oracle_check_spmm_tf32(alpha, A, X, beta, before, Y, exact);
}

static int check_spmm(const trial *t, const hybrid_dense *X, hybrid_dense *Y,
                      double alpha, double beta, int64_t *checked)
{
    hybrid_plan *plan;
    hybrid_dense before;
    int failed = 0;

    const hybrid_status status =
        hybrid_spmm_plan(t->engine, &t->c->A, X->cols, &t->options, &plan);
    if (status == HYBRID_UNSUPPORTED && may_refuse(t, X->cols))
        return 0;
    ++*checked;
    if (status != HYBRID_OK)
        return complain(t, hybrid_engine_message(t->engine));
    dense_copy(Y, &before);
    failed += pin_dense(t, X, 1) + pin_dense(t, Y, 1);
    if (hybrid_spmm_run(plan, alpha, &t->c->A, X, beta, Y) != HYBRID_OK) {
        failed += complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong = check_y(t, alpha, X, beta, &before, Y);
        if (!wrong && !dense_gaps_intact(Y))
            wrong = "wrote between the rows of Y";
        failed += wrong ? complain(t, wrong) : 0;
        count_shared(t, plan);
    }
    failed += pin_dense(t, X, 0) + pin_dense(t, Y, 0);
    dense_free(&before);
    hybrid_plan_destroy(plan);
    return failed;
}

/* Checks one SpMM with width number w. The orders and gaps of X and Y, alpha and beta
   alternate with w. */
static int check_spmm_width(const trial *t, int w, int64_t *checked)
{
    const int turn             = w % 3;
    const hybrid_order x_order = turn == 1 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    const hybrid_order y_order = turn == 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    const double alpha         = t->pinned || turn == 0 ? 1 : -2;
    const double beta          = t->pinned || turn == 1 ? 0 : 3;
    const int64_t x_gap = t->pinned ? 0 : turn, y_gap = t->pinned ? 0 : 2 - turn;
    hybrid_dense X, Y;

    dense_make(t->c->A.cols, widths[w], x_gap, x_order, 11, t->kind, &X);
    dense_make(t->c->A.rows, widths[w], y_gap, y_order, 12, t->kind, &Y);
    const int failed = check_spmm(t, &X, &Y, alpha, beta, checked);
    dense_free(&X);
    dense_free(&Y);
    return failed;
}

static int check_spmm_shapes(const trial *t, int64_t *checked)
{
    const int many  = strcmp(t->c->name, MANY_WIDTHS) == 0 && t->options.chunk_rows != 1;
    const int count = many ? WIDTHS : FEW_WIDTHS;
    int failed      = 0;

    for (int w = 0; w < count; w++)
        failed += check_spmm_width(t, w, checked);
    return failed;
}

static int is_spgemm(const char *variant)
{
    return strncmp(variant, "spgemm", 6) == 0;
}

static void set_options(trial *t, const char *variant, int64_t rows)
{
    t->variant            = variant;
    t->options            = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    t->options.variant    = variant;
    t->options.chunk_rows = rows;
    t->options.flags      = HYBRID_CHECK | (t->rounded ? HYBRID_ALLOW_TF32 : 0);
    t->options.split      = t->shared ? HYBRID_SPLIT_SHARE : HYBRID_SPLIT_DEFAULT;
    t->options.host_share = 0.5;
}

static int check_case(trial t, const char *const *names, int64_t *checked)
{
    oracle reference;
    int failed = 0;

    oracle_spgemm(&t.c->A, &t.c->B, &reference);
    failed += pin_csr(&t, &t.c->A, 1) + pin_csr(&t, &t.c->B, 1);
    for (const char *const *name = names; *name; name++)
        /* pinned products begin with the second chunk size, because the first is one row
           a chunk */
        for (int k = t.pinned; k < CHUNKINGS; k++) {
            if (chunk_rows[k] == 1 && t.c->A.rows > MANY_ROWS && !t.many_chunks)
                continue;
            set_options(&t, *name, chunk_rows[k]);
            if (is_spgemm(*name) && t.shared)
                continue; /* an SpGEMM is not shared by host and device */
            if (is_spgemm(*name)) {
                failed += check_spgemm(&t, &reference);
                ++*checked;
            } else {
                failed += check_spmm_shapes(&t, checked);
            }
        }
    failed += pin_csr(&t, &t.c->A, 0) + pin_csr(&t, &t.c->B, 0);
    oracle_free(&reference);
    return failed;
}

/* 1 if plans may have thousands of chunks. They take long with the thread sanitizer. */
#ifdef __SANITIZE_THREAD__
enum { MANY_CHUNKS = 0 };
#else
enum { MANY_CHUNKS = 1 };
#endif

static int check_kinds(trial t, int count, const char *const *names, int64_t *checked)
{
    const int step = case_step(2);
    int failed     = 0;

    for (int i = 0; i < case_count(); i++)
        for (int k = i % step; k < count; k += step) {
            test_case c;
            case_make(i, kinds[k], &c);
            t.c    = &c;
            t.kind = kinds[k];
            /* thousands of chunks take long: they are allowed for one kind only */
            t.many_chunks = k == 0 && MANY_CHUNKS;
            failed += check_case(t, names, checked);
            case_free(&c);
        }
    return failed;
}

int variants_check_one(hybrid_engine *engine, const char *name, const test_case *c,
                       test_kind kind, const oracle *product, uint64_t dice,
                       int64_t *checked, int64_t *rounded)
{
    const int on_device = strstr(name, ".host.") == NULL;
    const int split = on_device && dice % 4 == 0, pinned = dice / 4 % 4 == 0;
    int64_t shared = 0;
    trial t        = {.engine  = engine,
                      .c       = c,
                      .kind    = kind,
                      .pinned  = pinned && on_device,
                      .rounded = rounded,
                      .shared  = split ? &shared : NULL};

    set_options(&t, name, dice / 16 % 4 == 0 ? PRIME_ROWS : 0);
    if (!is_spgemm(name))
        return check_spmm_width(&t, (int)(dice / 64 % FEW_WIDTHS), checked);
    ++*checked;
    return check_spgemm(&t, product);
}

int variants_check(hybrid_engine *engine, const char *const *names, int64_t *checked)
{
    return check_kinds((trial){.engine = engine}, KINDS, names, checked);
}

int variants_check_pinned(hybrid_engine *engine, const char *const *names,
                          int64_t *checked)
{
    return check_kinds((trial){.engine = engine, .pinned = 1}, KINDS, names, checked);
}

int variants_check_tf32(hybrid_engine *engine, const char *const *names, int64_t *checked,
                        int64_t *rounded)
{
    return check_kinds((trial){.engine = engine, .rounded = rounded}, F32_KINDS, names,
                       checked);
}

int variants_check_shared(hybrid_engine *engine, const char *const *names,
                          int64_t *checked, int64_t *shared)
{
    return check_kinds((trial){.engine = engine, .shared = shared}, KINDS, names,
                       checked);
}

int variants_of(const char *backend, const char **names, int room)
{
    hybrid_variant_info info;
    int count = 0;

    for (int i = 0; count + 1 < room && hybrid_variant_at(i, &info) == HYBRID_OK; i++) {
        const char *second  = strchr(info.name, '.') + 1;
        const size_t length = strlen(backend);
        if (strncmp(second, backend, length) == 0 && second[length] == '.')
            names[count++] = info.name;
    }
    names[count] = NULL;
    return count;
}

int variants_named(const char *const *names, const char *begin)
{
    int count = 0;

    for (; *names; names++)
        count += strncmp(*names, begin, strlen(begin)) == 0;
    return count;
}
