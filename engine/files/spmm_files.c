/* engine/files/spmm_files.c - Y = alpha*A*X + beta*Y with operands in files. */
#include "engine/api/scale.h"
#include "engine/files/spmm_parts.h"

static hybrid_status compute(hybrid_engine *engine, double alpha, const hybrid_operand *A,
                             const hybrid_operand *X, double beta,
                             const hybrid_plan_options *options, hybrid_dense *Y)
{
    hy_spmm u = {.alpha = alpha, .beta = beta};

    HY_TRY(hy_spmm_begin(&u, engine, A, X, options));
    HY_TRY(hy_spmm_check(&u, Y));
    if (alpha == 0)
        return hy_scale(engine, beta, Y, &u.call.start, &engine->report);
    hybrid_status status = hy_spmm_check_a(&u);
    if (status == HYBRID_OK)
        status = hy_spmm_multiply(&u, 0);
    if (status == HYBRID_OK)
        hy_spmm_end(&u);
    hy_spmm_release(&u);
    return status;
}

hybrid_status hybrid_spmm_files(hybrid_engine *engine, double alpha,
                                const hybrid_operand *A, const hybrid_operand *X,
                                double beta, const hybrid_plan_options *options,
                                hybrid_dense *Y)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, compute(engine, alpha, A, X, beta, options, Y));
}
