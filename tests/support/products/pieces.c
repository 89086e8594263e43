/* tests/support/products/pieces.c - products whose chunks have more entries than their
   slots have room for. */
#include "support/products/pieces.h"

#include <stdio.h>
#include <string.h>

#include "support/check/oracle.h"
#include "support/inputs/builder.h"

enum { MANY = 100 /* number of chunks with which less memory shows nothing new */ };

/* Sizes of a product: rows of C of both kinds, entries of a row of A, and of a row of
   B. */
typedef struct sizes {
    int64_t rows, entries, length;
} sizes;

/* spgemm.cuda.hash sorts rows of up to 256 scalar products in registers, finds longer
   ones in trees, and cuts those of more than 131072 into windows. */
static const sizes cases[] = {
    {3000, 4, 8}, {2000, 12, 16}, {600, 32, 32}, {60, 128, 64}, {12, 400, 512}};

/* ---- the product ----------------------------------------------------------------- */

/* The first `entries` rows of B have the same columns. The rows that follow have columns
   of their own. */
static hybrid_csr make_b(int64_t entries, int64_t length, test_kind kind)
{
    builder b = build_start(2 * entries, (entries + 1) * length);

    for (int64_t i = 0; i < 2 * entries; i++) {
        for (int64_t j = 0; j < length; j++)
            build_add(&b, (i < entries ? 0 : i - entries + 1) * length + j);
        build_end_row(&b);
    }
    return build_finish(&b, 2, kind);
}

void uneven_make(int64_t rows, int64_t entries, int64_t length, hybrid_type type,
                 uneven *out)
{
    const test_kind kind = {type, HYBRID_I64, 1};
    builder b            = build_start(2 * rows, 2 * entries);

    for (int64_t i = 0; i < 2 * rows; i++) {
        for (int64_t k = 0; k < entries; k++)
            build_add(&b, (i < rows ? 0 : entries) + k);
        build_end_row(&b);
    }
    out->A = build_finish(&b, 1, kind);
    out->B = make_b(entries, length, kind);
}

void uneven_free(uneven *product)
{
    matrix_free(&product->A);
    matrix_free(&product->B);
}

/* ---- one plan -------------------------------------------------------------------- */

typedef struct checking {
    const uneven *product;
    oracle C;
    const char *variant;
    int64_t checked, again;
    int64_t chunks; /* number of chunks of the last product */
    int failed;
} checking;

/* State of the function that hybrid_spgemm_each() calls with rows of C. */
typedef struct received {
    const oracle *C;
    int64_t row;
    const char *wrong;
} received;

static int receive(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    received *r         = user;
    const int64_t first = r->C->row_ptr[row_begin];

    if (row_begin != r->row)
        r->wrong = "rows are not in order";
    r->row = row_begin + rows->rows;
    for (int64_t i = 0; i <= rows->rows; i++)
        if (((const int64_t *)rows->row_ptr)[i] != r->C->row_ptr[row_begin + i] - first)
            r->wrong = "a row has another length";
    for (int64_t e = 0; e < rows->nnz && !r->wrong; e++) {
        const double value = rows->type == HYBRID_F32
                                 ? (double)((const float *)rows->val)[e]
                                 : ((const double *)rows->val)[e];
        if (((const int32_t *)rows->col)[e] != r->C->col[first + e] ||
            value != (double)r->C->sum[first + e])
            r->wrong = "an entry is wrong";
    }
    return r->wrong != NULL;
}

void pieces_count(void *passages, const hybrid_event *event)
{
    *(int64_t *)passages += strcmp(event->stage, "multiply") == 0 && event->part == 0;
}

static void fail(checking *c, const char *why)
{
    fprintf(stderr, "%s, %lld rows: %s\n", c->variant, (long long)c->product->A.rows,
            why);
    c->failed++;
}

/* Runs the plan, or lets it hand out rows. */
static void run(checking *c, hybrid_engine *engine, hybrid_plan *plan, int each)
{
    const uneven *p      = c->product;
    received r           = {&c->C, 0, NULL};
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C         = {0};
    int64_t passages     = 0;
    const char *wrong    = NULL;

    hybrid_engine_trace(engine, pieces_count, &passages);
    const hybrid_status status = each
                                     ? hybrid_spgemm_each(plan, &p->A, &p->B, receive, &r)
                                     : hybrid_spgemm_run(plan, &p->A, &p->B, &C);
    hybrid_engine_trace(engine, NULL, NULL);
    if (status != HYBRID_OK)
        wrong = r.wrong ? r.wrong : hybrid_engine_message(engine);
    else if (!each)
        wrong = oracle_check(&c->C, &C, 1);
    if (wrong)
        fail(c, wrong);
    hybrid_plan_report(plan, &report);
    c->checked++;
    c->again += passages > report.chunks;
    c->chunks = report.chunks;
    hybrid_csr_free(engine, &C);
}

/* Makes a plan with this budget and runs it. Chunks have no other limit than memory.
   Returns 0 if a row does not fit, or if the product has MANY chunks. */
static int with_budget(checking *c, budget_open open, size_t budget)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;

    options.variant    = c->variant;
    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = c->product->A.rows;
    options.flags      = HYBRID_REUSE;
    if (open(budget, &engine) != HYBRID_OK) {
        fail(c, "no engine");
        return 0;
    }
    const hybrid_status status =
        hybrid_spgemm_plan(engine, &c->product->A, &c->product->B, &options, &plan);
    for (int i = 0; i < 3 && status == HYBRID_OK; i++)
        run(c, engine, plan, i == 2);
    if (status == HYBRID_OK)
        hybrid_plan_destroy(plan);
    else if (status != HYBRID_NO_DEVICE_MEMORY)
        fail(c, hybrid_engine_message(engine));
    hybrid_engine_destroy(engine);
    return status == HYBRID_OK && c->chunks < MANY;
}

static void check_case(checking *c, budget_open open, const sizes *s, hybrid_type type)
{
    uneven p;

    uneven_make(s->rows, s->entries, s->length, type, &p);
    c->product = &p;
    oracle_spgemm(&p.A, &p.B, &c->C);
    for (size_t budget = (size_t)32 << 20; budget > 0; budget /= 2)
        if (!with_budget(c, open, budget))
            break;
    oracle_free(&c->C);
    uneven_free(&p);
}

int pieces_check(budget_open open, const char *variant, int64_t *checked, int64_t *again)
{
    static const hybrid_type types[] = {HYBRID_F32, HYBRID_F64};
    const size_t step                = (size_t)case_step(2);
    checking c                       = {.variant = variant};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = i % step; k < 2; k += step)
            check_case(&c, open, &cases[i], types[k]);
    *checked += c.checked;
    *again += c.again;
    return c.failed;
}
