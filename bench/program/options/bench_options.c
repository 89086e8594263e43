/* bench/program/options/bench_options.c - parses the command line. */
#include "bench/program/bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench/program/neighbour.h"
#include "bench/program/options/bench_values.h"

static const char usage[] =
    "usage: hybrid_spmm_bench spgemm|spmm|spmv PROBLEM... [options]\n"
    "PROBLEM is a description (stencil27:80), a file (x.mtx), or @FILE with one a line.\n"
    "\n"
    "  --type f32|f64           type of the values (f32)\n"
    "  --cols N[,N...]          columns of X, one after the other (128)\n"
    "  --order row|col          order of X and Y (row)\n"
    "  --backend host|cuda|auto where our products are computed (auto)\n"
    "  --variant NAME|all       a variant, a prefix, or all (the planner's choice)\n"
    "  --split auto|gpu|host|F  what the CPU takes of a GPU's product; F: 0 to 1\n"
    "  --devices N[,N...]       CUDA devices that compute together (0)\n"
    "  --device-memory SIZE[,SIZE...]  cap of each, such as 512M or 4G; 0: none (0)\n"
    "  --host-memory SIZE       cap of host memory, results included (none)\n"
    "  --each                   spgemm: rows of C go to a function, and C is not stored\n"
    "  --rows natural|degree|locality  spgemm: order of the rows of A; B keeps its own\n"
    "  --chunk-rows N           rows a chunk (the planner's choice)\n"
    "  --slots N                end: chunks in flight, 1 to 64 (the planner's choice)\n"
    "  --threads N              CPU workers (one per core)\n"
    "  --reps N  --warmup N     calls timed (7) and not timed (1) after the first\n"
    "  --mode core|end|both     device stages, host arrays to host arrays, or both\n"
    "  --resident               end: runs of one plan whose A stays on the device\n"
    "  --allow-tf32             f32 operands of SpMM may be rounded to TF32\n"
    "  --explain                plans find out more, and the JSON has their details\n"
    "  --keep N                 end: N calls more whose results are all kept (0)\n"
    "  --pinned                 operands and Y are pinned before the clock starts\n"
    "  --neighbour MS|forever   other threads keep all cores busy from before each call\n"
    "  --progress               also how often it is told, and how soon it ends a call\n"
    "  --no-verify              do not check the results\n"
    "  --peer cusparse|graphblas  time that as well; may be given twice\n"
    "  --json FILE              append lines of JSON\n"
    "  --commit HASH            recorded in the JSON\n"
    "  --dump DIR               only write the matrices as .npy, for peers.py\n";

enum {
    TYPE = 256,
    COLS,
    ORDER,
    BACKEND,
    VARIANT,
    SPLIT,
    DEVICES,
    DEVICE_MEMORY,
    HOST_MEMORY,
    EACH,
    ROWS,
    CHUNK_ROWS,
    SLOTS,
    THREADS,
    REPS,
    WARMUP,
    MODE,
    RESIDENT,
    ALLOW_TF32,
    EXPLAIN,
    KEEP,
    PINNED,
    NEIGHBOUR,
    PROGRESS,
    NO_VERIFY,
    PEER,
    JSON,
    COMMIT,
    DUMP
};

static const struct option names[] = {
    {"type", required_argument, NULL, TYPE},
    {"cols", required_argument, NULL, COLS},
    {"order", required_argument, NULL, ORDER},
    {"backend", required_argument, NULL, BACKEND},
    {"variant", required_argument, NULL, VARIANT},
    {"split", required_argument, NULL, SPLIT},
    {"devices", required_argument, NULL, DEVICES},
    {"device-memory", required_argument, NULL, DEVICE_MEMORY},
    {"host-memory", required_argument, NULL, HOST_MEMORY},
    {"each", no_argument, NULL, EACH},
    {"rows", required_argument, NULL, ROWS},
    {"chunk-rows", required_argument, NULL, CHUNK_ROWS},
    {"slots", required_argument, NULL, SLOTS},
    {"threads", required_argument, NULL, THREADS},
    {"reps", required_argument, NULL, REPS},
    {"warmup", required_argument, NULL, WARMUP},
    {"mode", required_argument, NULL, MODE},
    {"resident", no_argument, NULL, RESIDENT},
    {"allow-tf32", no_argument, NULL, ALLOW_TF32},
    {"explain", no_argument, NULL, EXPLAIN},
    {"keep", required_argument, NULL, KEEP},
    {"pinned", no_argument, NULL, PINNED},
    {"neighbour", required_argument, NULL, NEIGHBOUR},
    {"progress", no_argument, NULL, PROGRESS},
    {"no-verify", no_argument, NULL, NO_VERIFY},
    {"peer", required_argument, NULL, PEER},
    {"json", required_argument, NULL, JSON},
    {"commit", required_argument, NULL, COMMIT},
    {"dump", required_argument, NULL, DUMP},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* ---- options: each function returns 0, or -1 after an error message --------------- */

static int widths(const char *text, bench_options *o)
{
    return bench_numbers("--cols", text, 1, INT32_MAX, BENCH_WIDTHS, o->widths,
                         &o->width_count);
}

static int devices(const char *text, bench_options *o)
{
    int64_t found[BENCH_DEVICES];

    if (bench_numbers("--devices", text, 0, 65535, BENCH_DEVICES, found,
                      &o->device_count))
        return -1;
    for (int i = 0; i < o->device_count; i++)
        o->devices[i] = (int)found[i];
    return 0;
}

static int type(const char *text, bench_options *o)
{
    static const char *const words[] = {"f32", "f64", NULL};
    int at;

    if (bench_word("--type", text, words, &at))
        return -1;
    o->type = at ? HYBRID_F64 : HYBRID_F32;
    return 0;
}

static int order(const char *text, bench_options *o)
{
    static const char *const words[] = {"row", "col", NULL};
    int at;

    if (bench_word("--order", text, words, &at))
        return -1;
    o->order = at ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    return 0;
}

static int rows(const char *text, bench_options *o)
{
    static const char *const words[] = {"natural", "degree", "locality", NULL};
    int at;

    if (bench_word("--rows", text, words, &at))
        return -1;
    o->rows = (bench_rows)at;
    return 0;
}

static int backend(const char *text, bench_options *o)
{
    static const char *const words[]     = {"auto", "host", "cuda", NULL};
    static const hybrid_backend values[] = {HYBRID_AUTO, HYBRID_HOST, HYBRID_CUDA};
    int at;

    if (bench_word("--backend", text, words, &at))
        return -1;
    o->backend = values[at];
    return 0;
}

static int split(const char *text, bench_options *o)
{
    static const char *const words[]   = {"auto", "gpu", "host", NULL};
    static const hybrid_split values[] = {HYBRID_SPLIT_AUTO, HYBRID_SPLIT_GPU,
                                          HYBRID_SPLIT_HOST};
    char *end;

    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0) {
            o->split = values[i];
            return 0;
        }
    o->split      = HYBRID_SPLIT_SHARE;
    o->host_share = strtod(text, &end);
    if (end == text || *end || !(o->host_share >= 0 && o->host_share <= 1))
        return bench_refuse("--split", text);
    return 0;
}

static int mode(const char *text, bench_options *o)
{
    static const char *const words[] = {"core", "end", "both", NULL};
    int at;

    if (bench_word("--mode", text, words, &at))
        return -1;
    o->core = at != 1;
    o->end  = at != 0;
    return 0;
}

static int peer(const char *text, bench_options *o)
{
    static const char *const words[] = {"cusparse", "graphblas", NULL};
    int at;

    if (bench_word("--peer", text, words, &at))
        return -1;
    o->peers |= 1 << at;
    return 0;
}

static int spinning(const char *text, bench_options *o)
{
    int ms;

    if (strcmp(text, "forever") == 0) {
        o->neighbour_ns = NEIGHBOUR_FOREVER;
        return 0;
    }
    if (bench_count("--neighbour", text, 1, &ms))
        return -1;
    o->neighbour_ns = (int64_t)ms * 1000000;
    return 0;
}

static int take(int option, const char *text, bench_options *o)
{
    switch (option) {
    case TYPE:
        return type(text, o);
    case COLS:
        return widths(text, o);
    case ORDER:
        return order(text, o);
    case BACKEND:
        return backend(text, o);
    case VARIANT:
        o->variant = text;
        return 0;
    case SPLIT:
        return split(text, o);
    case DEVICES:
        return devices(text, o);
    case DEVICE_MEMORY:
        return bench_sizes("--device-memory", text, BENCH_MEMORIES, o->memories,
                           &o->memory_count);
    case HOST_MEMORY:
        return bench_bytes("--host-memory", text, &o->host_memory);
    case EACH:
        o->each = 1;
        return 0;
    case ROWS:
        return rows(text, o);
    case CHUNK_ROWS:
        return bench_whole("--chunk-rows", text, 1, INT64_MAX, &o->chunk_rows);
    case SLOTS:
        return bench_count("--slots", text, 1, &o->slots);
    case THREADS:
        return bench_count("--threads", text, 1, &o->threads);
    case REPS:
        return bench_count("--reps", text, 1, &o->reps);
    case WARMUP:
        return bench_count("--warmup", text, 0, &o->warmup);
    case MODE:
        return mode(text, o);
    case RESIDENT:
        o->resident = 1;
        return 0;
    case ALLOW_TF32:
        o->tf32 = 1;
        return 0;
    case EXPLAIN:
        o->explain = 1;
        return 0;
    case KEEP:
        return bench_count("--keep", text, 0, &o->keep);
    case PINNED:
        o->pinned = 1;
        return 0;
    case NEIGHBOUR:
        return spinning(text, o);
    case PROGRESS:
        o->progress = 1;
        return 0;
    case NO_VERIFY:
        o->verify = 0;
        return 0;
    case PEER:
        return peer(text, o);
    case JSON:
        o->json = text;
        return 0;
    case COMMIT:
        o->commit = text;
        return 0;
    case DUMP:
        o->dump = text;
        return 0;
    default:
        return -1; /* getopt_long() has printed why */
    }
}

int bench_parse(int argc, char **argv, bench_options *out)
{
    static const char *const ops[] = {"spgemm", "spmm", "spmv", NULL};
    bench_options o                = {.widths       = {128},
                                      .width_count  = 1,
                                      .memory_count = 1,
                                      .type         = HYBRID_F32,
                                      .order        = HYBRID_ROW_MAJOR,
                                      .backend      = HYBRID_AUTO,
                                      .reps         = 7,
                                      .warmup       = 1,
                                      .core         = 1,
                                      .end          = 1,
                                      .verify       = 1};
    int option, op;

    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (take(option, optarg, &o))
            return -1;
    }
    if (argc - optind < 2) {
        fputs(usage, stderr);
        return -1;
    }
    if (bench_word("product", argv[optind], ops, &op))
        return -1;
    if (o.keep && o.pinned) {
        fputs("hybrid_spmm_bench: --keep and --pinned exclude each other\n", stderr);
        return -1;
    }
    o.op = (bench_op)op;
    if (o.op == BENCH_SPGEMM && o.resident)
        return bench_refuse("spgemm", "--resident");
    if (o.op != BENCH_SPGEMM && (o.each || o.rows != BENCH_NATURAL))
        return bench_refuse(ops[op], o.each ? "--each" : "--rows");
    if (o.op == BENCH_SPMV)
        o.widths[0] = 1;
    if (o.op != BENCH_SPMM)
        o.width_count = 1;
    o.cols          = o.widths[0];
    o.problems      = argv + optind + 1;
    o.problem_count = argc - optind - 1;
    *out            = o;
    return 1;
}
