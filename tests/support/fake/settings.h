/* tests/support/fake/settings.h - an engine with other settings than the usual ones. */
#ifndef TEST_SETTINGS_H
#define TEST_SETTINGS_H

#include "engine/api/engine.h"

/* Returns the engine's own settings, which the caller may change. The first call sets
   them to the usual ones. They stay valid as long as the engine. */
hy_settings *settings_of(hybrid_engine *engine);

#endif /* TEST_SETTINGS_H */
