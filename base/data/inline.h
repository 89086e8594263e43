/* base/data/inline.h - marks functions in headers that kernels call too. */
#ifndef HY_INLINE_H
#define HY_INLINE_H

#ifdef __CUDACC__
#define HY_KERNEL_INLINE static inline __host__ __device__
#else
#define HY_KERNEL_INLINE static inline
#endif

#endif /* HY_INLINE_H */
