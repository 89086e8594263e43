/* engine/empty.h - whether a plan does without the empty rows and columns of A. */
#ifndef HY_EMPTY_H
#define HY_EMPTY_H

#include "engine/engine.h"
#include "partition/compact.h"

struct hybrid_plan;

/* From that many bytes of X and Y on. */
enum { HY_COMPACT_BYTES = 16 << 20 };

/* The rest of A in plan->compact, if the plan's candidate computes on a device and a
   quarter of X and Y need not cross the bus then; none if there is no memory for it, or
   if the host is sooner (weigh.h). To be freed with the plan. */
hybrid_status hy_empty_find(struct hybrid_plan *plan, const hybrid_csr *A,
                            const hybrid_plan_options *options);

/* A, or the rest of it that the plan is for. */
const hybrid_csr *hy_empty_a(const struct hybrid_plan *plan, const hybrid_csr *A);

/* What of a problem's A and X a run of the plan computes with, instead of them. */
typedef struct hy_rest {
    hybrid_csr A;
    hybrid_dense X;
} hy_rest;

void hy_empty_settle(const struct hybrid_plan *plan, hy_problem *problem, hy_rest *rest);

#endif /* HY_EMPTY_H */
