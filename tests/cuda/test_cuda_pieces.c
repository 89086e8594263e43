/* tests/cuda/test_cuda_pieces.c - chunks of A*B on a GPU whose entries have no room.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. */
#include "support/check/tell.h"
#include "support/engines/open_cuda.h"
#include "support/products/pieces.h"

enum { SKIP = 77 };

int main(void)
{
    hybrid_engine *engine;
    int64_t checked = 0, again = 0;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    hybrid_engine_destroy(engine);
    int failed = pieces_check(open_cuda, "spgemm.cuda.hash", &checked, &again);
    failed     = tell("uneven products", checked, 60, failed);
    return failed + tell("of them with rows that were computed again", again, 20, 0) > 0;
}
