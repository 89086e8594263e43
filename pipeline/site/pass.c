/* pipeline/site/pass.c - lets a slot compute its chunk in passes. */
#include "pipeline/site/pass.h"

#include "partition/parts/passes.h"

/* Lets the job compute pass `number`. */
static void begin(hy_job *job, int64_t number)
{
    const hy_problem *problem = job->problem;
    hy_pass *pass             = &job->pass;

    pass->number = number;
    pass->begin  = hy_pass_begin(&problem->image, problem->B, number);
    pass->end    = hy_pass_begin(&problem->image, problem->B, number + 1);
    pass->chunk  = *pass->planned;
}

void hy_pass_first(hy_job *job)
{
    if (!hy_job_in_passes(job))
        return;
    job->pass  = (hy_pass){.planned = job->chunk};
    job->chunk = &job->pass.chunk;
    begin(job, 0);
}

int hy_pass_is_left(const hy_job *job)
{
    return hy_job_in_passes(job) && job->pass.end < job->problem->B->rows;
}

/* A row of B that is longer than a pass leaves the passes after it without rows. They are
   left out. */
void hy_pass_next(hy_job *job)
{
    const hy_problem *problem = job->problem;

    job->pass.carried = *job->out_nnz;
    begin(job, hy_pass_of(&problem->image, problem->B, job->pass.end));
}
