/* io/results/panels.h - a result as panels: files of successive rows, in a folder.

   A panel is finished when its file is on the disk and the manifest lists the panel. A
   later run takes over the finished panels and continues with the row after them. The
   last step, assembling, copies all panels into one file of any format.

   A panel's file, panel-<number>, holds raw arrays without gaps: 64-bit offsets from 0
   on, values and 32-bit columns of a sparse result; the elements of a dense result, by
   rows. */
#ifndef HY_PANELS_H
#define HY_PANELS_H

#include "io/formats/file_writer.h"
#include "io/results/manifest.h"

typedef struct hy_panels {
    hy_file_writer writer; /* receives the rows; each call makes one panel. Its rows and
                              nnz count those of the finished panels. */
    char *folder;
    hy_manifest manifest;
} hy_panels;

/* Opens the folder, which is made if it is missing, and verifies the finished panels
   there. `facts` are the lines of the manifest; the panels belong to a result of this
   shape. BAD_FILE if a panel's file is missing or damaged. *out is zeroed after a
   failure. */
hybrid_status hy_panels_open(hy_context *ctx, const char *folder, const char *facts,
                             const hy_file_shape *shape, hy_panels *out);

/* Reads panel `number` into *block, which is made large enough, and verifies it. The
   arrays of *sparse or *dense, that of the result's kind, lie in the block. */
hybrid_status hy_panels_read(const hy_panels *panels, int64_t number, hy_reused *block,
                             hybrid_csr *sparse, hybrid_dense *dense);

/* Closes the panels, whose files stay. Accepts a zeroed struct. */
void hy_panels_close(hy_panels *panels);

/* Removes the folder with its panels. Errors are ignored. */
void hy_panels_remove(const hy_panels *panels);

#endif /* HY_PANELS_H */
