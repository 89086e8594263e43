/* base/text/facts.c - what a resumable result depends on, as lines of text. */
#include "base/text/facts.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/data/min_max.h"
#include "base/memory/memory.h"

void hy_facts_add(hy_facts *facts, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const size_t room = sizeof facts->text - facts->bytes - 1;
    const int length  = vsnprintf(facts->text + facts->bytes, room, format, list);
    va_end(list);
    facts->bytes += hy_smaller((size_t)hy_max(length, 0), room - 1);
    facts->text[facts->bytes++] = '\n';
    facts->text[facts->bytes]   = '\0';
}
