/* tests/support/device/cuda_misuse.h - harmful things that other CUDA code of a process
   may do.

   Functions return 1 on success. */
#ifndef CUDA_MISUSE_H
#define CUDA_MISUSE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Leaves a harmless error pending in the calling thread: a failed allocation. */
int cuda_leave_error(void);

/* Starts a kernel that traps and does not wait for it. The process cannot use the GPU
   afterwards. */
int cuda_trap(void);

#ifdef __cplusplus
}
#endif
#endif /* CUDA_MISUSE_H */
