/* engine/rates/rates_keys.c - the numbers of a device in a file of measured speeds. */
#include "engine/rates/rates_keys.h"

#include <stddef.h>

#define AT(field) offsetof(hy_rates_of_device, field)
#define KEY(name, field, least, most, meaning, predicts)                                 \
    {                                                                                    \
        name, AT(field), least, most, meaning, predicts                                  \
    }
#define SPEED(field, meaning)                                                            \
    {                                                                                    \
#field, AT(speeds.field), 1, 1e21, meaning, 1                                    \
    }
#define RULE(rule, meaning)                                                              \
    {#rule "_accuracy", AT(rule.accuracy), 0, 1, meaning, 0},                            \
    {                                                                                    \
#rule "_slowdown", AT(rule.slowdown), 1, 1e9, NULL, 0                            \
    }

const hy_rates_key hy_rates_keys[] = {
    KEY("driver", speeds.driver, 1, 1e9, "CUDA, 13000 for 13.0", 0),
    SPEED(h2d_Bps, "bytes a second of pinned memory to the device,"),
    SPEED(d2h_Bps, "from it,"),
    SPEED(both_Bps, "and both at once, summed"),
    SPEED(mem_Bps, "bytes a second that a copy in its own memory reads and writes"),
    SPEED(flops, "of all cores; 16 a cycle of each"),
    KEY("launch_s", speeds.launch_s, 1e-12, 1e3,
        "seconds to start a kernel or a parallel loop", 1),
    KEY("spmm_call", speeds.factors.spmm_call, 1e-3, 1e3,
        "measured seconds of a call, besides work and copies, over those of the model",
        1),
    KEY("spgemm_call", speeds.factors.spgemm_call, 1e-3, 1e3, NULL, 1),
    KEY("spmm_gap_s", speeds.factors.spmm_gap_s, 1e-9, 1,
        "seconds between the kernels of two chunks", 1),
    KEY("spgemm_gap_s", speeds.factors.spgemm_gap_s, 1e-9, 1, NULL, 1),
    KEY("products", products, 1, 1e9, "timed with spmm.cuda.rows and spmm.cuda.merge", 0),
    KEY("threshold", threshold, 1e-3, 1e12,
        "below so many entries a row merge is the faster, as a rule", 0),
    RULE(paper, "the rule with a threshold of 9.35: share of right picks, and\n"
                "# geometric mean of the time lost by the others"),
    RULE(fitted, "the rule with the threshold above"),
    RULE(model, "the cost model as built in"),
    RULE(scaled, "the cost model with the speeds and factors of this file"),
    {NULL, 0, 0, 0, NULL, 0},
};
