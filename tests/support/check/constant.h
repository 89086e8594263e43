/* tests/support/check/constant.h - runs leave a plan as it was made. */
#ifndef CONSTANT_H
#define CONSTANT_H

#include "engine/plan/plan.h"

/* A copy of all of a plan but its history, chunks too. Failures abort the test. */
typedef struct plan_copy {
    void *plan, *chunks;
} plan_copy;

plan_copy plan_remember(const hybrid_plan *plan);

/* The plan is as it was, and the copy is freed. */
void plan_is_unchanged(const hybrid_plan *plan, plan_copy before);

#endif /* CONSTANT_H */
