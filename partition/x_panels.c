/* partition/x_panels.c - where X lies that is on the device, whole or in panels of
 * columns.
 */
#include "partition/shared.h"

#include "base/csr.h"
#include "base/memory.h"
#include "partition/x_window.h"

static int64_t filled(int64_t cols, hybrid_type type)
{
    const int64_t each = 16 / (int64_t)hy_value_size(type);

    return cols <= each / 2 ? cols : (cols + each - 1) / each * each;
}

int64_t hy_x_rest(int in_lines, hybrid_type type, int64_t cols)
{
    const int64_t size = (int64_t)hy_value_size(type), line = HY_X_LINE / size;
    const int64_t rest = cols % line;

    return in_lines > 0 && cols / line >= in_lines && rest * size <= HY_X_REST ? rest : 0;
}

/* None in a window, whose places hold whole rows. */
static int64_t rest_of(const hy_problem *problem, int64_t cols)
{
    return problem->window > 0 ? 0 : hy_x_rest(problem->in_lines, problem->X->type, cols);
}

/* Elements that a row of so many columns takes. */
static int64_t row_elements(const hy_problem *problem, int64_t cols)
{
    const int64_t rest = rest_of(problem, cols);
    return filled(cols - rest, problem->X->type) + filled(rest, problem->X->type);
}

/* ---- panels ----------------------------------------------------------------------- */

int64_t hy_panels_number(const hy_panels *panels, int64_t cols)
{
    const int64_t back = panels->wraps ? 0 : panels->back;
    const int64_t rest = cols + back - panels->most;

    if (panels->cols == 0 || rest <= 0)
        return 1;
    return 1 + (rest + panels->cols - 1) / panels->cols;
}

int64_t hy_panels_begin(const hy_panels *panels, int64_t cols, int64_t k)
{
    if (k == 0)
        return 0;
    if (k < hy_panels_number(panels, cols))
        return k * panels->cols - panels->back;
    return panels->wraps ? cols - panels->back : cols;
}

int64_t hy_panels_ends(const hy_panels *panels, int64_t begin)
{
    return panels->wraps && begin == 0 ? panels->back : 0;
}

int64_t hy_panels_width(const hy_panels *panels, int64_t cols, int64_t k)
{
    const int64_t begin = hy_panels_begin(panels, cols, k);

    return hy_panels_begin(panels, cols, k + 1) - begin + hy_panels_ends(panels, begin);
}

/* Values in a line. */
static int64_t in_line(hybrid_type type)
{
    return HY_LINE / (int64_t)hy_value_size(type);
}

int64_t hy_panels_most_back(const hy_panels *panels, hybrid_type type)
{
    return panels->cols % in_line(type) == 0 ? in_line(type) - 1 : 0;
}

int64_t hy_panels_back(const hy_panels *panels, const hybrid_dense *Y)
{
    const uintptr_t size = hy_value_size(Y->type), start = (uintptr_t)Y->data;

    if (Y->order != HYBRID_ROW_MAJOR || Y->ld % in_line(Y->type) != 0 ||
        start % size != 0 || hy_panels_most_back(panels, Y->type) == 0)
        return 0;
    return (int64_t)(start % HY_LINE / size);
}

hy_panels hy_panels_wrapped(const hy_panels *panels, const hybrid_dense *X,
                            const hybrid_dense *Y)
{
    const uintptr_t size = hy_value_size(Y->type), start = (uintptr_t)Y->data;
    const int64_t line = HY_X_LINE / (int64_t)size;
    hy_panels p        = *panels;

    if (X->order != HYBRID_ROW_MAJOR || Y->order != HYBRID_ROW_MAJOR ||
        X->ld != X->cols || Y->ld != Y->cols || Y->cols % line != 0 ||
        p.cols % line != 0 || start % size != 0)
        return (hy_panels){.cols = 0};
    p.back  = (int64_t)(start % HY_X_LINE / size);
    p.wraps = p.back > 0;
    p.most  = p.cols;
    return p;
}

/* ---- as they lie on the device, and in the image ---------------------------------- */

int64_t hy_shared_panels(const hy_problem *problem)
{
    return hy_panels_number(&problem->panels, problem->X->cols);
}

int64_t hy_shared_panel_of(const hy_problem *problem, int64_t col)
{
    const hy_panels *p = &problem->panels;
    const int64_t last = hy_shared_panels(problem) - 1;
    const int64_t k    = p->cols > 0 ? (col + p->back) / p->cols : 0;

    return k < last ? k : last;
}

/* Elements of so many columns. */
static int64_t elements(const hy_problem *problem, int64_t cols)
{
    return problem->X->rows * row_elements(problem, cols);
}

/* Of a place for so many columns. */
static size_t place_bytes(const hy_problem *problem, int64_t cols)
{
    return hy_align((size_t)elements(problem, cols) * hy_value_size(problem->X->type));
}

hy_x_panel hy_shared_panel(const hy_problem *problem, int64_t panel)
{
    const hybrid_dense *X = problem->X;
    const hy_panels *p    = &problem->panels;
    const int64_t begin   = hy_panels_begin(p, X->cols, panel);
    hy_x_panel x          = {.begin   = begin,
                             .cols    = hy_panels_width(p, X->cols, panel),
                             .wrapped = hy_panels_ends(p, begin)};

    if (panel > 0) {
        x.first = elements(problem, hy_panels_width(p, X->cols, 0)) +
                  (panel - 1) * elements(problem, p->cols);
        x.at = (size_t)(panel % p->room) * place_bytes(problem, p->pitch);
    }
    x.rest    = rest_of(problem, x.cols);
    x.ld      = filled(x.cols - x.rest, X->type);
    x.rest_ld = filled(x.rest, X->type);
    x.end     = x.first + X->rows * (x.ld + x.rest_ld);
    return x;
}

hy_x_panel hy_shared_panel_at(const hy_problem *problem, int64_t element)
{
    const hy_x_panel first = hy_shared_panel(problem, 0);
    const int64_t last     = hy_shared_panels(problem) - 1;

    if (element < first.end || last == 0)
        return first;
    const int64_t k = 1 + (element - first.end) / elements(problem, problem->panels.cols);
    return hy_shared_panel(problem, k < last ? k : last);
}

int hy_wrap_rows(const hy_row_copy *rows, size_t wrapped,
                 hy_row_copy copies[HY_ROW_COPIES])
{
    const size_t from = rows->src_pitch - wrapped, to = rows->dst_pitch - wrapped;
    const size_t last = (size_t)(rows->rows - 1);

    copies[0] = *rows;
    if (wrapped == 0)
        return 1;
    copies[1] = copies[2] = *rows;
    copies[0].bytes       = rows->bytes - wrapped;
    copies[0].rows = copies[2].rows = 1;
    copies[1].src                   = (const char *)rows->src + from;
    copies[1].dst                   = (char *)rows->dst + to;
    copies[1].rows                  = rows->rows - 1;
    copies[2].src   = (const char *)copies[1].src + last * rows->src_pitch;
    copies[2].dst   = (char *)copies[1].dst + last * rows->dst_pitch;
    copies[2].bytes = wrapped;
    return HY_ROW_COPIES;
}

int hy_shared_rows(const hy_problem *problem, const hy_x_panel *x, int64_t first,
                   int64_t rows, hy_row_copy copies[HY_ROW_COPIES])
{
    const hybrid_dense *X = problem->X;
    const size_t size     = hy_value_size(X->type);
    const size_t pitch    = (size_t)X->ld * size;
    const size_t line = (size_t)x->ld * size, rest = (size_t)x->rest * size;
    const char *from = (const char *)X->data + (size_t)first * pitch;
    char *to         = (char *)problem->shared.ptr + x->at;

    if (problem->x_rows || problem->panels.cols == 0 || X->order != HYBRID_ROW_MAJOR ||
        x->ld + x->rest != x->cols || x->rest_ld != x->rest || pitch > HY_MOST_PITCH)
        return 0;
    from += (size_t)x->begin * size;
    const hy_row_copy lines = {to + (size_t)first * line, from, line, pitch, line, rows};
    const int count         = hy_wrap_rows(&lines, (size_t)x->wrapped * size, copies);
    if (x->rest == 0)
        return count;
    to += (size_t)X->rows * line;
    copies[1] =
        (hy_row_copy){to + (size_t)first * rest, from + line, rest, pitch, rest, rows};
    return 2;
}

size_t hy_shared_room(const hy_problem *problem)
{
    const hy_panels *p = &problem->panels;

    if (problem->op == HY_SPMM && problem->window > 0)
        return hy_window_bytes(problem->X, problem->window);
    if (problem->op == HY_SPGEMM || p->cols == 0)
        return hy_shared_bytes(problem);
    return (size_t)(p->room - 1) * place_bytes(problem, p->pitch) +
           place_bytes(problem, p->most);
}
