/* engine/results/row_writer.h - writes rows of a matrix in a thread of their own.

   Rows are copied to panels, of which there are two: one is written while the caller
   fills the other. Rows of another type of values are converted. */
#ifndef HY_ROW_WRITER_H
#define HY_ROW_WRITER_H

#include <pthread.h>

#include "engine/api/engine.h"
#include "io/formats/file_writer.h"

/* A panel: successive rows of the file, which are written together. */
typedef struct hy_row_panel {
    hybrid_csr sparse;  /* rows of a sparse matrix; its arrays have room for further rows */
    hybrid_dense dense; /* rows of a dense matrix */
    int64_t entries;    /* number of entries for which the arrays of `sparse` have room */
    hy_reused offsets, columns, values;
} hy_row_panel;

typedef struct hy_row_writer {
    hybrid_engine *engine;
    hy_file_writer *file; /* file that receives the rows; belongs to the caller */
    int64_t bytes;        /* maximum bytes of a panel; a single row may exceed it */
    hy_row_panel panels[2];
    hy_row_panel *filling;
    pthread_t thread;
    int is_running;        /* 1 until the thread is joined */
    pthread_mutex_t lock;  /* guards all fields that follow */
    pthread_cond_t change; /* signalled when `written` or `is_ending` changes */
    hy_row_panel *written; /* panel that the thread writes; NULL: none */
    int is_ending;
    hybrid_status status; /* first error of the thread */
    hy_message aside;     /* error sentence of the thread */
    double seconds;       /* busy time of the thread in reported panels */
    hybrid_event event;   /* the last panel that was written; stage is NULL if it has been
                             reported */
} hy_row_writer;

/* Starts the thread. A panel takes at most `bytes` bytes. Call hy_row_writer_close() in
   any case. */
hybrid_status hy_row_writer_open(hybrid_engine *engine, hy_file_writer *file,
                                 int64_t bytes, hy_row_writer *out);

/* Append rows, which are copied. Offsets of sparse rows may begin with any number and
   have 64 bits; columns have 32 bits. */
hybrid_status hy_row_writer_sparse(hy_row_writer *writer, const hybrid_csr *rows);
hybrid_status hy_row_writer_dense(hy_row_writer *writer, const hybrid_dense *rows);

/* Ends the panel that is being filled: the next row begins another. */
hybrid_status hy_row_writer_cut(hy_row_writer *writer);

/* Writes the rest if `status` is OK, and ends the thread. Returns the first error. */
hybrid_status hy_row_writer_close(hy_row_writer *writer, hybrid_status status);

/* Returns a good maximum of bytes for a panel within the engine's host memory. */
int64_t hy_row_writer_bytes(const hybrid_engine *engine);

#endif /* HY_ROW_WRITER_H */
