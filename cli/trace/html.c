/* cli/trace/html.c - writes a trace as one page for a browser. */
#include "cli/trace/html.h"

#include <string.h>

/* The parts of the page before and after the trace; cmake/embed_page.cmake makes these
   arrays. */
extern const unsigned char cli_page_head[], cli_page_tail[];
extern const size_t cli_page_head_bytes, cli_page_tail_bytes;

void cli_html_write(const char *json, size_t bytes, FILE *to)
{
    const char *end = json + bytes;

    fwrite(cli_page_head, 1, cli_page_head_bytes, to);
    while (json < end) {
        const char *less = memchr(json, '<', (size_t)(end - json));
        fwrite(json, 1, (size_t)((less ? less : end) - json), to);
        if (less)
            fputs("\\u003c", to); /* instead of '<', so that "</script>" in a name does
                                     not end the trace */
        json = less ? less + 1 : end;
    }
    fwrite(cli_page_tail, 1, cli_page_tail_bytes, to);
}
