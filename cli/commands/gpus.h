/* cli/commands/gpus.h - what the system shows of NVIDIA GPUs, whether or not the library
   can use them. */
#ifndef CLI_GPUS_H
#define CLI_GPUS_H

typedef struct cli_gpus {
    int on_bus;       /* display controllers of NVIDIA on the PCI bus */
    int nodes;        /* device files /dev/nvidia0, /dev/nvidia1, ... of this process */
    int hidden;       /* 1: CUDA_VISIBLE_DEVICES hides all of them */
    char driver[128]; /* line of the kernel driver that names its version; "" = not loaded */
} cli_gpus;

/* Looks below `root`: "" or a folder of a test in which /dev, /proc and /sys lie. */
cli_gpus cli_gpus_look(const char *root);

/* Returns 1 if a GPU is there for this process, although the library may fail to use it: it
   has a device file, or it is on the bus and no driver is loaded. A container without a GPU
   on a machine with one has no device files, and there the driver is loaded. */
int cli_gpus_present(const cli_gpus *gpus);

#endif /* CLI_GPUS_H */
