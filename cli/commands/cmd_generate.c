/* cli/commands/cmd_generate.c - hybrid_spmm generate: writes a matrix to a file. */
#include <stdio.h>

#include "cli/output/format.h"
#include "cli/commands/job.h"
#include "cli/options/types.h"
#include "cli/output/now.h"
#include "cli/output/outputs.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"
#include "cli/output/text.h"

static hybrid_status write_matrix(const cli_options *o, hybrid_engine *engine,
                                  const char *path, const hybrid_csr *A)
{
    const hybrid_operand matrix = {.csr = A};

    return cli_format_is_plain(o) ? hybrid_write_mtx(engine, path, A)
                                  : hybrid_file_write(engine, &matrix, path, NULL);
}

static int generate(const cli_options *o, hybrid_engine *engine, cli_output *output)
{
    const int64_t begin    = cli_now_ns();
    const hybrid_type type = o->type ? o->type : CLI_DEFAULT_TYPE;
    hybrid_csr A;

    cli_progress_phase("making", o->input[0]);
    hybrid_status status = hybrid_generate(engine, o->input[0], type, o->seed, &A);
    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    cli_progress_file("writing", cli_output_title(o->output).s);
    status = write_matrix(o, engine, output->path, &A);
    cli_progress_clear();
    if (status == HYBRID_OK && !o->quiet)
        cli_note("%s: %s x %s, %s entries, in %s", cli_output_title(o->output).s,
                 cli_count(A.rows).s, cli_count(A.cols).s, cli_count(A.nnz).s,
                 cli_seconds((double)(cli_now_ns() - begin) * 1e-9).s);
    const int code = status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
    hybrid_csr_free(engine, &A);
    return code;
}

int cli_generate(const cli_options *options)
{
    cli_output output = CLI_OUTPUT_NONE;

    cli_progress_open(options->progress, options->quiet);
    if (!options->output)
        return cli_fail(CLI_USAGE, "generate needs -o FILE");
    int code = cli_format_check(options, 0);
    if (code == CLI_DONE)
        code = cli_signals_open();
    if (code == CLI_DONE)
        code = cli_output_claim(options->output, &output);
    if (code != CLI_DONE)
        return code;
    hybrid_engine *engine = cli_engine_open(options, HYBRID_HOST, "", &code);
    if (engine)
        code = generate(options, engine, &output);
    hybrid_engine_destroy(engine);
    cli_output_close(&output);
    return code;
}
