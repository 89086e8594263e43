/* cli/commands/cmd_convert.c - hybrid_spmm convert: copies a matrix to another format. */
#include <string.h>

#include "cli/commands/job.h"
#include "cli/operands/files.h"
#include "cli/operands/operand.h"
#include "cli/options/types.h"
#include "cli/output/now.h"
#include "cli/output/outputs.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"
#include "cli/output/text.h"

typedef struct conversion {
    const cli_options *options;
    hybrid_engine *engine;
    hybrid_file *file;
    hybrid_csr made;    /* a generated matrix, or zeroed */
    hybrid_dense array; /* the matrix of a Matrix Market array file, or zeroed */
    hybrid_operand matrix;
    cli_output output;
    int64_t begin_ns;
} conversion;

static int check(conversion *c)
{
    const cli_options *o = c->options;

    if (!hybrid_file_format(o->input[1]))
        return cli_fail(CLI_USAGE,
                        "the ending of '%s' selects no format that is written; see "
                        "'hybrid_spmm convert --help'",
                        o->input[1]);
    if (cli_outputs_same(o->input[0], o->input[1]))
        return cli_fail(CLI_USAGE,
                        "'%s' cannot be converted to itself; give another name",
                        o->input[0]);
    int code = cli_files_check(o, o->input[1]);
    if (code == CLI_DONE)
        code = cli_signals_open();
    return code == CLI_DONE ? cli_output_claim(o->input[1], &c->output) : code;
}

static int open_matrix(conversion *c)
{
    const cli_options *o = c->options;
    const char *spec     = cli_operand_spec(o->input[0]);
    hybrid_status status;
    int code;

    c->engine = cli_engine_open(o, HYBRID_HOST, "", &code);
    if (!c->engine)
        return code;
    cli_progress_file(spec ? "making" : "reading", cli_operand_title(o->input[0]).s);
    cli_signals_defer();
    if (spec) {
        status = hybrid_generate(c->engine, spec, o->type ? o->type : CLI_DEFAULT_TYPE,
                                 o->seed, &c->made);
        c->matrix.csr = &c->made;
    } else if (cli_operand_is_array_text(o->input[0])) {
        status          = hybrid_read_dense(c->engine, cli_operand_path(o->input[0]),
                                   o->type ? o->type : CLI_DEFAULT_TYPE, &c->array);
        c->matrix.dense = &c->array;
    } else {
        status = hybrid_file_open(c->engine, cli_operand_path(o->input[0]), &c->file);
        c->matrix.file = c->file;
    }
    code = cli_signals_returned(c->engine, status);
    cli_tell_note(c->engine, o);
    return code;
}

static hybrid_file_options wanted(const cli_options *o)
{
    hybrid_file_options w = cli_files_options(o);

    w.type      = o->type;
    w.offsets   = o->index_bits;
    w.columns   = o->index_bits;
    w.transpose = o->transpose;
    w.row_begin = o->rows.begin;
    w.row_end   = o->rows.end;
    return w;
}

static int copy(conversion *c)
{
    const hybrid_file_options options = wanted(c->options);
    const hybrid_report nothing       = HYBRID_REPORT_INIT;

    cli_progress_begin(&nothing);
    cli_signals_defer();
    return cli_signals_returned(
        c->engine, hybrid_file_write(c->engine, &c->matrix, c->output.path, &options));
}

static int tell(conversion *c)
{
    const double seconds = (double)(cli_now_ns() - c->begin_ns) * 1e-9;
    hybrid_report report = HYBRID_REPORT_INIT;

    cli_progress_clear();
    if (c->options->quiet)
        return CLI_DONE;
    const hybrid_status status = hybrid_engine_report(c->engine, &report);
    if (status != HYBRID_OK)
        return cli_fail_engine(c->engine, status);
    cli_note("%s: %s rows, %s written, in %s", cli_output_title(c->options->input[1]).s,
             cli_count(report.rows).s, cli_bytes(report.file_bytes).s,
             cli_seconds(seconds).s);
    return CLI_DONE;
}

int cli_convert(const cli_options *options)
{
    static int (*const steps[])(conversion *) = {check, open_matrix, copy, tell};
    conversion c                              = {
                                     .options = options, .output = CLI_OUTPUT_NONE, .begin_ns = cli_now_ns()};
    int code = CLI_DONE;

    cli_progress_open(options->progress, options->quiet);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CLI_DONE; i++)
        code = steps[i](&c);
    cli_progress_clear();
    hybrid_file_close(c.file);
    hybrid_csr_free(c.engine, &c.made);
    hybrid_dense_free(c.engine, &c.array);
    hybrid_engine_destroy(c.engine);
    cli_output_close(&c.output);
    return code;
}
