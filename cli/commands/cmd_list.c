/* cli/commands/cmd_list.c - hybrid_spmm list: prints backends and variants. */
#include <stdio.h>

#include "cli/commands/job.h"
#include "cli/output/json.h"
#include "cli/output/say.h"
#include "cli/output/text.h"

/* A backend of the library, which may be absent from this machine. */
typedef struct backend {
    const char *name;
    hybrid_backend backend;
    int present;
    char text[1024]; /* name of the device, or the reason why the backend is absent */
} backend;

static int open_backend(backend *b)
{
    hybrid_engine_options wanted = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine        = NULL;

    wanted.backend             = b->backend;
    wanted.message             = b->text;
    wanted.message_size        = sizeof b->text;
    wanted.rates_path          = "";
    const hybrid_status status = hybrid_engine_create(&wanted, &engine);
    b->present                 = status == HYBRID_OK;
    if (b->present)
        snprintf(b->text, sizeof b->text, "%s", hybrid_engine_device(engine));
    else if (status != HYBRID_NO_DEVICE)
        return cli_fail_status(status, b->text);
    hybrid_engine_destroy(engine);
    return CLI_DONE;
}

static void print_words(const backend *backends, int count)
{
    hybrid_variant_info v;

    printf("backends\n");
    for (int i = 0; i < count; i++)
        printf("  %-8s %s%s\n", backends[i].name, backends[i].present ? "" : "absent; ",
               backends[i].text);
    printf("\nvariants\n");
    for (int i = 0; hybrid_variant_at(i, &v) == HYBRID_OK; i++) {
        printf("  %-24s %s%s\n  %-24s source: %s\n", v.name, v.summary,
               v.by_name ? " (only by name)" : "", "", v.source);
        if (*v.parameters)
            printf("  %-24s parameters: %s\n", "", v.parameters);
    }
}

static void put_backends(cli_json *json, const backend *backends, int count)
{
    cli_json_begin_array(json, "backends");
    for (int i = 0; i < count; i++) {
        cli_json item;
        cli_json_item(json, &item);
        cli_json_text(&item, "name", backends[i].name);
        cli_json_truth(&item, "present", backends[i].present);
        cli_json_text(&item, backends[i].present ? "device" : "reason", backends[i].text);
        cli_json_end(&item);
    }
    cli_json_end_array(json);
}

static void put_variants(cli_json *json)
{
    hybrid_variant_info v;

    cli_json_begin_array(json, "variants");
    for (int i = 0; hybrid_variant_at(i, &v) == HYBRID_OK; i++) {
        cli_json item;
        cli_json_item(json, &item);
        cli_json_text(&item, "name", v.name);
        cli_json_text(&item, "summary", v.summary);
        cli_json_text(&item, "source", v.source);
        cli_json_text(&item, "parameters", v.parameters);
        cli_json_truth(&item, "by_name", v.by_name);
        cli_json_end(&item);
    }
    cli_json_end_array(json);
}

static void print_json(const backend *backends, int count)
{
    cli_json json;

    cli_json_begin(&json, stdout, "");
    cli_json_text(&json, "version", cli_version().s);
    put_backends(&json, backends, count);
    put_variants(&json);
    cli_json_end(&json);
    fputc('\n', stdout);
}

int cli_list(const cli_options *options)
{
    backend backends[] = {{.name = "host", .backend = HYBRID_HOST},
                          {.name = "cuda", .backend = HYBRID_CUDA}};
    int code           = open_backend(&backends[0]);

    if (code == CLI_DONE)
        code = open_backend(&backends[1]);
    if (code == CLI_DONE)
        (options->json ? print_json : print_words)(backends, 2);
    return code;
}
