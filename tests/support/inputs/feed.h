/* tests/support/inputs/feed.h - text from a file or a pipe, plain or compressed. */
#ifndef FEED_H
#define FEED_H

#include <pthread.h>
#include <stddef.h>

enum { FEED_PIPE_BYTES = 1 << 16 }; /* bytes that a pipe holds before a writer blocks */

/* A thread that writes `head` to a pipe. If body_bytes is not 0, it then writes `body`
   again and again until the reader closes the pipe. The test must ignore SIGPIPE. */
typedef struct feed {
    const char *head, *body;
    size_t head_bytes, body_bytes;

    size_t written;
    int in, out; /* file descriptors of the pipe's two ends */
    pthread_t thread;
    char path[32];
} feed;

/* Starts the thread. Returns the path of the pipe, which can be opened and read once. */
const char *feed_begin(feed *f);

/* Closes the pipe and ends the thread. Returns the bytes that it wrote: they were read,
   or were still in the pipe. */
size_t feed_end(feed *f);

/* Returns gzip data of `times` members (compressed streams one behind another), each of
   which decompresses to `plain`. Sets *out to the bytes. The caller frees the data with
   free(). */
char *feed_compress(const char *plain, size_t bytes, int times, size_t *out);

/* ---- the same text in several ways ---- */

typedef struct text {
    char *data; /* freed by the caller with free() */
    size_t bytes;
} text;

/* Returns a text of 0 bytes whose array has room for `room` bytes. */
text text_open(size_t room);

/* Ways to read a text: MAPPED, from a mapped file; PACKED, from a compressed file with
   two gzip members; PIPED, from a pipe; PACKED_PIPED, compressed as in PACKED, from a
   pipe. */
enum { MAPPED, PACKED, PIPED, PACKED_PIPED, WAYS };

typedef struct way {
    char *data;
    size_t bytes;
    feed feed;
    int piped;
    char path[256];
} way;

/* Offers the text in way `how` (MAPPED to PACKED_PIPED). Returns the path under which it
   can be read, valid until way_close(). */
const char *way_open(way *w, int how, const text *t);
void way_close(way *w, const text *t);

#endif /* FEED_H */
