/* tests/cuda/test_cuda_budgets.c - products with small budgets of GPU memory.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. With an argument only repeated runs with HYBRID_RESIDENT are
   checked. */
#include "support/runs/budgets.h"
#include "support/inputs/cases.h"
#include "support/inputs/hypersparse.h"
#include "support/engines/open_cuda.h"
#include "support/runs/resident.h"
#include "support/check/tell.h"
#include "support/products/variants.h"
#include "support/inputs/windows.h"

enum { ROOM = 64, SKIP = 77 };

/* Checks products of banded matrices, and of matrices with empty rows and columns, with
   GPU memory that is capped at less and less. */
static int check_budgets(const char *const *names)
{
    int64_t banded = 0, windowed = 0, hypersparse = 0;

    int failed = budgets_check(open_cuda);
    int wrong  = windows_check(open_cuda, names, &banded, &windowed);
    failed += tell_halved("banded products", banded, 2000, wrong);
    failed +=
        tell("of them with a window of X", windowed, case_step(2) == 1 ? 100 : 40, 0);
    wrong = hypersparse_check(open_cuda, names, &hypersparse);
    return failed + tell("plans without empty rows and columns", hypersparse, 300, wrong);
}

int main(int argc, char **argv)
{
    hybrid_engine *engine;
    const char *names[ROOM];

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || variants_of("cuda", names, ROOM) < 2)
        return 1;
    hybrid_engine_destroy(engine);
    (void)argv;
    const int failed = resident_budgets(open_cuda, 1500);
    return failed + (argc > 1 ? 0 : check_budgets(names)) > 0;
}
