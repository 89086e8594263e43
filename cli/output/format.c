/* cli/output/format.c - checks the file formats of results. */
#include "cli/output/format.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/output/outputs.h"
#include "cli/output/say.h"

/* Returns 1 for standard output, a device or a pipe. Their names do not tell a
   format. */
static int is_stream(const char *name)
{
    struct stat st;

    return cli_is_standard_output(name) || (stat(name, &st) == 0 && !S_ISREG(st.st_mode));
}

/* Returns the format for the name's ending, or 0 if no format has that ending. */
static cli_format format_of(const char *name)
{
    return cli_ends_in(name, ".mtx")   ? CLI_FORMAT_MTX
           : cli_ends_in(name, ".npy") ? CLI_FORMAT_NPY
                                       : (cli_format)0;
}

static int check_terminal(const char *name)
{
    if (cli_is_standard_output(name) && isatty(STDOUT_FILENO))
        return cli_fail(CLI_USAGE, "a dense result is binary (.npy), and standard output "
                                   "is a terminal: redirect it, or give -o FILE.npy");
    return CLI_DONE;
}

int cli_format_is_plain(const cli_options *options)
{
    const char *name = options->output;

    return options->format || is_stream(name) || format_of(name) ||
           !hybrid_file_format(name);
}

int cli_format_check(const cli_options *options, int dense)
{
    const char *name        = options->output;
    const cli_format wanted = dense ? CLI_FORMAT_NPY : CLI_FORMAT_MTX;

    if (options->format && options->format != wanted)
        return cli_fail(CLI_USAGE,
                        "the result is %s: --format %s does not fit; leave out --format",
                        dense ? "dense" : "sparse", dense ? "mtx" : "npy");
    if (!name || options->format || is_stream(name))
        return name && dense ? check_terminal(name) : CLI_DONE;
    const cli_format found = format_of(name);
    if (!found && hybrid_file_format(name))
        return CLI_DONE; /* the library refuses what the format cannot hold */
    if (!found)
        return cli_fail(
            CLI_USAGE,
            "the ending of '%s' is unknown; a %s result needs a name ending in "
            "%s, or --format %s (supported are .mtx, .mtx.gz, .mtx.zst, .npz, .h5, "
            ".petsc and .json for sparse results, and .npy, .h5, .petsc and .json for "
            "dense "
            "ones)",
            name, dense ? "dense" : "sparse", dense ? ".npy" : ".mtx",
            dense ? "npy" : "mtx");
    if (found != wanted)
        return cli_fail(CLI_USAGE, "the result is %s: give '%s' a name ending in %s",
                        dense ? "dense" : "sparse", name, dense ? ".npy" : ".mtx");
    return CLI_DONE;
}
