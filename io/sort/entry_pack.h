/* io/sort/entry_pack.h - makes records (entries with a key to sort by, io/sort/records.h)
   of entries. */
#ifndef HY_ENTRY_PACK_H
#define HY_ENTRY_PACK_H

#include "io/formats/entry_reader.h"
#include "io/sort/records.h"

/* Makes a record of each entry, and one of its mirror image if `mirror` is not 0
   (hy_entry_reader). Sets *packed to the number of records, at most 2 * count. */
hybrid_status hy_entry_pack(hy_context *ctx, const hy_entry *entries, int64_t count,
                            int mirror, hy_record *to, int64_t *packed);

#endif /* HY_ENTRY_PACK_H */
