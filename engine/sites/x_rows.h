/* engine/sites/x_rows.h - rows of X for each of several devices.

   A device of A*X needs only those rows of X that its rows of A touch. If these are few,
   as for a banded A, the device gets the range from the first to the last of them, and
   takes no rows of A from other devices. Otherwise all of X is sent to each device, or is
   sent once and copied between devices (load_relay.h), which needs the same rows on all
   of them. */
#ifndef HY_X_ROWS_H
#define HY_X_ROWS_H

#include "engine/plan/portion.h"
#include "engine/rates/estimate.h"

enum { HY_X_SAMPLES = 1024 };

/* First and last columns of rows of A that are sampled at equal distances. A row without
   entries has first > last. */
typedef struct hy_x_rows {
    const hybrid_csr *A;
    int relays; /* 1: devices may copy all of B or X from each other */
    int count;  /* number of sampled rows; 0: X is not limited */
    int32_t first[HY_X_SAMPLES], last[HY_X_SAMPLES];
} hy_x_rows;

/* Samples A for a portion that is planned for all rows. Samples no row if the product is
   A*B (B is NULL for A*X), if the device does not get X as a whole, or if reading A would
   take longer than a run gains. */
void hy_x_rows_sample(const hy_portion *portion, const hybrid_csr *A, const hybrid_csr *B,
                      hy_x_rows *out);

/* Returns the share of X, 0 to 1, between the first and the last row of X that one of
   `parts` equal ranges of A's rows touches: the mean over all ranges. */
double hy_x_rows_touched(const hy_x_rows *x, int parts);

/* Returns 1 if each of `devices` devices is to get only the rows of X that it touches. */
int hy_x_rows_limited(const hy_x_rows *x, int devices);

/* Returns the share of B or X that the host sends to each of `devices` devices. */
double hy_x_rows_sent(const hy_x_rows *x, int devices);

/* Returns the estimate of a portion, planned for all rows, in which the device gets this
   share of X, beginning with the rows that its first chunk needs. */
hy_estimate hy_x_rows_estimate(const hy_portion *portion, const hy_estimate *all,
                               double share);

/* Sets x_begin and x_end of each portion, which must know its rows of A. All portions get
   all of X if they touch too many rows of it, by the sample or by all rows of A. */
hybrid_status hy_x_rows_limit(const hy_x_rows *x, hy_portion *portions, int count);

#endif /* HY_X_ROWS_H */
