/* tests/support/subjects/small_product.c - a small matrix, and what calls say of it. */
#include "tests/support/subjects/small_product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/engines/host_engine.h"

static int64_t ptr64[] = {0, 2, 3, 5};
static int32_t cols[]  = {0, 1, 2, 0, 2};
static double vals[]   = {1, 2, 3, 4, 5};
hybrid_csr small_matrix(void)
{
    return (hybrid_csr){3, 3, 5, HYBRID_I64, ptr64, cols, vals, HYBRID_F64};
}

void assert_message(hybrid_status status, hybrid_status wanted, const char *text)
{
    assert_int_equal(status, wanted);
    assert_non_null(strstr(hybrid_engine_message(engine), text));
}
