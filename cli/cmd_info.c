/* cli/cmd_info.c - hybrid_spmm info: read and check a whole file, and tell what is in it.
 */
#include <math.h>
#include <stdio.h>

#include "cli/job.h"
#include "cli/operand.h"
#include "cli/say.h"
#include "cli/text.h"

static void put_size(const char *name, int64_t rows, int64_t cols)
{
    printf("%s\n", name);
    printf("rows           %s\n", cli_count(rows).s);
    printf("columns        %s\n", cli_count(cols).s);
}

static void put_square(const hybrid_matrix_info *info)
{
    printf("symmetry       pattern %s, values %s\n",
           info->pattern_symmetric ? "symmetric" : "not symmetric",
           info->value_symmetric ? "symmetric" : "not symmetric");
    printf("A*A            %s products, about %s entries, %s\n",
           cli_count(info->products).s, cli_count(info->square_nnz).s,
           cli_bytes(info->square_bytes).s);
}

static int tell_sparse(hybrid_engine *engine, const char *name, const hybrid_csr *A)
{
    hybrid_matrix_info info;
    const hybrid_status status = hybrid_csr_info(engine, A, &info);

    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    put_size(name, A->rows, A->cols);
    printf("entries        %s\n", cli_count(A->nnz).s);
    printf("entries a row  %s to %s, mean %.2f, variation %.2f\n",
           cli_count(info.row_min).s, cli_count(info.row_max).s, info.row_mean,
           info.row_cv);
    printf("empty rows     %s\n", cli_count(info.empty_rows).s);
    printf("bandwidth      %s\n", cli_count(info.bandwidth).s);
    printf("synergy        %s, %.1f %% of 16 rows share a column\n", info.synergy_class,
           100 * info.synergy);
    if (info.square)
        put_square(&info);
    else
        printf("symmetry       not square\n");
    return CLI_DONE;
}

static double element(const hybrid_dense *X, int64_t k, int64_t line)
{
    const int64_t at = line * X->ld + k;
    return X->type == HYBRID_F64 ? ((const double *)X->data)[at]
                                 : (double)((const float *)X->data)[at];
}

static int tell_dense(const char *name, const hybrid_dense *X)
{
    const int by_rows    = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines  = by_rows ? X->rows : X->cols;
    const int64_t length = by_rows ? X->cols : X->rows;
    double least = INFINITY, most = -INFINITY;
    int64_t not_finite = 0;

    for (int64_t line = 0; line < lines && length > 0; line++)
        for (int64_t k = 0; k < length; k++) {
            const double x = element(X, k, line);
            not_finite += !isfinite(x);
            least = isfinite(x) && x < least ? x : least;
            most  = isfinite(x) && x > most ? x : most;
        }
    put_size(name, X->rows, X->cols);
    printf("storage        dense, by %s\n", by_rows ? "rows" : "columns");
    if (least <= most)
        printf("values         %g to %g\n", least, most);
    printf("not finite     %s\n", cli_count(not_finite).s);
    return CLI_DONE;
}

int cli_info(const cli_options *options)
{
    const char *name      = options->input[0];
    hybrid_csr A          = {0};
    hybrid_dense X        = {0};
    int code              = CLI_DONE, dense;
    hybrid_engine *engine = cli_engine_open(options, HYBRID_HOST, "", &code);

    if (!engine)
        return code;
    code = cli_operand_read(engine, name, options->type, options->seed, &A, &X, &dense);
    if (code == CLI_DONE)
        code = dense ? tell_dense(name, &X) : tell_sparse(engine, name, &A);
    hybrid_csr_free(engine, &A);
    hybrid_dense_free(engine, &X);
    hybrid_engine_destroy(engine);
    return code;
}
