/* tests/support/engines/io_fixture.c - a context without an engine, and files to read and
   write. */
#include "tests/support/engines/io_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "io/text/io.h"
#include "tests/support/inputs/random.h"

static void need(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

/* ---- context ---- */

hy_io_sizes io_sizes;

void io_sizes_small(int64_t run)
{
    io_sizes             = hy_usual_io_sizes;
    io_sizes.window      = 0;
    io_sizes.lines_block = 3000;
    io_sizes.run         = run;
    io_sizes.merge_block = 100;
}

typedef struct fixture {
    hy_context ctx;
    hy_topology *topology;
} fixture;

static void *alloc(void *user, size_t bytes)
{
    (void)user;
    return malloc(bytes);
}

static void release(void *user, void *ptr)
{
    (void)user;
    free(ptr);
}

hy_context *io_open(int threads)
{
    fixture *f = calloc(1, sizeof *f);

    need(f != NULL, "fixture");
    io_sizes                = hy_usual_io_sizes;
    f->ctx.io_sizes         = &io_sizes;
    f->ctx.memory.allocator = (hybrid_allocator){alloc, release, NULL};
    hy_message_init(&f->ctx.message);
    need(hy_topology_open(&f->ctx, &f->topology) == HYBRID_OK, "topology");
    need(hy_pool_create(&f->ctx, f->topology, threads, 0, &f->ctx.pool) == HYBRID_OK,
         "pool");
    need(hy_results_create(&f->ctx, &f->ctx.results) == HYBRID_OK, "results");
    return &f->ctx;
}

void io_close(hy_context *ctx)
{
    fixture *f = (fixture *)ctx; /* valid because ctx is the first member of fixture */

    hy_results_destroy(ctx, ctx->results);
    hy_pool_destroy(ctx, ctx->pool);
    hy_topology_close(ctx, f->topology);
    hy_message_destroy(&ctx->message);
    free(f);
}

hy_context *io_ctx;

int io_group_open(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    io_ctx = io_open(3);
    return 0;
}

int io_group_remove(void **state)
{
    (void)state;
    io_remove_temp();
    return 0;
}

int io_group_close(void **state)
{
    io_close(io_ctx);
    return io_group_remove(state);
}

/* ---- files ---- */

static const char *data_folder(void)
{
    const char *folder = getenv("TEST_DATA");
    return folder ? folder : "tests/data";
}

const char *io_data(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", data_folder(), name);
    return path;
}

char *io_load(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    need(file != NULL, path);
    need(fseek(file, 0, SEEK_END) == 0, path);
    *bytes     = (size_t)ftell(file);
    char *data = malloc(*bytes + 1);
    need(data != NULL, path);
    rewind(file);
    need(fread(data, 1, *bytes, file) == *bytes, path);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

void io_store(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    need(file != NULL, path);
    need(fwrite(data, 1, bytes, file) == bytes, path);
    need(fclose(file) == 0, path);
}

static char temp_folder[] = "/tmp/hybrid_io_XXXXXX";
static int has_temp;

const char *io_temp(const char *name)
{
    static char path[4096];

    if (!has_temp)
        need(mkdtemp(temp_folder) != NULL, "mkdtemp");
    has_temp = 1;
    snprintf(path, sizeof path, "%s/%s", temp_folder, name);
    return path;
}

const char *io_partial(const char *name)
{
    static char path[4096 + 64]; /* room for name, process id and suffix */

    snprintf(path, sizeof path, "%s.%ld.partial", io_temp(name), (long)getpid());
    return path;
}

void io_remove_temp(void)
{
    struct dirent *entry;

    if (!has_temp)
        return;
    DIR *folder = opendir(temp_folder);
    need(folder != NULL, temp_folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            need(unlink(io_temp(entry->d_name)) == 0, entry->d_name);
    closedir(folder);
    need(rmdir(temp_folder) == 0, temp_folder);
    has_temp = 0;
}

/* ---- mutations ---- */

static uint64_t next_random(uint64_t *state)
{
    return random_next(state) >> 33;
}

/* Changes `data` in at most one random way: replaces, removes or inserts a byte, cuts the
   end off, or appends a copy of up to 63 bytes. `data` has room for `room` bytes. Returns
   the new size. */
static size_t mutate(unsigned char *data, size_t bytes, size_t room, uint64_t *state)
{
    static const char likely[] = "0123456789 -+.eE%\n\r\tnif{}(),'<>f8:";
    const size_t at            = (size_t)next_random(state) % (bytes + 1);
    const uint64_t kind        = next_random(state) % 8;
    unsigned char byte         = (unsigned char)next_random(state);

    if (kind % 2)
        byte = (unsigned char)likely[next_random(state) % (sizeof likely - 1)];
    if (kind < 4 && at < bytes) {
        data[at] = byte;
    } else if (kind == 4 && at < bytes) {
        memmove(data + at, data + at + 1, bytes - at - 1);
        bytes--;
    } else if (kind == 5 && bytes < room) {
        memmove(data + at + 1, data + at, bytes - at);
        data[at] = byte;
        bytes++;
    } else if (kind == 6 && next_random(state) % 4 == 0) {
        bytes = at;
    } else if (kind == 7) {
        const size_t copied = bytes - at < room - bytes ? bytes - at : room - bytes;
        memcpy(data + bytes, data + at, copied % 64);
        bytes += copied % 64;
    }
    return bytes;
}

static void mutate_file(const char *name, int rounds,
                        int (*fn)(const unsigned char *data, size_t bytes))
{
    size_t bytes;
    char *original = io_load(io_data(name), &bytes);
    uint64_t state = bytes;

    fn((const unsigned char *)original, bytes);
    for (int round = 0; round < rounds; round++) {
        const size_t room   = 2 * bytes + 64;
        unsigned char *data = malloc(room);
        need(data != NULL, name);
        memcpy(data, original, bytes);
        size_t now = bytes;
        for (uint64_t i = next_random(&state) % 4 + 1; i > 0; i--)
            now = mutate(data, now, room, &state);
        fn(data, now);
        free(data);
    }
    free(original);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void io_mutate(const char *part, int rounds,
               int (*fn)(const unsigned char *data, size_t bytes))
{
    struct dirent *entry;
    char *names[256];
    size_t count = 0;
    DIR *folder  = opendir(data_folder());

    need(folder != NULL, data_folder());
    while ((entry = readdir(folder)) && count < 256)
        if (strstr(entry->d_name, part))
            names[count++] = strdup(entry->d_name);
    closedir(folder);
    need(count > 0, part);
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        mutate_file(names[i], rounds, fn);
        free(names[i]);
    }
}

void io_must(const hy_context *ctx, int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, ctx->message.text);
    abort();
}
