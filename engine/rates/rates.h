/* engine/rates/rates.h - speeds that were measured, and the file that keeps them.

   The file is text. Lines are blank, a comment (#) or "key = value"; the first says
   "format = 1", and what follows a line "device = NAME" is about that device. A key that
   is left out keeps what is built in; one that is not known is an error. */
#ifndef HY_RATES_H
#define HY_RATES_H

#include "base/contract/backend.h"

enum {
    HY_RATES_FORMAT  = 1,
    HY_RATES_DEVICES = 16,
    HY_RATES_PATH    = 4096,
    HY_DEVICE_TEXT   = 256 /* of a name, as describe() says it */
};

/* What a file says of one device. Rules are a record: of them, planning uses merge_factor
   alone. */
typedef struct hy_rates_of_device {
    char device[HY_DEVICE_TEXT]; /* as describe() says it */
    hy_measured speeds;
    double products, threshold; /* on which rules were compared; the fitted one */
    hybrid_rule paper, fitted, model, scaled;
} hy_rates_of_device;

typedef struct hy_rates_file {
    int count;
    hy_rates_of_device of[HY_RATES_DEVICES];
} hy_rates_file;

/* Speeds as built into the backend, or as measured. `memory` is what lasting packs of live
   plans leave of it (pipeline/site/tenant.h). */
void hy_rates_of(const hy_backend *backend, hy_rates *out);

/* ---- rates.c: which file --------------------------------------------------------- */

/* Give the host, and the device unless that is NULL, the speeds in the file `path`: NULL
   is the user's, if it exists, and "" is none. `used`, HY_RATES_PATH bytes, is the file
   that was read, and stays as it is if there is none. Fails when the file is malformed
   or, if named, about other devices. */
hybrid_status hy_rates_load(const char *path, hy_backend *host, hy_backend *device,
                            char *used);

/* Where to write speeds of an engine that computes on this backend, in HY_RATES_PATH
   bytes: a copy of `path`, or with NULL the user's file, whose folder is made. */
hybrid_status hy_rates_target(const char *path, const hy_backend *backend, char *out);

/* ---- rates_file.c: what is in it -------------------------------------------------- */

/* `bytes` of text, with zeros as behind that of an hy_input. BAD_FILE names the line. */
hybrid_status hy_rates_parse(hy_context *ctx, const char *name, const char *text,
                             size_t bytes, hy_rates_file *out);
hybrid_status hy_rates_read(hy_context *ctx, const char *path, hy_rates_file *out);

/* Under a temporary name beside `path`, then renamed. */
hybrid_status hy_rates_write(hy_context *ctx, const char *path,
                             const hy_rates_file *file);

#endif /* HY_RATES_H */
