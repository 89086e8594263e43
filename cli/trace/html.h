/* cli/trace/html.h - writes a trace as one page for a browser, which needs no network.

   The page is cli/trace/page.html with page.css and page.js inside, and the text of the
   trace in JSON. page.js draws the JSON. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include <stdio.h>

/* Writes the page for a trace of `bytes` bytes that cli_trace_parse() accepts. The caller
   checks the stream for errors. */
void cli_html_write(const char *json, size_t bytes, FILE *to);

#endif /* CLI_HTML_H */
