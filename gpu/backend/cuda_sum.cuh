/* gpu/backend/cuda_sum.cuh - the first addition to an entry of C in SpGEMM. */
#ifndef HY_CUDA_SUM_CUH
#define HY_CUDA_SUM_CUH

/* Returns +0 + product, the sum after the first scalar product of an entry. A sum that
   begins so is never -0. The intrinsic keeps the compiler from fusing the addition with
   the multiplication, because a fused operation would not round the scalar product. */
static __device__ inline float hy_sum_begun(float product)
{
    return __fadd_rn(product, 0.0f);
}

static __device__ inline double hy_sum_begun(double product)
{
    return __dadd_rn(product, 0.0);
}

#endif /* HY_CUDA_SUM_CUH */
