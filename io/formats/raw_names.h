/* io/formats/raw_names.h - names of the files and folders that hold the numbers of a
   description (io/formats/raw.h). */
#ifndef HY_RAW_NAMES_H
#define HY_RAW_NAMES_H

#include "base/contract/context.h"

enum {
    HY_NAME_BYTES = 4096, /* room for a path */
    HY_NAMES      = 1000  /* number of names that are tried for a file or a folder */
};

/* Returns the part of the path behind its last '/'. */
const char *hy_base_of(const char *path);

/* Writes name `number` of those that belong to the description `target` to `to`: for
   "C.json" and ".x" these are "C.x", "C.1.x", "C.2.x" and so on. BAD_ARGUMENT if the path
   is too long. */
hybrid_status hy_raw_name(hy_context *ctx, const char *target, int number,
                          const char *ending, char to[HY_NAME_BYTES]);

/* Sets *is_old to 1 if there is a description `target`, and none of the names of its files
   begins with `name`, else to 0. A file of this name then belongs to an earlier matrix of
   the description and may be replaced. */
hybrid_status hy_raw_is_old(hy_context *ctx, const char *target, const char *name,
                            int *is_old);

/* Returns BAD_STATE with a sentence: all names up to `last` are taken. */
hybrid_status hy_raw_names_are_taken(hy_context *ctx, const char *target,
                                     const char *last);

#endif /* HY_RAW_NAMES_H */
