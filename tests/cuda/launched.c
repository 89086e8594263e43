/* tests/cuda/launched.c - records which kernels a program launches.

   It is linked with --wrap: the code that nvcc generates registers each kernel with the
   runtime when the program is loaded, and asks for it before the first launch. With
   HYBRID_KERNELS=FOLDER in the environment the program writes FOLDER/all.PID and
   FOLDER/launched.PID, one mangled name per line. Without it nothing is recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Prototypes of functions of CUDA's runtime (crt/host_runtime.h), with opaque types. The
   functions below call them with unchanged arguments. */
void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int,
                                   void *, void *, void *, void *, int *);
void __wrap___cudaRegisterFunction(void **, const char *, char *, const char *, int,
                                   void *, void *, void *, void *, int *);
int __real___cudaGetKernel(void **, const void *);
int __wrap___cudaGetKernel(void **, const void *);
int __real_cudaLaunchKernelExC(const void *, const void *, void **);
int __wrap_cudaLaunchKernelExC(const void *, const void *, void **);

enum { ROOM = 8192 };

/* A kernel's mangled name, and the address of its host function, by which CUDA's runtime
   identifies it. */
typedef struct kernel {
    const void *function;
    const char *name;
    int launched;
} kernel;

static kernel kernels[ROOM];
static int count;

static void write_names(const char *folder, const char *what, int launched)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.%ld", folder, what, (long)getpid());
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    for (int i = 0; i < count; i++)
        if (!launched || __atomic_load_n(&kernels[i].launched, __ATOMIC_RELAXED))
            fprintf(file, "%s\n", kernels[i].name);
    if (fclose(file) != 0)
        abort();
}

static void tell(void)
{
    const char *folder = getenv("HYBRID_KERNELS");

    write_names(folder, "all", 0);
    write_names(folder, "launched", 1);
}

static void launch(const void *function)
{
    for (int i = 0; i < count; i++)
        if (kernels[i].function == function)
            __atomic_store_n(&kernels[i].launched, 1, __ATOMIC_RELAXED);
}

void __wrap___cudaRegisterFunction(void **module, const char *function, char *on_device,
                                   const char *name, int limit, void *thread, void *block,
                                   void *block_dim, void *grid_dim, int *warp)
{
    if (count == 0 && getenv("HYBRID_KERNELS"))
        atexit(tell);
    if (count == ROOM)
        abort();
    kernels[count++] = (kernel){function, name, 0};
    __real___cudaRegisterFunction(module, function, on_device, name, limit, thread, block,
                                  block_dim, grid_dim, warp);
}

int __wrap___cudaGetKernel(void **handle, const void *function)
{
    launch(function);
    return __real___cudaGetKernel(handle, function);
}

int __wrap_cudaLaunchKernelExC(const void *config, const void *function, void **arguments)
{
    launch(function);
    return __real_cudaLaunchKernelExC(config, function, arguments);
}
