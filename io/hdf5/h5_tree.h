/* io/hdf5/h5_tree.h - groups and attributes of an HDF5 file. */
#ifndef HY_H5_TREE_H
#define HY_H5_TREE_H

#include "io/hdf5/h5_file.h"

/* Return 1 if the file has such a group, or such a dataset or group, else 0. */
int hy_h5_is_group(const hy_h5_file *file, const char *path);
int hy_h5_exists(const hy_h5_file *file, const char *path);
/* Returns 1 if `group` holds a dataset or group called `name`. */
int hy_h5_holds(const hy_h5_file *file, const char *group, const char *name);

/* Joins the path of a group and a name. *out is to be freed with hy_array_free(). */
hybrid_status hy_h5_join(hy_context *ctx, const char *group, const char *name,
                         char **out);

/* Reads a text attribute. *out is NULL if the object has no such attribute, else to be
   freed with hy_array_free(). BAD_FILE if the attribute is no text of less than 1 MiB. */
hybrid_status hy_h5_text(const hy_h5_file *file, const char *object, const char *name,
                         char **out);

/* Reads an attribute of two integers of 0 or more: numbers of rows and columns. *found is
   0 if the object has no such attribute. */
hybrid_status hy_h5_sizes(const hy_h5_file *file, const char *object, const char *name,
                          int64_t *out, int *found);

/* Writes the paths of datasets and groups that may be matrices to `text`, with commas
   between them: datasets of two axes, and groups with an array of values. Ends with "..."
   if there are too many. */
void hy_h5_list_matrices(const hy_h5_file *file, char *text, size_t bytes);

/* Counts the groups in the root that hold a dataset or group called `name`, and returns
   their number. `found` receives the name of the first of these groups. */
int hy_h5_groups_with(const hy_h5_file *file, const char *name, char *found,
                      size_t bytes);

#endif /* HY_H5_TREE_H */
