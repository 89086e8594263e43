/* cli/output/text.h - formats numbers for people. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdint.h>

/* A short text. The array is a temporary value: use cli_count(n).s only inside the
   expression that prints it. */
typedef struct cli_text {
    char s[48];
} cli_text;

cli_text cli_count(int64_t n);        /* a count: "12 345 678" */
cli_text cli_bytes(int64_t bytes);    /* a size: "1.5 GiB" */
cli_text cli_seconds(double seconds); /* a duration: "12.3 ms" */
cli_text cli_clock(double seconds);   /* a duration in h:mm:ss: "1:02:03"; "2:03" below an
                                         hour */
cli_text cli_version(void);           /* version of the library: "0.2.0" */

#endif /* CLI_TEXT_H */
