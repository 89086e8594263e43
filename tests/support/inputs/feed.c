/* tests/support/inputs/feed.c - text from a file or a pipe, plain or compressed. */
#include "tests/support/inputs/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "tests/support/engines/io_fixture.h"

static void need(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

static int put(feed *f, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = write(f->in, data, bytes);
        if (n <= 0)
            return 0; /* the reader has closed the pipe */
        f->written += (size_t)n;
        data += n;
        bytes -= (size_t)n;
    }
    return 1;
}

static void *write_all(void *arg)
{
    feed *f   = arg;
    int reads = put(f, f->head, f->head_bytes);

    while (reads && f->body_bytes > 0)
        reads = put(f, f->body, f->body_bytes);
    close(f->in);
    return NULL;
}

const char *feed_begin(feed *f)
{
    int ends[2];

    need(pipe(ends) == 0, "pipe");
    f->in      = ends[1];
    f->out     = ends[0];
    f->written = 0;
    snprintf(f->path, sizeof f->path, "/dev/fd/%d", f->out);
    need(pthread_create(&f->thread, NULL, write_all, f) == 0, "thread");
    return f->path;
}

size_t feed_end(feed *f)
{
    close(f->out);
    pthread_join(f->thread, NULL);
    return f->written;
}

char *feed_compress(const char *plain, size_t bytes, int times, size_t *out)
{
    z_stream z        = {0};
    const uLong bound = compressBound(bytes) + 64;
    char *data        = malloc(bound * (size_t)times);

    need(data != NULL, "gzip data");
    need(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
    z.next_in   = (z_const Bytef *)plain;
    z.avail_in  = (uInt)bytes;
    z.next_out  = (Bytef *)data;
    z.avail_out = (uInt)bound;
    need(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib");
    for (int i = 1; i < times; i++)
        memcpy(data + (size_t)i * z.total_out, data, z.total_out);
    *out = (size_t)times * z.total_out;
    deflateEnd(&z);
    return data;
}

/* ---- the same text in several ways ---- */

text text_open(size_t room)
{
    text t = {malloc(room), 0};

    need(t.data != NULL, "text");
    t.data[0] = 0;
    return t;
}

const char *way_open(way *w, int how, const text *t)
{
    *w = (way){.data = t->data, .bytes = t->bytes};
    if (how == PACKED || how == PACKED_PIPED) {
        size_t first, second;
        const size_t half = t->bytes / 2;
        char *a           = feed_compress(t->data, half, 1, &first);
        char *b           = feed_compress(t->data + half, t->bytes - half, 1, &second);
        w->data           = malloc(first + second);
        w->bytes          = first + second;
        need(w->data != NULL, "gzip data");
        memcpy(w->data, a, first);
        memcpy(w->data + first, b, second);
        free(a);
        free(b);
    }
    if (how == PIPED || how == PACKED_PIPED) {
        w->piped = 1;
        w->feed  = (feed){.head = w->data, .head_bytes = w->bytes};
        return feed_begin(&w->feed);
    }
    snprintf(w->path, sizeof w->path, "%s", io_temp("way"));
    io_store(w->path, w->data, w->bytes);
    return w->path;
}

void way_close(way *w, const text *t)
{
    if (w->piped)
        feed_end(&w->feed);
    if (w->data != t->data)
        free(w->data);
}
