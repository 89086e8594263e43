/* tests/support/check/tiled_reader.c - checks packs of spmm.cuda.tiled.

   A row panel has places 0 to 255, one for each portion: a row of A, or a segment of a
   long row. Its stages hold the entries of up to HY_TILED_COLS rows of X each, in slices
   of 32 places. partition/format/pack_tiled.h explains the format. */
#include "tests/support/check/tiled_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "tests/support/inputs/cases.h"

/* State of a walk over one pack, from its first entry to its last. */
typedef struct reader {
    const hy_job *job;
    const hy_tiled_view *view;
    const hy_tiled_rules *rules;
    const int64_t *rank;     /* new number of each column of A, or NULL: unchanged */
    int64_t *length, *begin; /* arrays over the places of all row panels. length: number
                                of entries; begin: index in A of the entry that the pack
                                must hold next, unused if the place is empty */
    int64_t value;           /* index in view->val of the next entry to be read */
    int64_t map, stage;      /* indices in view->map and view->stage of the next elements
                                to be read */
} reader;

static int64_t places(const reader *r)
{
    return r->view->head.panels * HY_TILED_ROWS;
}

/* Returns how many entries place `i` of a row panel has in this stage, without
   padding. */
static int64_t entries_of(const reader *r, int64_t stage, int64_t i)
{
    const int64_t first = i / HY_TILED_SLICE * HY_TILED_SLICE, lane = i - first;
    const uint16_t *count = r->view->count + stage * HY_TILED_ROWS + first;
    const uint16_t *index =
        r->view->index + r->view->stage[stage].entry[i / HY_TILED_SLICE];
    int64_t entries = count[lane];

    if (r->rules->paper)
        while (entries > 0 &&
               index[(entries - 1) * HY_TILED_SLICE + lane] == HY_TILED_PAD)
            entries--;
    return entries;
}

static void add_lengths(reader *r)
{
    for (int64_t p = 0; p < r->view->head.panels; p++)
        for (int64_t s = r->view->start[p]; s < r->view->start[p + 1]; s++)
            for (int64_t i = 0; i < HY_TILED_ROWS; i++)
                r->length[p * HY_TILED_ROWS + i] += entries_of(r, s, i);
}

/* Checks the padded slice that begins at place `first`: all places have as many entries,
   padding included, as the longest has without padding. */
static void check_padding(const reader *r, int64_t stage, int64_t first)
{
    const uint16_t *count = r->view->count + stage * HY_TILED_ROWS + first;
    int64_t longest       = 0;

    for (int64_t l = 0; l < HY_TILED_SLICE; l++) {
        const int64_t entries = entries_of(r, stage, first + l);
        longest               = entries > longest ? entries : longest;
        assert_int_equal(count[l], count[0]);
    }
    assert_int_equal(count[0], longest);
}

/* Returns the place that computes `out`: a row of the chunk, or -1 - i for partial sum i.
   Fails the test if no place does. */
static int64_t place_of(const reader *r, int64_t *of_row, int64_t out)
{
    const int64_t rows = r->job->chunk->features.rows;
    const int64_t at   = of_row[out >= 0 ? out : rows - 1 - out];

    assert_true(at >= 0);
    return at;
}

/* Checks that each row of the chunk is stored at one place, or, if it is longer than a
   segment, in consecutive segments of at most that length. Sets r->begin. */
static void find_portions(reader *r)
{
    const hy_tiled_head *head = &r->view->head;
    const hybrid_csr *A       = r->job->problem->A;
    const int64_t rows        = r->job->chunk->features.rows;
    const int64_t segment     = r->rules->segment;
    int64_t *of               = malloc((size_t)(rows + head->partials + 1) * 8);
    int64_t split             = 0;

    assert_non_null(of);
    memset(of, 0xff, (size_t)(rows + head->partials) * 8);
    for (int64_t i = 0; i < places(r); i++) {
        const int64_t out = r->view->out[i];
        if (out == HY_TILED_NONE) {
            assert_true(i >= places(r) - HY_TILED_ROWS + 1 && r->length[i] == 0);
            continue;
        }
        assert_in_range(out + head->partials, 0, rows + head->partials - 1);
        assert_int_equal(of[out >= 0 ? out : rows - 1 - out], -1);
        of[out >= 0 ? out : rows - 1 - out] = i;
        assert_true(r->length[i] <= segment);
    }
    for (int64_t row = 0; row < rows; row++) {
        const int64_t begin = hy_offset(A, r->job->chunk->row_begin + row);
        const int64_t end   = hy_offset(A, r->job->chunk->row_begin + row + 1);
        int64_t at          = begin;
        if (end - begin <= segment) {
            r->begin[place_of(r, of, row)] = begin;
            at += r->length[place_of(r, of, row)];
        } else {
            assert_true(split < head->splits && r->view->split[split].row == row);
            const hy_tiled_split *s = &r->view->split[split++];
            assert_int_equal(s->parts, (end - begin + segment - 1) / segment);
            for (int32_t i = 0; i < s->parts; i++) {
                const int64_t place = place_of(r, of, -1 - (s->partial + i));
                r->begin[place]     = at;
                at += r->length[place];
            }
        }
        assert_int_equal(at, end);
    }
    assert_int_equal(split, head->splits);
    free(of);
}

/* Checks that the entries of a slice are, at each place, the next entries of A in
   order. */
static void read_slice(reader *r, const hy_tiled_stage *s, int64_t place,
                       const uint16_t *count, char *used)
{
    const hybrid_csr *A = r->job->problem->A;

    for (int step = 0; step < HY_TILED_COLS; step++)
        for (int l = 0; l < HY_TILED_SLICE; l++) {
            if (count[l] <= step)
                continue;
            const int32_t index = r->view->index[r->value];
            if (r->rules->paper && index == HY_TILED_PAD) {
                assert_true(value_at(r->view->val, A->type, r->value) == 0);
                r->value++;
                continue;
            }
            const int64_t k = r->begin[place + l]++;
            assert_in_range(index, 0, s->columns - 1);
            assert_int_equal(r->view->map[s->first + index],
                             r->rank ? r->rank[hy_cols(A)[k]] : hy_cols(A)[k]);
            assert_true(value_at(r->view->val, A->type, r->value) ==
                        value_at(A->val, A->type, k));
            used[index] = 1;
            r->value++;
        }
}

/* Checks one row panel. The rows of X that its stages name must ascend, all must be used,
   and all stages but the last must have HY_TILED_COLS of them. */
static void read_panel(reader *r, int64_t panel)
{
    int32_t last = -1;

    assert_int_equal(r->view->start[panel], r->stage);
    for (; r->stage < r->view->start[panel + 1]; r->stage++) {
        const hy_tiled_stage *s  = &r->view->stage[r->stage];
        char used[HY_TILED_COLS] = {0};
        assert_int_equal(s->first, r->map);
        assert_in_range(s->columns, 1, HY_TILED_COLS);
        if (r->stage + 1 < r->view->start[panel + 1])
            assert_int_equal(s->columns, HY_TILED_COLS);
        for (int32_t i = 0; i < s->columns; i++, last = r->view->map[r->map++])
            assert_true(r->view->map[r->map] > last);
        for (int w = 0; w < HY_TILED_SLICES; w++) {
            const int64_t first = (int64_t)w * HY_TILED_SLICE;
            assert_int_equal(s->entry[w], r->value);
            if (r->rules->paper)
                check_padding(r, r->stage, first);
            read_slice(r, s, panel * HY_TILED_ROWS + first,
                       r->view->count + r->stage * HY_TILED_ROWS + first, used);
        }
        for (int32_t i = 0; i < s->columns; i++)
            assert_true(used[i]);
    }
}

void tiled_check(const hy_job *job, const hy_tiled_view *view, const int64_t *rank,
                 const hy_tiled_rules *rules)
{
    const hy_tiled_head *head = &view->head;
    reader r                  = {.job = job, .view = view, .rules = rules, .rank = rank};

    r.length = calloc((size_t)places(&r) + 1, 8);
    r.begin  = calloc((size_t)places(&r) + 1, 8);
    assert_true(r.length && r.begin);
    assert_true(head->partials <= rules->partials);
    add_lengths(&r);
    find_portions(&r);
    for (int64_t p = 0; p < head->panels; p++)
        read_panel(&r, p);
    assert_int_equal(r.value, head->entries);
    if (!rules->paper)
        assert_int_equal(head->entries, job->chunk->features.nnz);
    assert_int_equal(r.map, head->mapped);
    assert_int_equal(r.stage, head->stages);
    free(r.length);
    free(r.begin);
}
