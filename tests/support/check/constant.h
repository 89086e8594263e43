/* tests/support/check/constant.h - checks that runs do not change a plan. */
#ifndef CONSTANT_H
#define CONSTANT_H

#include "engine/plan/plan.h"

/* A copy of a plan and its chunks, without its history. A failure aborts the test. */
typedef struct plan_copy {
    void *plan, *chunks;
} plan_copy;

plan_copy plan_remember(const hybrid_plan *plan);

/* Checks that the plan equals its copy, and frees the copy. */
void plan_is_unchanged(const hybrid_plan *plan, plan_copy before);

#endif /* CONSTANT_H */
