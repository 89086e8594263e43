/* base/memory/shortage.h - the sentence that says that memory is too small.

   Every such sentence is built here, so that each names the size, the budget, the
   remedy and, for reports of errors, the array. */
#ifndef HY_SHORTAGE_H
#define HY_SHORTAGE_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_shortage {
    const char *memory;    /* kind of memory: "host memory" */
    const char *what;      /* name of the array, or of the result that the array belongs
                              to; users may not know it */
    int64_t bytes;         /* size of the array; INT64_MAX: more than can be counted */
    const hy_meter *meter; /* meter with the bytes in use and the budget; NULL: memory
                              that no meter counts */
    int64_t spare;         /* bytes in use that would have been freed if the new array had
                              been allocated, because it replaces them */
    const char *facts;     /* other facts for the sentence, or NULL */
    const char *remedy;
    const char *also; /* text that continues the remedy; NULL: none */
} hy_shortage;

/* Fails with `status` and a sentence of this form:
     cannot allocate BYTES of MEMORY: FACTS, and USED of the budget of CAP is in use;
     REMEDY ALSO [WHAT]
   Without a limit, "of the budget of CAP" is left out. Without a meter, the bytes in use
   are left out, too. */
hybrid_status hy_short(struct hy_context *ctx, hybrid_status status,
                       const hy_shortage *s);

/* Fails with NO_MEMORY because the budget of host memory is used up. `also` continues the
   remedy; "" if there is nothing to add. */
hybrid_status hy_memory_full(struct hy_context *ctx, const char *what, int64_t bytes,
                             const char *also);

/* Fails with NO_MEMORY because the system refuses memory that the budget allows. `reason`
   is the system's text, or NULL. */
hybrid_status hy_memory_refused(struct hy_context *ctx, const char *what, int64_t bytes,
                                const char *reason);

/* Fails with NO_MEMORY because the system refuses address space. `reason` is the system's
   text, or NULL. */
hybrid_status hy_address_space_full(struct hy_context *ctx, const char *what,
                                    int64_t bytes, const char *reason);

/* Returns what to do if the budget of host memory is too small; a static string. */
const char *hy_memory_remedy(const hy_memory *memory);

#ifdef __cplusplus
}
#endif
#endif /* HY_SHORTAGE_H */
