/* cli/cmd_explain.c - hybrid_spmm explain: the plan in words; nothing is computed. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/job.h"
#include "cli/say.h"

static int print_plan(const cli_job *job)
{
    const size_t length = hybrid_plan_explain(job->plan, NULL, 0);
    char *text          = malloc(length + 1);

    if (!text)
        return cli_fail(CLI_MEMORY, "no memory for the %zu letters of a plan", length);
    hybrid_plan_explain(job->plan, text, length + 1);
    fputs(text, stdout);
    free(text);
    return CLI_DONE;
}

int cli_explain(const cli_options *options)
{
    cli_job job = {.options = options, .explains = 1};
    int code    = cli_job_check(options);

    if (code == CLI_DONE)
        code = cli_job_open(&job);
    if (code == CLI_DONE)
        code = cli_job_load(&job);
    if (code == CLI_DONE)
        code = cli_job_plan(&job);
    if (code == CLI_DONE)
        code = print_plan(&job);
    cli_job_close(&job);
    return code;
}
