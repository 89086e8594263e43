/* tests/support/check/constant.h - checks that runs do not change a plan. */
#ifndef CONSTANT_H
#define CONSTANT_H

#include "engine/plan/plan.h"

/* A copy of a plan and of the chunks of its first portion, made by plan_remember(), which
   aborts the test if memory runs out. */
typedef struct plan_copy {
    void *plan, *chunks;
} plan_copy;

plan_copy plan_remember(const hybrid_plan *plan);

/* Compares the plan with its earlier copy, apart from the plan's history, which runs
   change. A difference fails the test. Frees the copy. */
void plan_is_unchanged(const hybrid_plan *plan, plan_copy before);

#endif /* CONSTANT_H */
