/* cli/commands/job.h - one product: operands, plan, result, and the time of each step. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli/commands/calls.h"
#include "cli/operands/operand.h"
#include "cli/options/options.h"
#include "hybrid_spmm.h"

typedef struct cli_job {
    const cli_options *options;
    hybrid_engine *engine;
    hybrid_csr A, B, C;      /* B is empty if the right operand is A or X; operands that
                                stay in their files have no arrays */
    const hybrid_csr *right; /* &A or &B; NULL if the right operand is X */
    int explains;            /* 1: nothing is computed, and a random X has no values */
    hybrid_dense X, Y;
    hybrid_file *left_file, *right_file; /* operands that stay in their files; or NULL */
    hybrid_plan *plan; /* NULL if an operand stays in its file: each part has a plan */
    hybrid_report report;
    const char *variant; /* name of the variant that computes */
    hybrid_trace *trace; /* NULL unless --trace is given */
    cli_calls calls;     /* times of all calls; the report is that of the last call */
    int64_t cpu_ns;      /* CPU time of the process at the end of the last step */
    double read_s, transpose_s, plan_s, verify_s, write_s; /* seconds of steps */
    int64_t begin_ns;                                      /* start of the command */
    hybrid_type type;                                      /* type of all values */
    cli_title left_name, right_name;                       /* names for the summary */
} cli_job;

/* Each of these returns 0 or an exit code, after printing an error sentence. */
int cli_job_check(const cli_options *options); /* checks that options fit together */
int cli_job_open(cli_job *job);                /* opens the engine */
int cli_job_plan(cli_job *job);

/* Returns the plan options that the user's options ask for. */
hybrid_plan_options cli_job_wanted(const cli_job *job);

/* Returns 1 if an operand stays in its file. */
static inline int cli_job_has_files(const cli_job *job)
{
    return job->left_file || job->right_file;
}

/* Frees all that the job holds. A zeroed job is allowed. */
void cli_job_close(cli_job *job);

/* Opens an engine with the user's options and the rates file `rates`
   (hybrid_engine_options.rates_path). Returns NULL after an error, with the exit code in
   *code. */
hybrid_engine *cli_engine_open(const cli_options *options, hybrid_backend backend,
                               const char *rates, int *code);

/* Begins the next step now. CPU time since the end of the last step belongs to
   neither. */
void cli_job_pause(cli_job *job);

/* Ends a step of this program, which began at `begin_ns` and read or wrote `bytes` bytes
   of a file: adds it to the trace and returns its seconds. */
double cli_job_step(cli_job *job, const char *stage, const char *lane, int64_t begin_ns,
                    int64_t bytes);

#endif /* CLI_JOB_H */
