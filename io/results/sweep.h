/* io/results/sweep.h - removes folders of panels (files of rows of a result) that killed
   processes have left. */
#ifndef HY_SWEEP_H
#define HY_SWEEP_H

/* First characters of the name of a folder of panels that are not resumed. Six more
   characters follow. */
#define HY_PANELS_PREFIX "hybrid_spmm-"

/* Removes from `folder` all folders whose names begin with HY_PANELS_PREFIX and whose
   manifest no process has locked. Errors are ignored, because other users may own the
   folders. */
void hy_sweep(const char *folder);

#endif /* HY_SWEEP_H */
