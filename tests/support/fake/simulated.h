/* tests/support/fake/simulated.h - products on devices that there are not, by a virtual
   clock.

   The queue is the library's: it decides which device computes which rows. What a claim
   takes follows from rates: each device has a bus and kernels of its own, and all share the
   memory of the host and its cores. Copies that are under way at once share what they have
   in common in proportion to their speed. */
#ifndef SIMULATED_H
#define SIMULATED_H

#include "hybrid_spmm.h"

enum { SIMULATED_DEVICES = 16, SIMULATED_ROWS = 20000 };

typedef struct simulated_machine {
    int devices;
    double speed[SIMULATED_DEVICES]; /* of bus and kernels, beside those below */
    double up_Bps, down_Bps;         /* each bus, each way alone */
    double both_Bps;                 /* and both ways at once, summed */
    double memory_Bps;               /* of the host, what comes up and goes down */
    double fill_Bps, store_Bps;      /* what all cores bring to the ring and store; 0: the
                                        devices copy by themselves */
} simulated_machine;

typedef struct simulated_product {
    const char *name;
    double image_bytes; /* B or X, sent to each device */
    double a_bytes;     /* packs of A, each sent once */
    double down_bytes;  /* the result */
    double device_s;    /* kernels of one device for all of it */
    int far;            /* 1: the first chunk needs all of B or X; 0: as much as its place */
    int in_order;       /* where rows of the result begin is not known */
    int chunks;         /* that a device would cut it into */
} simulated_product;

typedef struct simulated_run {
    double seconds;
    double up_bytes, down_bytes; /* that went over all buses */
    double memory, cores;        /* shares of the time in which they were at their limits */
    double bus;                  /* the mean share in which a bus is busy */
    int64_t rows[SIMULATED_DEVICES]; /* that each device computed */
    int times[SIMULATED_ROWS];       /* that each row was computed */
    int most_in_flight;              /* chunks of one device */
} simulated_run;

void simulate(const simulated_machine *machine, const simulated_product *product,
              simulated_run *out);

#endif /* SIMULATED_H */
