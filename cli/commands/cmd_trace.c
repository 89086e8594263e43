/* cli/commands/cmd_trace.c - hybrid_spmm trace: shows a trace that multiply --trace
   wrote. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/output/outputs.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"
#include "cli/trace/chart.h"
#include "cli/trace/trace_file.h"
#include "cli/trace/trace_write.h"

/* Characters of a line of the chart if it is not printed on a terminal. */
enum { COLUMNS = 100 };

/* Returns 1 if a page may be written to `name`: it is standard output, it ends in .html,
   or it is an existing file that is not regular (such as a pipe). */
static int is_page_name(const char *name)
{
    struct stat st;

    return cli_is_standard_output(name) || cli_trace_is_page(name) ||
           (stat(name, &st) == 0 && !S_ISREG(st.st_mode));
}

static int columns_of_output(void)
{
    struct winsize size = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return COLUMNS;
}

static int write_page(const cli_trace *trace, const char *name)
{
    cli_output output = CLI_OUTPUT_NONE;
    int code          = cli_output_claim(name, &output);

    if (code == CLI_DONE)
        code = cli_trace_write_page(trace->text, trace->bytes, &output);
    cli_output_close(&output);
    return code;
}

int cli_show_trace(const cli_options *options)
{
    const char *output = options->output;
    cli_trace trace    = {0};

    if (output && !is_page_name(output))
        return cli_fail(CLI_USAGE, "the page needs a name ending in .html, unlike '%s'",
                        output);
    int code = cli_signals_open();
    if (code == CLI_DONE)
        code = cli_trace_open(options->input[0], &trace);
    if (code == CLI_DONE && output)
        code = write_page(&trace, output);
    else if (code == CLI_DONE)
        cli_chart_print(&trace, columns_of_output(), stdout);
    cli_trace_close(&trace);
    return code;
}
