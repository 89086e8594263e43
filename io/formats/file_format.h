/* io/formats/file_format.h - formats of matrix files: how a file is recognised, opened
   and created. Numbers stay in the file until rows are read.

   A format is a constant table of functions in a file of its own, format_*.c in io/. To
   add a format, write the file and add its table to file_formats.c.

   A file name may end in "::MEMBER", which selects one matrix of a file that holds
   several, such as "cells.h5ad::layers/counts". A file whose own name contains "::" is
   opened under its whole name if there is such a file. */
#ifndef HY_FILE_FORMAT_H
#define HY_FILE_FORMAT_H

#include "io/formats/entry_reader.h"
#include "io/formats/file_writer.h"
#include "io/text/io.h"
#include "partition/move/matrix_file.h"

/* A file that is being opened. */
typedef struct hy_opening {
    hy_input *input;    /* the file with its first window (the part of its text that is
                              in memory); input->path lacks "::MEMBER". A reader may take
                              the input (hy_input_take()). */
    const char *member; /* MEMBER of "PATH::MEMBER"; NULL: the name has none */
} hy_opening;

typedef struct hy_file_format {
    const char *name; /* name of the format in messages and options, such as "npz" */

    /* Endings of the names of files that create() writes, such as ".h5 .h5ad": lower
       case, separated by spaces. NULL if the format cannot be written. */
    const char *endings;
    int has_members; /* 1: names "PATH::MEMBER" are allowed */

    /* (optional) Returns 1 if a file that begins with the input's first window has this
       format. It decides by content; the name may decide between formats that look alike.
       NULL: the format accepts every file. Pure. */
    int (*is)(const hy_input *input);

    /* Opens the matrix. If its rows can be read in any order, sets `sparse`, the shape and
       the arrays of *out, whose context and name are set before. Otherwise sets *entries
       and leaves *out alone, and the caller sorts the entries (io/formats/entry_reader.h).
       After a failure the caller closes what has been opened. *opening is valid during
       the call only. */
    hybrid_status (*open)(hy_context *ctx, const hy_opening *opening, hy_matrix_file *out,
                          hy_entry_reader *entries);

    /* (optional) Begins a file at `path`, which must not exist or may be overwritten.
       BAD_ARGUMENT if the format cannot hold such a matrix. */
    hybrid_status (*create)(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out);
    /* (optional) Returns UNSUPPORTED, with a sentence, if this build lacks a library that
       files of this name need. Asked before anything is computed. */
    hybrid_status (*may_create)(hy_context *ctx, const char *path);
    /* (optional) Returns the bytes of a file with a sparse matrix of this shape, whose nnz
       is known, apart from some headers; 0 if they depend on the values. Pure. NULL stands
       for 0. */
    int64_t (*bytes)(const hy_file_shape *shape);
    int nnz_first; /* 1: create() needs the number of entries of a sparse matrix */
    int has_parts; /* 1: create() obeys shape->part_rows */
} hy_file_format;

extern const hy_file_format hy_format_hdf5;
extern const hy_file_format hy_format_list;
extern const hy_file_format hy_format_mtx;
extern const hy_file_format hy_format_npy;
extern const hy_file_format hy_format_npz;
extern const hy_file_format hy_format_petsc;
extern const hy_file_format hy_format_raw;

/* The formats of the library; NULL ends the table. A file has the first format that
   accepts it. The last format accepts every file. */
extern const hy_file_format *const hy_file_formats[];

/* Opens the matrix in the file `name`, "PATH" or "PATH::MEMBER". *out is zeroed after a
   failure. */
hybrid_status hy_matrix_file_open(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *name, hy_matrix_file *out);

/* Sets *out to the format of the file `name`, "PATH" or "PATH::MEMBER". */
hybrid_status hy_format_of_file(hy_context *ctx, const hy_file_format *const *formats,
                                const char *name, const hy_file_format **out);
void hy_matrix_file_close(hy_matrix_file *file); /* frees arrays and closes files; accepts
                                                    a zeroed struct */

/* Returns the format that writes files with the ending of `path`, or NULL. */
const hy_file_format *hy_format_of_name(const hy_file_format *const *formats,
                                        const char *path);

/* Reads a whole sparse matrix and checks all rules of hybrid_csr. Free it with
   hy_csr_free(). BAD_FILE if the matrix is dense. */
hybrid_status hy_matrix_file_read(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hybrid_csr *out);

#endif /* HY_FILE_FORMAT_H */
