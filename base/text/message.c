/* base/text/message.c - stores the one sentence that says what went wrong. */
#include "base/text/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/printable.h"

enum { NAME_BYTES = 256 }; /* maximum bytes of a file's name at the start of a sentence */

/* Message that receives the calling thread's sentences; NULL: the context's message
   receives them */
static _Thread_local hy_message *redirected;

void hy_message_init(hy_message *message)
{
    pthread_mutex_init(&message->lock, NULL);
    message->text[0] = '\0';
}

void hy_message_destroy(hy_message *message)
{
    pthread_mutex_destroy(&message->lock);
}

void hy_message_clear(hy_message *message)
{
    pthread_mutex_lock(&message->lock);
    message->text[0] = '\0';
    pthread_mutex_unlock(&message->lock);
}

void hy_message_aside(hy_message *aside)
{
    redirected = aside;
}

hy_message *hy_message_get_aside(void)
{
    return redirected;
}

void hy_message_hush(hy_message *unheard)
{
    hy_message_init(unheard);
    hy_message_aside(unheard);
}

void hy_message_heed(hy_message *unheard)
{
    hy_message_aside(NULL);
    hy_message_destroy(unheard);
}

hybrid_status hy_fail(struct hy_context *ctx, hybrid_status status, const char *format,
                      ...)
{
    hy_message *message = redirected ? redirected : &ctx->message;
    char text[HY_MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&message->lock);
    if (message->text[0] == '\0')
        hy_printable(message->text, sizeof message->text, text);
    pthread_mutex_unlock(&message->lock);
    return status;
}

void hy_note(struct hy_context *ctx, const char *format, ...)
{
    char text[HY_MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hy_printable(ctx->note, sizeof ctx->note, text);
}

hybrid_status hy_memory_of(struct hy_context *ctx, hybrid_status status, const char *name)
{
    hy_message *message = redirected ? redirected : &ctx->message;
    char text[HY_MESSAGE_BYTES], shown[NAME_BYTES];

    if (status != HYBRID_NO_MEMORY)
        return status;
    hy_printable(shown, sizeof shown, name);
    pthread_mutex_lock(&message->lock);
    memcpy(text, message->text, sizeof text);
    if (!strstr(text, shown))
        snprintf(message->text, sizeof message->text, "%s: %.700s", shown, text);
    pthread_mutex_unlock(&message->lock);
    return status;
}
