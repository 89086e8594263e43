/* cli/commands/fit.c - whether the result of a planned product fits host memory. */
#include "cli/commands/fit.h"

#include "cli/operands/operand.h"
#include "cli/options/types.h"
#include "cli/output/say.h"
#include "cli/output/text.h"

static int64_t bytes_of_x(const cli_job *job)
{
    const int64_t size = cli_type_bytes(job->X.type);
    const int made     = job->right || job->X.data || job->right_file;

    return made ? 0 : job->X.rows * job->X.cols * size;
}

cli_fit cli_fit_of(const cli_job *job)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;
    cli_fit fit            = {.free = INT64_MAX};

    fit.needed = bytes_of_x(job);
    if (!job->Y.data) /* Y counts unless it is allocated already: it is, if X is random */
        fit.needed += job->report.predicted_result_bytes;
    if (hybrid_engine_machine(job->engine, &machine) != HYBRID_OK ||
        machine.host_bytes == 0)
        return fit;
    fit.budget = machine.host_bytes;
    fit.free   = machine.host_bytes - machine.host_bytes_used;
    return fit;
}

/* Returns 1 if --type converts the values of the operands. Values of a JSON file are
   never converted. */
static int is_converted(const cli_job *job)
{
    const char *const *input = job->options->input;

    for (int i = 0; i < CLI_INPUTS && input[i]; i++)
        if (cli_operand_is_json(input[i]))
            return 0;
    return 1;
}

int cli_fit_is_sure(const cli_job *job, double times)
{
    const cli_fit fit = cli_fit_of(job);

    return (double)fit.needed <= times * (double)fit.free;
}

int cli_fit_check(const cli_job *job, double times)
{
    const cli_fit fit = cli_fit_of(job);

    if (cli_fit_is_sure(job, times))
        return CLI_DONE;
    return cli_fail(
        CLI_MEMORY,
        "the result does not fit: it takes about %s, and %s of the host memory of "
        "%s are free; raise --host-memory%s, or take the result in parts "
        "(hybrid_spgemm_each in C)",
        cli_bytes(fit.needed).s, cli_bytes(fit.free).s, cli_bytes(fit.budget).s,
        cli_type_bytes(job->type) > 4 && is_converted(job) ? ", use --type f32" : "");
}
