/* engine/plan/choose.h - compares all schedules, the host's included, by their seconds.

   plan.c inspects operands and opens a choice; hy_choose() says what to inspect next, if
   anything. hy_choice_cut() then looks at schedules and cuts the best one. */
#ifndef HY_CHOOSE_H
#define HY_CHOOSE_H

#include "engine/plan/rank.h"
#include "engine/schedules/schedule.h"

/* Facts about a product that planning finds out, as bits. */
enum {
    HY_KNOW_SIZES   = 1, /* the profile has the sizes of the operands */
    HY_KNOW_DEVICES = 2, /* the variants of the device are ranked; before, only those of
                            the host */
    HY_KNOW_ROWS    = 4, /* the profile has the lengths of rows (hy_product_inspect()) */
    HY_KNOW_FILL    = 8, /* the profile has the positions of entries
                            (hy_product_inspect_tiles()) */
    HY_KNOW_ALL     = 15
};

enum { HY_OPTIONS = 8 }; /* maximum number of schedules */

/* The estimate of a schedule is based on sizes (HY_PROMISED), on a look at A (HY_LOOKED),
   or on the chunks that the schedule has cut (HY_CUT). Each step takes longer than the
   one before and is more accurate. */
typedef enum hy_knowledge { HY_PROMISED, HY_LOOKED, HY_CUT } hy_knowledge;

/* A schedule for the product. */
typedef struct hy_option {
    const hy_schedule *schedule;
    double seconds; /* predicted seconds of a run; INFINITY: it cannot be used */
    hy_knowledge known;
    int64_t up; /* bytes that a run sends to the device: B or X, and rows of A whose packs
                   are not cached; -1: unknown. Known after HY_CUT, or after HY_LOOKED if
                   chunks gather. */
    hy_layout layout;
} hy_option;

typedef struct hy_choice {
    hy_planning planning;
    hy_extents extents;
    hy_touch touch;
    int count;
    hy_option of[HY_OPTIONS];
} hy_choice;

/* Estimates all schedules of a portion that is assigned to its best variant. `known` says
   what was found out (HY_KNOW values). The host may compute in place of a device if it is
   among `candidates`, which may be NULL, and A is not resident. If positions are unknown
   and B or X does not fit, there are no options, and hy_choose() asks for all inspection.
   B is NULL for SpMM. Memory is allocated only by hy_choice_cut(). */
void hy_choice_open(const hy_portion *portion, const hy_candidates *candidates,
                    const hybrid_csr *A, const hybrid_csr *B, unsigned known,
                    hy_choice *out);
void hy_choice_close(hy_choice *choice);

/* Returns 1 if the host will compute, whatever further inspection finds. This holds in
   two cases: there is no device; or B or X fits the device, and the device takes longer
   even with the most favourable positions of entries. */
int hy_choice_is_host(hy_choice *choice);

/* Returns what planning must inspect before the product is cut (HY_KNOW values); 0 if
   enough is known. If the host will compute, hy_choose() asks for lengths of rows only if
   there are several chunks, and for positions of entries only if inspecting them takes at
   most the share `budget`, 0 to 1, of the host's predicted time. */
unsigned hy_choose(hy_choice *choice, unsigned known, double budget);

/* Makes the layout of the schedule with the shortest predicted run; the caller frees it.
   If the host is to compute in place of a device, nothing is cut: *out has 0 slots, and
   out->seconds is the predicted time of the device. NO_DEVICE_MEMORY if no layout holds
   every row. */
hybrid_status hy_choice_cut(hy_choice *choice, hy_layout *out);

/* Does the work of hy_choice_open() and hy_choice_cut() for a product that the host must
   not compute. */
hybrid_status hy_choice_cut_device(const hy_portion *portion, const hybrid_csr *A,
                                   const hybrid_csr *B, hy_layout *out);

#endif /* HY_CHOOSE_H */
