/* tests/support/engines/engines.h - several engines of one process at once, each in a
   thread of its own. */
#ifndef ENGINES_H
#define ENGINES_H

#include "hybrid_spmm.h"

typedef struct engines_run {
    /* with so much device memory; 0: all */
    hybrid_status (*open)(size_t device_bytes, hybrid_engine **engine);
    const char *const *names; /* of variants, ended by NULL */
    int engines;              /* that multiply, with budgets of their own */
    int churn;                /* 1: another thread makes and destroys engines meanwhile */
    double seconds;           /* of each run, which takes longer where a thread has not tried
                                 each variant twice by then */
} engines_run;

/* Every engine multiplies what it throws by the variants in turn, and checks each product
   against the oracle. Failures are printed; returns how many there were, a variant that
   nobody computed with included. *checked counts the products. */
int engines_check(const engines_run *run, int64_t *checked);

#endif /* ENGINES_H */
