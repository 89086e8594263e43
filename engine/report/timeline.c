/* engine/report/timeline.c - the events of a trace as rows of bars, and the run among
   them. */
#include "engine/report/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/min_max.h"

/* ---- lanes ------------------------------------------------------------------------- */

/* Kinds of lanes from top to bottom. A lane's name begins with the name of its kind. */
static const struct {
    const char *name;
    hybrid_resource resource; /* resource that stages of these lanes use;
                                 HYBRID_RESOURCES: none */
    int on_device;
} kinds[] = {{"main", HYBRID_RESOURCES, 0},   {"reader", HYBRID_RESOURCES, 0},
             {"caller", HYBRID_RESOURCES, 0}, {"cpu", HYBRID_CORES, 0},
             {"pin", HYBRID_RESOURCES, 1},    {"load", HYBRID_BUS_UP, 1},
             {"peer", HYBRID_RESOURCES, 1},   {"h2d", HYBRID_BUS_UP, 1},
             {"run", HYBRID_DEVICE, 1},       {"d2h", HYBRID_BUS_DOWN, 1},
             {"writer", HYBRID_RESOURCES, 0}, {"", HYBRID_RESOURCES, 0}};

static int kind_of(const char *lane)
{
    int kind = 0;

    while (strncmp(lane, kinds[kind].name, strlen(kinds[kind].name)) != 0)
        kind++;
    return kind;
}

enum { NUMBERS = 100000 }; /* exceeds the number of workers or devices of any engine */

/* Returns the number of the worker or device that ends the name of a lane; 0 if no
   number does. A caller's own lane may end with any number, of which the remainder by
   NUMBERS is returned. */
static int number_of(const char *lane)
{
    return (int)(strtoul(lane + strlen(kinds[kind_of(lane)].name), NULL, 10) % NUMBERS);
}

int hy_timeline_order(const char *lane)
{
    return NUMBERS * kind_of(lane) + number_of(lane);
}

hybrid_resource hy_timeline_resource(const char *lane)
{
    return kinds[kind_of(lane)].resource;
}

int hy_timeline_device(const char *lane)
{
    return kinds[kind_of(lane)].on_device ? number_of(lane) : -1;
}

/* ---- rows -------------------------------------------------------------------------- */

/* Returns the index of the first row whose lane is `lane`, or serves the same resource
   of the same device or thread; row_count if there is none. */
static int first_row(const hy_timeline *t, const char *lane)
{
    int i = 0;

    for (; i < t->row_count; i++) {
        const char *other = t->rows[i].lane;
        if (strcmp(lane, other) == 0)
            break;
        if (hy_timeline_resource(lane) != HYBRID_RESOURCES &&
            hy_timeline_resource(lane) == hy_timeline_resource(other) &&
            number_of(lane) == number_of(other))
            break;
    }
    return i;
}

/* Returns the index of the row in which the event's bar goes. Adds a row to the lane if
   bars overlap the event in all of its rows. */
static int find_row(hy_timeline *t, const hybrid_event *event)
{
    int number = 0;

    for (int i = 0; i < t->row_count; i++) {
        hy_timeline_row *row = &t->rows[i];
        if (strcmp(row->lane, event->lane) != 0)
            continue;
        if (row->end_ns <= event->begin_ns) {
            row->end_ns = event->end_ns;
            return i;
        }
        number++;
    }
    t->rows[t->row_count] = (hy_timeline_row){.lane   = event->lane,
                                              .number = number,
                                              .end_ns = event->end_ns,
                                              .first  = first_row(t, event->lane)};
    return t->row_count++;
}

int hy_timeline_compare(const hy_timeline_row *a, const hy_timeline_row *b)
{
    const int order = hy_timeline_order(a->lane) - hy_timeline_order(b->lane);

    return order != 0 ? order : (a > b) - (a < b);
}

void hy_timeline_name(const hy_timeline_row *row, char name[HY_TIMELINE_NAME])
{
    if (row->number > 0)
        snprintf(name, HY_TIMELINE_NAME, "%.40s (%d)", row->lane, row->number + 1);
    else
        snprintf(name, HY_TIMELINE_NAME, "%.40s", row->lane);
}

static int by_time(const void *a, const void *b)
{
    const hybrid_event *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* ---- the run ----------------------------------------------------------------------- */

/* Returns 1 if the event is a stage of a chunk or a copy of B or X to a device. */
static int is_of_runs(const hybrid_event *event)
{
    return event->chunk >= 0 || hy_timeline_device(event->lane) >= 0;
}

int hy_timeline_in_run(const hy_timeline *t, const hybrid_event *event)
{
    return is_of_runs(event) && event->begin_ns >= t->begin_ns &&
           event->end_ns <= t->end_ns && t->begin_ns < t->end_ns;
}

static void find_run(hy_timeline *t, double total_s)
{
    int64_t end_ns = t->zero_ns, begin_ns;

    for (size_t i = 0; i < t->count; i++)
        if (is_of_runs(&t->events[i]))
            end_ns = hy_max(end_ns, t->events[i].end_ns);
    begin_ns = end_ns;
    for (size_t i = 0; i < t->count; i++)
        if (is_of_runs(&t->events[i]) &&
            (double)(end_ns - t->events[i].begin_ns) <= total_s * 1e9)
            begin_ns = hy_min(begin_ns, t->events[i].begin_ns);
    t->begin_ns = begin_ns;
    t->end_ns   = end_ns;
}

void hy_timeline_make(hybrid_event *events, size_t count, double total_s, int *tids,
                      hy_timeline_row *rows, hy_timeline *t)
{
    if (count > 0)
        qsort(events, count, sizeof *events, by_time);
    *t = (hy_timeline){.events  = events,
                       .count   = count,
                       .tids    = tids,
                       .rows    = rows,
                       .zero_ns = count > 0 ? events[0].begin_ns : 0};
    find_run(t, total_s);
    for (size_t i = 0; i < count; i++) {
        const int row = find_row(t, &events[i]);
        tids[i]       = row + 1;
        if (hy_timeline_in_run(t, &events[i]))
            rows[row].busy_ns += events[i].end_ns - events[i].begin_ns;
    }
}
