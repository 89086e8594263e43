/* bench/program/peers.h - cuSPARSE behind a plain C interface.

   It is built only with CUDA, except bench_array(), peer_versions() and peer_hold.
   Functions that return int return 0 on success; otherwise peer_error() returns a
   sentence. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum peer_op { PEER_SPGEMM, PEER_SPMM, PEER_SPMV } peer_op;

typedef struct peer_csr {
    int64_t        rows, cols, nnz;
    const int32_t *row_ptr, *col;
    const void    *val;
} peer_csr;

/* Operands in pageable host arrays, borrowed. */
typedef struct peer_problem {
    peer_op     op;
    size_t      value_size; /* bytes of a value, 4 or 8 */
    peer_csr    A, B;       /* B.row_ptr is NULL if B is A */
    const void *X;          /* A.cols x cols, without gaps; NULL for SpGEMM */
    int64_t     cols;
    int         col_major;  /* 1: X and Y are column-major */
} peer_problem;

/* A result on the host. Its arrays come from malloc, are reused by later calls, and grow
   if a call needs more. Start with all zero. */
typedef struct peer_result {
    int64_t  nnz, room;     /* number of entries of C or elements of Y; and for how many
                               the arrays have room */
    int32_t *row_ptr, *col; /* offsets and columns of C; NULL if the result is Y */
    void    *val;
} peer_result;

void peer_result_free(peer_result *result);

/* Allocates with malloc and asks for huge pages if the array has 4 MB or more, as NumPy
   does. All timed operands and results come from here, also those for SciPy, PyTorch and
   CuPy. */
void *bench_array(size_t bytes);

/* Times and bytes of one call. */
typedef struct peer_call {
    double  seconds;      /* in mode "core": time of the kernels, whose memory was
                             allocated before */
    double  new_matrix_s; /* in mode "core": time of a call with all allocations and
                             inspection */
    double  prepare_s;    /* time of preprocessing, which the two times above do not
                             include; 0: there was none */
    int64_t nnz_out, bytes_up, bytes_down, device_bytes;
} peer_call;

typedef struct peer_device peer_device;

/* Opens CUDA device 0 and cuSPARSE. Returns NULL on failure, with the reason in
   `error`. */
peer_device *peer_open(char *error, size_t size);
void         peer_close(peer_device *d); /* NULL is ignored */
const char  *peer_error(const peer_device *d);
const char  *peer_name(const peer_device *d); /* name of the GPU */

/* Writes ", CUDA driver 13.0, runtime 13.0, cuSPARSE 12.6.3", or "" without CUDA. */
void peer_versions(char *text, size_t size);

/* Algorithm that repeats an SpGEMM with other values. In core mode only computing these
   values is timed. */
#define PEER_REUSE "spgemm.reuse"

/* Returns the name of algorithm i, such as "spgemm.alg1"; NULL after the last one. */
const char *peer_algorithm(peer_op op, int i);

/* Delays copies to the device. A copy that is enqueued within 0.4 ms after
   peer_hold_start() begins after that time, and so does the work behind it. If a CUDA
   call failed, peer_hold_open() returns NULL and peer_hold_start() -1. */
typedef struct peer_hold peer_hold;
peer_hold *peer_hold_open(void);
void       peer_hold_close(peer_hold *hold); /* NULL is ignored */
int        peer_hold_start(peer_hold *hold);

/* peer_load() copies the operands to the device, where they stay until peer_unload().
   peer_core() computes the product twice: once with all allocations, for
   call->new_matrix_s, and once for call->seconds, timed with device events. */
int  peer_load(peer_device *d, const peer_problem *problem);
/* receives the product; NULL: it stays on the device and is freed */
int  peer_core(peer_device *d, int algorithm, peer_result *result,
               peer_call *call);
void peer_unload(peer_device *d);

/* Computes from host arrays to host arrays. call->seconds includes allocating, copying
   and freeing; `result` receives the product. */
int peer_end(peer_device *d, const peer_problem *problem, int algorithm,
             peer_result *result, peer_call *call);

#ifdef __cplusplus
}
#endif
#endif /* BENCH_PEERS_H */
