/* tests/support/fake/fake_spmm.h - engines that compute SpMM on the fake device. */
#ifndef FAKE_SPMM_H
#define FAKE_SPMM_H

#include <stdint.h>

#include "engine/api/engine.h"
#include "support/fake/fault.h"

/* Creates an engine with three workers, the host, and a fake device that has the variants
   of `table`. `device_bytes` caps its memory; 0: no cap. */
hybrid_status fake_open(const hy_variant *const *table, size_t device_bytes,
                        hybrid_engine **engine);

/* Works as fake_open(), with one variant that reads X by rows and one, tiled, that reads
   X by columns. */
hybrid_status fake_spmm_open(size_t device_bytes, hybrid_engine **engine);
hybrid_engine *fake_spmm(size_t device_bytes); /* fake_spmm_open(), but a failure aborts
                                                  the test */

/* Returns `status`, the status of the latest call. Aborts the test if it is an error
   without a message. */
hybrid_status fake_explained(const hybrid_engine *engine, hybrid_status status);

/* A product that is repeated while one call after the other fails. */
typedef struct fake_failing {
    hybrid_status (*run)(hybrid_engine *engine, void *arg);
    void *arg;
    size_t device_bytes;
    int64_t most, part; /* call n + 1 + n / part is tried after call n, while the number
                           is below most */
} fake_failing;

/* Repeats the product until no call is left to fail, and returns the number of calls.
   Checks that a failure leaves no memory behind. `run` must check the message of a
   failure and the result of a success. */
int64_t fake_fail_each(const fake_failing *failing, const fault_kind *fault);

#endif /* FAKE_SPMM_H */
