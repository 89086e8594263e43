/* base/contract/stored.h - the interface of an array of numbers in a file.

   Each format of files says how its arrays are read (io/formats/file_format.h). Readers
   of matrices call the functions below and need not know the format. */
#ifndef HY_STORED_H
#define HY_STORED_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_stored hy_stored;

typedef struct hy_stored_ops {
    /* Reads numbers [first, first + count), which are within the array, to `to`:
       little-endian and without gaps. Any thread may call it. IO_FAILED or BAD_FILE, with
       a sentence that names the file. */
    hybrid_status (*read)(const hy_stored *self, int64_t first, int64_t count, void *to);

    void (*close)(hy_stored *self);
} hy_stored_ops;

struct hy_stored {
    const hy_stored_ops *ops; /* NULL: the array is not open */
    hy_context *ctx;
    size_t size;   /* bytes of a number, as read() writes it */
    int64_t count; /* number of elements of the array */
    void *reader;  /* the reader's own state, for ops */
};

static inline hybrid_status hy_stored_read(const hy_stored *numbers, int64_t first,
                                           int64_t count, void *to)
{
    return numbers->ops->read(numbers, first, count, to);
}

/* Closes the array. A zeroed struct is allowed. */
static inline void hy_stored_close(hy_stored *numbers)
{
    if (numbers->ops)
        numbers->ops->close(numbers);
    numbers->ops = NULL;
}

#ifdef __cplusplus
}
#endif
#endif /* HY_STORED_H */
