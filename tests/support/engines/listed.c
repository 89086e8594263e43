/* tests/support/engines/listed.c - the devices that HYBRID_DEVICES lists. */
#include "support/engines/listed.h"

#include <stdio.h>
#include <stdlib.h>

int listed_devices(int devices[LISTED_MOST])
{
    const char *text = getenv("HYBRID_DEVICES");
    int count        = 0;
    char *end;

    while (text && *text) {
        const long device = strtol(text, &end, 10);
        if (end == text || device < 0 || count == LISTED_MOST ||
            (*end != ',' && *end != '\0')) {
            fprintf(stderr, "HYBRID_DEVICES=%s is no list of devices\n", text);
            abort();
        }
        devices[count++] = (int)device;
        text             = *end == ',' ? end + 1 : end;
    }
    return count;
}
