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
    hybrid_csr A, B, C;      /* B is empty if the right operand is A or X; an operand
                                that stays in its file has no arrays */
    const hybrid_csr *right; /* the sparse right operand: &A or &B; NULL if the right
                                operand is X */
    int explains;            /* 1: the command is explain, which computes nothing and
                                gives a random X no values */
    hybrid_dense X, Y;
    hybrid_file *left_file, *right_file; /* open files of operands that stay in them, or
                                            NULL */
    hybrid_file *opened[CLI_INPUTS]; /* operands that were opened only to find the type of
                                        their values; NULL: not opened */
    int streams; /* 1: the result may be written to --output while it is computed */
    int to_file; /* 1: the result is written to `output` while it is computed, and the
                    arrays of C or Y are NULL */
    const char *output; /* path of the file that receives the result if to_file is 1 */
    hybrid_plan *plan; /* NULL if an operand stays in its file: the library then makes a
                          plan for each part of it */
    hybrid_report report;
    const char *variant; /* name of the variant that computes; NULL: not yet known */
    hybrid_trace *trace; /* collects the events of --trace; NULL without --trace */
    cli_calls calls;     /* wall times of all calls of --repeat; `report` is that of the
                            last call */
    int64_t cpu_ns;      /* CPU time of the process at the end of the last step, in
                            nanoseconds */
    /* wall time of each step, in seconds */
    double read_s, transpose_s, plan_s, verify_s, write_s;
    /* when the command began, as a value of cli_now_ns() */
    int64_t begin_ns;
    /* type of the values of all operands and of the result */
    hybrid_type type;
    /* names of the operands, for the summary */
    cli_title left_name, right_name;
} cli_job;

/* cli_job_check(), cli_job_open() and cli_job_plan() return 0, or an exit code after
   printing an error sentence. */
int cli_job_check(const cli_options *options); /* checks that the options fit together */
int cli_job_open(cli_job *job);                /* opens the engine of the job */
int cli_job_plan(cli_job *job);

/* A function of the library that writes a text about a plan and returns its length:
   hybrid_plan_explain() or hybrid_plan_details(). */
typedef size_t cli_tell(const hybrid_plan *plan, char *text, size_t capacity);

/* Sets *text to what `tell` writes about the plan of the job, which must have one. The
   caller frees the text. Returns 0, or an exit code after printing an error sentence. */
int cli_job_told(const cli_job *job, cli_tell *tell, char **text);

/* Returns the options of a plan, as the options of the command line ask for them. */
hybrid_plan_options cli_job_wanted(const cli_job *job);

/* Returns 1 if an operand of the job stays in its file. */
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

/* Prints what the last call on the engine has guessed about a file, unless --quiet is
   given. */
void cli_tell_note(const hybrid_engine *engine, const cli_options *options);

/* Reads the CPU time, so that the next cli_job_step() counts CPU time from now on
   only. */
void cli_job_pause(cli_job *job);

/* Ends a step of this program, which began at `begin_ns` and read or wrote `bytes` bytes
   of a file: adds it to the trace and returns its seconds. */
double cli_job_step(cli_job *job, const char *stage, const char *lane, int64_t begin_ns,
                    int64_t bytes);

#endif /* CLI_JOB_H */
