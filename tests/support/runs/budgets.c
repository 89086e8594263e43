/* tests/support/runs/budgets.c - products with decreasing budgets of device memory. */
#include "support/runs/budgets.h"

#include <stdio.h>
#include <string.h>

#include "support/runs/caps.h"
#include "support/inputs/cases.h"
#include "support/check/oracle.h"

enum { ROWS = 1500, COLUMNS = 20 };

typedef enum outcome { PASSED, REFUSED, WRONG } outcome;

typedef struct operands {
    hybrid_csr A;
    oracle square;
    hybrid_dense X, Y, before;
} operands;

static outcome wrong(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return WRONG;
}

static outcome planned(hybrid_engine *engine, hybrid_status status)
{
    const char *message = hybrid_engine_message(engine);

    if (status == HYBRID_OK)
        return PASSED;
    if (status == HYBRID_NO_DEVICE_MEMORY && strncmp(message, "row ", 4) == 0)
        return REFUSED;
    return wrong("plan", message);
}

static outcome within(const hybrid_plan *plan, size_t budget)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    hybrid_plan_report(plan, &report);
    if (!caps_kept(plan, budget))
        return wrong("budget", "more device memory was used");
    return report.peak_device_bytes > 0 ? PASSED : wrong("budget", "no byte was counted");
}

static outcome check_spgemm(hybrid_engine *engine, const operands *o, size_t budget)
{
    hybrid_plan *plan;
    hybrid_csr C;
    outcome result =
        planned(engine, hybrid_spgemm_plan(engine, &o->A, &o->A, NULL, &plan));

    if (result != PASSED)
        return result;
    if (hybrid_spgemm_run(plan, &o->A, &o->A, &C) == HYBRID_OK) {
        const char *bad = oracle_check(&o->square, &C, 1);
        result          = bad ? wrong("A*A", bad) : within(plan, budget);
        hybrid_csr_free(engine, &C);
    } else {
        result = wrong("A*A", hybrid_engine_message(engine));
    }
    hybrid_plan_destroy(plan);
    return result;
}

static outcome check_spmm(hybrid_engine *engine, operands *o, size_t budget)
{
    hybrid_plan *plan;
    outcome result =
        planned(engine, hybrid_spmm_plan(engine, &o->A, COLUMNS, NULL, &plan));

    if (result != PASSED)
        return result;
    dense_set(&o->Y, 0);
    if (hybrid_spmm_run(plan, 2, &o->A, &o->X, 0, &o->Y) == HYBRID_OK) {
        const char *bad = oracle_check_spmm(2, &o->A, &o->X, 0, &o->before, &o->Y, 1);
        result          = bad ? wrong("A*X", bad) : within(plan, budget);
    } else {
        result = wrong("A*X", hybrid_engine_message(engine));
    }
    hybrid_plan_destroy(plan);
    return result;
}

typedef struct tally {
    const char *product;
    int passed, refused, failed;
} tally;

static void count(tally *t, outcome result)
{
    t->passed += result == PASSED;
    t->refused += result == REFUSED;
    t->failed += result == WRONG;
    if (result == PASSED && t->refused > 0) {
        t->failed++;
        wrong(t->product, "passes with less memory than was refused before");
    }
}

static int sum_up(const tally *t)
{
    printf("%s: %d budgets passed, %d refused, %d failed\n", t->product, t->passed,
           t->refused, t->failed);
    return t->failed + (t->passed < 8) + (t->refused < 1);
}

int budgets_check(budget_open open)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    tally square = {"A*A", 0, 0, 0}, dense = {"A*X", 0, 0, 0};
    operands o;

    matrix_random(ROWS, ROWS, 9, 5, kind, &o.A);
    oracle_spgemm(&o.A, &o.A, &o.square);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 6, kind, &o.X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 7, kind, &o.Y);
    dense_copy(&o.Y, &o.before);
    for (size_t budget = (size_t)256 << 20; budget >= 256; budget /= 2) {
        hybrid_engine *engine;
        if (open(budget, &engine) != HYBRID_OK) {
            square.failed++;
            continue;
        }
        count(&square, check_spgemm(engine, &o, budget));
        count(&dense, check_spmm(engine, &o, budget));
        hybrid_engine_destroy(engine);
    }
    dense_free(&o.X);
    dense_free(&o.Y);
    dense_free(&o.before);
    oracle_free(&o.square);
    matrix_free(&o.A);
    return sum_up(&square) + sum_up(&dense);
}
