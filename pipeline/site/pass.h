/* pipeline/site/pass.h - lets a slot compute its chunk in passes
   (partition/parts/passes.h).

   A slot takes each pass through the stages from `prepare` to `compress`. The result of a
   pass stays in job.out, from where the next pass reads it, and the result of the last one
   goes through the stages that follow. */
#ifndef HY_PASS_H
#define HY_PASS_H

#include "base/contract/variant.h"

/* Lets the job begin with the first pass of the chunk, if the chunk brings B in passes. */
void hy_pass_first(hy_job *job);

/* Returns 1 if the job has passes after the present one. */
int hy_pass_is_left(const hy_job *job);

/* Lets the job compute the next pass that has rows of B. The host must have seen the end
   of the stage before `reserve`. */
void hy_pass_next(hy_job *job);

#endif /* HY_PASS_H */
