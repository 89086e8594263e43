/* bench/papers/choi_search.c - times SpMV in blocks for every r, c and R, and what the
   rules of choice pick (Choi, Singh and Vuduc, PPoPP 2010, Fig. 13).

   usage: choi_search OUT.jsonl COMMIT PROBLEM...

   A problem is a .mtx file or a description for hybrid_generate(). The program first
   calibrates. One process times everything, because each of some thousand kernels runs
   for microseconds. Every line of OUT.jsonl is one kernel; bench/papers/choi.py reads
   them. Environment: CHOI_VARIANTS (names, separated by spaces), CHOI_SECONDS (no matrix
   is begun later than this; 140), CHOI_RUNS (timed runs of a kernel; 7), CHOI_RATES (file
   of rates; none: the program calibrates). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hybrid_spmm.h"

enum { MOST = 8, LANES = 4, RUNS_MOST = 99, TEXT = 1 << 14, NAME = 128 };

/* Shapes r x c in which A takes more than BYTES_MOST times the bytes of the smallest
   shape are not timed. */
static const double BYTES_MOST = 3;

typedef struct search {
    hybrid_engine *engine;
    FILE *out;
    const char *variant;
    char problem[NAME];
    hybrid_type type;
    hybrid_csr A;
    hybrid_dense X, Y;
    int runs;
    double begin_s, limit_s;
    int failed;
} search;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int complain(search *s, const char *what)
{
    fprintf(stderr, "choi_search: %s f%d %s: %s\n", s->problem,
            s->type == HYBRID_F64 ? 64 : 32, what, hybrid_engine_message(s->engine));
    s->failed = 1;
    return -1;
}

/* ---- one plan ---------------------------------------------------------------------- */

/* The block shape r x c and the R that a plan chose, with its prediction. */
typedef struct choice {
    int r, c, lanes; /* blocks of A have r x c numbers; `lanes` is R, the threads of a
                        block of the GPU; 0: unknown */
    double fill;    /* share of the numbers in the blocks that are entries of A, 0 to 1 */
    double model_s; /* predicted seconds of the kernel */
} choice;

static hybrid_status plan_with(search *s, const char *parameters, hybrid_plan **out)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    char variant[2 * NAME];

    snprintf(variant, sizeof variant, "%s%s%s", s->variant, *parameters ? ":" : "",
             parameters);
    options.variant    = variant;
    options.flags      = HYBRID_RESIDENT;
    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = s->A.rows;
    options.depth      = 1;
    return hybrid_spmm_plan(s->engine, &s->A, 1, &options, out);
}

/* Returns what follows the first `word` in the text; "" if the text lacks the word. */
static const char *after(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at ? at + strlen(word) : "";
}

static void read_choice(const hybrid_plan *plan, choice *out)
{
    static char text[TEXT];

    *out = (choice){0};
    hybrid_plan_details(plan, text, sizeof text);
    if (sscanf(after(text, "   blocks "), "%d x %d fill %lf", &out->r, &out->c,
               &out->fill) == 3)
        out->fill /= 100;
    const char *chosen = after(text, "chosen, ");
    if (*chosen)
        out->lanes = atoi(after(chosen, "R="));
    out->model_s = 1e-3 * atof(after(text, "kernels "));
}

/* Sets *seconds to the least time of the kernel: noise only adds to a time, and kernels
   take microseconds. */
static hybrid_status time_plan(search *s, hybrid_plan *plan, double *seconds)
{
    double least = 1e300;

    for (int i = -2; i < s->runs; i++) {
        hybrid_report report = HYBRID_REPORT_INIT;
        hybrid_status status = hybrid_spmm_run(plan, 1, &s->A, &s->X, 0, &s->Y);
        if (status == HYBRID_OK)
            status = hybrid_plan_report(plan, &report);
        if (status != HYBRID_OK)
            return status;
        if (i >= 0 && report.multiply_s < least)
            least = report.multiply_s;
    }
    *seconds = least;
    return HYBRID_OK;
}

/* Times one plan and writes its line. `pick` is the rule of the paper that chose the
   parameters, or "". Returns the seconds, or -1 after an error, which the line
   contains. */
static double time_one(search *s, const char *parameters, const char *pick)
{
    hybrid_plan *plan = NULL;
    double seconds    = -1;
    choice found      = {0};

    hybrid_status status = plan_with(s, parameters, &plan);
    if (status == HYBRID_OK) {
        read_choice(plan, &found);
        status = time_plan(s, plan, &seconds);
        hybrid_plan_destroy(plan);
    }
    fprintf(
        s->out,
        "{\"problem\": \"%s\", \"type\": \"f%d\", \"variant\": \"%s\", \"pick\": \"%s\", "
        "\"r\": %d, \"c\": %d, \"R\": %d, \"fill\": %.4g, \"model_s\": %.4g, "
        "\"kernel_s\": %.6g, \"failed\": %s}\n",
        s->problem, s->type == HYBRID_F64 ? 64 : 32, s->variant, pick, found.r, found.c,
        found.lanes, found.fill, found.model_s, seconds,
        status == HYBRID_OK ? "false" : "true");
    if (status != HYBRID_OK)
        fprintf(stderr, "choi_search: %s %s:%s: %s\n", s->problem, s->variant, parameters,
                hybrid_engine_message(s->engine));
    return status == HYBRID_OK ? seconds : -1;
}

/* ---- all shapes -------------------------------------------------------------------- */

/* Sets bytes[r - 1][c - 1] to the bytes of A in blocks of r x c. */
static int find_bytes(search *s, double bytes[MOST][MOST], double *least)
{
    const double size = s->type == HYBRID_F64 ? 8 : 4;

    *least = 1e300;
    for (int k = 0; k < MOST * MOST; k++) {
        const int r = k / MOST + 1, c = k % MOST + 1;
        char parameters[NAME];
        hybrid_plan *plan;
        choice found;
        snprintf(parameters, sizeof parameters, "paper=1,r=%d,c=%d", r, c);
        if (plan_with(s, parameters, &plan) != HYBRID_OK)
            return complain(s, parameters);
        read_choice(plan, &found);
        hybrid_plan_destroy(plan);
        const double blocks = (double)s->A.nnz / (r * c * found.fill);
        bytes[r - 1][c - 1] = blocks * (4 + r * c * size) + 4.0 * (double)s->A.rows / r;
        *least              = bytes[r - 1][c - 1] < *least ? bytes[r - 1][c - 1] : *least;
    }
    return 0;
}

static void search_variant(search *s)
{
    static const char *const picks[][2] = {{"paper=1,rule=model", "model"},
                                           {"paper=1,rule=bytes", "bytes"},
                                           {"rule=model", "default, model"},
                                           {"rule=bytes", "default, bytes"}};
    double bytes[MOST][MOST], least, best = 1e300;
    int timed = 0;

    if (find_bytes(s, bytes, &least))
        return;
    for (int k = 0; k < MOST * MOST; k++) {
        const int r = k / MOST + 1, c = k % MOST + 1;
        if (bytes[r - 1][c - 1] > BYTES_MOST * least)
            continue;
        for (int i = 0; i < LANES; i++) {
            char parameters[NAME];
            snprintf(parameters, sizeof parameters, "paper=1,r=%d,c=%d,R=%d", r, c,
                     32 << i);
            const double seconds = time_one(s, parameters, "");
            best                 = seconds > 0 && seconds < best ? seconds : best;
            timed++;
        }
    }
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
        const double seconds = time_one(s, picks[i][0], picks[i][1]);
        if (i == 0)
            printf("%-12s f%d %-18s %3d kernels, best %6.2f us, model %6.2f us",
                   s->problem, s->type == HYBRID_F64 ? 64 : 32, s->variant, timed,
                   1e6 * best, 1e6 * seconds);
        else
            printf(", %s %6.2f us", picks[i][1], 1e6 * seconds);
    }
    printf("  (%.0f s)\n", now_s() - s->begin_s);
    fflush(stdout);
}

/* ---- problems ---------------------------------------------------------------------- */

static void name_of(const char *spec, char *name)
{
    const char *slash = strrchr(spec, '/');

    snprintf(name, NAME, "%s", strstr(spec, ".mtx") && slash ? slash + 1 : spec);
    if (strstr(name, ".mtx"))
        *strstr(name, ".mtx") = '\0';
}

static hybrid_status open_problem(search *s, const char *spec)
{
    hybrid_status status = strstr(spec, ".mtx")
                               ? hybrid_read_mtx(s->engine, spec, s->type, &s->A)
                               : hybrid_generate(s->engine, spec, s->type, 1, &s->A);
    if (status == HYBRID_OK)
        status = hybrid_dense_create(s->engine, s->A.cols, 1, HYBRID_ROW_MAJOR, s->type,
                                     &s->X);
    if (status == HYBRID_OK)
        status = hybrid_dense_create(s->engine, s->A.rows, 1, HYBRID_ROW_MAJOR, s->type,
                                     &s->Y);
    if (status == HYBRID_OK)
        status = hybrid_dense_random(s->engine, 1, &s->X);
    return status;
}

static void search_problem(search *s, const char *spec)
{
    s->A = (hybrid_csr){0};
    s->X = s->Y = (hybrid_dense){0};
    if (open_problem(s, spec) == HYBRID_OK)
        search_variant(s);
    else
        complain(s, "reading");
    hybrid_csr_free(s->engine, &s->A);
    hybrid_dense_free(s->engine, &s->X);
    hybrid_dense_free(s->engine, &s->Y);
}

/* Times a matrix with all variants and types, or not at all if no time is left. */
static void search_variants(search *s, const char *spec, const char *variants)
{
    char names[NAME] = "", *rest = names;

    name_of(spec, s->problem);
    if (now_s() - s->begin_s > s->limit_s) {
        printf("%s: left out, because CHOI_SECONDS is over\n", s->problem);
        return;
    }
    snprintf(names, sizeof names, "%s", variants);
    while ((s->variant = strtok_r(rest, " ", &rest)) != NULL)
        for (s->type = HYBRID_F32; s->type <= HYBRID_F64; s->type++)
            search_problem(s, spec);
}

/* ---- the program ------------------------------------------------------------------- */

static double number(const char *name, double otherwise)
{
    const char *value = getenv(name);

    return value ? atof(value) : otherwise;
}

/* Opens the engine on the GPU. Without CHOI_RATES, first measures the GPU and writes the
   file of rates OUT.jsonl.rates. */
static int open_search(search *s, const char *path)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    char message[256]             = "", rates[512];

    const char *measured = getenv("CHOI_RATES");
    options.backend      = HYBRID_CUDA;
    options.rates_path   = measured ? measured : "";
    options.message      = message;
    options.message_size = sizeof message;
    if (hybrid_engine_create(&options, &s->engine) != HYBRID_OK) {
        fprintf(stderr, "choi_search: %s\n", message);
        return -1;
    }
    snprintf(rates, sizeof rates, "%s.rates", path);
    if (!measured &&
        hybrid_engine_calibrate(s->engine, rates, NULL, NULL, NULL) != HYBRID_OK)
        return complain(s, "calibrate");
    printf("ready after %.1f s\n", now_s() - s->begin_s);
    fflush(stdout);
    s->out = fopen(path, "w");
    if (!s->out)
        perror(path);
    return s->out ? 0 : -1;
}

static void put_head(search *s, const char *commit)
{
    const time_t now = time(NULL);
    char date[32]    = "";
    struct tm day;

    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    fprintf(s->out, "{\"device\": \"%s\", \"commit\": \"%s\", \"date\": \"%s\"}\n",
            hybrid_engine_device(s->engine), commit, date);
}

int main(int argc, char **argv)
{
    const char *variants = getenv("CHOI_VARIANTS");
    search s             = {.begin_s = now_s(), .limit_s = number("CHOI_SECONDS", 140)};

    if (argc < 4) {
        fprintf(stderr, "usage: choi_search OUT.jsonl COMMIT PROBLEM...\n");
        return 2;
    }
    s.runs = (int)number("CHOI_RUNS", 7);
    s.runs = s.runs < 1 ? 1 : s.runs > RUNS_MOST ? RUNS_MOST : s.runs;
    if (open_search(&s, argv[1])) {
        hybrid_engine_destroy(s.engine);
        return 1;
    }
    put_head(&s, argv[2]);
    variants = variants ? variants : "spmv.cuda.bellpack spmv.cuda.bcsr";
    for (int i = 3; i < argc; i++)
        search_variants(&s, argv[i], variants);
    if (fclose(s.out) != 0) {
        perror(argv[1]);
        s.failed = 1;
    }
    hybrid_engine_destroy(s.engine);
    return s.failed;
}
