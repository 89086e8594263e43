/* engine/files/a_part.h - panels of rows of an A that is in a file.

   Two of them are in memory: one is multiplied, while a thread reads the next. That thread
   computes nothing and asks no worker, so that it is in nobody's way. */
#ifndef HY_A_PART_H
#define HY_A_PART_H

#include <pthread.h>

#include "partition/move/csr_file.h"

/* Rows [begin, begin + A.rows) in one block of memory. */
typedef struct hy_a_part {
    hybrid_csr A;
    int64_t begin;
    hy_reused block;
} hy_a_part;

typedef struct hy_a_parts {
    const hy_csr_file *file; /* borrowed */
    int64_t bytes;           /* of a panel, unless one row takes more */
    hy_a_part panels[2];
    hy_a_part *coming; /* which of them the thread reads */
    int64_t end;        /* rows before it have been handed out */
    pthread_t thread;
    int reads;            /* there is such a thread */
    int is_read;          /* and it has come to its end; with the lock */
    pthread_mutex_t lock;
    pthread_cond_t end_of_it;
    hybrid_status status; /* that it came to, */
    hy_message aside;     /* and its sentence: planning clears the context's */
} hy_a_parts;

/* Nothing is read yet. */
void hy_a_parts_open(const hy_csr_file *file, int64_t bytes, hy_a_parts *out);
void hy_a_parts_close(hy_a_parts *panels);

/* The panel that follows, with one row at least; NULL: there is none. All its rules are
   verified. It is there until the next call. */
hybrid_status hy_a_parts_next(hy_a_parts *panels, const hy_a_part **out);

#endif /* HY_A_PART_H */
