/* engine/rates/rates.h - measured speeds, and the file that stores them.

   The file is text. A line is empty, a comment (#) or "key = value". The first says
   "format = 3"; lines after "device = NAME" describe that device. A missing key keeps the
   built-in value; an unknown key is an error. A key such as "spmm.cuda.rows.f32.8" is a
   factor of a variant (factors.h). */
#ifndef HY_RATES_H
#define HY_RATES_H

#include "base/contract/backend.h"

enum {
    HY_RATES_FORMAT  = 3,
    HY_RATES_DEVICES = 16,
    HY_RATES_KEPT    = 8, /* maximum devices of a file that calibrate writes */
    HY_RATES_PATH    = 4096,
    HY_DEVICE_TEXT   = 256 /* maximum bytes of a device's name */
};

/* Contents of the file for one device. Planning uses `speeds` only. */
typedef struct hy_rates_of_device {
    char device[HY_DEVICE_TEXT]; /* name of the device, as describe() returns it */
    hy_measured speeds;
    hy_block_speeds blocks; /* constants of SpMV in blocks, as in hy_backend.blocks */
    /* `products` is the number of products on which rules were compared. `threshold` is
       the fitted threshold, in entries per row. */
    double products, threshold;
    hybrid_rule paper, fitted, model, scaled;
} hy_rates_of_device;

typedef struct hy_rates_file {
    double format; /* number of the format; 0: the file does not begin with one */
    int count;
    hy_rates_of_device of[HY_RATES_DEVICES];
} hy_rates_file;

/* Returns the measured speeds of a backend; a speed that was not measured is the built-in
   one. out->memory excludes the bytes that live plans keep for lasting packs
   (pipeline/site/tenant.h). */
void hy_rates_of(const hy_backend *backend, hy_rates *out);

/* ---- rates.c: which file --------------------------------------------------------- */

/* The file from which speeds were taken. */
typedef struct hy_rates_source {
    char path[HY_RATES_PATH]; /* path of the file; "" if none was read */
    int ignored; /* 1: the file was not used, because it has another format */
} hy_rates_source;

/* Sets the speeds of the host, and of the device unless it is NULL, from a file. With
   path NULL the user's file is read if it exists; with "" none. `source` is unchanged if
   no file was read. The user's file is ignored if it has another format. Fails if the
   file is malformed, or if a named file has another format or describes other devices. */
hybrid_status hy_rates_load(const char *path, hy_backend *host, hy_backend *device,
                            hy_rates_source *source);

/* Writes the path for the speeds of an engine that computes on this backend, in
   HY_RATES_PATH bytes: a copy of `path`, or for NULL the user's file, with folders
   made. */
hybrid_status hy_rates_target(const char *path, const hy_backend *backend, char *out);

/* Adds to *file what the file at `path` says of devices that *file does not describe, up
   to HY_RATES_KEPT devices in all. Adds nothing if there is no such file, or if it cannot
   be read as a file of rates. */
hybrid_status hy_rates_keep(hy_context *ctx, const char *path, hy_rates_file *file);

/* ---- rates_file.c, rates_write.c: what is in it ----------------------------------- */

/* Parses `bytes` bytes of text, followed by zeros as in hy_input. BAD_FILE names the
   line. */
hybrid_status hy_rates_parse(hy_context *ctx, const char *name, const char *text,
                             size_t bytes, hy_rates_file *out);
hybrid_status hy_rates_read(hy_context *ctx, const char *path, hy_rates_file *out);

/* Writes a temporary file beside `path` and renames it. */
hybrid_status hy_rates_write(hy_context *ctx, const char *path,
                             const hy_rates_file *file);

#endif /* HY_RATES_H */
