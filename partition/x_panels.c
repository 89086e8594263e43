/* partition/x_panels.c - where X lies that is on the device, whole or in panels of
 * columns.
 */
#include "partition/pack.h"

#include "base/csr.h"
#include "partition/x_window.h"

static int64_t filled(int64_t cols, hybrid_type type)
{
    const int64_t each = 16 / (int64_t)hy_value_size(type);

    return cols <= each / 2 ? cols : (cols + each - 1) / each * each;
}

int64_t hy_shared_ld(const hybrid_dense *X)
{
    return filled(X->cols, X->type);
}

static int64_t panel_cols(const hy_problem *problem)
{
    return problem->panels.cols > 0 ? problem->panels.cols : problem->X->cols;
}

int64_t hy_shared_panel_of(const hy_problem *problem, int64_t col)
{
    return problem->panels.cols > 0 ? col / problem->panels.cols : 0;
}

int64_t hy_shared_panels(const hy_problem *problem)
{
    return problem->X->cols > 0 ? hy_shared_panel_of(problem, problem->X->cols - 1) + 1
                                : 1;
}

/* Elements of a panel that is as wide as can be. */
static int64_t panel_elements(const hy_problem *problem)
{
    return problem->X->rows * filled(panel_cols(problem), problem->X->type);
}

static size_t panel_bytes(const hy_problem *problem)
{
    return hy_align((size_t)panel_elements(problem) * hy_value_size(problem->X->type));
}

hy_x_panel hy_shared_panel(const hy_problem *problem, int64_t panel)
{
    const hybrid_dense *X = problem->X;
    const int64_t begin = panel * panel_cols(problem), left = X->cols - begin;
    const int64_t place = problem->panels.cols > 0 ? panel % problem->panels.room : 0;
    hy_x_panel x        = {.begin = begin,
                           .cols  = left < panel_cols(problem) ? left : panel_cols(problem),
                           .first = panel * panel_elements(problem),
                           .at    = (size_t)place * panel_bytes(problem)};

    x.ld  = filled(x.cols, X->type);
    x.end = x.first + X->rows * x.ld;
    return x;
}

size_t hy_shared_room(const hy_problem *problem)
{
    if (problem->op == HY_SPMM && problem->window > 0)
        return hy_window_bytes(problem->X, problem->window);
    if (problem->op == HY_SPGEMM || problem->panels.cols == 0)
        return hy_shared_bytes(problem);
    const int64_t panels = hy_shared_panels(problem), room = problem->panels.room;
    return (size_t)(panels < room ? panels : room) * panel_bytes(problem);
}
