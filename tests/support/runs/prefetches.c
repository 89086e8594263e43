/* tests/support/runs/prefetches.c - one-shot products on the fake device with B
   prefetched. */
#include "support/runs/prefetches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/threads/clock.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows;

static const hy_backend_ops *const fakes[] = {&hy_fault_backend_ops, &hy_host_backend_ops,
                                              NULL};

int64_t prefetch_planned_ns;

/* hy_variant.refuse of a variant that takes so long to plan that B has been sent, or has
   failed, before. It refuses nothing. */
static const char *take_long(const hy_features *f, const hy_rates *r)
{
    (void)f;
    (void)r;
    usleep(PREFETCH_SLOW_US);
    prefetch_planned_ns = hy_now_ns();
    return NULL;
}

static const char *refuse_all(const hy_features *f, const hy_rates *r)
{
    (void)f;
    (void)r;
    return "nothing is computed here";
}

static hy_variant slow, refusing;

const hy_variant *const prefetch_staying[]  = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                               NULL};
const hy_variant *const prefetch_late[]     = {&slow, NULL};
const hy_variant *const prefetch_carrying[] = {&hy_spgemm_fake_dup, NULL};
const hy_variant *const prefetch_on_host[]  = {&refusing, &hy_spgemm_host_rows, NULL};
const hy_variant *const prefetch_nowhere[]  = {&refusing, NULL};

void prefetch_open(prefetch_world *w, const hy_variant *const *variants,
                   size_t device_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    slow                 = hy_spgemm_fake_esc;
    slow.refuse          = take_long;
    refusing             = hy_spgemm_fake_esc;
    refusing.refuse      = refuse_all;
    options.threads      = 2;
    options.device_bytes = device_bytes;
    assert_int_equal(fake_engine_open(&options, fakes, variants, &w->engine), HYBRID_OK);
    settings_of(w->engine)->prefetch_bytes = 1;
    settings_of(w->engine)->counted_bytes  = 1;
}

void prefetch_close(prefetch_world *w)
{
    hybrid_engine_trim(w->engine);
    assert_int_equal(fake_alive(), w->engine->device != NULL);
    hybrid_engine_destroy(w->engine);
    assert_int_equal(fake_alive(), 0);
}

void prefetch_operands(prefetch_world *w, double per_row)
{
    const test_kind narrow = {HYBRID_F64, HYBRID_I32, 1};
    const test_kind wide   = {HYBRID_F64, HYBRID_I64, 1};

    matrix_random(PREFETCH_ROWS, PREFETCH_ROWS, per_row, 3, narrow, &w->A);
    matrix_random(PREFETCH_ROWS, PREFETCH_ROWS, 9, 4, wide, &w->B);
    oracle_spgemm(&w->A, &w->A, &w->square);
    oracle_spgemm(&w->A, &w->B, &w->product);
}

void prefetch_operands_free(prefetch_world *w)
{
    oracle_free(&w->square);
    oracle_free(&w->product);
    matrix_free(&w->A);
    matrix_free(&w->B);
}

hybrid_status prefetch_multiply(prefetch_world *w, int squared)
{
    hybrid_csr C;
    const hy_backend *device = w->engine->device;
    const int64_t before     = hy_meter_used(&device->device);
    const hybrid_status status =
        hybrid_spgemm(w->engine, &w->A, squared ? &w->A : &w->B, &C);

    if (status == HYBRID_OK) {
        assert_null(oracle_check(squared ? &w->square : &w->product, &C, 1));
        hybrid_csr_free(w->engine, &C);
    }
    assert_int_equal(hy_meter_used(&device->device), before);
    return status;
}

hybrid_report prefetch_report(const prefetch_world *w)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_engine_report(w->engine, &report), HYBRID_OK);
    return report;
}

hybrid_plan *prefetch_plan(prefetch_world *w, hy_loader *loader)
{
    const hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const hy_one_shot once            = {.prefetcher = loader};
    hybrid_plan *plan                 = NULL;
    const hybrid_status status =
        hy_plan_make(w->engine, &w->A, &w->B, 0, &options, &once, &plan);

    assert_int_equal(status, plan ? HYBRID_OK : HYBRID_NO_DEVICE_MEMORY);
    return plan;
}

prefetch_shape prefetch_shape_of(const hybrid_plan *plan)
{
    if (!plan)
        return (prefetch_shape){.chosen = -1};
    prefetch_shape s = {.chosen   = plan->candidates.chosen,
                        .depth    = plan->portions->site->depth,
                        .gathered = hy_image_is_gathered(&plan->portions->layout.image),
                        .chunks   = plan->portions->layout.count,
                        .shared   = (int64_t)plan->portions->layout.image_room};

    for (int64_t i = 0; i < plan->portions->layout.count; i++) {
        const hy_chunk *c = &plan->portions->layout.chunks[i];
        s.hash = (int64_t)test_hash((uint64_t)(s.hash + c->row_end), (uint64_t)c->x_end);
    }
    return s;
}

hy_loader *prefetch_begin(prefetch_world *w)
{
    hy_loader *loader;

    assert_int_equal(hy_prefetch_begin(w->engine, &w->A, &w->B, &loader), HYBRID_OK);
    return loader;
}
