/* cli/cmd_list.c - hybrid_spmm list: backends, and variants with their sources. */
#include <stdio.h>

#include "cli/job.h"
#include "cli/say.h"

/* A backend that is absent is part of the answer. */
static int put_backend(const char *name, hybrid_backend backend)
{
    char message[1024]           = "";
    hybrid_engine_options wanted = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine        = NULL;

    wanted.backend             = backend;
    wanted.message             = message;
    wanted.message_size        = sizeof message;
    wanted.rates_path          = "";
    const hybrid_status status = hybrid_engine_create(&wanted, &engine);
    if (status == HYBRID_OK)
        printf("  %-8s %s\n", name, hybrid_engine_device(engine));
    else if (status == HYBRID_NO_DEVICE)
        printf("  %-8s absent; %s\n", name, message);
    else
        return cli_fail_status(status, message);
    hybrid_engine_destroy(engine);
    return CLI_DONE;
}

int cli_list(const cli_options *options)
{
    hybrid_variant_info variant;

    (void)options;
    printf("backends\n");
    int code = put_backend("host", HYBRID_HOST);
    if (code == CLI_DONE)
        code = put_backend("cuda", HYBRID_CUDA);
    if (code != CLI_DONE)
        return code;
    printf("\nvariants\n");
    for (int i = 0; hybrid_variant_at(i, &variant) == HYBRID_OK; i++)
        printf("  %-24s %s\n  %-24s source: %s\n", variant.name, variant.summary, "",
               variant.source);
    return CLI_DONE;
}
