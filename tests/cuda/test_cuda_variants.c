/* tests/cuda/test_cuda_variants.c - every GPU variant on every test case.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. With an argument only variants whose names begin with it are
   tested, and only as many products as launch each of their kernels: for tools that make
   kernels slow. A second argument is the number of rows of the large products. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tables/tables.h"
#include "support/products/bits.h"
#include "support/inputs/large.h"
#include "support/inputs/not_finite.h"
#include "support/check/not_read.h"
#include "support/engines/open_cuda.h"
#include "support/runs/column_block_runs.h"
#include "support/runs/pinned_column_blocks.h"
#include "support/runs/resident.h"
#include "support/check/tell.h"
#include "support/products/variants.h"

enum { ROOM = 64, SKIP = 77, TURNS = 3, WIDTH_STEP = 5, FORM = 64 };

static int check_products(hybrid_engine *engine, const char *const *names)
{
    int64_t any = 0, pinned = 0, together = 0, shared = 0;

    int wrong  = variants_check(engine, names, &any);
    int failed = tell_halved("products", any, 5000, wrong);
    wrong      = variants_check_pinned(engine, names, &pinned);
    failed += tell_halved("products of pinned operands", pinned, 4000, wrong);
    wrong = variants_check_shared(engine, names, &together, &shared);
    failed += tell("products shared with the host", together, 2500, wrong);
    return failed + tell("products of which both computed a part", shared, 1200, 0);
}

/* Returns the number of SpGEMM variants that add in a fixed order. */
static int in_fixed_order(const char *const *names)
{
    int count = 0;

    for (const hy_variant *const *v = hy_variants; *v; v++)
        for (const char *const *name = names; *name; name++)
            count += (*v)->op == HY_SPGEMM && !(*v)->unordered &&
                     strcmp((*v)->name, *name) == 0;
    return count;
}

/* Checks exact bits of products (support/products/bits.h). A variant for SpMV computes
   only some of the matrices, so that it must have computed at least one. */
static int check_bits(hybrid_engine *engine, const char *const *names)
{
    const int fixed_order = in_fixed_order(names);
    const int spmm        = variants_named(names, "spmm.");
    int64_t products = 0, runs = 0;

    int wrong = bits_check(engine, names, &products);
    int failed =
        tell_all("deterministic products", products, fixed_order * BITS_PRODUCTS, wrong);
    wrong = bits_check_spmm(engine, names, &runs);
    return failed + tell("deterministic runs of SpMM", runs, spmm * BITS_RUNS + 1, wrong);
}

static int check_resident(hybrid_engine *engine, const char *const *names)
{
    int64_t checked = 0;

    const int wrong = resident_check(engine, names, &checked);
    return tell_halved("plans with A resident", checked, 1200, wrong);
}

static int check_panels(hybrid_engine *engine, const char *const *names)
{
    int64_t any = 0, pinned = 0;

    int wrong  = column_blocks_check(engine, names, &any);
    int failed = tell("plans with X in column blocks", any, 1000, wrong);
    wrong      = pinned_column_blocks_check(engine, names, &pinned);
    return failed + tell_halved("products of pinned X and Y in column blocks", pinned,
                                1000, wrong);
}

/* Checks products that are so large that they occupy the whole GPU, and products with
   infinities. */
static int check_odd(hybrid_engine *engine, const char *const *names)
{
    const int spmm   = variants_named(names, "spmm.");
    const int spgemm = variants_named(names, "spgemm.");
    int64_t large = 0, rows = 0, odd = 0;

    int wrong  = large_check(engine, names, LARGE_ROWS, 1, &large);
    int failed = tell_all("large products", large, spmm * LARGE_PRODUCTS, wrong);
    wrong      = large_check_spgemm(engine, names, LARGE_LIKE, &rows);
    failed += tell_all("products of long rows", rows, spgemm * LARGE_SPGEMM, wrong);
    wrong = not_finite_check(engine, "spmm.cuda.hrpb", HYBRID_ALLOW_TF32, &odd);
    for (; *names; names++)
        if (strncmp(*names, "spmm.", 5) == 0)
            wrong += not_finite_check(engine, *names, 0, &odd);
    return failed + tell_all("products with infinities", odd,
                             (spmm + 1) * NOT_FINITE_PRODUCTS, wrong);
}

/* Checks variants that use tensor cores, whose operands are rounded to TF32. */
static int check_tf32(hybrid_engine *engine)
{
    const char *const names[] = {"spmm.cuda.hrpb", NULL};
    int64_t checked = 0, rounded = 0;

    const int wrong  = variants_check_tf32(engine, names, &checked, &rounded);
    const int failed = tell_halved("TF32 products", checked, 500, wrong);
    return failed + tell_halved("of them rounded", rounded, 200, 0);
}

/* Checks Y = alpha*A*X + beta*Y with alpha or beta 0, and with NaN in operands that must
   not be read. */
static int check_not_read(hybrid_engine *engine, const char *const *names)
{
    const char *spmm[ROOM];
    int64_t checked = 0;
    int count       = 0;

    for (; *names; names++)
        if (strncmp(*names, "spmm.", 5) == 0)
            spmm[count++] = *names;
    spmm[count]     = NULL;
    const int wrong = not_read_check(engine, spmm, &checked);
    return tell("products with alpha 0 or beta 0", checked, 180, wrong);
}

/* Checks variants in the original forms of their papers, which the parameter paper=1
   selects. */
static int check_papers(hybrid_engine *engine)
{
    const char *const scalar[]  = {"spmm.cuda.rows:paper=1", "spmm.cuda.merge:paper=1",
                                   NULL};
    const char *const rounded[] = {"spmm.cuda.hrpb:paper=1", NULL};
    int64_t checked = 0, tf32 = 0, differ = 0, large = 0;

    int wrong  = variants_check(engine, scalar, &checked);
    int failed = tell("products as in papers", checked, 1000, wrong);
    wrong      = variants_check_tf32(engine, rounded, &tf32, &differ);
    failed += tell_halved("TF32 products as in papers", tf32, 500, wrong);
    failed += tell_halved("of them rounded", differ, 200, 0);
    wrong = large_check(engine, scalar, LARGE_ROWS, 1, &large);
    return failed +
           tell_all("large products as in papers", large, 2 * LARGE_PRODUCTS, wrong);
}

/* Checks all that must hold if all variants are tested. It requires fixed numbers of
   products. */
static int check_all(hybrid_engine *engine, const char *const *names)
{
    return check_products(engine, names) + check_bits(engine, names) +
           check_resident(engine, names) + check_panels(engine, names) +
           check_odd(engine, names) + check_tf32(engine) + check_papers(engine) +
           check_not_read(engine, names);
}

/* Checks TURNS products of case number i with each variant. */
static int check_case(hybrid_engine *engine, const char *const *names, int i,
                      test_kind kind, int64_t *checked, int64_t *rounded)
{
    int failed = 0;
    oracle product;
    test_case c;

    case_make(i, kind, &c);
    oracle_spgemm(&c.A, &c.B, &product);
    for (const char *const *name = names; *name; name++)
        for (uint64_t turn = 0; turn < TURNS; turn++)
            failed += variants_check_one(engine, *name, &c, kind, &product,
                                         test_hash((uint64_t)i, turn), checked, rounded);
    oracle_free(&product);
    case_free(&c);
    return failed;
}

/* Checks each case with each variant; value types alternate. If spmm.cuda.hrpb is among
   the variants, f32 is tested with and without TF32. */
static int check_each_case(hybrid_engine *engine, const char *const *names,
                           int64_t *checked)
{
    static const test_kind kinds[]   = {{HYBRID_F32, HYBRID_I32, 1},
                                        {HYBRID_F64, HYBRID_I64, 0}};
    static const char *const paper[] = {"spmm.cuda.hrpb:paper=1", NULL};
    const int tf32                   = variants_named(names, "spmm.cuda.hrpb") > 0;
    int64_t rounded                  = 0;
    int failed                       = 0;

    for (int i = 0; i < case_count(); i++)
        failed += check_case(engine, names, i, kinds[i % 2], checked, NULL);
    for (int i = 0; i < case_count() && tf32; i++) {
        failed += check_case(engine, names, i, kinds[0], checked, &rounded);
        failed += check_case(engine, paper, i, kinds[0], checked, &rounded);
    }
    return failed;
}

/* Fills `names` with "spmm.cuda.tiled:" and each combination of its parameters. Returns
   their number. */
static int tiled_forms(char text[][FORM], const char **names)
{
    static const char *const R[]       = {"4", "8", "16"};
    static const char *const words[]   = {"", ",segment=off", ",segment=on"};
    static const char *const orders[]  = {"", ",reorder=off", ",reorder=on"};
    static const char *const origins[] = {"", ",paper=1"};
    int count                          = 0;

    for (int r = 0; r < 3; r++)
        for (int w = 0; w < 3; w++)
            for (int o = 0; o < 3; o++)
                for (int p = 0; p < 2; p++, count++) {
                    snprintf(text[count], FORM, "spmm.cuda.tiled:R=%s%s%s%s", R[r],
                             words[w], orders[o], origins[p]);
                    names[count] = text[count];
                }
    names[count] = NULL;
    return count;
}

/* Checks the forms of spmm.cuda.tiled that its parameters select. */
static int check_forms(hybrid_engine *engine)
{
    static const char *const widths[] = {"spmm.cuda.tiled:R=4", "spmm.cuda.tiled:R=16",
                                         "spmm.cuda.tiled:paper=1", NULL};
    char text[ROOM][FORM];
    const char *names[ROOM];
    int64_t any = 0, each = 0, odd = 0;

    const int count = tiled_forms(text, names);
    int wrong       = variants_check(engine, widths, &any);
    int failed      = tell("products of forced forms", any, 1000, wrong);
    wrong           = check_each_case(engine, names, &each);
    failed += tell("products of all forced forms", each, 40 * count, wrong);
    wrong = not_finite_check(engine, "spmm.cuda.tiled:paper=1", 0, &odd);
    return failed +
           tell_all("padded products with infinities", odd, NOT_FINITE_PRODUCTS, wrong);
}

/* Checks A*A, for which the rows of A are not sent, because they are the rows of B. With
   several chunks the offsets of each must count from its own first row. */
static int check_square(hybrid_engine *engine, const char *const *names, int64_t *checked)
{
    /* bits from which variants_check_one() chooses options: here small chunks, and
       nothing pinned or shared */
    enum { SMALL_CHUNKS = 5 };
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 0};
    int failed           = 0;
    oracle product;
    test_case c;

    case_named("banded", kind, &c);
    const hybrid_csr B = c.B;
    c.B                = c.A;
    oracle_spgemm(&c.A, &c.A, &product);
    for (; *names; names++)
        failed += variants_check_one(engine, *names, &c, kind, &product, SMALL_CHUNKS,
                                     checked, NULL);
    oracle_free(&product);
    c.B = B;
    case_free(&c);
    return failed;
}

/* Computes products that launch each kernel of the named variants. `rows` is the size of
   the large ones. */
static int check_kernels(hybrid_engine *engine, const char *const *names, int64_t rows)
{
    int64_t any = 0, large = 0;

    int failed = check_each_case(engine, names, &any);
    failed += check_square(engine, names, &any);
    failed += large_check(engine, names, rows, WIDTH_STEP, &large);
    failed += large_check_spgemm(engine, names, 1, &large);
    printf("%lld products and %lld large ones checked, %d wrong\n", (long long)any,
           (long long)large, failed);
    return failed + (any == 0);
}

int main(int argc, char **argv)
{
    hybrid_engine *engine;
    const char *names[ROOM], *named[ROOM];
    int count = 0;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || variants_of("cuda", names, ROOM) < 2)
        return 1;
    for (int i = 0; names[i] && argc > 1; i++)
        if (strncmp(names[i], argv[1], strlen(argv[1])) == 0)
            named[count++] = names[i];
    named[count]       = NULL;
    const int64_t rows = argc > 2 ? atoi(argv[2]) : LARGE_ROWS;
    int failed         = argc > 1 ? check_kernels(engine, named, rows)
                                  : check_all(engine, names) + check_forms(engine);
    hybrid_engine_destroy(engine);
    return failed > 0;
}
