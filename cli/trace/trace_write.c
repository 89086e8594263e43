/* cli/trace/trace_write.c - the file of --trace: JSON, or a page for a browser. */
#include "cli/trace/trace_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/output/say.h"
#include "cli/trace/html.h"
#include "cli/trace/whole_file.h"

int cli_trace_is_page(const char *name)
{
    return cli_ends_in(name, ".html");
}

int cli_trace_write_page(const char *json, size_t bytes, cli_output *output)
{
    FILE *file = cli_output_stream(output);

    if (!file)
        return CLI_FILE;
    cli_html_write(json, bytes, file);
    return cli_output_publish(output);
}

static int fail_memory(void)
{
    return cli_fail(CLI_MEMORY,
                    "the system gives no memory for the trace before it is written as a "
                    "page: %s",
                    strerror(errno));
}

/* Writes the trace as JSON to `file`, which lies in memory, and reads that text back into
   `json`, which the caller frees. Returns 0, or an exit code after printing an error. */
static int read_back(hybrid_engine *engine, hybrid_trace *trace, FILE *file, char **json,
                     size_t *bytes)
{
    char path[32];

    snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    const hybrid_status status = hybrid_trace_write_json(trace, path);
    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    rewind(file);
    return cli_whole_stream(file, "trace", json, bytes);
}

static int write_page(hybrid_engine *engine, hybrid_trace *trace, cli_output *output)
{
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    FILE *file   = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *json   = NULL;
    size_t bytes = 0;

    if (!file) {
        const int code = fail_memory();
        if (fd >= 0)
            close(fd);
        return code;
    }
    int code = read_back(engine, trace, file, &json, &bytes);
    fclose(file);
    if (code == CLI_DONE)
        code = cli_trace_write_page(json, bytes, output);
    free(json);
    return code;
}

int cli_trace_write(hybrid_engine *engine, hybrid_trace *trace, cli_output *output)
{
    if (cli_trace_is_page(output->path))
        return write_page(engine, trace, output);
    const hybrid_status status = hybrid_trace_write_json(trace, output->path);
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
}
