/* tests/support/runs/asked.h - a progress function that checks what it receives.

   It can also end the call. */
#ifndef ASKED_H
#define ASKED_H

#include <pthread.h>

#include "engine/api/engine.h"

typedef struct asked {
    hybrid_engine *engine; /* engine that must refuse calls from inside the function;
                              NULL: not tried */
    pthread_t caller;
    int64_t calls, stop;      /* call number `stop` of the function ends the product; 0:
                                 none */
    int64_t rows, done, part; /* part: calls with some rows done, but not all */
    int over;                 /* 1: the function received rows_done == rows, or ended the
                                 product */
} asked;

enum { ASKED_ANSWER = 7 };

/* Registers asked_fn() for calls of the engine by this thread, with no delay between
   calls of the function. */
void asked_set(asked *a, hybrid_engine *engine, int64_t stop);

/* Resets the counters before the next product. */
void asked_again(asked *a, int64_t stop);

/* hybrid_progress_fn that checks its arguments. */
int asked_fn(void *user, int64_t rows_done, int64_t rows);

/* Checks that the function was called as the public header says during a product of
   `rows` rows that returned `status`. */
void asked_check(const asked *a, hybrid_status status, int64_t rows);

#endif /* ASKED_H */
