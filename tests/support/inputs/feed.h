/* tests/support/inputs/feed.h - text that comes from a file or a pipe, plain or
   compressed. */
#ifndef FEED_H
#define FEED_H

#include <pthread.h>
#include <stddef.h>

enum { FEED_PIPE_BYTES = 1 << 16 }; /* that lie in a pipe when nobody reads them */

/* A thread that writes `head` and then, if `body_bytes` is not 0, `body` again and again
   until nobody reads any more. SIGPIPE must be ignored. */
typedef struct feed {
    const char *head, *body;
    size_t head_bytes, body_bytes;

    size_t written;
    int in, out; /* ends of the pipe */
    pthread_t thread;
    char path[32];
} feed;

/* Returns the path that the text comes from, once. */
const char *feed_begin(feed *f);

/* Returns the bytes that were read, or lie in the pipe. */
size_t feed_end(feed *f);

/* gzip data of `plain`, `times` over, each a member; to be given to free(). */
char *feed_compress(const char *plain, size_t bytes, int times, size_t *out);

/* ---- the same text in several ways ------------------------------------------------ */

typedef struct text {
    char *data; /* to be given to free() */
    size_t bytes;
} text;

/* Empty, with so much room. */
text text_open(size_t room);

/* In a file that is mapped, one that is compressed in two members, a pipe, and compressed
   from a pipe. */
enum { MAPPED, PACKED, PIPED, PACKED_PIPED, WAYS };

typedef struct way {
    char *data;
    size_t bytes;
    feed feed;
    int piped;
    char path[256];
} way;

/* Returns the path of the text. */
const char *way_open(way *w, int how, const text *t);
void way_close(way *w, const text *t);

#endif /* FEED_H */
