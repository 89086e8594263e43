/* bench/program/peers.h - cuSPARSE behind a plain C interface. Built only with CUDA, except
   bench_array(), peer_versions() and peer_hold. Functions that return int return 0 on
   success; peer_error() tells the rest in words. */
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

/* Host arrays, pageable, borrowed. */
typedef struct peer_problem {
    peer_op     op;
    size_t      value_size; /* 4 or 8 */
    peer_csr    A, B;       /* B.row_ptr == NULL: A times A */
    const void *X;          /* A.cols x cols, without gaps; NULL in SpGEMM */
    int64_t     cols;
    int         col_major;  /* order of X and Y */
} peer_problem;

/* A result on the host. Arrays come from malloc, are kept from call to call, and grow
   when a call needs more. Start from all zero. */
typedef struct peer_result {
    int64_t  nnz, room;     /* entries of C or elements of Y: used, allocated */
    int32_t *row_ptr, *col; /* NULL for Y */
    void    *val;
} peer_result;

void peer_result_free(peer_result *result);

/* malloc, with huge pages where NumPy asks for them too, from 4 MB on: what all of our
   operands and results, and SciPy, PyTorch and CuPy, are timed with. */
void *bench_array(size_t bytes);

/* What one call took. */
typedef struct peer_call {
    double  seconds;        /* in core: kernels alone, in memory allocated beforehand */
    double  new_matrix_s;   /* in core: a call with every allocation and inspection */
    double  prepare_s;      /* preprocess, in neither; 0 = none */
    int64_t nnz_out, bytes_up, bytes_down, device_bytes;
} peer_call;

typedef struct peer_device peer_device;

/* NULL on failure; the reason is then at `error`. */
peer_device *peer_open(char *error, size_t size);
void         peer_close(peer_device *d); /* NULL is fine */
const char  *peer_error(const peer_device *d);
const char  *peer_name(const peer_device *d); /* of the GPU */

/* ", CUDA driver 13.0, runtime 13.0, cuSPARSE 12.6.3"; empty in a build without CUDA. */
void peer_versions(char *text, size_t size);

/* SpGEMM again with other values, in core: its kernels are those of values alone. */
#define PEER_REUSE "spgemm.reuse"

/* Name of algorithm i, such as "spgemm.alg1"; NULL past the last one. */
const char *peer_algorithm(peer_op op, int i);

/* Copies to the device that are enqueued within 0.4 ms from peer_hold_start() on begin
   when those are over, and so does what follows them. NULL, -1: a call of CUDA failed. */
typedef struct peer_hold peer_hold;
peer_hold *peer_hold_open(void);
void       peer_hold_close(peer_hold *hold); /* NULL is fine */
int        peer_hold_start(peer_hold *hold);

/* In core: operands stay on the device from load to unload; kernels by device events. */
int  peer_load(peer_device *d, const peer_problem *problem);
int  peer_core(peer_device *d, int algorithm, peer_result *result, /* or NULL */
               peer_call *call);
void peer_unload(peer_device *d);

/* From host arrays to host arrays, everything allocated, copied and freed within. */
int peer_end(peer_device *d, const peer_problem *problem, int algorithm,
             peer_result *result, peer_call *call);

#ifdef __cplusplus
}
#endif
#endif /* BENCH_PEERS_H */
