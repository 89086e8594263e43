/* io/hdf5/h5_chunked.c - reads numbers that lie in compressed chunks of a dataset.

   Workers decode the chunks that hold the wanted numbers in parallel. If all numbers of a
   chunk are wanted, the chunk is decoded into memory of its worker. Otherwise the chunk
   stays in a slot of a cache, because callers often want the rest of its numbers next. A
   caller that reads an array piece by piece therefore has every chunk decoded once. */
#include <string.h>

#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/threads/pool.h"
#include "io/hdf5/h5_array.h"

enum { CACHE_BYTES = 64 << 20, SPARE_SLOTS = 16 };

/* A slot of the cache: memory for one decoded chunk. */
typedef struct slot {
    int64_t chunk; /* index of the chunk in the dataset; -1: none */
    int is_ready;  /* 1: the chunk is decoded; 0: a thread still decodes it */
    int users;     /* number of threads that read the slot, or decode its chunk */
    int64_t
        used; /* value of chunked.uses at the latest use: the least is replaced first */
    char *numbers; /* decoded chunk, allocated with hy_array(); NULL: none yet */
} slot;

/* Memory with which one thread reads and decodes chunks. */
typedef struct bench {
    struct bench *next;
    hy_h5_decoder decoder;
    char *raw;     /* a chunk as the file holds it */
    char *numbers; /* a decoded chunk that is not cached */
} bench;

typedef struct chunked {
    hy_h5_reader reader; /* dataset, file and type of the result (h5_array.h) */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a slot becomes ready or loses a user */
    bench *benches;         /* list of those that no thread uses at present */
    slot *slots;
    int64_t count; /* number of elements of `slots` */
    int64_t uses;  /* number of uses of all slots so far */
} chunked;

/* A call of read(): the numbers [first, last] of the array that it wants. */
typedef struct reading {
    chunked *from;
    int64_t first, last;
    int64_t row_chunk, col_chunk; /* position of the first chunk to read, counted in
                                     chunks along each axis */
    int64_t across;               /* number of chunks to read side by side, along the
                                     columns */
    char *to;
} reading;

/* ---- decoding ---------------------------------------------------------------------- */

static void bench_free(hy_context *ctx, bench *b)
{
    hy_h5_inflater_free(&b->decoder);
    hy_array_free(ctx, b->decoder.scratch[0]);
    hy_array_free(ctx, b->raw);
    hy_array_free(ctx, b->numbers);
    hy_array_free(ctx, b);
}

static hybrid_status fill_bench(hy_context *ctx, const hy_h5_filters *filters, bench *b)
{
    const int64_t room = (int64_t)hy_h5_scratch_bytes(filters);
    void *memory;

    b->decoder.room = (size_t)room;
    HY_TRY(hy_array(ctx, room, 2, "a part of a file", &memory));
    b->decoder.scratch[0] = memory;
    b->decoder.scratch[1] = b->decoder.scratch[0] + room;
    HY_TRY(hy_array(ctx, room, 1, "a part of a file", &memory));
    b->raw = memory;
    HY_TRY(hy_array(ctx, (int64_t)filters->chunk_bytes, 1, "a part of a file", &memory));
    b->numbers = memory;
    hy_h5_inflater_make(&b->decoder);
    return HYBRID_OK;
}

static hybrid_status bench_take(chunked *c, bench **out)
{
    hy_context *ctx = c->reader.ctx;
    void *memory;

    pthread_mutex_lock(&c->lock);
    *out = c->benches;
    if (*out)
        c->benches = (*out)->next;
    pthread_mutex_unlock(&c->lock);
    if (*out)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, 1, sizeof(bench), "a part of a file", &memory));
    *out                       = memory;
    **out                      = (bench){.raw = NULL};
    const hybrid_status status = fill_bench(ctx, &c->reader.array.filters, *out);
    if (status != HYBRID_OK)
        bench_free(ctx, *out);
    return status;
}

static void bench_return(chunked *c, bench *b)
{
    pthread_mutex_lock(&c->lock);
    b->next    = c->benches;
    c->benches = b;
    pthread_mutex_unlock(&c->lock);
}

/* Reads a chunk of the file with memory *b, and decodes it to `to`. */
static hybrid_status decode(chunked *c, bench *b, int64_t chunk, char *to)
{
    const hy_h5_reader *r    = &c->reader;
    const hy_h5_place *place = &r->array.places[chunk];

    if (place->at < 0) {
        hy_h5_fill(&r->array, r->array.chunk[0] * r->array.chunk[1], to);
        return HYBRID_OK;
    }
    HY_TRY(hy_h5_pread(r->ctx, r->fd, r->path, place->at, place->bytes, b->raw));
    const char *why = hy_h5_decode(&r->array.filters, place->mask, &b->decoder, b->raw,
                                   place->bytes, to);
    if (!why)
        return HYBRID_OK;
    return hy_fail(r->ctx, HYBRID_BAD_FILE,
                   "%s: chunk %lld of '%s' cannot be decoded: %s", r->path,
                   (long long)chunk, r->array.name, why);
}

/* ---- the cache --------------------------------------------------------------------- */

/* Returns the slot that has the chunk, else a slot that may be given to it: empty, or the
   least recently used one without users. NULL if all slots have users. */
static slot *find_slot(chunked *c, int64_t chunk)
{
    slot *oldest = NULL;

    for (slot *s = c->slots; s < c->slots + c->count; s++) {
        if (s->chunk == chunk)
            return s;
        if (s->users == 0 && (!oldest || s->used < oldest->used))
            oldest = s;
    }
    return oldest;
}

/* Makes the calling thread a user of a slot for the chunk. Sets *must_fill to 1 if the
   thread must decode the chunk into the slot, to 0 if the slot has it. */
static slot *slot_take(chunked *c, int64_t chunk, int *must_fill)
{
    slot *s;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        s = find_slot(c, chunk);
        if (s && (s->chunk != chunk || s->is_ready))
            break;
        pthread_cond_wait(&c->changed, &c->lock);
    }
    *must_fill = s->chunk != chunk;
    if (*must_fill) {
        s->chunk    = chunk;
        s->is_ready = 0;
    }
    s->users++;
    s->used = ++c->uses;
    pthread_mutex_unlock(&c->lock);
    return s;
}

/* Ends the calling thread's use of a slot. */
static void slot_return(chunked *c, slot *s)
{
    pthread_mutex_lock(&c->lock);
    s->users--;
    if (!s->is_ready) /* The calling thread failed to decode the chunk. */
        s->chunk = -1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static hybrid_status fill_slot(chunked *c, slot *s)
{
    void *memory;
    bench *b;

    if (!s->numbers) {
        HY_TRY(hy_array(c->reader.ctx, (int64_t)c->reader.array.filters.chunk_bytes, 1,
                        "a part of a file", &memory));
        s->numbers = memory;
    }
    HY_TRY(bench_take(c, &b));
    const hybrid_status status = decode(c, b, s->chunk, s->numbers);
    bench_return(c, b);
    return status;
}

/* Lets other threads use a slot into which the calling thread has decoded a chunk. The
   calling thread remains a user. */
static void slot_publish(chunked *c, slot *s)
{
    pthread_mutex_lock(&c->lock);
    s->is_ready = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* ---- reading ----------------------------------------------------------------------- */

/* The part of the array that a chunk covers: rows [row, row_end) and columns [col,
   col_end). */
typedef struct part {
    int64_t row, row_end, col, col_end;
} part;

/* Return the first wanted column of row `row`, and the column behind the last. */
static int64_t begin_of(const reading *r, int64_t row)
{
    const int64_t cols = r->from->reader.array.dims[1];

    return row == r->first / cols ? r->first % cols : 0;
}

static int64_t end_of(const reading *r, int64_t row)
{
    const int64_t cols = r->from->reader.array.dims[1];

    return row == r->last / cols ? r->last % cols + 1 : cols;
}

/* Converts the wanted numbers of a part to where the caller wants them. `numbers` is the
   decoded chunk. */
static hybrid_status deliver(const reading *r, const part *p, const char *numbers)
{
    const hy_h5_reader *reader = &r->from->reader;
    const hy_h5_array *a       = &reader->array;

    const int64_t from = hy_max(p->row, r->first / a->dims[1]);
    const int64_t stop = hy_min(p->row_end, r->last / a->dims[1] + 1);

    for (int64_t row = from; row < stop; row++) {
        const int64_t col = hy_max(p->col, begin_of(r, row));
        const int64_t end = hy_min(p->col_end, end_of(r, row));
        const int64_t at  = row % a->chunk[0] * a->chunk[1] + col % a->chunk[1];
        /* index in the array of the part's first wanted number of the row */
        const int64_t k = row * a->dims[1] + col;
        if (col < end)
            HY_TRY(hy_h5_deliver(reader, numbers + at * (int64_t)a->number.bytes, k,
                                 end - col,
                                 r->to + (k - r->first) * (int64_t)reader->to.bytes));
    }
    return HYBRID_OK;
}

/* Returns 1 if all numbers of the part are wanted. */
static int is_wanted_whole(const reading *r, const part *p)
{
    const int64_t cols = r->from->reader.array.dims[1];

    return p->row >= r->first / cols && p->row_end - 1 <= r->last / cols &&
           begin_of(r, p->row) <= p->col && end_of(r, p->row_end - 1) >= p->col_end;
}

static hybrid_status read_whole(const reading *r, const part *p, int64_t chunk)
{
    bench *b;

    HY_TRY(bench_take(r->from, &b));
    hybrid_status status = decode(r->from, b, chunk, b->numbers);
    if (status == HYBRID_OK)
        status = deliver(r, p, b->numbers);
    bench_return(r->from, b);
    return status;
}

static hybrid_status read_cached(const reading *r, const part *p, int64_t chunk)
{
    chunked *c           = r->from;
    hybrid_status status = HYBRID_OK;
    int must_fill;

    slot *s = slot_take(c, chunk, &must_fill);
    if (must_fill)
        status = fill_slot(c, s);
    if (must_fill && status == HYBRID_OK)
        slot_publish(c, s);
    if (status == HYBRID_OK)
        status = deliver(r, p, s->numbers);
    slot_return(c, s);
    return status;
}

/* Reads chunks [begin, end) of the rectangle of chunks that a reading touches. */
static hybrid_status read_chunks(void *arg, int worker, int64_t begin, int64_t end)
{
    const reading *r     = arg;
    const hy_h5_array *a = &r->from->reader.array;

    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row   = r->row_chunk + i / r->across;
        const int64_t col   = r->col_chunk + i % r->across;
        const part p        = {.row     = row * a->chunk[0],
                               .row_end = hy_min((row + 1) * a->chunk[0], a->dims[0]),
                               .col     = col * a->chunk[1],
                               .col_end = hy_min((col + 1) * a->chunk[1], a->dims[1])};
        const int64_t chunk = row * hy_h5_chunks_of(a, 1) + col;
        HY_TRY((is_wanted_whole(r, &p) ? read_whole : read_cached)(r, &p, chunk));
    }
    return HYBRID_OK;
}

static hybrid_status read_numbers(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    chunked *c           = self->reader;
    const hy_h5_array *a = &c->reader.array;
    const int64_t cols = a->dims[1], last = first + count - 1;

    if (count == 0)
        return HYBRID_OK;
    const int one_row  = first / cols == last / cols;
    const int64_t col  = one_row ? first % cols / a->chunk[1] : 0;
    const int64_t end  = one_row ? last % cols / a->chunk[1] + 1 : hy_h5_chunks_of(a, 1);
    reading r          = {.from      = c,
                          .first     = first,
                          .last      = last,
                          .row_chunk = first / cols / a->chunk[0],
                          .col_chunk = col,
                          .across    = end - col,
                          .to        = to};
    const int64_t rows = last / cols / a->chunk[0] + 1 - r.row_chunk;
    if (rows * r.across == 1)
        return read_chunks(&r, 0, 0, 1);
    return hy_pool_for(self->ctx->pool, HY_COMPUTE, 0, rows * r.across, 1, read_chunks,
                       &r);
}

/* ---- opening and closing ----------------------------------------------------------- */

static void close_reader(hy_stored *self)
{
    chunked *c      = self->reader;
    hy_context *ctx = self->ctx;

    for (bench *b = c->benches, *next; b; b = next) {
        next = b->next;
        bench_free(ctx, b);
    }
    for (int64_t i = 0; i < c->count; i++)
        hy_array_free(ctx, c->slots[i].numbers);
    hy_array_free(ctx, c->slots);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    hy_h5_reader_free(&c->reader);
    hy_array_free(ctx, c);
}

const hy_stored_ops hy_h5_chunked = {.read = read_numbers, .close = close_reader};

/* Returns a number of slots: at least one for each thread, so that all can read at the
   same time. If CACHE_BYTES allow, as many as a row of chunks has, because callers read
   rows. */
static int64_t count_slots(const hy_h5_reader *reader)
{
    const int64_t threads = hy_pool_max_threads(reader->ctx->pool) + 1;
    const int64_t wanted  = hy_h5_chunks_of(&reader->array, 1);
    const int64_t room    = CACHE_BYTES / (int64_t)reader->array.filters.chunk_bytes;

    return hy_max(threads, hy_min(hy_min(wanted, room) + SPARE_SLOTS, hy_max(room, 1)));
}

hybrid_status hy_h5_chunked_make(const hy_h5_reader *reader, void **out)
{
    hy_context *ctx = reader->ctx;
    chunked *c;
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof *c, "a part of a file", &memory));
    c  = memory;
    *c = (chunked){.reader = *reader, .count = count_slots(reader)};
    const hybrid_status status =
        hy_array(ctx, c->count, sizeof(slot), "a part of a file", &memory);
    if (status != HYBRID_OK) {
        hy_array_free(ctx, c);
        return status;
    }
    c->slots = memory;
    for (int64_t i = 0; i < c->count; i++)
        c->slots[i] = (slot){.chunk = -1};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    *out = c;
    return HYBRID_OK;
}
