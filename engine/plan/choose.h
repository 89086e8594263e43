/* engine/plan/choose.h - compares all schedules, the host's included, by their seconds.

   plan.c inspects operands and opens a choice; hy_choose() says what to inspect next, if
   anything. hy_choice_cut() then looks at schedules and cuts the best one. */
#ifndef HY_CHOOSE_H
#define HY_CHOOSE_H

#include "engine/plan/rank.h"
#include "engine/schedules/schedule.h"

/* Facts that planning finds out. */
enum {
    HY_KNOW_SIZES   = 1, /* sizes of the operands */
    HY_KNOW_DEVICES = 2, /* seconds of the variants of the device */
    HY_KNOW_ROWS    = 4, /* lengths of rows (hy_product_inspect()) */
    HY_KNOW_FILL    = 8, /* positions of entries (hy_product_inspect_tiles()) */
    HY_KNOW_ALL     = 15
};

enum { HY_OPTIONS = 8 }; /* maximum number of schedules */

/* Steps of the estimate of a schedule: from sizes, after a look at A, and from the chunks
   that the schedule cuts. Each is dearer and more accurate than the one before. */
typedef enum hy_knowledge { HY_PROMISED, HY_LOOKED, HY_CUT } hy_knowledge;

/* A schedule for the product. */
typedef struct hy_option {
    const hy_schedule *schedule;
    double seconds; /* predicted; INFINITY: the schedule cannot be used */
    hy_knowledge known;
    int64_t up; /* bytes of B or X sent to the device in a run, once the chunks are cut
                   (or, if chunks gather, A was looked at); -1: unknown */
    hy_layout layout;
} hy_option;

typedef struct hy_choice {
    hy_planning planning;
    hy_extents extents;
    double inspect_s; /* one-shot call: seconds of the inspection that only a device still
                         needs */
    int count;
    hy_option of[HY_OPTIONS];
} hy_choice;

/* Estimates all schedules of a product that is assigned to its best variant. The host may
   compute in place of a device if it is among `candidates`, which may be NULL, and A is
   not resident. `known` says what was found out. While positions are unknown and B or X
   does not fit, there are no options, and hy_choose() asks for all inspection. B is NULL
   for SpMM. Memory is allocated only by hy_choice_cut(). */
void hy_choice_open(const hy_product *product, const hy_candidates *candidates,
                    const hybrid_csr *A, const hybrid_csr *B, unsigned known,
                    hy_choice *out);
void hy_choice_close(hy_choice *choice);

/* Returns 1 if the host computes, whatever else planning finds out: there is no device,
   or X or B fits the device and even with the most favourable positions of entries the
   device takes longer. */
int hy_choice_is_host(hy_choice *choice);

/* Returns what to find out next before the product is cut (HY_KNOW values); 0 if
   enough is known. If the host computes, more is inspected only as far as the cut needs
   it, or for an estimate that takes at most the share `budget`, 0 to 1, of the host's
   time. */
unsigned hy_choose(hy_choice *choice, unsigned known, double budget);

/* Makes the layout of the schedule with the shortest predicted run; the caller frees it.
   If the host is to compute in place of a device, nothing is cut: *out has 0 slots, and
   out->seconds is the predicted time of the device. NO_DEVICE_MEMORY if no layout holds
   every row. */
hybrid_status hy_choice_cut(hy_choice *choice, hy_layout *out);

/* Opens, cuts and closes the choice for a product that the host cannot take. */
hybrid_status hy_choice_cut_device(const hy_product *product, const hybrid_csr *A,
                                   const hybrid_csr *B, hy_layout *out);

#endif /* HY_CHOOSE_H */
