/* engine/plan.h - inspect, rank, cut, open the site. */
#ifndef HY_PLAN_H
#define HY_PLAN_H

#include "engine/empty.h"
#include "engine/layout.h"
#include "engine/pattern.h"
#include "engine/rank.h"
#include "engine/split.h"
#include "engine/traffic.h"
#include "pipeline/run.h"

/* A plan's chunks as a run has them, and the bytes up that are predicted for it. */
typedef struct hy_bound {
    hy_chunk_list list;
    int64_t up;
} hy_bound;

struct hybrid_plan {
    hybrid_engine *engine;
    hy_op op;
    unsigned flags;
    hy_profile profile; /* of A, or of its rest */
    int64_t rows, cols;            /* of A */
    hy_compact compact;            /* the rest of A, if the plan is for that */
    int64_t b_rows, b_cols, b_nnz; /* of B; of X, or of what is sent of it: rows, columns,
                                      0 */
    hy_candidate candidates[HY_CANDIDATES];
    int candidate_count, chosen; /* index of the one that computes */
    double host_s, spared_s; /* in which the host has all of an SpMM that it may take from the
                                device, INFINITY if it may not; what the device would take
                                if the host computes as it is sooner, else 0 */
    hy_rates rates;              /* of its backend */
    size_t turned_room; /* of the device's memory, twice: rates.memory is what they leave */
    hy_layout layout;
    hy_ways_up ways_up; /* what was compared with it */
    hy_site *site;      /* where the chosen candidate computes */
    hy_split split;     /* between device and host */
    hy_pattern pattern; /* SpGEMM */
    hy_traffic traffic;
    hy_bound bound;       /* of the last run, or as planned; what follows is of it, too */
    int64_t there_bytes;  /* of A's CSR arrays, that the run needs not send */
    hybrid_report report;
};

/* B NULL: SpMM with dense_cols columns. Operands are checked by the caller. `early` may
   be NULL, or B on its way to the device, which the plan's only run will be for
   (early.h): it goes on as it is if the plan wants it there, and is ended before the
   plan's own memory is had if not; the caller has it no more either way. */
hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, hy_loader *early,
                           hybrid_plan **out);

/* Index of the first candidate that computes in place: candidate_count if there is none. */
int hy_plan_first_host(const hybrid_plan *plan);

/* cut.c: the layout for the chosen candidate; none if plan->spared_s is set.
   NO_DEVICE_MEMORY: none holds every row. */
hybrid_status hy_plan_cut(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hybrid_plan_options *options);

/* What a plan needs that is handed out, not run once and destroyed: with HYBRID_REUSE the
   patterns that it was made for, and what explain and report tell. */
hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B);

/* pin.c: whether the device copies rows, or columns, of all of X and Y from and to where they
   are: both lie so and are pinned, and Y is what it has computed. */
int hy_plan_direct(const hybrid_plan *plan, const hy_problem *problem, hybrid_order order);

/* HYBRID_RESIDENT: of A's CSR arrays, the bytes of rows that a run after the first needs
   not send: those that stay, be it that the host took them so far; how many chunks have
   theirs there; and whether all do, since a run that succeeded: then
   nobody reads A. */
int64_t hy_plan_there_bytes(const hybrid_plan *plan);
int64_t hy_plan_resident_chunks(const hybrid_plan *plan);
int hy_plan_has_a(const hybrid_plan *plan);

/* As planned: of a run whose X and Y are not pinned, Y at the beginning of a line. */
hy_bound hy_plan_bound(const hybrid_plan *plan);

/* A report of what is known before a run. */
void hy_plan_start_report(hybrid_plan *plan);

#endif /* HY_PLAN_H */
