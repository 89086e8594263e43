/* gpu/backend/cuda_backend.cuh - declarations that the files of the CUDA backend
   share. */
#ifndef HY_CUDA_BACKEND_CUH
#define HY_CUDA_BACKEND_CUH

#include "gpu/backend/cuda_device.cuh"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_memory.cuh"

/* Most of these functions are members of hy_backend_ops (base/contract/backend.h), which
   explains them. */
/* hy_cuda_measure() is defined in cuda_measure.cu, hy_cuda_measure_blocks() in
   gpu/papers/spmv_measure.cu */
hybrid_status hy_cuda_measure(hy_backend *self, hy_measured *out);
hybrid_status hy_cuda_measure_blocks(hy_backend *self, hy_block_speeds *out);
hybrid_status hy_cuda_pin(hy_backend *self, void *ptr, size_t bytes);
void hy_cuda_unpin(hy_backend *self, void *ptr);
hy_get_attributes hy_cuda_find_attributes();
size_t hy_cuda_pinned(hy_backend *self, const void *ptr, size_t bytes);

/* hy_cuda_set_epoch() to hy_cuda_mark_ns() are defined in cuda_marks.cu.
   hy_cuda_set_epoch() reads the device's clock and the host's clock at the same moment,
   so that times of marks can be converted to the host's clock. */
hybrid_status hy_cuda_set_epoch(cuda_backend *b);
hybrid_status hy_cuda_mark_new(hy_backend *self, hy_mark **out);
void hy_cuda_mark_free(hy_mark *mark);
hybrid_status hy_cuda_mark_set(hy_lane *self, hy_mark *mark);
hybrid_status hy_cuda_mark_untimed(hy_lane *self, hy_mark *mark);
hybrid_status hy_cuda_lane_wait(hy_lane *self, hy_mark *mark);
hybrid_status hy_cuda_host_wait(hy_mark *mark);
hybrid_status hy_cuda_mark_reached(hy_mark *mark, int *out);
int64_t hy_cuda_mark_ns(const hy_mark *mark);

/* hy_cuda_holds() to hy_cuda_free_result() are defined in cuda_space.cu, hy_cuda_hash()
   in cuda_hash.cu */
hy_held hy_cuda_holds(hy_backend *self, const void *ptr);
hybrid_status hy_cuda_fetch(hy_backend *self, void *to, const void *from, size_t bytes);
hybrid_status hy_cuda_follow(hy_backend *self, void *stream);
hybrid_status hy_cuda_reached(hy_backend *self, int *out);
hybrid_status hy_cuda_pool_open(cuda_backend *b);
void hy_cuda_pool_trim(const cuda_backend *b);
hybrid_status hy_cuda_alloc_result(hy_backend *self, size_t bytes, const char *what,
                                   void **out);
void hy_cuda_free_result(hy_backend *self, void *ptr);
hybrid_status hy_cuda_hash(hy_backend *self, const hybrid_csr *A, uint64_t *out);
/* defined in cuda_survey.cu */
hybrid_status hy_cuda_survey(hy_lane *self, const hy_surveying *s);
enum {
    HY_CUDA_SURVEYORS = 264, /* survey (hy_survey): at most this many thread blocks count
                                rows of A; each writes one hy_survey */
    HY_CUDA_DRAWS = 128,     /* survey (hy_survey): this many thread blocks each count the
                                entries of one sampled row of C */
    HY_CUDA_SURVEY_BYTES = 256 + (HY_CUDA_SURVEYORS + HY_CUDA_DRAWS) * 72
};

#endif /* HY_CUDA_BACKEND_CUH */
