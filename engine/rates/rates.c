/* engine/rates/rates.c - built-in and measured speeds, and the user's file. */
#include "engine/rates/rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/site/tenant.h"

/* Replaces a rate of a backend by the measured one, if both are known (above 0). */
static void replace(double *rate, double measured)
{
    if (*rate > 0 && measured > 0)
        *rate = measured;
}

void hy_rates_of(const hy_backend *backend, hy_rates *out)
{
    const hy_measured *m = &backend->measured;

    backend->ops->rates(backend, out);
    out->memory -= hy_smaller(out->memory, hy_tenants_lasting(backend));
    replace(&out->h2d_Bps, m->h2d_Bps);
    replace(&out->d2h_Bps, m->d2h_Bps);
    replace(&out->both_Bps, m->both_Bps);
    replace(&out->mem_Bps, m->mem_Bps);
    replace(&out->flops, m->flops);
    replace(&out->launch_s, m->launch_s);
    out->blocks  = backend->blocks;
    out->factors = &m->factors;
}

/* ---- the user's file ------------------------------------------------------------ */

/* Makes a file name: every run of characters other than letters, digits, points and
   hyphens becomes one underscore. */
static void make_name(char *out, size_t room, const char *device)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    size_t n = 0;

    for (; *device && n + 1 < room; device++)
        if (strchr(plain, *device))
            out[n++] = *device;
        else if (n > 0 && out[n - 1] != '_')
            out[n++] = '_';
    out[n] = '\0';
}

/* Writes the path of the user's file for this device, in HY_RATES_PATH bytes. Returns 0
   if there is no cache folder or the path is too long. */
static int find_users(const hy_backend *backend, char *out)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int own = cache && cache[0] == '/'; /* a relative path must be ignored */
    char name[HY_DEVICE_TEXT];

    if (!own && !(home && home[0] == '/'))
        return 0;
    make_name(name, sizeof name, backend->ops->describe(backend));
    const int n = snprintf(out, HY_RATES_PATH, "%s%s/hybrid_spmm/%s.rates",
                           own ? cache : home, own ? "" : "/.cache", name);
    return n < HY_RATES_PATH;
}

/* ---- loading -------------------------------------------------------------------- */

static const hy_rates_of_device *find(const hy_rates_file *file, const char *device)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->of[i].device, device) == 0)
            return &file->of[i];
    return NULL;
}

static int take(hy_backend *backend, const hy_rates_file *file)
{
    const hy_rates_of_device *of =
        backend ? find(file, backend->ops->describe(backend)) : NULL;

    if (!of)
        return 0;
    backend->measured = of->speeds;
    if (backend->blocks)
        *backend->blocks = of->blocks;
    return 1;
}

static hybrid_status copy_path(hy_context *ctx, const char *path, char *out)
{
    const size_t length = strlen(path);

    if (length >= HY_RATES_PATH)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "the path of the rates file has %zu bytes, and %d is the limit",
                       length, HY_RATES_PATH - 1);
    memcpy(out, path, length + 1);
    return HYBRID_OK;
}

/* Returns 1 if a file could not be read because this version does not know its format. */
static int is_of_other_format(hybrid_status status, const hy_rates_file *file)
{
    return status == HYBRID_BAD_FILE && file->format > 0 &&
           file->format != HY_RATES_FORMAT;
}

/* Reads the file into `room`, and takes the speeds of both backends from it. If `by_name`
   is 1, the user named the file, which must then have the current format and describe a
   backend. Else *ignored becomes 1 if the file has another format. */
static hybrid_status load_from(const char *path, int by_name, hy_backend *host,
                               hy_backend *device, hy_rates_file *room, int *ignored)
{
    const hy_backend *computes = device ? device : host;
    hy_context *ctx            = host->ctx;
    const hybrid_status status = hy_rates_read(ctx, path, room);

    *ignored = !by_name && is_of_other_format(status, room);
    if (*ignored) {
        hy_message_clear(&ctx->message);
        return HYBRID_OK;
    }
    HY_TRY(status);
    const int on_host   = take(host, room);
    const int on_device = take(device, room);
    if (by_name && !on_host && !on_device)
        return hy_fail(
            ctx, HYBRID_BAD_STATE,
            "the rates in '%s' were measured on %s, but this engine computes on %s: run "
            "'hybrid_spmm calibrate' on this machine",
            path, room->of[0].device, computes->ops->describe(computes));
    return HYBRID_OK;
}

hybrid_status hy_rates_load(const char *path, hy_backend *host, hy_backend *device,
                            hy_rates_source *source)
{
    hy_context *ctx   = host->ctx;
    const int by_name = path != NULL;
    char users[HY_RATES_PATH];
    void *room;

    if (!path && (!find_users(device ? device : host, users) || access(users, F_OK) != 0))
        return HYBRID_OK;
    path = path ? path : users;
    if (!path[0])
        return HYBRID_OK;
    HY_TRY(copy_path(ctx, path, source->path));
    HY_TRY(hy_array(ctx, 1, sizeof(hy_rates_file), "a file of rates", &room));
    const hybrid_status status =
        load_from(path, by_name, host, device, room, &source->ignored);
    hy_array_free(ctx, room);
    return status;
}

hybrid_status hy_rates_keep(hy_context *ctx, const char *path, hy_rates_file *file)
{
    struct stat st;
    void *memory;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, 1, sizeof(hy_rates_file), "a file of rates", &memory));
    const hy_rates_file *old = memory;
    hybrid_status status     = hy_rates_read(ctx, path, memory);
    for (int i = 0; status == HYBRID_OK && i < old->count; i++)
        if (file->count < HY_RATES_KEPT && !find(file, old->of[i].device))
            file->of[file->count++] = old->of[i];
    hy_array_free(ctx, memory);
    if (status != HYBRID_BAD_FILE && status != HYBRID_IO_FAILED)
        return status;
    hy_message_clear(&ctx->message); /* the new file replaces the one that is malformed */
    return HYBRID_OK;
}

/* ---- saving --------------------------------------------------------------------- */

/* Makes the folders of `path` that are missing. */
static hybrid_status make_folders(hy_context *ctx, char *path)
{
    for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end             = '\0';
        const int failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        const int error  = errno;
        struct stat st;
        if (failed && stat(path, &st) != 0) /* the folder may exist even if its parent is
                                               read-only */
            return hy_fail(ctx, HYBRID_IO_FAILED, "cannot make the folder '%s': %s", path,
                           strerror(error));
        *end = '/';
    }
    return HYBRID_OK;
}

hybrid_status hy_rates_target(const char *path, const hy_backend *backend, char *out)
{
    hy_context *ctx = backend->ctx;

    if (path)
        return copy_path(ctx, path, out);
    if (!find_users(backend, out))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "there is no cache folder: set XDG_CACHE_HOME or HOME, or name a "
                       "file for the rates");
    return make_folders(ctx, out);
}
