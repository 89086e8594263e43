/* tests/support/fake/settings.h - an engine with other settings than the usual ones. */
#ifndef TEST_SETTINGS_H
#define TEST_SETTINGS_H

#include "engine/api/engine.h"

/* Returns the settings of the engine, which the caller may change. They are valid as long as
   the engine, and begin as the usual ones. */
hy_settings *settings_of(hybrid_engine *engine);

#endif /* TEST_SETTINGS_H */
