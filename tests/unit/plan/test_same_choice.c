/* tests/unit/plan/test_same_choice.c - plans, plans with HYBRID_EXPLAIN, as the program
   makes them, and one-shot calls choose the same variant, schedule and chunks.

   The rates of a fake device go through many steps, from a device that is slower than the
   host to one that is faster. A rule that only one of the callers applies shows at some
   step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/rates/factors.h"
#include "partition/format/pack.h"
#include "support/engines/weighed.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/cases.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows, hy_spgemm_host_rows, hy_spgemm_host_hash;

/* ---- variants with costs ---- */

static hy_variant rows, blocks, esc, dup;
static const hy_variant *const table[] = {
    &rows, &blocks, &esc, &dup, &hy_spmm_host_rows, &hy_spgemm_host_rows, NULL};
static const hy_variant *const host_table[] = {&hy_spmm_host_rows, &hy_spgemm_host_rows,
                                               &hy_spgemm_host_hash, NULL};

static hy_cost with_seconds(hy_cost c, double s)
{
    c.prepare_s  = (double)c.pack_bytes / 5e9;
    c.multiply_s = s;
    return c;
}

static hy_cost rows_cost(const hy_features *f, const hy_rates *r)
{
    return with_seconds(hy_spmm_fake_rows.cost(f, r),
                        r->launch_s + (double)f->products / (1e9 * (1 + f->tile_fill)));
}

/* hy_variant.cost: a tenth of the time of the variant "rows". blocks_refuse() refuses an
   A that is not known to have blocks. */
static hy_cost blocks_cost(const hy_features *f, const hy_rates *r)
{
    hy_cost c = rows_cost(f, r);
    c.multiply_s /= 10;
    return c;
}

static const char *blocks_refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return hy_block_refuse(f);
}

static hy_cost esc_cost(const hy_features *f, const hy_rates *r)
{
    return with_seconds(hy_spgemm_fake_esc.cost(f, r),
                        r->launch_s + (double)f->products / 1e9);
}

static hy_cost dup_cost(const hy_features *f, const hy_rates *r)
{
    return with_seconds(hy_spgemm_fake_dup.cost(f, r),
                        r->launch_s + (double)f->products / 1e9);
}

static hybrid_engine *open_engine(size_t device_bytes)
{
    hybrid_engine *engine;

    fake_delays(1, 0);
    assert_int_equal(fake_open(table, device_bytes, &engine), HYBRID_OK);
    engine->device_count = 1;
    weighed_settle(engine->host);
    engine->device->measured.launch_s      = 1e-8;
    settings_of(engine)->device_first      = 0;
    settings_of(engine)->hypersparse_bytes = 1;
    return engine;
}

/* ---- products ---- */

typedef struct product_case {
    const char *a, *b; /* names of generated matrices; b is NULL for SpMM */
    int64_t columns;
    int64_t rows; /* number of the leading rows of the generated matrix that are A; 0:
                     all */
} product_case;

static const product_case cases[] = {
    {"er:3000,8", NULL, 1},
    {"fem3:6", NULL, 1},
    {"er:3000,8", NULL, 40},
    {"band:3000,6", NULL, 24},
    {"rmat:11,4", NULL, 8},
    {"er:1500,6", "er:1500,6", 0},
    {"rmat:9,8", "rmat:9,8", 0},
    {"band:2000,5", "band:2000,5", 0},
    {"er:3000,40", "er:3000,5", 0, 12},
};

enum { CASES = sizeof cases / sizeof *cases };

static hybrid_plan *plan_as(hybrid_engine *engine, const product_case *c,
                            const hybrid_csr *A, const hybrid_csr *B, unsigned flags,
                            const hy_one_shot *once)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.flags = flags;
    const hybrid_status status =
        hy_plan_make(engine, A, c->b ? B : NULL, c->columns, &options, once, &plan);
    if (status != HYBRID_OK)
        fail_msg("%s: %s", c->a, hybrid_engine_message(engine));
    return plan;
}

typedef struct choice {
    const hy_variant *variant;
    hy_axis axis;
    int64_t block, chunks;
    int slots, on_device;
    uint64_t ends; /* hash of the last rows of all chunks */
} choice;

static choice choice_as(hybrid_engine *engine, const product_case *c, const hybrid_csr *A,
                        const hybrid_csr *B, unsigned flags, const hy_one_shot *once)
{
    hybrid_plan *plan   = plan_as(engine, c, A, B, flags, once);
    const hy_layout *at = &plan->portions->layout;
    choice found        = {.variant   = plan->portions->variant,
                           .axis      = at->image.axis,
                           .block     = at->image.block,
                           .chunks    = at->count,
                           .slots     = at->depth,
                           .on_device = hy_portion_on_device(plan->portions)};

    for (int64_t i = 0; i < at->count; i++)
        found.ends = test_hash(found.ends, (uint64_t)at->chunks[i].row_end);
    hybrid_plan_destroy(plan);
    return found;
}

static void check_same(const product_case *c, const char *who, const choice *a,
                       const choice *b)
{
    if (a->variant != b->variant || a->axis != b->axis || a->block != b->block ||
        a->chunks != b->chunks || a->slots != b->slots || a->ends != b->ends)
        fail_msg("%s, %lld columns: %s computes with %s, axis %d, %lld chunks, %d slots, "
                 "and a plan with %s, axis %d, %lld chunks, %d slots",
                 c->a, (long long)c->columns, who, b->variant->name, (int)b->axis,
                 (long long)b->chunks, b->slots, a->variant->name, (int)a->axis,
                 (long long)a->chunks, a->slots);
}

/* Makes the plan in each way, and checks that the choices are equal. Returns 1 if the
   device computes, else 0. */
static int check_choice(hybrid_engine *engine, const product_case *c, const hybrid_csr *A,
                        const hybrid_csr *B)
{
    static const hy_one_shot any_once = {0};
    const choice plan                 = choice_as(engine, c, A, B, 0, NULL);
    const choice explained            = choice_as(engine, c, A, B, HYBRID_EXPLAIN, NULL);
    const choice once                 = choice_as(engine, c, A, B, 0, &any_once);

    check_same(c, "HYBRID_EXPLAIN", &plan, &explained);
    check_same(c, "a one-shot call", &plan, &once);
    return plan.on_device;
}

/* Operands of a case: A is the first rows of the generated matrix `all`. */
typedef struct operands {
    hybrid_csr all, A, B;
} operands;

static void make(hybrid_engine *engine, const product_case *c, operands *o)
{
    *o = (operands){.B = {.rows = 0}};
    assert_int_equal(hybrid_generate(engine, c->a, HYBRID_F32, 1, &o->all), HYBRID_OK);
    o->A = o->all;
    if (c->rows > 0) {
        o->A.rows = c->rows;
        o->A.nnz  = hy_offset(&o->all, c->rows);
    }
    if (c->b)
        assert_int_equal(hybrid_generate(engine, c->b, HYBRID_F32, 2, &o->B), HYBRID_OK);
}

static void free_operands(hybrid_engine *engine, operands *o)
{
    hybrid_csr_free(engine, &o->all);
    hybrid_csr_free(engine, &o->B);
}

/* ---- tests ---- */

/* Checks the case for a series of rates of the device, from slow to fast. Adds their
   number to *steps. Returns at how many of them the device was chosen. */
static int check_steps(hybrid_engine *engine, const product_case *c, int *steps)
{
    int on_device = 0;
    operands o;

    make(engine, c, &o);
    for (double Bps = 1e8; Bps < 1e12; Bps *= 1.25) {
        hy_measured *m = &engine->device->measured;
        m->h2d_Bps = m->d2h_Bps = Bps;
        m->both_Bps             = 1.8 * Bps;
        on_device += check_choice(engine, c, &o.A, &o.B);
        ++*steps;
    }
    free_operands(engine, &o);
    return on_device;
}

static void check_engine(hybrid_engine *engine)
{
    int on_device = 0, steps = 0;

    for (int i = 0; i < CASES; i++)
        on_device += check_steps(engine, &cases[i], &steps);
    assert_true(on_device > steps / 8 && on_device < steps - steps / 8);
    hybrid_engine_destroy(engine);
}

static void a_device_that_holds_b_or_x(void **state)
{
    (void)state;
    check_engine(open_engine(64 << 20));
}

static void a_device_too_small_for_b_or_x(void **state)
{
    (void)state;
    check_engine(open_engine(200 << 10));
}

static void the_host_alone(void **state)
{
    static const int threads[] = {1, 2, 5};

    (void)state;
    for (int t = 0; t < 3; t++) {
        static const hy_backend_ops *const backends[] = {&hy_host_backend_ops, NULL};
        hybrid_engine_options options                 = HYBRID_ENGINE_OPTIONS_INIT;
        hybrid_engine *engine;
        operands o;
        options.threads    = threads[t];
        options.rates_path = "";
        assert_int_equal(hy_engine_open(&options, backends, host_table, &engine),
                         HYBRID_OK);
        for (int i = 0; i < CASES; i++) {
            make(engine, &cases[i], &o);
            assert_false(check_choice(engine, &cases[i], &o.A, &o.B));
            free_operands(engine, &o);
        }
        hybrid_engine_destroy(engine);
    }
}

/* ---- ranking ---- */

static double predicted(const hybrid_plan *plan, const hy_variant *variant)
{
    for (int i = 0; i < plan->candidates.count; i++)
        if (plan->candidates.of[i].variant == variant)
            return plan->candidates.of[i].predicted_s;
    fail_msg("%s is no candidate", variant->name);
    return 0;
}

/* A has 12 rows and B 3000, of which A touches few. The device is charged only for the
   rows that it gets. */
static void a_short_a_is_not_charged_for_all_of_b(void **state)
{
    const product_case c  = {"er:3000,40", "er:3000,400", 0, 12};
    hybrid_engine *engine = open_engine(64 << 20);
    operands o;

    (void)state;
    engine->device->measured.h2d_Bps = 1e9;
    make(engine, &c, &o);
    hybrid_plan *plan = plan_as(engine, &c, &o.A, &o.B, 0, NULL);
    /* packs of dup have an entry for each scalar product; esc with gathered rows of B
       has no more */
    assert_true(predicted(plan, &esc) < 1.1 * predicted(plan, &dup));
    hybrid_plan_destroy(plan);
    free_operands(engine, &o);
    hybrid_engine_destroy(engine);
}

/* B does not fit into the device. With a slow bus the host computes, with a fast one the
   device. */
static void the_host_is_weighed_if_b_does_not_fit(void **state)
{
    const product_case c  = {"er:1500,6", "er:1500,60", 0};
    hybrid_engine *engine = open_engine(300 << 10);
    operands o;

    (void)state;
    make(engine, &c, &o);
    engine->device->measured.h2d_Bps = engine->device->measured.d2h_Bps = 1e7;
    assert_false(check_choice(engine, &c, &o.A, &o.B));
    engine->device->measured.h2d_Bps = engine->device->measured.d2h_Bps = 1e12;
    assert_true(check_choice(engine, &c, &o.A, &o.B));
    free_operands(engine, &o);
    hybrid_engine_destroy(engine);
}

static int set_up(void **state)
{
    (void)state;
    rows          = hy_spmm_fake_rows;
    rows.cost     = rows_cost;
    blocks        = hy_spmm_fake_rows;
    blocks.name   = "spmm.fake.blocks";
    blocks.cost   = blocks_cost;
    blocks.refuse = blocks_refuse;
    esc           = hy_spgemm_fake_esc;
    esc.cost      = esc_cost;
    dup           = hy_spgemm_fake_dup;
    dup.cost      = dup_cost;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_holds_b_or_x),
        cmocka_unit_test(a_device_too_small_for_b_or_x),
        cmocka_unit_test(the_host_alone),
        cmocka_unit_test(a_short_a_is_not_charged_for_all_of_b),
        cmocka_unit_test(the_host_is_weighed_if_b_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
