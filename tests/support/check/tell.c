/* tests/support/check/tell.c - prints the final counts of tests without a framework. */
#include "support/check/tell.h"

#include <stdio.h>

#include "support/inputs/cases.h"

int tell(const char *what, int64_t checked, int64_t least, int wrong)
{
    printf("%lld %s checked, %d wrong\n", (long long)checked, what, wrong);
    if (checked >= least)
        return wrong;
    fprintf(stderr, "%s: %lld were checked, not %lld or more\n", what, (long long)checked,
            (long long)least);
    return wrong + 1;
}

int tell_all(const char *what, int64_t checked, int64_t all, int wrong)
{
    if (checked > all)
        fprintf(stderr, "%s: %lld were checked, not %lld\n", what, (long long)checked,
                (long long)all);
    return tell(what, checked, all, wrong) + (checked > all);
}

int tell_halved(const char *what, int64_t checked, int64_t least, int wrong)
{
    return tell(what, checked, least / case_step(2), wrong);
}
