/* tests/test_cuda_variants.c - every variant of the GPU times every case; skips without a
   GPU. Plain C without a test framework: GPU machines seldom have one. */
#include <stdio.h>
#include <string.h>

#include "support/cases.h"
#include "support/oracle.h"
#include "support/variants.h"

enum { ROOM = 64, SKIP = 77 };

static int fails(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

static hybrid_status open_cuda(size_t device_bytes, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    char why[256]                 = "";

    options.backend            = HYBRID_CUDA;
    options.device_bytes       = device_bytes;
    options.message            = why;
    options.message_size       = sizeof why;
    const hybrid_status status = hybrid_engine_create(&options, engine);
    if (status != HYBRID_OK)
        fprintf(stderr, "%s\n", why);
    return status;
}

/* A*A under one budget: right, and never a byte more on the device. 0: right; 1: wrong;
   -1: refused for want of memory, with the bytes that a row needs. */
static int check_budget(const hybrid_csr *A, size_t budget, const oracle *reference)
{
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C;
    int result = 0;

    if (open_cuda(budget, &engine) != HYBRID_OK)
        return 1;
    hybrid_status status = hybrid_spgemm_plan(engine, A, A, NULL, &plan);
    if (status == HYBRID_NO_DEVICE_MEMORY)
        result = strstr(hybrid_engine_message(engine), "bytes of device memory") ? -1 : 1;
    else if (status != HYBRID_OK)
        result = fails("plan", hybrid_engine_message(engine));
    if (status == HYBRID_OK) {
        if (hybrid_spgemm_run(plan, A, A, &C) != HYBRID_OK) {
            result = fails("run", hybrid_engine_message(engine));
        } else {
            const char *wrong = oracle_check(reference, &C, 1);
            hybrid_plan_report(plan, &report);
            if (wrong)
                result = fails("result", wrong);
            else if (report.peak_device_bytes > (int64_t)budget)
                result = fails("budget", "exceeded");
            hybrid_csr_free(engine, &C);
        }
        hybrid_plan_destroy(plan);
    }
    hybrid_engine_destroy(engine);
    return result;
}

/* Budgets from "everything fits" down to "no row fits". */
static int check_budgets(void)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A;
    oracle reference;
    int failed = 0, refused = 0, passed = 0;

    matrix_random(3000, 3000, 9, 5, kind, &A);
    oracle_spgemm(&A, &A, &reference);
    for (size_t budget = (size_t)1 << 28; budget >= 1 << 10; budget /= 2) {
        const int result = check_budget(&A, budget, &reference);
        failed += result > 0;
        refused += result < 0;
        passed += result == 0;
        if (result == 0 && refused > 0)
            failed +=
                fails("budgets", "a smaller budget passed where a larger was refused");
    }
    printf("budgets: %d passed, %d refused\n", passed, refused);
    oracle_free(&reference);
    matrix_free(&A);
    return failed + (passed < 8) + (refused < 1);
}

int main(void)
{
    hybrid_engine *engine;
    const char *names[ROOM];
    int64_t checked = 0;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || variants_of("cuda", names, ROOM) < 2)
        return 1;
    int failed = variants_check(engine, names, &checked);
    hybrid_engine_destroy(engine);
    printf("%lld products checked, %d wrong\n", (long long)checked, failed);
    failed += check_budgets();
    return failed > 0 || checked < 100;
}
