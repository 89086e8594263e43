/* engine/api/threads.c - the number of CPU workers of an engine. */
#include "engine/api/threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum { MANY_CORES = 8 };

/* Most workers that pack and store for one device, and for all. The memory of a host is
   busy with fewer threads than a large machine has cores, and further ones spin and wake
   in vain: with 61 workers instead of 16, A*X on one of 64 cores' four H100 takes 170 ms
   instead of 88 (docs/lab/neighbours.md). */
enum { DEVICE_WORKERS = 16, DEVICES_WORKERS = 32 };

/* Returns the number, 1 to INT_MAX, with which `text` begins; 0 if it begins with none.
 *rest points behind the number. */
static int leading_number(const char *text, char **rest)
{
    errno            = 0;
    const long value = strtol(text, rest, 10);
    return errno == 0 && value > 0 && value <= INT_MAX ? (int)value : 0;
}

/* Returns the number in OMP_NUM_THREADS, which launchers such as joblib and mpirun set,
   but at most `cores`; 0 if there is none. */
static int omp_threads(int cores)
{
    const char *text = getenv(HY_OMP_THREADS_VARIABLE);
    char *rest;

    return text ? (int)hy_min(leading_number(text, &rest), cores) : 0;
}

static hybrid_status own_threads(hy_context *ctx, int *threads)
{
    const char *text = getenv(HY_THREADS_VARIABLE);
    char *rest;

    *threads = 0;
    if (!text || !*text)
        return HYBRID_OK;
    *threads = leading_number(text, &rest);
    return *threads > 0 && !*rest
               ? HYBRID_OK
               : hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                         HY_THREADS_VARIABLE
                         " is \"%.40s\", and must be a whole number of at least 1",
                         text);
}

hybrid_status hy_thread_count(hy_context *ctx, const hy_topology *topology, int wanted,
                              int devices, int *threads, int *reserve)
{
    const int cores = hy_topology_cores(topology);
    const int most  = devices == 1 ? DEVICE_WORKERS : DEVICES_WORKERS;

    *reserve = 0;
    *threads = wanted;
    if (*threads == 0)
        HY_TRY(own_threads(ctx, threads));
    if (*threads == 0)
        *threads = omp_threads(cores);
    if (*threads > 0)
        return HYBRID_OK;
    *threads = devices > 0 && cores >= MANY_CORES
                   ? (int)hy_min(cores - HY_DRIVER_CORES, most)
                   : cores;
    *reserve = cores - *threads;
    return HYBRID_OK;
}
