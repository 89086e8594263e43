/* cli/commands/cmd_info.c - hybrid_spmm info: checks and describes a matrix. */
#include <math.h>
#include <stdio.h>

#include "cli/commands/job.h"
#include "cli/options/types.h"
#include "cli/output/json.h"
#include "cli/operands/operand.h"
#include "cli/output/say.h"
#include "cli/output/text.h"

/* ---- a sparse matrix ------------------------------------------------------------- */

static void put_size(const char *name, int64_t rows, int64_t cols)
{
    printf("%s\n", cli_operand_title(name).s);
    printf("rows           %s\n", cli_count(rows).s);
    printf("columns        %s\n", cli_count(cols).s);
}

static void put_square(const hybrid_matrix_info *info)
{
    printf("symmetry       pattern %s, values %s\n",
           info->pattern_symmetric ? "symmetric" : "not symmetric",
           info->value_symmetric ? "symmetric" : "not symmetric");
    printf("A*A            %s multiplications, about %s entries, %s\n",
           cli_count(info->products).s, cli_count(info->square_nnz).s,
           cli_bytes(info->square_bytes).s);
}

static void tell_words(const char *name, const hybrid_csr *A,
                       const hybrid_matrix_info *info)
{
    put_size(name, A->rows, A->cols);
    printf("entries        %s\n", cli_count(A->nnz).s);
    printf("entries a row  %s to %s, mean %.2f, standard deviation %.2f\n",
           cli_count(info->row_min).s, cli_count(info->row_max).s, info->row_mean,
           info->row_cv * info->row_mean);
    printf("empty rows     %s\n", cli_count(info->empty_rows).s);
    printf("bandwidth      %s\n", cli_count(info->bandwidth).s);
    printf("similar rows   %s: of 16 rows, %.1f %% share a column on average\n",
           info->synergy_class, 100 * info->synergy);
    if (info->square)
        put_square(info);
    else
        printf("symmetry       not square\n");
}

static void tell_json(const char *name, const hybrid_csr *A,
                      const hybrid_matrix_info *info)
{
    cli_json json;

    cli_json_begin(&json, stdout, "");
    cli_json_text(&json, "name", name);
    cli_json_text(&json, "storage", "csr");
    cli_json_text(&json, "type", cli_type_name(A->type));
    cli_json_int(&json, "rows", A->rows);
    cli_json_int(&json, "cols", A->cols);
    cli_json_int(&json, "nnz", A->nnz);
    cli_json_int(&json, "row_min", info->row_min);
    cli_json_int(&json, "row_max", info->row_max);
    cli_json_real(&json, "row_mean", info->row_mean);
    cli_json_real(&json, "row_deviation", info->row_cv * info->row_mean);
    cli_json_int(&json, "empty_rows", info->empty_rows);
    cli_json_int(&json, "bandwidth", info->bandwidth);
    cli_json_real(&json, "synergy", info->synergy);
    cli_json_text(&json, "synergy_class", info->synergy_class);
    cli_json_truth(&json, "square", info->square);
    if (info->square) {
        cli_json_truth(&json, "pattern_symmetric", info->pattern_symmetric);
        cli_json_truth(&json, "value_symmetric", info->value_symmetric);
        cli_json_int(&json, "square_products", info->products);
        cli_json_int(&json, "square_predicted_nnz", info->square_nnz);
        cli_json_int(&json, "square_predicted_bytes", info->square_bytes);
    }
    cli_json_end(&json);
    fputc('\n', stdout);
}

static int tell_sparse(hybrid_engine *engine, const cli_options *o, const hybrid_csr *A)
{
    hybrid_matrix_info info;
    const hybrid_status status = hybrid_csr_info(engine, A, &info);

    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    (o->json ? tell_json : tell_words)(o->input[0], A, &info);
    return CLI_DONE;
}

/* ---- a dense matrix -------------------------------------------------------------- */

static double element(const hybrid_dense *X, int64_t k, int64_t line)
{
    return cli_type_value(X->type, X->data, line * X->ld + k);
}

typedef struct survey {
    double least, most; /* least and greatest finite value; least > most if no value is
                           finite */
    int64_t not_finite;
} survey;

static survey survey_of(const hybrid_dense *X)
{
    const int by_rows    = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines  = by_rows ? X->rows : X->cols;
    const int64_t length = by_rows ? X->cols : X->rows;
    survey s             = {INFINITY, -INFINITY, 0};

    for (int64_t line = 0; line < lines && length > 0; line++)
        for (int64_t k = 0; k < length; k++) {
            const double x = element(X, k, line);
            s.not_finite += !isfinite(x);
            s.least = isfinite(x) && x < s.least ? x : s.least;
            s.most  = isfinite(x) && x > s.most ? x : s.most;
        }
    return s;
}

static void tell_dense_words(const char *name, const hybrid_dense *X, const survey *s)
{
    put_size(name, X->rows, X->cols);
    printf("storage        dense, by %s\n",
           X->order == HYBRID_ROW_MAJOR ? "rows" : "columns");
    if (s->least <= s->most)
        printf("values         %g to %g\n", s->least, s->most);
    printf("not finite     %s\n", cli_count(s->not_finite).s);
}

static void tell_dense_json(const char *name, const hybrid_dense *X, const survey *s)
{
    cli_json json;

    cli_json_begin(&json, stdout, "");
    cli_json_text(&json, "name", name);
    cli_json_text(&json, "storage", "dense");
    cli_json_text(&json, "order", X->order == HYBRID_ROW_MAJOR ? "row" : "col");
    cli_json_text(&json, "type", cli_type_name(X->type));
    cli_json_int(&json, "rows", X->rows);
    cli_json_int(&json, "cols", X->cols);
    cli_json_real(&json, "least", s->least);
    cli_json_real(&json, "most", s->most);
    cli_json_int(&json, "not_finite", s->not_finite);
    cli_json_end(&json);
    fputc('\n', stdout);
}

static int tell_dense(const cli_options *o, const hybrid_dense *X)
{
    const survey s = survey_of(X);

    (o->json ? tell_dense_json : tell_dense_words)(o->input[0], X, &s);
    return CLI_DONE;
}

int cli_info(const cli_options *options)
{
    const char *name      = options->input[0];
    hybrid_csr A          = {0};
    hybrid_dense X        = {0};
    int code              = CLI_DONE, dense;
    hybrid_type type      = options->type;
    hybrid_engine *engine = NULL;

    if (cli_operand_is_json(name) && cli_operand_is_dense(name))
        return cli_fail(CLI_INPUT,
                        "%s: info describes dense matrices in .npy and Matrix Market "
                        "files only, and not those in files of raw numbers",
                        name);
    engine = cli_engine_open(options, HYBRID_HOST, "", &code);
    if (!engine)
        return code;
    cli_progress_open(options->progress, 0);
    if (!type)
        cli_operand_type(name, &type);
    code = cli_operand_read(engine, name, type, options->seed, &A, &X, &dense);
    cli_progress_clear();
    if (code == CLI_DONE)
        code = dense ? tell_dense(options, &X) : tell_sparse(engine, options, &A);
    hybrid_csr_free(engine, &A);
    hybrid_dense_free(engine, &X);
    hybrid_engine_destroy(engine);
    return code;
}
