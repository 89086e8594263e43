/* tests/support/simulated/simulation.h - the state of a simulation, for its own files. */
#ifndef SIMULATION_H
#define SIMULATION_H

#include "partition/pattern/inspect.h"
#include "pipeline/run/queue.h"
#include "support/simulated/simulated.h"

enum {
    SLOTS    = 4,
    PRODUCTS = 100 /* scalar products per row */,
    SPARE    = 64 /* bytes of a slot for each row of a chunk */
};

typedef enum stage { FREE, UP, COMPUTES, COUNTED, DOWN } stage;

/* A slot of a device, with the chunk that it holds. */
typedef struct slot {
    stage at;
    hy_claim claim;
    double left;  /* what remains of the present stage: bytes of a copy, or seconds of
                     kernels */
    int64_t turn; /* number of this claim among the claims of its device */
} slot;

typedef struct device {
    double image_left; /* bytes of B or X still to send */
    slot slots[SLOTS];
    int64_t turns;
    double speed;
    double up, kernel, down; /* present rates: bytes per second up and down, and the
                                factor of kernel speed; 0: idle */
} device;

typedef struct simulation {
    const simulated_machine *machine;
    const simulated_product *product;
    simulated_run *run;
    hy_profile profile;
    hy_chunk *chunks;
    hy_site sites[SIMULATED_DEVICES];
    hy_queue queue;
    device of[SIMULATED_DEVICES];
    int64_t reserved; /* rows of the result with known positions */
    double now;
} simulation;

/* Makes the chunks of the product, and the queue that hands them to the devices. Sets
   what each device has to do at first. simulation_close() frees the chunks and the
   profile. */
void simulation_open(simulation *s);
void simulation_close(simulation *s);

#endif /* SIMULATION_H */
