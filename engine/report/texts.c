/* engine/report/texts.c - names of the public header's constants as text. */
#include "hybrid_spmm.h"

int hybrid_version(void)
{
    return HYBRID_VERSION;
}

const char *hybrid_status_text(hybrid_status status)
{
    switch (status) {
#define HYBRID_TEXT(name, number, text)                                                  \
    case HYBRID_##name:                                                                  \
        return text;
        HYBRID_STATUS_MAP(HYBRID_TEXT)
#undef HYBRID_TEXT
    case HYBRID_STATUS_FORCE_INT:
        break;
    }
    return "unknown status";
}

const char *hybrid_resource_text(hybrid_resource resource)
{
    switch (resource) {
#define HYBRID_TEXT(name, number, text)                                                  \
    case HYBRID_##name:                                                                  \
        return text;
        HYBRID_RESOURCE_MAP(HYBRID_TEXT)
#undef HYBRID_TEXT
    case HYBRID_RESOURCES:
    case HYBRID_RESOURCE_FORCE_INT:
        break;
    }
    return "unknown resource";
}

const char *hybrid_origin_text(hybrid_origin origin)
{
    switch (origin) {
    case HYBRID_BUILT_IN:
        return "built in";
    case HYBRID_MEASURED:
        return "measured";
    case HYBRID_OBSERVED:
        return "observed";
    }
    return "unknown origin";
}
