/* tests/support/fake/simulated.h - products on simulated devices, with a virtual clock.

   The queue is the library's and decides which device computes which rows. The duration
   of a claim follows from rates: each device has its own bus and kernels, and all devices
   share the host's memory and cores. Simultaneous copies share a common limit in
   proportion to their speed. */
#ifndef SIMULATED_H
#define SIMULATED_H

#include "hybrid_spmm.h"

enum { SIMULATED_DEVICES = 16, SIMULATED_ROWS = 20000 };

typedef struct simulated_machine {
    int devices;
    double speed[SIMULATED_DEVICES]; /* factor of the device's bus and kernel rates */
    double up_Bps, down_Bps;         /* one bus in one direction while the other direction
                                        is idle */
    double both_Bps;                 /* one bus, sum of both directions */
    double memory_Bps;               /* host memory, sum of copies to and from devices */
    double fill_Bps, store_Bps;      /* host cores fill the ring and store results; 0:
                                        devices copy by themselves */
} simulated_machine;

typedef struct simulated_product {
    const char *name;
    double image_bytes; /* B or X, sent to each device */
    double a_bytes;     /* packs of A, each sent once */
    double down_bytes;  /* the result */
    double device_s;    /* kernel time of the whole product on one device */
    int far;            /* 1: the first chunk needs all of B or X; 0: a chunk that ends
                           after some part of A's rows needs the same part of B or X, from
                           its beginning */
    int in_order;       /* 1: result positions are unknown, so rows are claimed in
                           order */
    int chunks;         /* number of chunks into which a device would cut the product */
} simulated_product;

typedef struct simulated_run {
    double seconds;
    double up_bytes, down_bytes; /* sums over all buses */
    double memory, cores;        /* shares of the time in which the resource was at its
                                    limit, 0 to 1 */
    double bus;                  /* mean share of the time in which a bus was busy, 0 to
                                    1 */
    int64_t rows[SIMULATED_DEVICES]; /* rows computed by each device */
    int times[SIMULATED_ROWS];       /* how often each row was computed */
    int most_in_flight;              /* maximum of chunks in flight of one device */
} simulated_run;

void simulate(const simulated_machine *machine, const simulated_product *product,
              simulated_run *out);

#endif /* SIMULATED_H */
