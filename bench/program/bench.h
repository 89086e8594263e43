/* bench/program/bench.h - what the parts of the benchmark program share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>

#include "hybrid_spmm.h"

enum { BENCH_NAME = 256, BENCH_TEXT = 512, BENCH_TRIALS = 2, BENCH_WIDTHS = 64,
       BENCH_DEVICES = 16 };

/* ---- what was asked for ------------------------------------------------------- */

typedef enum bench_op { BENCH_SPGEMM, BENCH_SPMM, BENCH_SPMV } bench_op;

/* Bits of bench_options.peers, in the order of their words. */
enum { BENCH_CUSPARSE = 1, BENCH_GRAPHBLAS = 2 };

typedef struct bench_options {
    bench_op       op;
    hybrid_type    type;
    hybrid_order   order;         /* of X and Y */
    hybrid_backend backend;
    int64_t        cols;          /* of X now, one of: */
    int64_t        widths[BENCH_WIDTHS];
    int            width_count;
    int64_t        chunk_rows;    /* 0 = the planner's choice */
    size_t         device_memory; /* 0 = no cap */
    int            devices[BENCH_DEVICES], device_count; /* count 0 = the first one alone */
    const char    *variant;       /* NULL = the planner's choice; "all"; a name or prefix */
    hybrid_split   split;
    double         host_share;
    int            threads, reps, warmup;
    int            core, end;     /* which times are wanted */
    int            keep;          /* end: so many calls more whose results are all kept */
    int            pinned;        /* operands and Y are pinned before the clock starts */
    int            resident;      /* end: runs of one plan whose A stays on the device */
    int            tf32;          /* HYBRID_ALLOW_TF32 */
    int64_t        neighbour_ns;  /* before each call other threads begin to spin for so long,
                                     as in neighbour.h; 0 = none */
    int            progress;      /* how often it is told, and how soon a call ends by it */
    int            verify, peers;
    const char    *json, *commit, *dump; /* NULL if not given */
    char         **problems;
    int            problem_count;
} bench_options;

/* 1 = go on, 0 = all is said (--help), -1 = refused with a message. */
int bench_parse(int argc, char **argv, bench_options *out);

/* ---- the operands ---------------------------------------------------------------- */

/* Pageable, touched arrays from malloc: what a caller of the library holds. */
typedef struct bench_problem {
    char       name[BENCH_NAME];
    hybrid_csr A;
    hybrid_csr T;          /* transpose of A; all zero when A is square */
} bench_problem;

/* What A is multiplied with in SpGEMM: A itself, or its transpose if not square. */
const hybrid_csr *bench_second(const bench_problem *problem);

/* `spec` is a description for hybrid_generate() or the path of a .mtx file.
   0 = success; else a message has been printed. */
int  bench_problem_load(hybrid_engine *tools, const char *spec, const bench_options *o,
                        bench_problem *out);
void bench_problem_free(bench_problem *problem);

/* Write `folder`/NAME/{row_ptr,col,val,shape}.npy and problem.txt. 0 = success. */
int bench_dump(const bench_problem *problem, const char *folder);

/* rows x cols, seeded values or zeros, from malloc; of arrays that are to be pinned the data
   begins at a multiple of 128 bytes. 0 = success. */
int  bench_dense_make(hybrid_engine *tools, int64_t rows, int64_t cols,
                      hybrid_order order, hybrid_type type, int random, int pinned,
                      hybrid_dense *out);
void bench_dense_free(hybrid_dense *dense);

/* ---- a run of the program ------------------------------------------------------------ */

typedef struct bench {
    bench_options  options;
    hybrid_engine *tools;             /* makes operands and verifies; never timed */
    FILE          *json;              /* NULL = none */
    int            threads;           /* of the engines that are timed */
    int            calls;             /* made so far in this process */
    int            graphblas;         /* it was started, which a process may do once */
    int            failed;            /* something of ours went wrong */
    char           cpu[BENCH_NAME];
    char           versions[BENCH_NAME]; /* of what is timed: library, CUDA, peers */
    char           date[32];          /* when it began, UTC */
    bench_problem  problem;
    struct neighbour *neighbour;      /* NULL = none */
    struct bench_best {                 /* of our verified times; 0 = none */
        double     end, kernels, new_matrix, reuse;
    } best;
    double         reference_s;         /* as the library reports it; 0 = unknown */
    int64_t        nnz_out, flops;      /* likewise */
} bench;

/* ---- a product, as the timing loop sees it -------------------------------------------- */

typedef struct bench_case {
    bench         *bench;
    hybrid_engine *engine;
    hybrid_csr     C;    /* SpGEMM; belongs to `engine` */
    hybrid_dense   X, Y; /* SpMM and SpMV */
    struct peer_hold *hold; /* or NULL: runs are timed as they come */
} bench_case;

typedef struct bench_product {
    const char *name;    /* "spgemm" */
    const char *family;  /* how the names of its variants begin: "spgemm." */
    int (*open)(bench_case *c);                    /* make X and Y. 0 = success */
    hybrid_status (*plan)(bench_case *c, const hybrid_plan_options *o, hybrid_plan **plan);
    hybrid_status (*run)(bench_case *c, hybrid_plan *plan);
    hybrid_status (*once)(bench_case *c);          /* in one call, if that is another way
                                                      than plan and run; NULL = it is not */
    void (*clear)(bench_case *c);                  /* free the result for the next call */
    void *(*keep)(bench_case *c);                  /* take the result away: the next call
                                                      makes another. NULL = no memory */
    void (*drop)(bench_case *c, void *kept);       /* free what keep() took */
    hybrid_status (*verify)(bench_case *c, int64_t *row);
    void (*close)(bench_case *c);
} bench_product;

extern const bench_product bench_spgemm, bench_spmm, bench_spmv;

const bench_product *bench_product_of(bench_op op);

/* Pin the arrays of the case's operands for its engine, and take that back. */
hybrid_status bench_pin(bench_case *c);
void          bench_unpin(bench_case *c);

/* Time every variant asked for on bench->problem. */
void bench_ours(bench *b);

/* Watch the progress of products, and end some; prints a line. 0 = success; else a message has
   been printed. */
int bench_progress(bench_case *c, const bench_product *product);

/* Time cuSPARSE on bench->problem; says so if this build has none. */
void bench_peers(bench *b);

/* The same for SuiteSparse:GraphBLAS. */
void bench_graphblas(bench *b);
void bench_graphblas_close(const bench *b);
void bench_graphblas_versions(char *text, size_t size); /* ", ..." or empty */

/* ---- results -------------------------------------------------------------------------- */

/* Many calls in one figure; all NAN if there were none. */
typedef struct bench_span {
    double median, min, max;
} bench_span;

bench_span bench_span_of(double *seconds, int count); /* sorts them */

/* Seconds of a line. */
typedef struct bench_times {
    double     first;      /* the first call: end to end, or in core for a new matrix */
    bench_span calls;      /* end: results are freed between calls; core: kernels alone */
    bench_span kept;       /* end: results are all kept */
    bench_span new_matrix; /* core: a call for a new matrix, planning and allocation counted */
} bench_times;

/* One line of the table and of the JSON file. */
typedef struct bench_line {
    const char   *op, *mode, *order, *peer; /* order, peer: NULL = none */
    const char   *engine;            /* what it may use, "cuda" or "host"; NULL = a peer's */
    int           pinned;
    char          variant[BENCH_NAME], backend[16], device[BENCH_NAME];
    char          new_matrix_variant[BENCH_NAME]; /* core: of those calls; empty = unknown */
    char          error[BENCH_TEXT]; /* empty = none */
    int64_t       cols;              /* 0 = not an SpMM */
    bench_times   times;
    hybrid_report report;            /* stage times are NAN where unknown */
    int           resident;          /* A was on the device; -1 = not ours */
    int           reuse;             /* core: C's pattern was known, values are computed */
    int           reps;              /* calls that `calls` and `new_matrix` are of */
    double        plan_s;            /* core: planning, of times.new_matrix */
    double        pack_s;            /* core: to pack A in the first run; NAN = unknown */
    double        ratio;             /* peer / ours; NAN = unknown */
    double        new_matrix_ratio;  /* the same of calls for a new matrix */
    int           verified;          /* 1 yes, 0 failed, -1 not tried */
    int           first;             /* times.first was the first product of this process */
} bench_line;

void bench_line_open(const bench *b, bench_line *line); /* all unknown */
void bench_print_head(void);
void bench_print(bench *b, const bench_line *line);     /* table and JSON */
void bench_json(const bench *b, const bench_line *line);

/* 1e9 flops a second; NAN if not known. */
double bench_gflops(const bench_line *line);

/* The report's reference over an end-to-end time; NAN if not known. */
double bench_speedup(const bench_line *line);

/* What such a run used of a resource, as reported; NAN if not known. */
double bench_use(const bench_line *line, hybrid_resource resource);

double bench_now(void); /* seconds of CLOCK_MONOTONIC */

#endif /* BENCH_H */
