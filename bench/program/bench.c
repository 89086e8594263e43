/* bench/program/bench.c - hybrid_spmm_bench, which times products and peers. */
#include "bench/program/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/program/neighbour.h"
#include "bench/program/peers.h"

enum { EXIT_USAGE = 2, LINE = 512 };

static int count_threads(const bench_options *options)
{
    hybrid_engine_options o = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    o.backend = HYBRID_HOST;
    o.threads = options->threads;
    if (hybrid_engine_create(&o, &engine) != HYBRID_OK)
        return -1;
    const int threads = hybrid_engine_threads(engine);
    hybrid_engine_destroy(engine);
    return threads;
}

/* Writes the processor's name, as /proc/cpuinfo has it, to `out`. */
static void name_cpu(char *out, size_t size)
{
    char line[LINE];
    FILE *f = fopen("/proc/cpuinfo", "r");

    snprintf(out, size, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        const char *name = strstr(line, ": ");
        if (strncmp(line, "model name", 10) != 0 || !name)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", name + 2);
        break;
    }
    if (f)
        fclose(f);
}

/* Writes the versions of the library, CUDA and the peers. */
static void name_versions(char *out, size_t size)
{
    const int version = hybrid_version();
    char cuda[BENCH_NAME / 2], graphblas[BENCH_NAME / 4];

    peer_versions(cuda, sizeof cuda);
    bench_graphblas_versions(graphblas, sizeof graphblas);
    snprintf(out, size, "hybrid_spmm %d.%d.%d%s%s", version / 10000, version / 100 % 100,
             version % 100, cuda, graphblas);
}

/* Starts one thread for each core, to disturb the calls (neighbour.h), if asked for.
   Returns 0 on success. */
static int open_neighbour(bench *b)
{
    if (b->options.neighbour_ns == 0)
        return 0;
    b->neighbour =
        neighbour_open((int)sysconf(_SC_NPROCESSORS_ONLN), b->options.neighbour_ns);
    if (!b->neighbour)
        fputs("hybrid_spmm_bench: no threads for --neighbour\n", stderr);
    return b->neighbour ? 0 : -1;
}

static int open_bench(bench *b)
{
    hybrid_engine_options o  = HYBRID_ENGINE_OPTIONS_INIT;
    char message[BENCH_TEXT] = "";
    const time_t now         = time(NULL);
    struct tm utc;

    o.backend      = HYBRID_HOST;
    o.message      = message;
    o.message_size = sizeof message;
    b->threads     = count_threads(&b->options);
    if (b->threads < 0 || hybrid_engine_create(&o, &b->tools) != HYBRID_OK) {
        fprintf(stderr, "hybrid_spmm_bench: no engine: %s\n", message);
        return -1;
    }
    name_cpu(b->cpu, sizeof b->cpu);
    name_versions(b->versions, sizeof b->versions);
    if (!gmtime_r(&now, &utc) || !strftime(b->date, sizeof b->date, "%FT%TZ", &utc))
        b->date[0] = '\0';
    if (open_neighbour(b))
        return -1;
    if (!b->options.json || (b->json = fopen(b->options.json, "a")))
        return 0;
    fprintf(stderr, "hybrid_spmm_bench: %s: %s\n", b->options.json, strerror(errno));
    return -1;
}

static int close_bench(bench *b)
{
    neighbour_close(b->neighbour);
    hybrid_engine_destroy(b->tools);
    bench_graphblas_close(b);
    if (!b->json)
        return 0;
    const int bad = ferror(b->json);
    if (fclose(b->json) == 0 && !bad)
        return 0;
    fprintf(stderr, "hybrid_spmm_bench: %s: could not be written\n", b->options.json);
    return -1;
}

static void do_width(bench *b, int64_t cols)
{
    b->options.cols = cols;
    bench_ours(b);
    if (b->options.peers & BENCH_CUSPARSE)
        bench_peers(b);
    if (b->options.peers & BENCH_GRAPHBLAS)
        bench_graphblas(b);
}

static void do_memory(bench *b, size_t bytes)
{
    b->options.device_memory = bytes;
    for (int i = 0; i < b->options.width_count; i++)
        do_width(b, b->options.widths[i]);
}

static void do_problem(bench *b, const char *spec)
{
    if (bench_problem_load(b->tools, spec, &b->options, &b->problem)) {
        b->failed = 1;
        return;
    }
    if (b->options.dump) {
        b->failed |= bench_dump(&b->problem, b->options.dump) != 0;
    } else {
        for (int i = 0; i < b->options.memory_count; i++)
            do_memory(b, b->options.memories[i]);
    }
    bench_problem_free(&b->problem);
}

/* Times a list of problems, one per line; '#' begins a comment. */
static void do_list(bench *b, const char *path)
{
    char line[LINE];
    FILE *f = fopen(path, "r");

    if (!f) {
        fprintf(stderr, "hybrid_spmm_bench: %s: %s\n", path, strerror(errno));
        b->failed = 1;
        return;
    }
    while (fgets(line, sizeof line, f)) {
        char *spec                      = line + strspn(line, " \t");
        spec[strcspn(spec, " \t\r\n#")] = '\0';
        if (*spec)
            do_problem(b, spec);
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    bench b         = {0};
    const int go_on = bench_parse(argc, argv, &b.options);

    if (go_on <= 0)
        return go_on == 0 ? EXIT_SUCCESS : EXIT_USAGE;
    if (open_bench(&b)) {
        hybrid_engine_destroy(b.tools);
        return EXIT_FAILURE;
    }
    if (!b.options.dump)
        bench_print_head();
    for (int i = 0; i < b.options.problem_count; i++) {
        const char *spec = b.options.problems[i];
        if (*spec == '@')
            do_list(&b, spec + 1);
        else
            do_problem(&b, spec);
    }
    return close_bench(&b) || b.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
