/* partition/x_panels.c - where X lies that is on the device, whole or in panels of
 * columns.
 */
#include "partition/pack.h"

#include "base/csr.h"

static int64_t filled(int64_t cols, hybrid_type type)
{
    const int64_t each = 16 / (int64_t)hy_value_size(type);

    return cols <= each / 2 ? cols : (cols + each - 1) / each * each;
}

/* How many of so many columns lie apart. */
static int64_t rest_of(const hy_problem *problem, int64_t cols)
{
    const int64_t size = (int64_t)hy_value_size(problem->X->type);
    const int64_t rest = cols % (HY_X_LINE / size);

    return problem->in_lines && rest < cols && rest * size <= HY_X_REST ? rest : 0;
}

/* Elements that a row of so many columns takes. */
static int64_t row_elements(const hy_problem *problem, int64_t cols)
{
    const int64_t rest = rest_of(problem, cols);
    return filled(cols - rest, problem->X->type) + filled(rest, problem->X->type);
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
    return problem->X->rows * row_elements(problem, panel_cols(problem));
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

    x.rest    = rest_of(problem, x.cols);
    x.ld      = filled(x.cols - x.rest, X->type);
    x.rest_ld = filled(x.rest, X->type);
    x.end     = x.first + X->rows * (x.ld + x.rest_ld);
    return x;
}

size_t hy_shared_room(const hy_problem *problem)
{
    if (problem->op == HY_SPGEMM || problem->panels.cols == 0)
        return hy_shared_bytes(problem);
    const int64_t panels = hy_shared_panels(problem), room = problem->panels.room;
    return (size_t)(panels < room ? panels : room) * panel_bytes(problem);
}
