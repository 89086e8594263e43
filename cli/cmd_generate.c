/* cli/cmd_generate.c - hybrid_spmm generate: a problem to a file. */
#include <stdio.h>

#include "cli/job.h"
#include "cli/now.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/text.h"

static int generate(const cli_options *o, hybrid_engine *engine, cli_output *output)
{
    const int64_t begin = cli_now_ns();
    hybrid_csr A;

    hybrid_status status = hybrid_generate(engine, o->input[0], o->type, o->seed, &A);
    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    status = hybrid_write_mtx(engine, output->path, &A);
    if (status == HYBRID_OK && !o->quiet)
        cli_note("%s: %s x %s, %s entries, in %s", o->output, cli_count(A.rows).s,
                 cli_count(A.cols).s, cli_count(A.nnz).s,
                 cli_seconds((double)(cli_now_ns() - begin) * 1e-9).s);
    const int code = status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
    hybrid_csr_free(engine, &A);
    return code;
}

int cli_generate(const cli_options *options)
{
    cli_output output = CLI_OUTPUT_NONE;

    if (!options->output)
        return cli_fail(CLI_USAGE, "generate needs -o FILE");
    if (cli_ends_in(options->output, ".gz") || cli_ends_in(options->output, ".npy"))
        return cli_fail(CLI_USAGE,
                        "a sparse matrix is written as plain Matrix Market: '%s' should "
                        "end in .mtx",
                        options->output);
    int code = cli_signals_open();
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
