/* cli/commands/gpus.h - NVIDIA GPUs that the system shows, whether or not the library can
   use them. */
#ifndef CLI_GPUS_H
#define CLI_GPUS_H

typedef struct cli_gpus {
    int on_bus;       /* number of NVIDIA's display controllers on the PCI bus */
    int nodes;        /* number of device files /dev/nvidia0, /dev/nvidia1, ... that this
                         process sees */
    int hidden;       /* 1: CUDA_VISIBLE_DEVICES hides all GPUs */
    char driver[128]; /* line of /proc with the driver's version; "" if no driver is
                         loaded */
} cli_gpus;

/* Finds the GPUs of the system below the folder `root`: "" for this system, or a test's
   folder with /dev, /proc and /sys. */
cli_gpus cli_gpus_find(const char *root);

/* Returns 1 if this process has a GPU, even if the library cannot use it: a device file
   exists, or a GPU is on the bus and no driver is loaded. A container without GPUs on a
   machine with GPUs has no device files although the driver is loaded. */
int cli_gpus_present(const cli_gpus *gpus);

#endif /* CLI_GPUS_H */
