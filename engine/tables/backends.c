/* engine/tables/backends.c - the table of backends; an engine prefers the first ones. */
#include "engine/tables/tables.h"

extern const hy_backend_ops hy_host_backend_ops;
#if HYBRID_WITH_CUDA
extern const hy_backend_ops hy_cuda_backend_ops;
#endif

const hy_backend_ops *const hy_backends[] = {
#if HYBRID_WITH_CUDA
    &hy_cuda_backend_ops,
#endif
    &hy_host_backend_ops,
    NULL,
};
