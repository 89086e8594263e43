/* partition/tiled/strips.h - the strips that threads of spmm.cuda.tiled sum up, and
   their order.

   A strip is a row of A or a segment of a long row. The order decides which strips
   share a panel, and therefore how often a staged row of X is used. */
#ifndef HY_STRIPS_H
#define HY_STRIPS_H

#include "partition/format/columns.h"
#include "partition/tiled/tiled_rules.h"
#include "partition/tiled/intensity.h"
#include "partition/pattern/touched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows [begin, end) of A whose strips are made. If `touched` is set, columns are
   renumbered by it. */
typedef struct hy_tiled_source {
    hy_context *ctx;
    const hybrid_csr *A;
    int64_t begin, end;
    const hy_touched *touched; /* gives columns new numbers; NULL: columns keep those of A */
} hy_tiled_source;

/* A row of A that is cut into segments: the sums of its segments, partials `partial` to
   partial + parts - 1, are added. */
typedef struct hy_tiled_split {
    int32_t row, partial, parts;
} hy_tiled_split;

typedef struct hy_tiled_strip {
    int32_t begin, end; /* range of entries, counted from the first entry of
                           hy_tiled_source */
    int32_t out;        /* where the sums of the strip are stored: a row, counted from
                           the first of hy_tiled_source; for a segment, partial p as -1 -
                           p */
} hy_tiled_strip;

typedef struct hy_tiled_strips {
    int64_t count, splits, partials;
    hy_tiled_strip *list;
    hy_tiled_split *split;
} hy_tiled_strips;

/* Cuts the rows into segments of at most `segment` entries. The caller frees `out`, also
   after a failure. */
hybrid_status hy_strips_make(const hy_tiled_source *source, int64_t segment,
                             hy_tiled_strips *out);
void hy_strips_free(hy_context *ctx, hy_tiled_strips *strips);

/* Sorts the strips by their columns if rules->order says so and they fill more than one
   panel. Sets *sorted to 1 if it has changed their order, else to 0. */
hybrid_status hy_strips_order(const hy_tiled_source *source,
                              const hy_tiled_rules *rules, hy_tiled_strips *strips,
                                int *sorted);

/* ---- tiled_reuse.c: what the strips of a panel have in common ---- */

/* Sets [*first, *end) to the range of columns in which the strips have entries; [0, 0)
   if they have none. */
void hy_strips_range(const hy_tiled_source *source, const hy_tiled_strips *strips,
                       int64_t *first, int64_t *end);

/* Adds the columns of `count` strips to the set `columns`. Returns the number of
   entries of the strips. */
int64_t hy_strips_columns(const hy_tiled_source *source, const hy_tiled_strip *list,
                            int64_t count, hy_columns *columns);

/* Returns how many entries the slices of a panel have if each is padded, stage by stage,
   to the longest of its strips. `columns` has the panel's columns, numbered. */
int64_t hy_strips_padded(const hy_tiled_source *source, const hy_tiled_strip *list,
                           int64_t count, const hy_columns *columns);

/* Sums over all panels (256 strips each), from which the model of Tiled SpMM
   follows. */
typedef struct hy_tiled_reuse {
    int64_t staged;   /* number of rows of X that a panel stages, summed over the panels */
    int64_t distinct; /* number of different rows of X that at least one panel stages */
    int64_t lines;    /* number of cache lines of a column of X that the staged rows of a
                         panel lie in, summed over the panels */
    int64_t entries;  /* entries of all strips; with padding if hy_tiled_reuse_find()
                         was asked for it */
} hy_tiled_reuse;

/* Inspects all panels, in parallel and in a time that is linear in the entries: less than
   packing takes. With `padded` == 1, counts the entries of padded slices. */
hybrid_status hy_tiled_reuse_find(const hy_tiled_source *source,
                                  const hy_tiled_strips *strips, int padded,
                                  hy_tiled_reuse *out);

/* Writes the model of Tiled SpMM for A as text; this is hy_variant.model of
   spmm.cuda.tiled. */
hybrid_status hy_tiled_model(hy_context *ctx, const hybrid_csr *A, const hy_features *f,
                             const hy_rates *r, char *text, size_t room);

/* Returns the column of entry k, counted from the first entry of hy_tiled_source;
   renumbered if `touched` is set. */
static inline int32_t hy_tiled_col(const hy_tiled_source *source, const int32_t *col,
                                   int64_t k)
{
    return source->touched ? hy_renumbered(source->touched, col[k]) : col[k];
}

#ifdef __cplusplus
}
#endif
#endif /* HY_STRIPS_H */
