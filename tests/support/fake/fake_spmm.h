/* tests/support/fake/fake_spmm.h - engines that compute SpMM on the fake device. */
#ifndef FAKE_SPMM_H
#define FAKE_SPMM_H

#include <stdint.h>

#include "engine/api/engine.h"
#include "support/fake/fault.h"

/* Three workers, the host, and the fake device with these variants; 0 is no cap. */
hybrid_status fake_open(const hy_variant *const *table, size_t device_bytes,
                        hybrid_engine **engine);

/* With X in rows or, tiled, in columns. */
hybrid_status fake_spmm_open(size_t device_bytes, hybrid_engine **engine);
hybrid_engine *fake_spmm(size_t device_bytes); /* a failure aborts the test */

/* The status of the call before; an error must say what it is. */
hybrid_status fake_explained(const hybrid_engine *engine, hybrid_status status);

/* What is tried while one call after the other fails. */
typedef struct fake_failing {
    hybrid_status (*run)(hybrid_engine *engine, void *arg);
    void *arg;
    size_t device_bytes;
    int64_t most, part; /* after call n it is the turn of n + 1 + n / part, below most */
} fake_failing;

/* Returns how many calls there were to fail. Checks that a failure leaves nothing behind;
   `run` checks that it is explained, and that a product that succeeds is right. */
int64_t fake_fail_each(const fake_failing *failing, const fault_kind *fault);

#endif /* FAKE_SPMM_H */
