/* tests/support/fake_engine.c - engines of which tests know who computes. */
#include "engine/engine.h"
#include "support/fake_backend.h"

hybrid_status fake_engine_open(const hybrid_engine_options *options,
                               const hy_backend_ops *const *backends,
                               const hy_variant *const *variants, hybrid_engine **engine)
{
    HY_TRY(hy_engine_open(options, backends, variants, engine));
    (*engine)->device_first = 1;
    for (int i = 0; i < (*engine)->device_count; i++)
        if ((*engine)->devices[i]->measured.launch_s <= 0)
            (*engine)->devices[i]->measured.launch_s = 1e-9;
    return HYBRID_OK;
}
