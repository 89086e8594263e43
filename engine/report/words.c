/* engine/report/words.c - builds text in a buffer of the caller, as snprintf() does. */
#include "engine/report/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/size_text.h"

hy_words hy_words_begin(char *text, size_t capacity)
{
    const hy_words w = {text, text ? capacity : 0, 0};

    if (w.capacity > 0)
        text[0] = '\0';
    return w;
}

void hy_words_put(hy_words *w, const char *format, ...)
{
    const size_t room = w->length < w->capacity ? w->capacity - w->length : 0;
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(room ? w->text + w->length : NULL, room, format, args);
    va_end(args);
    w->length += n > 0 ? (size_t)n : 0;
}

void hy_words_count(hy_words *w, int64_t n)
{
    char digits[32], out[48];
    int used = 0, length = snprintf(digits, sizeof digits, "%lld", (long long)n);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            out[used++] = ' ';
        out[used++] = digits[i];
    }
    hy_words_put(w, "%.*s", used, out);
}

void hy_words_bytes(hy_words *w, double bytes)
{
    hy_words_put(w, "%s",
                 hy_size(bytes < (double)INT64_MAX ? (int64_t)bytes : INT64_MAX).s);
}

void hy_words_time(hy_words *w, double s)
{
    if (s < 1)
        hy_words_put(w, "%9.3f ms", s * 1e3);
    else
        hy_words_put(w, "%9.3f s ", s);
}

void hy_words_lines(hy_words *w, const char *title, int width, const char *lines)
{
    for (; *lines; title = "") {
        const int length = (int)strcspn(lines, "\n");
        hy_words_put(w, "%-*s%.*s\n", width, title, length, lines);
        lines += length + (lines[length] == '\n');
    }
}
