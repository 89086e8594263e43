/* tests/cuda/test_cuda_calibrate.c - calibration of a GPU.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. */
#include <stdio.h>

#include "engine/rates/calibrate.h"
#include "engine/rates/rates.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_cuda.h"

enum { SKIP = 77 };

static int failed;

static void must(int condition, const char *what)
{
    if (!condition)
        fprintf(stderr, "wrong: %s\n", what);
    failed += !condition;
}

static void tell(void *user, const char *step, const hybrid_timing *t)
{
    (void)user;
    if (!t)
        return;
    printf("%s, %lld columns: rows %.1f us, merge %.1f us\n", step, (long long)t->columns,
           t->rows_s * 1e6, t->merge_s * 1e6);
    must(t->rows_s > 1e-7 && t->rows_s < 1, "the time of rows");
    must(t->merge_s > 1e-7 && t->merge_s < 1, "the time of merge");
    must(t->rows_model_s > 0 && t->merge_model_s > 0, "a prediction");
}

static int between(double x, double least, double most)
{
    return x >= least && x <= most;
}

/* Checks that measured speeds lie within bounds so wide that any bus and GPU of past and
   future does. */
static void check_speeds(const hybrid_speeds *s)
{
    printf("%s: up %.3g, down %.3g, both %.3g, memory %.3g B/s, launch %.3g s\n", s->name,
           s->h2d_Bps, s->d2h_Bps, s->both_Bps, s->mem_Bps, s->launch_s);
    must(between(s->h2d_Bps, 1e8, 1e13), "copies up");
    must(between(s->d2h_Bps, 1e8, 1e13), "copies down");
    must(between(s->both_Bps, 1e8, 1e13), "copies both ways");
    must(between(s->mem_Bps, 1e10, 1e15), "memory");
    must(between(s->launch_s, 1e-8, 1e-3), "a launch");
}

/* Checks that the factors of a variant (measured over predicted seconds), as far as they
   were measured, lie between 0.002 and 500, and that at least one was measured. */
static void check_factors(const hy_factor_row *row)
{
    int measured = 0;

    for (int i = 0; i < HY_REGIMES; i++) {
        measured += row->compute[i] > 0;
        must(row->compute[i] == 0 || between(row->compute[i], 0.002, 500),
             "the size of a factor");
    }
    printf("%s: %d factors, packing %.3g\n", row->variant, measured, row->prepare);
    must(measured > 0, "the factors of a variant");
}

/* Checks that every constant of the model of every kernel for SpMV in blocks was
   measured. */
static void check_blocks(const hy_block_speeds *speeds)
{
    const hy_block_speed *all = speeds->of[0][0][0];
    const size_t count        = sizeof *speeds / sizeof *all;

    for (size_t i = 0; i < count; i++) {
        const hy_block_speed *s = &all[i];
        must(between((double)s->start, 1e-8, 1e-2), "the start of a kernel");
        must(between((double)s->first, 1e-13, 1e-2), "a step of the first iteration");
        must(between((double)s->next, 1e-13, 1e-2), "a step of a later iteration");
        must(between((double)s->more, 1e-13, 1e-2), "a step of a further thread block");
        must(between((double)s->registers, 8, 255), "registers");
    }
}

static void check_file(const char *path, const hybrid_calibration *found)
{
    hybrid_engine *engine;
    hy_rates r;

    if (open_cuda_rates(path, &engine) != HYBRID_OK) {
        must(0, "the file cannot be used");
        return;
    }
    hy_rates_of(engine->device, &r);
    must(between(r.h2d_Bps / found->device.h2d_Bps, 0.9999, 1.0001), "h2d of the file");
    must(between(r.mem_Bps / found->device.mem_Bps, 0.9999, 1.0001), "mem of the file");
    check_blocks(r.blocks);
    must(r.factors->count > 4, "variants with factors");
    for (int i = 0; i < r.factors->count; i++)
        check_factors(&r.factors->row[i]);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    static const char *const problems[] = {"er:20000,4", "er:20000,40",
                                           "powerlaw:20000,6,5000", NULL};
    static const int64_t columns[]      = {1, 32, 0};
    static const char *const squares[]  = {"er:2000,4", "rmat:9,8", NULL};
    enum { LONG = 600 }; /* seconds that suffice on a busy GPU, too */
    const hy_calibrate_list list = {problems, squares, LONG};
    const hy_calibrate_set set   = {list, list, columns, 3, LONG};
    hybrid_calibration found     = HYBRID_CALIBRATION_INIT;
    hybrid_engine *engine;

    const hybrid_status opened = open_cuda_rates("", &engine);
    if (opened == HYBRID_NO_DEVICE)
        return SKIP;
    if (opened != HYBRID_OK)
        return 1;
    const char *path = io_temp("cuda.rates");
    if (hy_calibrate(engine, path, &set, tell, NULL, &found) != HYBRID_OK) {
        fprintf(stderr, "%s\n", hybrid_engine_message(engine));
        failed++;
    } else {
        must(found.products == 6, "the number of products");
        must(found.fitted.slowdown <= found.paper.slowdown + 1e-9, "the fit");
        must(between(found.merge_factor, 0.01, 100), "the factor's size");
        check_speeds(&found.device);
        must(found.host.mem_Bps > 1e8 && found.host.flops > 1e8, "the host's speeds");
        must(hy_meter_used(&engine->device->device) == 0, "device memory given back");
        check_file(path, &found);
    }
    hybrid_engine_destroy(engine);
    io_remove_temp();
    return failed > 0;
}
