/* cli/commands/job.h - one product: operands, plan, result, and what each step took. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli/commands/calls.h"
#include "cli/operands/operand.h"
#include "cli/options/options.h"
#include "hybrid_spmm.h"

typedef struct cli_job {
    const cli_options *options;
    hybrid_engine *engine;
    hybrid_csr A, B, C;      /* B is empty when the right operand is A or X; A and B have no
                                arrays when they stay in their files */
    const hybrid_csr *right; /* &A or &B; NULL when it is X */
    int explains;            /* nothing is computed: a random X has no numbers */
    hybrid_dense X, Y;
    hybrid_file *left_file, *right_file; /* of operands that stay there; or NULL */
    hybrid_plan *plan; /* NULL if one stays: there is one for each panel */
    hybrid_report report;
    const char *variant; /* that computes */
    hybrid_trace *trace; /* NULL unless it is asked for */
    cli_calls calls; /* of the product; the report is that of the last one */
    int64_t cpu_ns;  /* CPU time of the process when the last step ended */
    double read_s, transpose_s, plan_s, verify_s, write_s; /* seconds */
    int64_t begin_ns;                                      /* when the command began */
    hybrid_type type;                                      /* of all values */
    cli_title left_name, right_name;                       /* as the summary says them */
} cli_job;

/* Each returns 0 or an exit code, after saying what went wrong. */
int cli_job_check(const cli_options *options); /* options that do not fit together */
int cli_job_open(cli_job *job);                /* the engine */
int cli_job_plan(cli_job *job);

/* How to compute, as the options want it. */
hybrid_plan_options cli_job_wanted(const cli_job *job);

/* Whether an operand stays in its file. */
static inline int cli_job_has_files(const cli_job *job)
{
    return job->left_file || job->right_file;
}

/* Frees what was made; zeroed is fine. */
void cli_job_close(cli_job *job);

/* An engine as the options want it, with these rates (hybrid_engine_options.rates_path);
   NULL after an error, whose exit code is at *code. */
hybrid_engine *cli_engine_open(const cli_options *options, hybrid_backend backend,
                               const char *rates, int *code);

/* The step that follows begins now, although the last one ended before. */
void cli_job_pause(cli_job *job);

/* A step of this program ends: puts it in the trace and returns its seconds. */
double cli_job_step(cli_job *job, const char *stage, const char *lane, int64_t begin_ns,
                    int64_t bytes);

#endif /* CLI_JOB_H */
