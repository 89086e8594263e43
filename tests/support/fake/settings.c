/* tests/support/fake/settings.c - settings of engines, in a list that outlives the
   engines. */
#include "support/fake/settings.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct entry {
    struct entry *next;
    const hybrid_engine *engine; /* address of the engine; an engine that is created
                                    later may get the same address */
    hy_settings settings;
} entry;

static entry *entries; /* list of all entries; they are never freed, because the end of
                          an engine is not reported */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static entry *entry_of(const hybrid_engine *engine)
{
    entry *e = entries;

    while (e && e->engine != engine)
        e = e->next;
    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        abort();
    *e      = (entry){.next = entries, .engine = engine};
    entries = e;
    return e;
}

hy_settings *settings_of(hybrid_engine *engine)
{
    pthread_mutex_lock(&lock);
    entry *e = entry_of(engine);
    if (!engine->settings)
        e->settings = hy_usual_settings;
    engine->settings = &e->settings;
    pthread_mutex_unlock(&lock);
    return &e->settings;
}
