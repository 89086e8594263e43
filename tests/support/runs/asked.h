/* tests/support/runs/asked.h - a function that is told how far calls are, and that may
   end them. */
#ifndef ASKED_H
#define ASKED_H

#include <pthread.h>

#include "engine/api/engine.h"

typedef struct asked {
    hybrid_engine *engine; /* refuses calls from inside; NULL: none is made */
    pthread_t caller;
    int64_t calls, stop;      /* call number `stop` ends the call that is made; 0: none */
    int64_t rows, done, part; /* part: calls with some rows done, but not all */
    int over;                 /* it was told that all is done, or has ended the call */
} asked;

enum { ASKED_ANSWER = 7 };

/* For the engine's calls by this thread from now on, whenever they could tell. */
void asked_set(asked *a, hybrid_engine *engine, int64_t stop);

/* The next call begins. */
void asked_again(asked *a, int64_t stop);

/* hybrid_progress_fn: checks what it is told. */
int asked_fn(void *user, int64_t rows_done, int64_t rows);

/* The call returned that: it was told as the header says, of a result of so many rows. */
void asked_check(const asked *a, hybrid_status status, int64_t rows);

#endif /* ASKED_H */
