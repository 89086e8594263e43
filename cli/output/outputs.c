/* cli/output/outputs.c - output files that appear when they are complete. */
#include "cli/output/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/say.h"

enum {
    SLOTS        = 4,
    ENDING_BYTES = sizeof ".2147483647.partial" - 1,
    HASH_BYTES   = sizeof ".0123456789abcdef" - 1
};

/* paths of partial files, which the handler of a signal removes */
static char *volatile partials[SLOTS];

void cli_outputs_remove_now(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (partials[i])
            unlink(partials[i]);
}

/* ---- one output ------------------------------------------------------------------ */

static int fail_write(const char *path)
{
    return cli_fail(CLI_FILE, "cannot write '%s': %s", path, strerror(errno));
}

static int no_memory(void)
{
    return cli_fail(CLI_MEMORY, "cannot allocate memory for the name of a file; free "
                                "some memory on this machine");
}

int cli_is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

cli_title cli_output_title(const char *name)
{
    return cli_title_of(name, "standard output");
}

/* Claims standard output, which must be open. Returns 0 or an exit code. */
static int claim_standard(cli_output *out)
{
    *out        = (cli_output)CLI_OUTPUT_NONE;
    out->path   = strdup("/dev/stdout");
    out->shared = 1;
    if (!out->path)
        return no_memory();
    if (fcntl(STDOUT_FILENO, F_GETFL) >= 0)
        return CLI_DONE;
    const int code =
        cli_fail(CLI_FILE, "cannot write to standard output: %s", strerror(errno));
    cli_output_close(out);
    return code;
}

/* Claims a device or a pipe. It is written directly, and is not opened yet: opening may
   block, and the program at its other end would notice. */
static int claim_special(const struct stat *st, cli_output *out)
{
    if (S_ISDIR(st->st_mode))
        errno = EISDIR;
    else if (access(out->path, W_OK) == 0)
        return CLI_DONE;
    return fail_write(out->path);
}

/* Returns the beginning of the partial names of `path`: the path itself or, if its name
   is too long, the first bytes of the name and its hash (FNV-1a). NULL if there is no
   memory. */
static char *make_stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    uint64_t hash = 0xcbf29ce484222325u;
    char *stem;

    if (strlen(name) <= NAME_MAX - ENDING_BYTES)
        return strdup(path);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    const int kept = (int)(name - path) + NAME_MAX - ENDING_BYTES - HASH_BYTES;
    return asprintf(&stem, "%.*s.%016" PRIx64, kept, path, hash) < 0 ? NULL : stem;
}

/* Returns 1 if the name is "<stem>.<process>.partial". */
static int is_partial(const char *name, const char *stem)
{
    const size_t length = strlen(stem);

    if (strncmp(name, stem, length) != 0 || name[length] != '.')
        return 0;
    name += length + 1;
    const size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, ".partial") == 0;
}

/* Removes the file `name` in the folder, unless a running program has locked it. */
static void remove_left(int folder, const char *name)
{
    struct stat st;
    const int fd = openat(folder, name, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

/* Removes partial files with this stem that killed programs left. Does nothing if the
   folder cannot be read. */
static void remove_all_left(const char *stem)
{
    const char *slash = strrchr(stem, '/');
    char *path        = slash ? strndup(stem, (size_t)(slash - stem) + 1) : strdup(".");
    DIR *folder       = path ? opendir(path) : NULL;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (is_partial(entry->d_name, slash ? slash + 1 : stem))
            remove_left(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
    free(path);
}

/* Creates the partial file and locks it. Another program may remove the file between the
   two steps, because it takes it for a leftover; then a new file is created. */
static int lock_partial(cli_output *out)
{
    struct stat st;

    for (;;) {
        out->lock =
            open(out->partial, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (out->lock < 0)
            return fail_write(out->path);
        flock(out->lock, LOCK_SH); /* an error does not matter, because some file systems
                                      have no locks */
        if (fstat(out->lock, &st) != 0 || st.st_nlink > 0)
            return CLI_DONE;
        close(out->lock);
    }
}

/* Claims a regular file: chooses the name of its partial file and creates the file. The
   name is added to `partials` before the file exists, so that a signal handler can remove
   the file at any moment. */
static int claim_partial(cli_output *out)
{
    char *stem = make_stem(out->path);
    int slot   = 0;

    while (slot < SLOTS && partials[slot])
        slot++;
    if (!stem || slot == SLOTS ||
        asprintf(&out->partial, "%s.%ld.partial", stem, (long)getpid()) < 0) {
        out->partial = NULL;
        free(stem);
        return no_memory();
    }
    out->slot      = slot;
    partials[slot] = out->partial;
    remove_all_left(stem);
    free(stem);
    return lock_partial(out);
}

int cli_output_claim(const char *path, cli_output *out)
{
    struct stat st;

    if (cli_is_standard_output(path))
        return claim_standard(out);
    const int exists = stat(path, &st) == 0, error = errno;
    const int special = exists && !S_ISREG(st.st_mode);

    *out = (cli_output)CLI_OUTPUT_NONE;
    if (!exists && lstat(path, &st) == 0)
        return cli_fail(CLI_FILE,
                        "cannot write '%s', a symbolic link, because of its target: %s",
                        path, strerror(error));
    if (exists && !special &&
        (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0))
        return cli_fail(CLI_FILE,
                        "'%s' leads to a regular file: give the name of that file", path);
    /* if `path` is a link, the file to which it leads will be replaced, not the link */
    out->path = exists && !special ? realpath(path, NULL) : strdup(path);
    if (!out->path)
        return errno == ENOMEM ? no_memory() : fail_write(path);
    const int code = special ? claim_special(&st, out) : claim_partial(out);
    if (code != CLI_DONE)
        cli_output_close(out);
    return code;
}

/* Returns the path with all links resolved. If the file does not exist, only its folder
   is resolved. NULL if there is no such folder or no memory. */
static char *resolved(const char *path)
{
    char *whole       = realpath(path, NULL);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *copy   = whole ? NULL : strndup(path, (size_t)(name - path));
    char *folder = copy ? realpath(*copy ? copy : ".", NULL) : NULL;

    if (folder && asprintf(&whole, "%s/%s", folder, name) < 0)
        whole = NULL;
    free(copy);
    free(folder);
    return whole;
}

int cli_outputs_same(const char *a, const char *b)
{
    if (a && b && (cli_is_standard_output(a) || cli_is_standard_output(b)))
        return cli_is_standard_output(a) && cli_is_standard_output(b);
    char *first = a && b ? resolved(a) : NULL, *second = first ? resolved(b) : NULL;
    const int same = second ? strcmp(first, second) == 0 : a && b && strcmp(a, b) == 0;

    free(first);
    free(second);
    return same;
}

FILE *cli_output_stream(cli_output *output)
{
    output->file = output->shared
                       ? stdout
                       : fopen(output->partial ? output->partial : output->path, "we");
    if (!output->file)
        fail_write(output->path);
    return output->file;
}

int cli_output_publish(cli_output *output)
{
    const int bad = ferror(output->file); /* errno is then that of the last write, or
                                             0 */

    errno            = !bad ? 0 : errno != 0 ? errno : EIO;
    const int closed = output->shared ? fflush(output->file) : fclose(output->file);
    output->file     = NULL;
    if (closed != 0 || bad ||
        (output->partial && rename(output->partial, output->path) != 0))
        return fail_write(output->path);
    cli_output_close(output);
    return CLI_DONE;
}

void cli_output_close(cli_output *output)
{
    if (output->file && !output->shared)
        fclose(output->file);
    if (output->slot >= 0) {
        unlink(output->partial);
        partials[output->slot] = NULL;
    }
    if (output->lock >= 0)
        close(output->lock);
    free(output->partial);
    free(output->path);
    *output = (cli_output)CLI_OUTPUT_NONE;
}
