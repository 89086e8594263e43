/* tests/support/device/cuda_misuse.h - what another user of CUDA in the process may do.
   1: done. */
#ifndef CUDA_MISUSE_H
#define CUDA_MISUSE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Leave an error pending in the calling thread, one that harms nothing. */
int cuda_leave_error(void);

/* Start a kernel that traps, and do not wait for it: the process has no GPU after that.
 */
int cuda_trap(void);

#ifdef __cplusplus
}
#endif
#endif /* CUDA_MISUSE_H */
