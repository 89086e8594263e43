/* tests/support/hdf5/h5_refuse.h - a file with a fault, which must be refused. */
#ifndef H5_REFUSE_H
#define H5_REFUSE_H

#include "support/hdf5/h5_make.h"

extern const h5_form h5_plain, h5_packed;

/* Set-up and tear-down of a cmocka group that has io_ctx and h5_matrix(), a 60 x 40
   matrix of doubles. */
int h5_group_open(void **state);
int h5_group_close(void **state);
const hybrid_csr *h5_matrix(void);

/* Stores the file a.h5, in which the group X has h5_matrix() in the form h5_packed, and
   lets `change` change the file. */
void h5_store_changed(void (*change)(hid_t file));

/* Reads the matrix `member` of a.h5 (NULL: the only one). Fails the test unless the
   status is `wanted`, the message begins with the file's name and contains `sentence`,
   and no memory stays allocated. */
void h5_refuse(const char *member, hybrid_status wanted, const char *sentence);

/* Replaces a dataset by one of `count` numbers, which are all `number`. `count` is at
   most 100. */
void h5_put(hid_t at, const char *name, hid_t type, hsize_t count, int64_t number);
/* Replaces a dataset by one of which no number was ever written, of `rank` dimensions
   `dims`. `list` are its properties; the function closes them. */
void h5_put_empty(hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims,
                  hid_t list);
/* Return properties of a dataset for h5_put_empty(): in chunks of `chunk` numbers, or
   with this layout. */
hid_t h5_chunks_of(hsize_t chunk);
hid_t h5_layout(H5D_layout_t layout);

#endif /* H5_REFUSE_H */
