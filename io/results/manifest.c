/* io/results/manifest.c - the list of finished panels (files of rows) of a result. */
#include "io/results/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/results/durable.h"

enum {
    LINE_BYTES = 128,    /* maximum bytes of a line of a panel */
    MOST_BYTES = 1 << 28 /* maximum bytes of a manifest */
};

/* ---- facts ------------------------------------------------------------------------- */

/* Returns the number of bytes of the facts, which are the first lines of `text`, with the
   empty line that ends them. 0 if there is no such line. */
static size_t facts_of(const char *text)
{
    const char *end = strstr(text, "\n\n");
    return end ? (size_t)(end + 2 - text) : 0;
}

/* Refuses a manifest whose facts differ from `facts`, and names the first line that
   does. */
static hybrid_status check_facts(const hy_manifest *m, const char *text,
                                 const char *facts)
{
    while (*text != '\n' || *facts) {
        const size_t had = strcspn(text, "\n"), has = strcspn(facts, "\n");
        if (had != has || memcmp(text, facts, had) != 0)
            return hy_fail(m->ctx, HYBRID_BAD_STATE,
                           "%s: these panels belong to another product: they were made "
                           "with '%.*s', and now there is '%.*s'; give the same operands "
                           "and options, or remove the folder to begin again",
                           m->path, (int)had, text, (int)has, facts);
        text += had + 1;
        facts += has + 1;
    }
    return HYBRID_OK;
}

/* ---- lines of panels --------------------------------------------------------------- */

static hybrid_status keep(hy_manifest *m, const hy_panel_record *panel)
{
    if (m->count == m->room) {
        const int64_t room = 64 + 2 * m->room;
        void *more;
        HY_TRY(hy_array(m->ctx, room, sizeof *panel, "the list of panels", &more));
        if (m->count > 0)
            memcpy(more, m->panels, (size_t)m->count * sizeof *panel);
        hy_array_free(m->ctx, m->panels);
        m->panels = more;
        m->room   = room;
    }
    m->panels[m->count++] = *panel;
    return HYBRID_OK;
}

static int print_line(char *line, int64_t number, const hy_panel_record *panel)
{
    return snprintf(line, LINE_BYTES,
                    "panel %" PRId64 " rows %" PRId64 " nnz %" PRId64 " hash %016" PRIx64
                    "\n",
                    number, panel->rows, panel->nnz, panel->hash);
}

/* Reads the line at `text`. A valid line is exactly what print_line() writes. */
static hybrid_status take_line(hy_manifest *m, const char *text)
{
    hy_panel_record panel = {0, 0, 0};
    char line[LINE_BYTES];
    int64_t number;

    if (sscanf(text, "panel %" SCNd64 " rows %" SCNd64 " nnz %" SCNd64 " hash %" SCNx64,
               &number, &panel.rows, &panel.nnz, &panel.hash) == 4 &&
        panel.rows > 0 && panel.nnz >= 0) {
        const int bytes = print_line(line, m->count, &panel);
        if (strncmp(text, line, (size_t)bytes) == 0)
            return keep(m, &panel);
    }
    return hy_fail(m->ctx, HYBRID_BAD_FILE,
                   "%s: the line of panel %lld is damaged; remove the folder to begin "
                   "again",
                   m->path, (long long)m->count);
}

/* Reads the complete lines from `text` on. *bytes receives their length in bytes. */
static hybrid_status take_lines(hy_manifest *m, const char *text, size_t *bytes)
{
    const char *at = text;

    for (const char *end; (end = strchr(at, '\n')); at = end + 1)
        HY_TRY(take_line(m, at));
    *bytes = (size_t)(at - text);
    return HYBRID_OK;
}

/* ---- the file ---------------------------------------------------------------------- */

static hybrid_status read_text(const hy_manifest *m, size_t bytes, char **out)
{
    void *array;
    size_t have = 0;

    HY_TRY(hy_array(m->ctx, (int64_t)bytes + 1, 1, "the list of panels", &array));
    *out = array;
    while (have < bytes) {
        const ssize_t got = pread(m->fd, *out + have, bytes - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    (*out)[have] = '\0';
    return HYBRID_OK;
}

static hybrid_status begin(const hy_manifest *m, const char *facts)
{
    if (ftruncate(m->fd, 0) != 0 || lseek(m->fd, 0, SEEK_SET) != 0)
        return hy_fail_system(m->ctx, m->path, "write");
    HY_TRY(hy_write_all(m->ctx, m->fd, m->path, facts, strlen(facts)));
    HY_TRY(hy_write_all(m->ctx, m->fd, m->path, "\n", 1));
    if (fsync(m->fd) != 0)
        return hy_fail_system(m->ctx, m->path, "write");
    return hy_sync_folder_of(m->ctx, m->path);
}

/* Takes over the panels of a manifest whose text is `text`. A manifest whose facts are
   incomplete has no panels and is begun again. */
static hybrid_status take_over(hy_manifest *m, const char *text, const char *facts)
{
    const size_t head = facts_of(text);
    size_t lines;

    if (head == 0)
        return begin(m, facts);
    HY_TRY(check_facts(m, text, facts));
    HY_TRY(take_lines(m, text + head, &lines));
    if (ftruncate(m->fd, (off_t)(head + lines)) != 0 || lseek(m->fd, 0, SEEK_END) < 0)
        return hy_fail_system(m->ctx, m->path, "write");
    return HYBRID_OK;
}

static hybrid_status open_file(hy_manifest *m, const char *facts)
{
    struct stat st;
    char *text = NULL;

    m->fd = open(m->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (m->fd < 0 || fstat(m->fd, &st) != 0)
        return hy_fail_system(m->ctx, m->path, "write");
    if (flock(m->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return hy_fail(m->ctx, HYBRID_BAD_STATE,
                       "%s: another program is writing these panels", m->path);
    if (st.st_size > MOST_BYTES)
        return hy_fail(m->ctx, HYBRID_BAD_FILE, "%s: is no list of panels", m->path);
    HY_TRY(read_text(m, (size_t)st.st_size, &text));
    const hybrid_status status = take_over(m, text, facts);
    hy_array_free(m->ctx, text);
    return status;
}

hybrid_status hy_manifest_open(hy_context *ctx, const char *path, const char *facts,
                               hy_manifest *out)
{
    *out = (hy_manifest){.ctx = ctx, .fd = -1};
    HY_TRY(hy_join(ctx, path, "", &out->path));
    const hybrid_status status = open_file(out, facts);
    if (status != HYBRID_OK)
        hy_manifest_close(out);
    return status;
}

hybrid_status hy_manifest_add(hy_manifest *m, const hy_panel_record *panel)
{
    char line[LINE_BYTES];
    const int bytes = print_line(line, m->count, panel);

    HY_TRY(hy_write_all(m->ctx, m->fd, m->path, line, (size_t)bytes));
    if (fdatasync(m->fd) != 0)
        return hy_fail_system(m->ctx, m->path, "write");
    return keep(m, panel);
}

void hy_manifest_close(hy_manifest *m)
{
    if (!m->ctx)
        return;
    if (m->fd >= 0)
        close(m->fd);
    hy_array_free(m->ctx, m->panels);
    hy_array_free(m->ctx, m->path);
    *m = (hy_manifest){.fd = -1};
}
