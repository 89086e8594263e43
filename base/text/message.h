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

/* From now on, stores the sentences of the calling thread in `aside` instead of the
   context's message; with NULL, in the context's message again. The caller clears and
   reads `aside`. A thread uses this if its call tries several ways and some may fail. */
void hy_message_aside(hy_message *aside);

/* Returns what the calling thread passed to hy_message_aside() last; NULL if nothing. */
hy_message *hy_message_get_aside(void);

/* Drops the sentences of the calling thread between hy_message_hush() and
   hy_message_heed(). `unheard` belongs to the caller. */
void hy_message_hush(hy_message *unheard);
void hy_message_heed(hy_message *unheard);

/* Stores the formatted sentence as the message, unless one is stored already, and returns
   `status`: a caller writes `return hy_fail(ctx, HYBRID_BAD_SHAPE, "...", ...);`.
   hy_printable() replaces control characters. */
hybrid_status hy_fail(hy_context *ctx, hybrid_status status, const char *format,
                      ...) HY_PRINTF(3, 4);

/* Returns IO_FAILED with the sentence "cannot VERB 'PATH': REASON", where REASON is that
   of errno. */
hybrid_status hy_fail_system(hy_context *ctx, const char *path, const char *verb);

/* Stores a sentence (the note) that says what a public call guessed although it succeeds;
   it replaces the note before. Only the thread that makes the call may do this. */
void hy_note(hy_context *ctx, const char *format, ...) HY_PRINTF(2, 3);

/* Puts "name: " before the stored sentence if `status` is NO_MEMORY and the sentence does
   not contain `name`, so that the user learns which file or matrix needed the memory.
   Returns `status`. */
hybrid_status hy_memory_of(hy_context *ctx, hybrid_status status,
                           const char *name);

#ifdef __cplusplus
}
#endif
#endif /* HY_MESSAGE_H */
