/* cli/commands/gpus.h - NVIDIA GPUs that the system shows, usable or not. */
#ifndef CLI_GPUS_H
#define CLI_GPUS_H

typedef struct cli_gpus {
    int on_bus;       /* display controllers of NVIDIA on the PCI bus */
    int nodes;        /* device files /dev/nvidia0, /dev/nvidia1, ... of this process */
    int hidden;       /* 1: CUDA_VISIBLE_DEVICES hides all of them */
    char driver[128]; /* driver's line with its version; "" if no driver is loaded */
} cli_gpus;

/* Examines the system below `root`: "", or a test's folder with /dev, /proc and /sys. */
cli_gpus cli_gpus_find(const char *root);

/* Returns 1 if this process has a GPU, even if the library cannot use it: a device file
   exists, or a GPU is on the bus and no driver is loaded. A container without GPUs on a
   machine with GPUs has no device files although the driver is loaded. */
int cli_gpus_present(const cli_gpus *gpus);

#endif /* CLI_GPUS_H */
