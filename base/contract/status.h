/* base/contract/status.h - passing errors up. */
#ifndef HY_STATUS_H
#define HY_STATUS_H

#include "hybrid_spmm.h"

/* Return the status of `call` unless it is OK. */
#define HY_TRY(call)                                                                     \
    do {                                                                                 \
        const hybrid_status hy_try_ = (call);                                            \
        if (hy_try_ != HYBRID_OK)                                                        \
            return hy_try_;                                                              \
    } while (0)

/* The same in a function with one exit: store in `status`, go to `done`. */
#define HY_TRY_ELSE_DONE(call)                                                           \
    do {                                                                                 \
        status = (call);                                                                 \
        if (status != HYBRID_OK)                                                         \
            goto done;                                                                   \
    } while (0)

#endif /* HY_STATUS_H */
