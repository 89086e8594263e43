/* tests/support/engines/engines.c - several engines at once in one process, each in a
   thread of its own. */
#include "support/engines/engines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads/clock.h"
#include "support/products/variants.h"

enum { KINDS = 4, MOST_ENGINES = 8, MOST_VARIANTS = 64, ENOUGH = 20, ONE_LIFE = 3 };
enum {
    TRIES = 2
}; /* least number of products that each thread computes with each
      variant */

static const test_kind kinds[KINDS] = {{HYBRID_F32, HYBRID_I32, 1},
                                       {HYBRID_F32, HYBRID_I64, 0},
                                       {HYBRID_F64, HYBRID_I64, 1},
                                       {HYBRID_F64, HYBRID_I32, 0}};

static const size_t budgets[] = {0, (size_t)64 << 20, (size_t)256 << 20, (size_t)1 << 30};

enum { BUDGETS = sizeof budgets / sizeof *budgets };

/* Square matrices with ROWS rows. Rows of their products take some hundred to some
   thousand scalar products each. GPU variants have a kernel for each range of row
   lengths; these squares use all of them. */
enum { ROWS = 700, SQUARES = 3 };
static const double per_row[SQUARES] = {18, 27, 45};

/* ---- products: made once, read by all threads ---- */

typedef struct product {
    test_case c;
    test_kind kind;
    oracle right;
} product;

static void make_square(int i, test_kind kind, test_case *out)
{
    out->name = "square";
    matrix_random(ROWS, ROWS, per_row[i], 31, kind, &out->A);
    matrix_random(ROWS, ROWS, per_row[i], 32, kind, &out->B);
}

static product *make_products(int *count)
{
    const int cases = case_count() + SQUARES;
    product *all    = calloc((size_t)(cases * KINDS), sizeof *all);

    if (!all)
        abort();
    *count = cases * KINDS;
    for (int i = 0; i < *count; i++) {
        product *p = &all[i];
        p->kind    = kinds[i % KINDS];
        if (i / KINDS < SQUARES)
            make_square(i / KINDS, p->kind, &p->c);
        else
            case_make(i / KINDS - SQUARES, p->kind, &p->c);
        oracle_spgemm(&p->c.A, &p->c.B, &p->right);
    }
    return all;
}

static void free_products(product *all, int count)
{
    for (int i = 0; i < count; i++) {
        case_free(&all[i].c);
        oracle_free(&all[i].right);
    }
    free(all);
}

/* ---- one thread ---- */

typedef struct worker {
    const engines_run *run;
    const product *products;
    int product_count;
    uint64_t index, turn;
    int64_t until_ns;
    int failed;
    int64_t checked[MOST_VARIANTS]; /* for each variant, the number of products checked */
    pthread_t thread;
} worker;

static int variant_count(const worker *w)
{
    int count = 0;

    while (w->run->names[count])
        count++;
    return count;
}

/* Returns 1 while the thread must continue: its time is not up, or it has not yet
   computed TRIES products with each variant. A slow machine thus takes longer and tests
   no less. Returns 0 after ENOUGH failures. */
static int goes_on(const worker *w)
{
    const int few = w->turn < (uint64_t)(TRIES * variant_count(w));

    return w->failed < ENOUGH && (few || hy_now_ns() < w->until_ns);
}

/* Multiplies once and checks the result. Each call takes the next variant; threads begin
   with different variants. A third of the products are squares. */
static void multiply(worker *w, hybrid_engine *engine)
{
    const uint64_t dice = test_hash(w->index, w->turn), rest = dice >> 32;
    const int squares = dice % 3 == 0;
    const int among   = squares ? SQUARES * KINDS : w->product_count;
    const product *p  = &w->products[rest % (uint64_t)among];
    const int v       = (int)((w->turn++ + w->index) % (uint64_t)variant_count(w));

    w->failed += variants_check_one(engine, w->run->names[v], &p->c, p->kind, &p->right,
                                    dice / 3, &w->checked[v], NULL);
}

/* Creates an engine, computes at most `products` products with it, and destroys it. */
static void live(worker *w, int64_t products)
{
    hybrid_engine *engine;

    if (w->run->open(budgets[(w->index + w->turn) % BUDGETS], &engine) != HYBRID_OK) {
        w->failed++;
        return;
    }
    while (products-- > 0 && goes_on(w))
        multiply(w, engine);
    hybrid_engine_destroy(engine);
}

static void *live_once(void *arg)
{
    live(arg, INT64_MAX);
    return NULL;
}

static void *live_often(void *arg)
{
    worker *w = arg;

    while (goes_on(w))
        live(w, ONE_LIFE);
    return NULL;
}

/* ---- all threads ---- */

static int64_t count_all(const worker *workers, int threads, int v)
{
    int64_t sum = 0;

    for (int t = 0; t < threads; t++)
        sum += workers[t].checked[v];
    return sum;
}

int engines_check(const engines_run *run, int64_t *checked)
{
    const int threads = run->engines + run->churn;
    worker *workers   = calloc(MOST_ENGINES, sizeof *workers);
    int failed        = 0, products;
    product *all      = make_products(&products);

    if (!workers || threads > MOST_ENGINES)
        abort();
    const int64_t until = hy_now_ns() + (int64_t)(run->seconds * 1e9);
    for (int t = 0; t < threads; t++) {
        worker *w   = &workers[t];
        *w          = (worker){.run = run, .products = all, .product_count = products};
        w->index    = (uint64_t)t;
        w->until_ns = until;
        if (pthread_create(&w->thread, NULL, t < run->engines ? live_once : live_often,
                           w))
            abort();
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(workers[t].thread, NULL);
        failed += workers[t].failed;
    }
    for (int v = 0; run->names[v]; v++) {
        const int64_t made = count_all(workers, threads, v);
        *checked += made;
        failed += made == 0;
        if (made == 0)
            fprintf(stderr, "nobody computed with %s\n", run->names[v]);
    }
    free_products(all, products);
    free(workers);
    return failed;
}
