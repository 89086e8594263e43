/* io/hdf5/h5_append.h - a dataset of one axis to which numbers are appended. */
#ifndef HY_H5_APPEND_H
#define HY_H5_APPEND_H

#include "io/formats/file_writer.h"
#include "io/hdf5/h5_file.h"
#include "io/hdf5/decode/h5_numbers.h"

/* An HDF5 file that is being written. */
typedef struct hy_h5_target {
    hy_context *ctx;
    char *path; /* path of the file, allocated with hy_array() */
    hid_t id;
    hy_h5_disk disk;
    hy_compression compression;
    int shuffle;
} hy_h5_target;

typedef struct hy_h5_append {
    hy_h5_target
        *target;      /* file of the dataset, borrowed; NULL: the struct is not open */
    const char *name; /* name of the dataset, a string constant */
    hy_h5_number number;
    int64_t total;   /* numbers that the complete dataset has; -1: not known */
    int64_t chunk;   /* numbers in each chunk of the dataset */
    hid_t dataset;   /* handle of libhdf5; below 0: the dataset is not created yet */
    int is_chunked;  /* 1: the dataset is stored in chunks; 0: contiguously */
    int64_t written; /* numbers written to the file so far */
    int64_t held;    /* numbers that wait in `numbers`, to be written next */
    int64_t room;    /* numbers for which `numbers` has room: whole chunks */
    char *numbers;   /* buffer of the numbers that wait, allocated with hy_array() */
    char *packed;    /* memory for the chunks in `numbers` after compression,
                        `packed_room` bytes for each; NULL: they are not compressed */
    size_t packed_room;
    size_t *packed_bytes; /* array of the sizes of these compressed chunks, in bytes */
} hy_h5_append;

/* Returns OK if the last call of libhdf5 was good and nothing has failed to be written.
   Otherwise IO_FAILED with the system's reason, or BAD_FILE with that of libhdf5. */
hybrid_status hy_h5_written(const hy_h5_target *target, int is_good);

/* Begins a dataset in the root group of the file, for `total` numbers or, if total is -1,
   for any number. */
hybrid_status hy_h5_append_open(hy_h5_target *target, const char *name,
                                hy_h5_number number, int64_t total, hy_h5_append *out);

/* Sets *to to memory for the next *count numbers, at least one and at most `most`. The
   caller fills it before it calls a function for `append` again. If there is no room,
   first writes the numbers that wait to the file. */
hybrid_status hy_h5_append_room(hy_h5_append *append, int64_t most, char **to,
                                int64_t *count);

/* Writes the numbers that wait and closes the dataset. */
hybrid_status hy_h5_append_finish(hy_h5_append *append);

/* Frees the memory; the dataset is closed with the file. Accepts a zeroed struct. */
void hy_h5_append_free(hy_h5_append *append);

#endif /* HY_H5_APPEND_H */
