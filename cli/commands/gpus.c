/* cli/commands/gpus.c - NVIDIA GPUs that the system shows. */
#include "cli/commands/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCI number of the vendor; upper byte of the PCI class of display controllers */
enum { NVIDIA = 0x10de, DISPLAY = 0x03 };

/* Returns the number of files in `folder` below `root` for which `counts` returns 1; 0 if
   the folder does not exist. */
static int count_entries(const char *root, const char *folder,
                         int (*counts)(const char *path, const char *name))
{
    char path[PATH_MAX];
    const struct dirent *entry;
    int count = 0;

    snprintf(path, sizeof path, "%s%s", root, folder);
    DIR *dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        count += counts(path, entry->d_name);
    if (dir)
        closedir(dir);
    return count;
}

static int is_node(const char *path, const char *name)
{
    (void)path;
    return strncmp(name, "nvidia", 6) == 0 && isdigit((unsigned char)name[6]);
}

/* Returns the number that a file of /sys contains, such as "0x10de"; -1 if there is no
   such file or no number in it. */
static long read_number(const char *path, const char *name, const char *file)
{
    char full[PATH_MAX], line[32] = "";

    if (snprintf(full, sizeof full, "%s/%s/%s", path, name, file) >= (int)sizeof full)
        return -1;
    FILE *stream = fopen(full, "re");
    if (!stream)
        return -1;
    const int read = fgets(line, sizeof line, stream) != NULL;
    fclose(stream);
    return read ? strtol(line, NULL, 16) : -1;
}

static int is_display(const char *path, const char *name)
{
    return name[0] != '.' && read_number(path, name, "vendor") == NVIDIA &&
           read_number(path, name, "class") >> 16 == DISPLAY;
}

static void read_driver(const char *root, char *out, size_t bytes)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", root);
    FILE *file = fopen(path, "re");
    out[0]     = '\0';
    if (!file)
        return;
    if (fgets(out, (int)bytes, file))
        out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

cli_gpus cli_gpus_find(const char *root)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    cli_gpus gpus       = {.hidden = visible && (!visible[0] || visible[0] == '-')};

    gpus.on_bus = count_entries(root, "/sys/bus/pci/devices", is_display);
    gpus.nodes  = count_entries(root, "/dev", is_node);
    read_driver(root, gpus.driver, sizeof gpus.driver);
    return gpus;
}

int cli_gpus_present(const cli_gpus *gpus)
{
    return !gpus->hidden && (gpus->nodes > 0 || (gpus->on_bus > 0 && !gpus->driver[0]));
}
