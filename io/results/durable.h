/* io/results/durable.h - files that survive a power loss.

   A file is durable once its contents and the entry of its folder are on the disk. */
#ifndef HY_DURABLE_H
#define HY_DURABLE_H

#include "base/contract/context.h"

/* Writes all bytes to the file `fd`, whose path is `path`. */
hybrid_status hy_write_all(hy_context *ctx, int fd, const char *path, const void *data,
                           size_t bytes);

/* Waits until the contents of the file `path` are on the disk. */
hybrid_status hy_sync_file(hy_context *ctx, const char *path);

/* Waits until the entries of the folder that contains the file `path` are on the disk.
   Does nothing on file systems that cannot do this. */
hybrid_status hy_sync_folder_of(hy_context *ctx, const char *path);

/* Renames a file whose contents are on the disk, and makes the new name durable. */
hybrid_status hy_rename_durably(hy_context *ctx, const char *from, const char *to);

/* Returns a new string, "<folder>/<name>" or "<text><name>", to be freed with
   hy_array_free(). */
hybrid_status hy_join(hy_context *ctx, const char *text, const char *name, char **out);

#endif /* HY_DURABLE_H */
