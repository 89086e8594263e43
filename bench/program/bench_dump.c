/* bench/program/bench_dump.c - writes a matrix as .npy arrays, for peers.py. */
#include "bench/program/bench.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 1024, ALIGNED = 64 };

static int complain(const char *path)
{
    fprintf(stderr, "hybrid_spmm_bench: %s: %s\n", path, strerror(errno));
    return -1;
}

static int make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : complain(path);
}

/* Writes a name in which characters that are special in paths are replaced by '_'. */
static void slug(const char *name, char *out, size_t size)
{
    size_t n = 0;

    for (; *name && n + 1 < size; name++)
        out[n++] = *name == ':' || *name == ',' || *name == '/' ? '_' : *name;
    out[n] = '\0';
}

static int write_all(const char *path, const char *head, size_t head_bytes,
                     const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    if (!f)
        return complain(path);
    const int bad = fwrite(head, 1, head_bytes, f) != head_bytes ||
                    (bytes && fwrite(data, 1, bytes, f) != bytes);
    return fclose(f) != 0 || bad ? complain(path) : 0;
}

/* Writes a vector of `count` elements. `descr` is NumPy's name of their type. */
static int write_npy(const char *folder, const char *name, const char *descr,
                     const void *data, size_t count, size_t size)
{
    char path[PATH], head[2 * ALIGNED + 1], dict[ALIGNED + ALIGNED / 2];
    const size_t preamble = 10; /* bytes before the dictionary: magic, version, length of
                                   the dictionary */

    if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return complain(folder);
    }
    snprintf(dict, sizeof dict,
             "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }", descr, count);
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)(2 * ALIGNED - (int)preamble);
    head[9] = 0;
    snprintf(head + preamble, sizeof head - preamble, "%-*s\n",
             2 * ALIGNED - (int)preamble - 1, dict);
    return write_all(path, head, 2 * (size_t)ALIGNED, data, count * size);
}

int bench_dump(const bench_problem *problem, const char *folder)
{
    const hybrid_csr *A    = &problem->A;
    const int64_t shape[2] = {A->rows, A->cols};
    const int f64          = A->type == HYBRID_F64;
    char name[BENCH_NAME], path[PATH / 2], text[PATH];

    slug(problem->name, name, sizeof name);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return complain(folder);
    }
    if (make_folder(folder) || make_folder(path))
        return -1;
    snprintf(text, sizeof text, "%s/problem.txt", path);
    return write_all(text, problem->name, strlen(problem->name), NULL, 0) ||
                   write_npy(path, "shape", "<i8", shape, 2, 8) ||
                   write_npy(path, "row_ptr", "<i8", A->row_ptr, (size_t)A->rows + 1,
                             8) ||
                   write_npy(path, "col", "<i4", A->col, (size_t)A->nnz, 4) ||
                   write_npy(path, "val", f64 ? "<f8" : "<f4", A->val, (size_t)A->nnz,
                             f64 ? 8 : 4)
               ? -1
               : 0;
}
