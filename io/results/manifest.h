/* io/results/manifest.h - the list of finished panels of a result (io/results/panels.h).

   The manifest is a text file. Its first lines are facts, one a line: what the panels are
   rows of. A line that is empty ends the facts. Then follows a line for each finished
   panel, in order:

     hybrid_spmm panels 1
     product spgemm f64 1000 x 1000
     A ...

     panel 0 rows 250 nnz 1811 hash 0123456789abcdef

   A line is added when the panel is on the disk. A last line without its end is what a
   killed program began to write, and does not count. */
#ifndef HY_MANIFEST_H
#define HY_MANIFEST_H

#include "base/contract/context.h"

/* A finished panel: successive rows of the result in a file of their own. */
typedef struct hy_panel_record {
    int64_t rows, nnz; /* nnz is 0 if the result is dense */
    uint64_t hash;     /* hash of the bytes of the panel's file (XXH3, 64 bits) */
} hy_panel_record;

typedef struct hy_manifest {
    hy_context *ctx;
    char *path;
    int fd; /* open for writing at its end, and locked; -1: not open */
    hy_panel_record *panels;
    int64_t count,
        room; /* number of elements of `panels`, and for how many it has memory */
} hy_manifest;

/* Opens the manifest at `path`, or begins it with the lines in `facts`, each of which
   ends with '\n'. BAD_STATE, with the first line that differs, if the manifest has other
   facts, or if another program holds it; BAD_FILE if it is damaged. */
hybrid_status hy_manifest_open(hy_context *ctx, const char *path, const char *facts,
                               hy_manifest *out);

/* Adds a panel whose file is on the disk. The panel is finished when this returns. */
hybrid_status hy_manifest_add(hy_manifest *manifest, const hy_panel_record *panel);

void hy_manifest_close(hy_manifest *manifest); /* accepts a zeroed struct */

#endif /* HY_MANIFEST_H */
