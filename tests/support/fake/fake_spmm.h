/* tests/support/fake/fake_spmm.h - engines that compute SpMM on the fake device. */
#ifndef FAKE_SPMM_H
#define FAKE_SPMM_H

#include <stdint.h>

#include "engine/api/engine.h"
#include "support/fake/fault.h"

/* Creates an engine with three workers, a host backend, and a fake device. `table` lists
   the variants of both, ended by NULL. `device_bytes` caps the device's memory; 0: no
   cap of its own. */
hybrid_status fake_open(const hy_variant *const *table, size_t device_bytes,
                        hybrid_engine **engine);

/* Works as fake_open() with two SpMM variants: "spmm.fake.rows" reads X by rows,
   "spmm.fake.tiled" by columns. */
hybrid_status fake_spmm_open(size_t device_bytes, hybrid_engine **engine);
hybrid_engine *fake_spmm(size_t device_bytes); /* works as fake_spmm_open(), but a
                                                  failure aborts the test */

/* Returns `status`, the status of the latest call. Aborts the test if it is an error
   without a message. */
hybrid_status fake_explained(const hybrid_engine *engine, hybrid_status status);

/* A product that is repeated on new engines. In each repetition another of its calls
   fails. */
typedef struct fake_failing {
    hybrid_status (*run)(hybrid_engine *engine, void *arg);
    void *arg;
    size_t device_bytes;
    int64_t most, part; /* numbers of the calls that fail: after call n comes call n + 1
                           + n / part, so that late calls are skipped; a product with
                           `most` calls or more fails the test */
} fake_failing;

/* Repeats the product until it does not reach the call that was to fail. Returns the
   number of that call, minus 1. Checks that a failure leaves no memory behind. `run` must
   check the message of a failure and the result of a success. */
int64_t fake_fail_each(const fake_failing *failing, const fault_kind *fault);

#endif /* FAKE_SPMM_H */
