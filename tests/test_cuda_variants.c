/* tests/test_cuda_variants.c - every variant of the GPU times every case; skips without a
   GPU. Plain C without a test framework: GPU machines seldom have one. */
#include <stdio.h>
#include <string.h>

#include "support/bits.h"
#include "support/budgets.h"
#include "support/hollow.h"
#include "support/large.h"
#include "support/not_finite.h"
#include "support/not_read.h"
#include "support/open_cuda.h"
#include "support/panels.h"
#include "support/pinned_panels.h"
#include "support/resident.h"
#include "support/variants.h"
#include "support/windows.h"

enum { ROOM = 64, SKIP = 77 };

/* Variants on tensor cores with operands rounded to TF32. */
static int check_tf32(hybrid_engine *engine)
{
    const char *const names[] = {"spmm.cuda.hrpb", NULL};
    int64_t checked = 0, rounded = 0;

    const int failed = variants_check_tf32(engine, names, &checked, &rounded);
    printf("%lld TF32 products checked, %lld of them rounded, %d wrong\n",
           (long long)checked, (long long)rounded, failed);
    return failed + (rounded == 0);
}

static int check_not_finite(hybrid_engine *engine, const char *const *names)
{
    int64_t checked = 0;
    int failed = not_finite_check(engine, "spmm.cuda.hrpb", HYBRID_ALLOW_TF32, &checked);

    for (; *names; names++)
        if (strncmp(*names, "spmm.", 5) == 0)
            failed += not_finite_check(engine, *names, 0, &checked);
    printf("%lld products with infinities checked, %d wrong\n", (long long)checked,
           failed);
    return failed;
}

static int check_not_read(hybrid_engine *engine, const char *const *names)
{
    const char *spmm[ROOM];
    int64_t checked = 0, count = 0;

    for (; *names; names++)
        if (strncmp(*names, "spmm.", 5) == 0)
            spmm[count++] = *names;
    spmm[count]      = NULL;
    const int failed = not_read_check(engine, spmm, &checked);
    printf("%lld products with alpha 0 or beta 0 checked, %d wrong\n", (long long)checked,
           failed);
    return failed + (checked < 180);
}

/* Banded matrices under small budgets. */
static int check_windows(const char *const *names)
{
    int64_t checked = 0, windowed = 0;

    const int failed = windows_check(open_cuda, names, &checked, &windowed);
    printf("%lld banded products checked, %lld with a window of X, %d wrong\n",
           (long long)checked, (long long)windowed, failed);
    return failed + (windowed < 48);
}

/* Matrices with many empty rows and columns. */
static int check_hollow(const char *const *names)
{
    int64_t checked = 0;

    const int failed = hollow_check(open_cuda, names, &checked);
    printf("%lld plans without empty rows and columns checked, %d wrong\n",
           (long long)checked, failed);
    return failed + (checked < 48);
}

int main(void)
{
    hybrid_engine *engine;
    const char *names[ROOM];
    int64_t checked = 0;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || variants_of("cuda", names, ROOM) < 2)
        return 1;
    int failed = variants_check(engine, names, &checked);
    printf("%lld products checked, %d wrong\n", (long long)checked, failed);
    checked          = 0;
    const int pinned = variants_check_pinned(engine, names, &checked);
    printf("%lld products of pinned operands checked, %d wrong\n", (long long)checked,
           pinned);
    failed += pinned;
    checked            = 0;
    const int together = variants_check_shared(engine, names, &checked);
    printf("%lld products shared with the host checked, %d wrong\n", (long long)checked,
           together);
    failed += together;
    checked         = 0;
    const int other = bits_check(engine, names, &checked);
    printf("%lld deterministic products checked, %d wrong\n", (long long)checked, other);
    failed += other;
    checked        = 0;
    const int kept = resident_check(engine, names, &checked);
    printf("%lld plans with A resident checked, %d wrong\n", (long long)checked, kept);
    failed += kept;
    int64_t cut      = 0;
    const int panels = panels_check(engine, names, &cut);
    printf("%lld plans with X in panels checked, %d wrong\n", (long long)cut, panels);
    failed += panels + (cut < 48);
    cut              = 0;
    const int direct = pinned_panels_check(engine, names, &cut);
    printf("%lld products of pinned X and Y in panels checked, %d wrong\n",
           (long long)cut, direct);
    failed += direct + (cut < 48);
    int64_t wide    = 0;
    const int large = large_check(engine, names, &wide);
    printf("%lld large products checked, %d wrong\n", (long long)wide, large);
    failed += large + (wide < 48);
    failed += check_tf32(engine) + check_not_finite(engine, names) +
              check_not_read(engine, names);
    hybrid_engine_destroy(engine);
    failed += budgets_check(open_cuda) + resident_budgets(open_cuda, 1500);
    failed += check_windows(names) + check_hollow(names);
    return failed > 0 || checked < 48;
}
