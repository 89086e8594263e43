/* tests/support/engines/engines.h - several engines at once in one process, each in a
   thread of its own. */
#ifndef ENGINES_H
#define ENGINES_H

#include "hybrid_spmm.h"

typedef struct engines_run {
    /* Opens an engine with at most device_bytes of device memory; 0: no cap. */
    hybrid_status (*open)(size_t device_bytes, hybrid_engine **engine);
    const char *const *names; /* names of the variants to test, ended by NULL */
    int engines;              /* number of threads that keep one engine each for the whole
                                 run */
    int churn;                /* 1: one more thread creates and destroys engines during
                                 the run; 0: none */
    double seconds;           /* duration of the run; it is longer if a thread needs more
                                 time for two products with each variant */
} engines_run;

/* Every engine multiplies random test cases by all variants in turn. Each result is
   checked against the oracle, and failures are printed. A variant with which no product
   was computed is a failure too. Returns the number of failures, and adds to *checked the
   number of products. */
int engines_check(const engines_run *run, int64_t *checked);

#endif /* ENGINES_H */
