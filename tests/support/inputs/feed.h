/* tests/support/inputs/feed.h - text from a file or a pipe, plain or compressed. */
#ifndef FEED_H
#define FEED_H

#include <pthread.h>
#include <stddef.h>

enum { FEED_PIPE_BYTES = 1 << 16 }; /* capacity of a pipe */

/* A thread that writes `head` to a pipe. If body_bytes is not 0, it then repeats `body`
   until the reader closes the pipe. SIGPIPE must be ignored. */
typedef struct feed {
    const char *head, *body;
    size_t head_bytes, body_bytes;

    size_t written;
    int in, out; /* ends of the pipe */
    pthread_t thread;
    char path[32];
} feed;

/* Returns the path of the pipe, which can be read once. */
const char *feed_begin(feed *f);

/* Returns the bytes that were read or are in the pipe. */
size_t feed_end(feed *f);

/* Returns gzip data with `times` members that contain `plain` each. The caller frees it
   with free(). */
char *feed_compress(const char *plain, size_t bytes, int times, size_t *out);

/* ---- the same text in several ways ---- */

typedef struct text {
    char *data; /* freed by the caller with free() */
    size_t bytes;
} text;

/* Returns an empty text with room for `room` bytes. */
text text_open(size_t room);

/* Ways to read a text: from a mapped file, from a file with two gzip members, from a
   pipe, and compressed from a pipe. */
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
