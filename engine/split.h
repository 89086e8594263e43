/* engine/split.h - how much of a product the host takes from the device. */
#ifndef HY_SPLIT_H
#define HY_SPLIT_H

#include "pipeline/crew.h"

struct hybrid_plan;

/* What a plan holds of it. */
typedef struct hy_split {
    hybrid_split mode;  /* as asked for, or the default */
    const char *why_not; /* the device is alone; NULL if it is not, or there is none */
    hy_sharing sharing; /* unless the device is alone */
    double share;       /* of the work that the host is expected to take */
    hy_chunk largest;   /* for which its slots are made */
    int slots;
} hy_split;

/* What HYBRID_SPLIT_DEFAULT stands for. */
hybrid_split hy_split_mode(const hybrid_plan_options *options);

/* Chunks are cut and the device's pipeline is open: choose the share and open the crew. */
hybrid_status hy_split_open(struct hybrid_plan *plan, const hybrid_plan_options *options);

#endif /* HY_SPLIT_H */
