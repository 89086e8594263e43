/* base/contract/status.h - macros that pass errors up. */
#ifndef HY_STATUS_H
#define HY_STATUS_H

#include "hybrid_spmm.h"

/* Returns the status of `call` unless it is OK. */
#define HY_TRY(call)                                                                     \
    do {                                                                                 \
        const hybrid_status hy_try_ = (call);                                            \
        if (hy_try_ != HYBRID_OK)                                                        \
            return hy_try_;                                                              \
    } while (0)

/* For a function with one exit: stores the status of `call` in `status` and goes to
   `done` unless it is OK. */
#define HY_TRY_ELSE_DONE(call)                                                           \
    do {                                                                                 \
        status = (call);                                                                 \
        if (status != HYBRID_OK)                                                         \
            goto done;                                                                   \
    } while (0)

#endif /* HY_STATUS_H */
