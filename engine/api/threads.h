/* engine/api/threads.h - the number of CPU workers of an engine. */
#ifndef HY_THREADS_H
#define HY_THREADS_H

#include "base/threads/topology.h"

/* Names of environment variables that hy_thread_count() reads. */
#define HY_THREADS_VARIABLE     "HYBRID_NUM_THREADS"
#define HY_OMP_THREADS_VARIABLE "OMP_NUM_THREADS"

/* Sets *threads to the first number in this list that is given:

       wanted              > 0
       HYBRID_NUM_THREADS  BAD_ARGUMENT unless it is a whole number of at least 1
       OMP_NUM_THREADS     at most the number of cores; of a list the first number;
                           ignored if it is not a number
       number of cores     minus *reserve

   *reserve is the number of additional workers, which help when the CPU computes alone. It
   is 0 if a number was given, if the engine has no device (`devices` is 0), or if there
   are few cores. */
hybrid_status hy_thread_count(hy_context *ctx, const hy_topology *topology, int wanted,
                              int devices, int *threads, int *reserve);

#endif /* HY_THREADS_H */
