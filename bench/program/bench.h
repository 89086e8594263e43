/* bench/program/bench.h - what the parts of the benchmark program share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>

#include "hybrid_spmm.h"

enum { BENCH_NAME = 256, BENCH_TEXT = 512, BENCH_TRIALS = 2, BENCH_WIDTHS = 64,
       BENCH_DEVICES = 16, BENCH_DETAILS = 8192, BENCH_MEMORIES = 16 };

/* ---- options ------------------------------------------------------------------- */

typedef enum bench_op { BENCH_SPGEMM, BENCH_SPMM, BENCH_SPMV } bench_op;

/* Order of the rows of A in A*B: as they are; longest rows first; by the mean column of
   their entries. */
typedef enum bench_rows { BENCH_NATURAL, BENCH_DEGREE, BENCH_LOCALITY } bench_rows;

/* Bits of bench_options.peers: bit i is peer i in the list of names that --peer
   accepts. */
enum { BENCH_CUSPARSE = 1, BENCH_GRAPHBLAS = 2 };

typedef struct bench_options {
    bench_op       op;
    hybrid_type    type;
    hybrid_order   order;         /* order of X and Y */
    hybrid_backend backend;
    int64_t        cols;          /* columns of X in the product that is timed now: one of
                                     `widths` */
    int64_t        widths[BENCH_WIDTHS];
    int            width_count;
    int64_t        chunk_rows;    /* rows of each chunk; 0: the planner's choice */
    int            slots;         /* mode "end": maximum number of chunks in flight; 0: the
                                     planner's choice */
    size_t         device_memory; /* most bytes of device memory that the library may use
                                     on each device in the calls that are timed now; 0: no
                                     cap. One of `memories` */
    size_t         memories[BENCH_MEMORIES];
    int            memory_count;
    size_t         host_memory;   /* most bytes of host memory that the library may use;
                                     0: no cap */
    int            each;          /* 1: SpGEMM: rows of C go to a function */
    bench_rows     rows;          /* SpGEMM: order of the rows of A */
    /* numbers of the CUDA devices that compute together; device_count 0: the library uses
       its first device only */
    int            devices[BENCH_DEVICES], device_count;
    const char    *variant;       /* "all": each variant in turn; a variant's name; a
                                     prefix of several names, from which the planner
                                     chooses; NULL: the planner chooses from all */
    hybrid_split   split;
    double         host_share;
    int            threads, reps, warmup;
    int            core, end;    /* core: 1: time the kernels (mode "core"). end: 1: time
                                    the whole call (mode "end"). */
    int            keep;         /* mode "end": number of additional calls whose results
                                    are all kept */
    int            pinned;       /* 1: operands and Y are pinned beforehand */
    int            resident;     /* 1: calls of mode "end" are runs of one plan that
                                    caches A on the device */
    int            tf32;         /* 1: plans have the flag HYBRID_ALLOW_TF32 */
    int            explain;      /* 1: plans have HYBRID_EXPLAIN, except in one-shot
                                    calls, and the JSON file has their details */
    int64_t        neighbour_ns; /* nanoseconds for which other threads spin, from just
                                    before each call (neighbour.h); NEIGHBOUR_FOREVER:
                                    all the time; 0: there are no such threads */
    int            progress;     /* 1: measure progress callbacks, and how fast cancelled
                                    calls end */
    int            verify, peers;
    const char    *json, *commit, *dump; /* paths, and the commit that is written with
                                            each line; NULL if not given */
    char         **problems;
    int            problem_count;
} bench_options;

/* Parses the command line. Returns 1 to go on, 0 after --help, -1 after an error. */
int bench_parse(int argc, char **argv, bench_options *out);

/* ---- operands ------------------------------------------------------------------ */

/* Operands in pageable memory from malloc, with pages present, as callers have them. */
typedef struct bench_problem {
    char       name[BENCH_NAME];
    hybrid_csr A;
    hybrid_csr T;     /* second operand of SpGEMM: the transpose of A, or A in its natural
                         order if `rows` of the options is another; all zero: A */
    double     alpha; /* share of the 16 rows of a row panel that have an entry in a
                         column which the panel uses, 0 to 1: the mean over all
                         columns of all panels; NAN for SpGEMM, and if memory was
                         short */
} bench_problem;

/* Returns the second operand of SpGEMM. */
const hybrid_csr *bench_second(const bench_problem *problem);

/* Loads a problem. `spec` is a description for hybrid_generate() or the path of a .mtx
   file. Returns 0 on success, -1 after printing an error. */
int  bench_problem_load(hybrid_engine *tools, const char *spec, const bench_options *o,
                        bench_problem *out);
void bench_problem_free(bench_problem *problem);

/* Writes `folder`/NAME/{row_ptr,col,val,shape}.npy and problem.txt. Returns 0 on success,
   -1 after an error message. */
int bench_dump(const bench_problem *problem, const char *folder);

/* Makes a rows x cols matrix with malloc. `random`: 1: random values, 0: zeros. `pinned`:
   1: the matrix will be pinned, so its data begin at a multiple of 128 bytes. Returns 0
   on success. */
int  bench_dense_make(hybrid_engine *tools, int64_t rows, int64_t cols,
                      hybrid_order order, hybrid_type type, int random, int pinned,
                      hybrid_dense *out);
void bench_dense_free(hybrid_dense *dense);

/* ---- the program --------------------------------------------------------------- */

typedef struct bench {
    bench_options  options;
    hybrid_engine *tools;     /* engine without a device that makes operands and
                                 verifies; never timed */
    FILE          *json;      /* file that receives a line for each measurement; NULL:
                                 none */
    int            threads;   /* number of workers of the timed engines */
    int            calls;     /* products computed so far in this process, by the
                                 library */
    int            graphblas; /* 1: GraphBLAS was started, once per process */
    int            failed;    /* 1: a call of this library failed or gave a wrong
                                 result */
    char           cpu[BENCH_NAME];
    char           versions[BENCH_NAME]; /* versions of library, CUDA and peers */
    char           date[32];             /* when the program began, UTC */
    bench_problem  problem;
    struct neighbour *neighbour;      /* threads that disturb the calls; NULL: none */
    struct bench_best {                 /* shortest times of this library for the problem,
                                           in seconds, without those of results that
                                           verification found wrong; 0: none */
        double     end, kernels, new_matrix, reuse;
    } best;
    double         reference_s;    /* reference time that the library last reported
                                      for the problem, in seconds; 0: unknown */
    int64_t        nnz_out, flops; /* from the library's last report: number of
                                      entries or elements of the result, and flops;
                                      0: unknown */
} bench;

/* ---- a product ----------------------------------------------------------------- */

typedef struct bench_case {
    bench         *bench;
    hybrid_engine *engine;
    hybrid_csr     C;       /* result of SpGEMM; belongs to `engine` */
    hybrid_dense   X, Y;    /* operand and result of SpMM and SpMV; from malloc */
    struct peer_hold *hold; /* delays kernels until the host has enqueued them (hold.cu);
                               NULL: calls are timed without such delays */
} bench_case;

typedef struct bench_product {
    const char *name;           /* name of the product: "spgemm" */
    const char *family;         /* prefix of its variants' names: "spgemm." */
    int (*open)(bench_case *c); /* makes X and Y, if the product has
                                   them; returns 0 on success */
    hybrid_status (*plan)(bench_case *c, const hybrid_plan_options *o, hybrid_plan **plan);
    hybrid_status (*run)(bench_case *c, hybrid_plan *plan);
    hybrid_status (*once)(bench_case *c);    /* makes the one-shot call; NULL if the
                                                product has none */
    void (*clear)(bench_case *c);            /* frees C; does nothing with Y, which
                                                the next call overwrites */
    void *(*keep)(bench_case *c);            /* takes the result away, so that the
                                                next call allocates another; returns
                                                NULL if memory is short */
    void (*drop)(bench_case *c, void *kept); /* frees what keep() took */
    hybrid_status (*verify)(bench_case *c, int64_t *row);
    void (*close)(bench_case *c);
} bench_product;

extern const bench_product bench_spgemm, bench_spmm, bench_spmv;

const bench_product *bench_product_of(bench_op op);

/* Pin the arrays of A, its transpose, X and Y for the case's engine, and unpin them. */
hybrid_status bench_pin(bench_case *c);
void          bench_unpin(bench_case *c);

/* Times every requested variant of this library on bench->problem. */
void bench_ours(bench *b);

/* Measures the time between progress callbacks during a product, cancels some products,
   and prints a line. Returns 0 on success, else after an error message. */
int bench_progress(bench_case *c, const bench_product *product);

/* Times cuSPARSE on bench->problem. Prints a note instead if the build has no CUDA, if
   there is no device, or if A or C has too many entries for 32-bit offsets. */
void bench_peers(bench *b);

/* Times SuiteSparse:GraphBLAS on bench->problem, in mode "end" only. Prints a note
   instead if the build has no GraphBLAS. */
void bench_graphblas(bench *b);
void bench_graphblas_close(const bench *b);
/* writes a text such as ", SuiteSparse:GraphBLAS 9.1.0", or "" if the build has none */
void bench_graphblas_versions(char *text, size_t size);

/* ---- results ------------------------------------------------------------------- */

/* Seconds of many calls; all NAN if there were none. */
typedef struct bench_span {
    double median, min, max;
} bench_span;

/* returns median, minimum and maximum of `count` times; sorts `seconds` */
bench_span bench_span_of(double *seconds, int count);

/* Seconds of one line of the table. A line has the mode "core" or "end"; a mode before a
   colon means that the field is set for lines of that mode. */
typedef struct bench_times {
    double     first;      /* end: first whole call; core: first call for a new matrix */
    bench_span calls;      /* end: calls whose results are freed before the next call;
                              core: kernels only */
    bench_span kept;       /* end: calls whose results are all kept */
    bench_span new_matrix; /* core: call for a new matrix, with planning and allocation */
} bench_times;

/* One line of the table and of the JSON file. */
typedef struct bench_line {
    const char   *op, *mode, *order, *peer; /* `order` and `peer` are NULL if the line has
                                               none */
    const char   *engine;            /* backend of the library's engine: "cuda" or "host";
                                        NULL: line of a peer */
    int           pinned;
    char          variant[BENCH_NAME], backend[16], device[BENCH_NAME];
    char          new_matrix_variant[BENCH_NAME]; /* core: variant that the planner chose
                                                     for a new matrix, or "" */
    const char   *details;           /* hybrid_plan_details() of the plan; NULL: not asked
                                        for */
    char          error[BENCH_TEXT]; /* sentence of the error of this line; "": no error */
    int64_t       cols;              /* columns of X; 0: SpGEMM, which has no X */
    bench_times   times;
    hybrid_report report;           /* report of the median call; times of stages are NAN
                                       if unknown */
    int           resident;         /* 1: A was cached on the device; 0: it was not; -1:
                                       line of a peer */
    int           reuse;            /* 1: core, with values computed anew for a known
                                       pattern of C */
    int           reps;             /* number of timed calls. `calls` and `new_matrix` of
                                       `times` are medians and other figures of them */
    double        plan_s;           /* seconds of planning in the median call: core: a
                                       part of times.new_matrix; end: a part of
                                       times.calls, except if that is a one-shot call;
                                       NAN: unknown */
    double        pack_s;           /* mode "core": seconds in which the first call
                                       packed A; NAN: unknown, or another mode */
    double        ratio;            /* median time of the peer over the shortest median
                                       of this library; NAN: unknown */
    double        new_matrix_ratio; /* median times.new_matrix of the peer over the
                                       shortest of this library; NAN: unknown */
    int           verified;         /* 1: right; 0: wrong, or it could not be verified;
                                       -1: not verified */
    int           first;            /* 1: times.first belongs to the first product of
                                       this process */
} bench_line;

/* takes over the options, and sets all times and findings to unknown */
void bench_line_open(const bench *b, bench_line *line);
void bench_print_head(void);
/* prints a line of the table, and writes it to the JSON file if there is one */
void bench_print(bench *b, const bench_line *line);
void bench_json(const bench *b, const bench_line *line);

/* Returns GFLOP/s at the median time of the line; NAN if unknown. */
double bench_gflops(const bench_line *line);

/* Returns the reference time over the median time of a whole call; NAN if unknown, and in
   mode "core". */
double bench_speedup(const bench_line *line);

/* Returns the utilisation of a resource, 0 to 1, that the library reported for a whole
   call; NAN if unknown, and in mode "core". */
double bench_use(const bench_line *line, hybrid_resource resource);

double bench_now(void); /* seconds of CLOCK_MONOTONIC */

#endif /* BENCH_H */
