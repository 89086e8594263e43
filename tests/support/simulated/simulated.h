/* tests/support/simulated/simulated.h - products on simulated devices, with a virtual
   clock.

   The library's own queue decides which device computes which rows. The duration of a
   claim (rows that a device takes at once) follows from rates: each device has its own
   bus and kernels, and all devices share the host's memory and cores. Simultaneous
   copies share a common limit in proportion to their speed. */
#ifndef SIMULATED_H
#define SIMULATED_H

#include "hybrid_spmm.h"

enum { SIMULATED_DEVICES = 16, SIMULATED_ROWS = 20000 };

typedef struct simulated_machine {
    int devices;
    double speed[SIMULATED_DEVICES]; /* for each device, the factor by which its bus and
                                        kernel rates are multiplied */
    double up_Bps, down_Bps;         /* bytes per second of one bus in one direction
                                        while the other direction is idle */
    double both_Bps;                 /* bytes per second of one bus in both directions
                                        together */
    double memory_Bps;               /* bytes per second of host memory for all copies to
                                        and from devices */
    double fill_Bps, store_Bps;      /* bytes per second at which host cores fill the
                                        ring of pinned memory, and at which they store
                                        results; 0: devices copy directly from and to
                                        operands */
} simulated_machine;

typedef struct simulated_product {
    const char *name;
    double image_bytes; /* bytes of B or X; each device gets all of them */
    double a_bytes;     /* bytes of all packs of A, each sent to one device */
    double down_bytes;  /* bytes of the result, each sent from one device */
    double device_s;    /* seconds of all kernels if one device computed the whole
                           product */
    int far;            /* 1: the first chunk needs all of B or X; 0: with the first p
                           percent of A's rows a device needs the first p percent of B or
                           X */
    int in_order;       /* 1: positions in the result are unknown, so rows must be
                           claimed in ascending order */
    int chunks;         /* chunks into which one device would cut the whole product */
} simulated_product;

typedef struct simulated_run {
    double seconds;
    double up_bytes, down_bytes; /* bytes sent up and down, sums over all buses */
    double memory, cores;        /* share of the run's time in which memory, or cores,
                                    were at their limit, 0 to 1 */
    double bus;                  /* share of the run's time in which a bus was busy, mean
                                    over all buses, 0 to 1 */
    int64_t rows[SIMULATED_DEVICES]; /* number of rows that each device computed */
    int times[SIMULATED_ROWS];       /* for each row, how often it was computed */
    int most_in_flight;              /* maximum number of chunks that one device had in
                                        flight */
} simulated_run;

void simulate(const simulated_machine *machine, const simulated_product *product,
              simulated_run *out);

#endif /* SIMULATED_H */
