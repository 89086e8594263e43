/* engine/report/stalls.c - the longest stalls of a run. */
#include "engine/report/stalls.h"

#include <string.h>

#include "base/data/min_max.h"
#include "engine/report/words.h"

/* ---- finding ----------------------------------------------------------------------- */

/* Inserts the stall into the `count` longest so far, which are sorted, if it is longer
   than one of them or there are fewer than HY_STALLS. Returns their new number. */
static int insert(hy_stall *stalls, int count, const hy_stall *new)
{
    const int64_t ns = new->end_ns - new->begin_ns;
    int at           = count;

    while (at > 0 && stalls[at - 1].end_ns - stalls[at - 1].begin_ns < ns)
        at--;
    if (ns <= 0 || at == HY_STALLS)
        return count;
    const int kept = count < HY_STALLS ? count : HY_STALLS - 1;
    memmove(stalls + at + 1, stalls + at, (size_t)(kept - at) * sizeof *stalls);
    stalls[at] = *new;
    return kept + 1;
}

static int serves(const char *lane, hybrid_resource bound)
{
    const hybrid_resource workers = bound == HYBRID_HOST_MEMORY ? HYBRID_CORES : bound;

    return hy_timeline_resource(lane) == workers;
}

int hy_stalls_find(hy_timeline *t, hybrid_resource bound, hy_stall *stalls)
{
    int count = 0;

    for (int i = 0; i < t->row_count; i++)
        t->rows[i].served_ns = t->begin_ns;
    for (size_t i = 0; i < t->count; i++) {
        const hybrid_event *e = &t->events[i];
        if (!serves(e->lane, bound) || !hy_timeline_in_run(t, e))
            continue;
        const int first       = t->rows[t->tids[i] - 1].first;
        hy_timeline_row *row  = &t->rows[first];
        const hy_stall before = {first, row->served_ns, e->begin_ns, e};
        count                 = insert(stalls, count, &before);
        row->served_ns        = hy_max(row->served_ns, e->end_ns);
    }
    for (int i = 0; i < t->row_count; i++) {
        const hy_timeline_row *row = &t->rows[i];
        const hy_stall at_end      = {i, row->served_ns, t->end_ns, NULL};
        if (row->first == i && serves(row->lane, bound))
            count = insert(stalls, count, &at_end);
    }
    return count;
}

/* ---- telling ----------------------------------------------------------------------- */

static void put_time(hy_words *w, int64_t ns)
{
    if (ns >= 1000000000)
        hy_words_put(w, "%.3f s", (double)ns * 1e-9);
    else if (ns >= 1000000)
        hy_words_put(w, "%.2f ms", (double)ns * 1e-6);
    else if (ns > 0)
        hy_words_put(w, "%.1f us", (double)ns * 1e-3);
    else
        hy_words_put(w, "0 ms");
}

/* Writes "multiply of chunk 7 on cpu1", or without the lane if that is `lane`. */
static void put_event(hy_words *w, const hybrid_event *e, const char *lane)
{
    hy_words_put(w, "%.40s", e->stage);
    if (e->chunk >= 0)
        hy_words_put(w, " of chunk %lld", (long long)e->chunk);
    if (strcmp(e->lane, lane) != 0)
        hy_words_put(w, " on %.40s", e->lane);
}

static int same_chunk(const hybrid_event *a, const hybrid_event *b)
{
    return a->chunk >= 0 && a->pass == b->pass && a->chunk == b->chunk;
}

/* Returns the event of the run that ended last during the stall, or NULL if none did.
   With `own` only events of the chunk count for which the lane waited (stall->next). */
static const hybrid_event *last_ended(const hy_timeline *t, const hy_stall *stall,
                                      int own)
{
    const hybrid_event *last = NULL;

    for (size_t i = 0; i < t->count; i++) {
        const hybrid_event *e = &t->events[i];
        if (e != stall->next && hy_timeline_in_run(t, e) && e->end_ns > stall->begin_ns &&
            e->end_ns <= stall->end_ns && (!own || same_chunk(e, stall->next)) &&
            (!last || e->end_ns > last->end_ns))
            last = e;
    }
    return last;
}

void hy_stall_tell(const hy_timeline *t, const hy_stall *stall, char text[HY_STALL_BYTES])
{
    const hybrid_event *own = stall->next ? last_ended(t, stall, 1) : NULL;
    const hybrid_event *any = last_ended(t, stall, 0);
    const char *lane        = t->rows[stall->row].lane;
    hy_words w              = hy_words_begin(text, HY_STALL_BYTES);

    hy_words_put(&w, "%.40s was idle for ", lane);
    put_time(&w, stall->end_ns - stall->begin_ns);
    hy_words_put(&w, " from ");
    put_time(&w, stall->begin_ns - t->zero_ns);
    if (own) {
        hy_words_put(&w, " on, until ");
        put_event(&w, own, lane);
        hy_words_put(&w, " had ended");
    } else if (stall->next) {
        hy_words_put(&w, " on, before ");
        put_event(&w, stall->next, lane);
        hy_words_put(&w, " began");
    } else {
        hy_words_put(&w, " to the end of the run");
    }
    if (any && !own) {
        hy_words_put(&w, stall->next ? "; meanwhile " : "; ");
        put_event(&w, any, lane);
        hy_words_put(&w, stall->next ? " ended" : " ended last");
    }
    hy_words_put(&w, ".");
}
