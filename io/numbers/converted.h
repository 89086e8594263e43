/* io/numbers/converted.h - an array in a file whose numbers are converted when they are
   read. */
#ifndef HY_CONVERTED_H
#define HY_CONVERTED_H

#include "base/contract/stored.h"
#include "io/numbers/number_kind.h"

/* Wraps *array, whose numbers are of kind `from`, so that it gives row offsets or column
   indices of the type `to`. An array that has these numbers stays as it is. `name` names
   the array in messages. BAD_FILE if the kind is no integer. Reading gives BAD_FILE and
   names the first number that does not fit `to`. After a failure *array is as before. */
hybrid_status hy_stored_to_indices(hy_stored *array, hy_number_kind from, hybrid_index to,
                                   const char *name);

/* Wraps *array, whose numbers are of kind `from`, so that it gives values of the type
   hy_type_of_kind(from). Otherwise as hy_stored_to_indices(). */
hybrid_status hy_stored_to_values(hy_stored *array, hy_number_kind from,
                                  const char *name);

#endif /* HY_CONVERTED_H */
