/* tests/cuda/test_cuda_fork.c - a child of a process that uses CUDA has no device.

   The child must report this and can use the host. The test is skipped without a GPU. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check/expect.h"
#include "support/engines/open_cuda.h"

enum { SKIP = 77, SECONDS = 120 };

static hybrid_engine *parents;

static hybrid_status create(hybrid_backend backend, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend = backend;
    options.threads = 2;
    return hybrid_engine_create(&options, engine);
}

/* Computes a product on the host. Returns 1 if it is right. */
static int multiplies(hybrid_engine *engine)
{
    hybrid_csr A, C;
    int64_t row = 0;

    if (hybrid_generate(engine, "er:3000,8", HYBRID_F64, 1, &A) != HYBRID_OK ||
        hybrid_spgemm(engine, &A, &A, &C) != HYBRID_OK)
        return 0;
    const int right =
        hybrid_verify_spgemm(engine, &A, &A, &C, 3, 1, &row) == HYBRID_OK && row == -1;
    hybrid_csr_free(engine, &A);
    hybrid_csr_free(engine, &C);
    return right;
}

static int child(void)
{
    hybrid_engine *own;
    int byte;

    alarm(SECONDS); /* kills a child that hangs */
    expect(hybrid_pin(parents, &byte, 1) == HYBRID_BAD_STATE, "the parent's engine");
    hybrid_engine_destroy(parents);
    expect(create(HYBRID_CUDA, &own) == HYBRID_NO_DEVICE, "CUDA in a child");
    if (create(HYBRID_AUTO, &own) != HYBRID_OK)
        return 1;
    expect(hybrid_engine_backend(own) == HYBRID_HOST, "AUTO in a child");
    expect(strstr(hybrid_engine_device(own), "fork") != NULL, "the reason");
    expect(multiplies(own), "a product in a child");
    hybrid_engine_destroy(own);
    return expect_failed();
}

int main(void)
{
    int status = -1;

    const hybrid_status opened = open_cuda(0, &parents);
    if (opened == HYBRID_NO_DEVICE)
        return SKIP;
    if (opened != HYBRID_OK)
        return 1;
    const pid_t pid = fork(); /* while other threads of the parent may be loading
                                 kernels */
    if (pid == 0)
        _exit(child());
    expect(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "the child");
    expect(multiplies(parents), "a product after the fork");
    hybrid_engine_destroy(parents);
    return expect_failed() > 0;
}
