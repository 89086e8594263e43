/* engine/results/result_file.h - a result that is written to a file while it is computed.

   Rows go to the file itself. If the format begins with the number of entries, or if the
   result is resumable, rows go to panels first: files of successive rows
   (io/results/panels.h), which are assembled at the end. Panels of a resumable result lie
   in "<path>.parts", those of another in a folder of its own in the engine's
   spill_path. */
#ifndef HY_RESULT_FILE_H
#define HY_RESULT_FILE_H

#include "base/text/facts.h"
#include "engine/results/row_writer.h"
#include "io/results/new_file.h"
#include "io/results/panels.h"

/* Assumed bytes per second of writing, because trying would write. */
enum { HY_WRITE_BPS = 500000000 };

typedef struct hy_result_file {
    hybrid_engine *engine;
    hybrid_file_options options;
    const hy_file_format *format;
    const char *path;    /* path of the file; borrowed */
    hy_file_shape shape; /* shape of the result; its nnz is -1 until it is known */
    int64_t bytes;       /* maximum bytes of a panel */
    int64_t first;       /* first row that earlier runs have not finished; 0 unless the
                            result is resumable */
    hy_row_writer rows;  /* writer that receives the rows from `first` on */
    char *folder;        /* folder of panels; NULL: rows go to `file` */
    hy_panels panels;
    hy_new_file file;
    double write_s, assemble_s; /* seconds of writing and of assembling
                                   (hybrid_report.write_s and assemble_s) */
} hy_result_file;

/* Checks the options and finds the format. options may be NULL. */
hybrid_status hy_result_check(hybrid_engine *engine, const char *path,
                              const hybrid_file_options *options, hy_result_file *out);

/* Bytes on the disk of a sparse result. */
typedef struct hy_result_sizes {
    int64_t panels; /* bytes of the panels, which stay until the file is complete; 0: rows
                       go to the file itself */
    int64_t file;   /* bytes of the file; 0: they depend on the values */
} hy_result_sizes;

/* Returns the sizes of a result with `nnz` entries, after hy_result_open(). */
hy_result_sizes hy_result_sizes_of(const hy_result_file *result, int64_t nnz);

/* Opens the result, after hy_result_check(). Sets result->shape from *shape and the
   options, and result->first. `facts` are used if the result is resumable. `bytes` is the
   maximum size of a panel. Call hy_result_close() in any case. */
hybrid_status hy_result_open(hy_result_file *result, const hy_file_shape *shape,
                             const hy_facts *facts, int64_t bytes);

/* Completes the file if `status` is OK. Otherwise removes what was written, apart from
   the panels of a resumable result. Returns the first error. */
hybrid_status hy_result_close(hy_result_file *result, hybrid_status status);

/* Adds what was written to the engine's report. */
void hy_result_report(const hy_result_file *result);

/* Adds the lines of options on which the bits of a result may depend. */
void hy_result_describe(const hybrid_engine *engine, const hybrid_plan_options *options,
                        hy_facts *facts);

#endif /* HY_RESULT_FILE_H */
