/* io/hdf5/h5_append.h - a dataset of one axis to which numbers are appended. */
#ifndef HY_H5_APPEND_H
#define HY_H5_APPEND_H

#include "io/formats/file_writer.h"
#include "io/hdf5/h5_file.h"
#include "io/hdf5/decode/h5_numbers.h"

/* A file that is being written. */
typedef struct hy_h5_target {
    hy_context *ctx;
    char *path; /* allocated with hy_array() */
    hid_t id;
    hy_h5_disk disk;
    hy_compression compression;
    int shuffle;
} hy_h5_target;

typedef struct hy_h5_append {
    hy_h5_target *target; /* borrowed; NULL: not open */
    const char *name;     /* static */
    hy_h5_number number;
    int64_t total;   /* numbers of the whole dataset; -1: not known */
    int64_t chunk;   /* numbers of a chunk */
    hid_t dataset;   /* below 0: not created yet */
    int is_chunked;  /* 0: contiguous */
    int64_t written; /* numbers in the file */
    int64_t held;    /* numbers in `numbers`, which follow these */
    int64_t room;    /* numbers for which `numbers` has room: whole chunks */
    char *numbers;   /* allocated with hy_array() */
    char *packed;    /* as many packed chunks, with `packed_room` bytes for each */
    size_t packed_room;
    size_t *packed_bytes; /* size of each */
} hy_h5_append;

/* Returns OK if the last call of libhdf5 was good and nothing has failed to be written.
   Otherwise IO_FAILED with the system's reason, or BAD_FILE with that of libhdf5. */
hybrid_status hy_h5_written(const hy_h5_target *target, int is_good);

/* Begins a dataset in the root of the file. */
hybrid_status hy_h5_append_open(hy_h5_target *target, const char *name,
                                hy_h5_number number, int64_t total, hy_h5_append *out);

/* Returns memory for the next *count numbers, at least one and at most `most`, which the
   caller fills before the next call. Writes what is held if there is no room. */
hybrid_status hy_h5_append_room(hy_h5_append *append, int64_t most, char **to,
                                int64_t *count);

/* Writes what is held and closes the dataset. */
hybrid_status hy_h5_append_finish(hy_h5_append *append);

/* Frees the memory; the dataset is closed with the file. Accepts a zeroed struct. */
void hy_h5_append_free(hy_h5_append *append);

#endif /* HY_H5_APPEND_H */
