/* tests/support/runs/asked.h - a progress function that checks what it receives.

   It can also end the call. */
#ifndef ASKED_H
#define ASKED_H

#include <pthread.h>

#include "engine/api/engine.h"

typedef struct asked {
    hybrid_engine *engine; /* engine of which asked_fn() calls functions when it is called
                              first; they must be refused. NULL: it does not */
    pthread_t caller;
    int64_t calls, stop;      /* calls: number of calls of asked_fn() so far; stop: number
                                 of the call that ends the product, 0: none */
    int64_t rows, done, part; /* rows, done: arguments of the last call; part: number of
                                 calls with some rows done, but not all */
    int over;                 /* 1: asked_fn() has received rows_done == rows, or has
                                 ended the product */
} asked;

enum { ASKED_ANSWER = 7 };

/* Makes asked_fn() the progress function of the engine for calls by this thread. It is
   called without the usual minimum time between calls. Call number `stop` ends the
   product; 0: none. */
void asked_set(asked *a, hybrid_engine *engine, int64_t stop);

/* Sets the counters to 0 before the next product, which call number `stop` of asked_fn()
   ends. */
void asked_again(asked *a, int64_t stop);

/* A progress function (hybrid_progress_fn) that checks its arguments; `user` is an
   asked. */
int asked_fn(void *user, int64_t rows_done, int64_t rows);

/* Checks the calls of asked_fn() during a product of `rows` rows that returned `status`.
   After a success the last call must have said that all rows are done. Any other status
   must be HYBRID_CANCELLED, because call number `stop` ended the product. */
void asked_check(const asked *a, hybrid_status status, int64_t rows);

#endif /* ASKED_H */
