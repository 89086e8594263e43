/* tests/unit/plan/simulate_devices.c - predicted times with 1 to 8 devices, as a table
   for docs/performance.md.

   Each device has its own bus. The rates are those of a machine with one device
   (support/simulated/simulated.h).

   Usage: simulate_devices */
#include <stdio.h>

#include "support/simulated/simulated.h"

/* Returns a machine with the measured rates of H200 devices with a PCIe 5 x16 bus each,
   and 16 host cores. `pinned`: operands are pinned, so that cores move nothing. All
   cores together store 47 GB/s from pinned slots to pages in memory, and fill the ring
   with 134 GB/s, the highest rate that was measured for host memory. */
static simulated_machine machine_of(int devices, int pinned)
{
    simulated_machine m = {.devices    = devices,
                           .up_Bps     = 55.4e9,
                           .down_Bps   = 55.3e9,
                           .both_Bps   = 100e9,
                           .memory_Bps = 134e9,
                           .fill_Bps   = pinned ? 0 : 134e9,
                           .store_Bps  = pinned ? 0 : 47e9};

    for (int i = 0; i < devices; i++)
        m.speed[i] = 1;
    return m;
}

/* Products in f32 with kernel times measured on one device. Bytes of C = A*A follow from
   its entries; Y = A*X has 128 columns. */
static const simulated_product products[] = {
    {"stencil27:80 A*A", 108e6, 0, 61e6 * 8, 4.9e-3, 0, 1, 64},
    {"rmat:18,8 A*A", 16e6, 0, 469e6 * 8, 55e-3, 1, 1, 96},
    {"stencil27:80 A*X, 128 columns", 262e6, 108e6, 262e6, 1.5e-3, 0, 0, 64},
    {"er:1000000,8 A*X, 128 columns", 512e6, 64e6, 512e6, 1.6e-3, 1, 0, 64},
};

enum { PRODUCTS = sizeof products / sizeof *products, MOST = 8 };

static const char *bound_of(const simulated_run *r)
{
    if (r->cores > 0.5)
        return "cores";
    if (r->memory > 0.5)
        return "host memory";
    return r->bus > 0.8 ? "bus" : "-";
}

static void print(const simulated_product *p, int pinned)
{
    double alone = 0;

    printf("| %s, %s |", p->name, pinned ? "pinned" : "pageable");
    for (int devices = 1; devices <= MOST; devices++) {
        const simulated_machine m = machine_of(devices, pinned);
        static simulated_run r;
        simulate(&m, p, &r);
        alone = devices == 1 ? r.seconds : alone;
        printf(" %.1f (%.1f) %s |", 1e3 * r.seconds, alone / r.seconds, bound_of(&r));
    }
    printf("\n");
}

int main(void)
{
    printf("| ms (times as fast) bound |");
    for (int devices = 1; devices <= MOST; devices++)
        printf(" %d |", devices);
    printf("\n| --- |");
    for (int devices = 1; devices <= MOST; devices++)
        printf(" --- |");
    printf("\n");
    for (int i = 0; i < PRODUCTS; i++)
        for (int pinned = 1; pinned >= 0; pinned--)
            print(&products[i], pinned);
    return 0;
}
