/* cli/output/format.h - checks the file formats of results. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

typedef struct cli_options cli_options;

/* Values of --format; 0 if it was not given. */
typedef enum cli_format {
    CLI_FORMAT_MTX = 1, /* Matrix Market, for sparse results */
    CLI_FORMAT_NPY      /* NumPy, for dense results */
} cli_format;

/* Checks that the dense or sparse result can be written to --output in the format of
   --format or of the name's ending. Returns 0 or an exit code. */
int cli_format_check(const cli_options *options, int dense);

#endif /* CLI_FORMAT_H */
