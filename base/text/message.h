/* base/text/message.h - the one sentence that says what went wrong. */
#ifndef HY_MESSAGE_H
#define HY_MESSAGE_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HY_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define HY_PRINTF(text, first)
#endif

void hy_message_init(hy_message *message);
void hy_message_destroy(hy_message *message);
void hy_message_clear(hy_message *message);

/* What the calling thread says from now on is kept in `aside`, which is cleared and told
   on by its owner, and not in its context's; NULL: there again. For a thread that works
   ahead of a call that tries several ways. */
void hy_message_aside(hy_message *aside);

/* Nobody is told what the calling thread says until it heeds again; `unheard` is its own. */
void hy_message_hush(hy_message *unheard);
void hy_message_heed(hy_message *unheard);

/* Keep the sentence, in which hy_printable() replaces control characters of names, unless
   there is one already, and return `status`, so that a caller writes `return hy_fail(ctx, HYBRID_BAD_SHAPE, "...", ...);`. */
hybrid_status hy_fail(hy_context *ctx, hybrid_status status, const char *format,
                      ...) HY_PRINTF(3, 4);

/* Puts "name: " before the sentence if `status` is NO_MEMORY and the sentence does not
   name it already, so that it tells for which file or matrix memory ran out. Returns
   `status`. */
hybrid_status hy_memory_of(hy_context *ctx, hybrid_status status,
                           const char *name);

#ifdef __cplusplus
}
#endif
#endif /* HY_MESSAGE_H */
