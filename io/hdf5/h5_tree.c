/* io/hdf5/h5_tree.c - finds groups and datasets, and reads attributes. */
#include "io/hdf5/h5_tree.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20, MOST_LISTED = 10000, MOST_NAME = 512 };
enum { MOST_PATH = 128 }; /* maximum bytes of a path that is listed */

/* ---- paths ------------------------------------------------------------------------- */

/* A link must exist before its object can be looked up, at each level of the path. */
int hy_h5_exists(const hy_h5_file *file, const char *path)
{
    char part[MOST_NAME];

    if (strlen(path) >= sizeof part)
        return 0;
    for (const char *p = path + strspn(path, "/"); *p; p += strspn(p, "/")) {
        p += strcspn(p, "/");
        snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
        if (H5Lexists(file->id, part, H5P_DEFAULT) <= 0 ||
            H5Oexists_by_name(file->id, part, H5P_DEFAULT) <= 0)
            return 0;
    }
    return 1;
}

int hy_h5_is_group(const hy_h5_file *file, const char *path)
{
    H5O_info_t info;

    return hy_h5_exists(file, path) &&
           H5Oget_info_by_name(file->id, path, &info, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_GROUP;
}

int hy_h5_holds(const hy_h5_file *file, const char *group, const char *name)
{
    char path[MOST_NAME];

    return snprintf(path, sizeof path, "%s/%s", group, name) < (int)sizeof path &&
           hy_h5_exists(file, path);
}

hybrid_status hy_h5_join(hy_context *ctx, const char *group, const char *name, char **out)
{
    const size_t bytes = strlen(group) + strlen(name) + 2;
    void *path;

    HY_TRY(hy_array(ctx, (int64_t)bytes, 1, "the name of a file", &path));
    *out = path;
    snprintf(*out, bytes, "%s%s%s", group, group[strlen(group) - 1] == '/' ? "" : "/",
             name);
    return HYBRID_OK;
}

/* ---- attributes -------------------------------------------------------------------- */

/* Copies `bytes` bytes of text, which may end with zeros, and adds a 0. */
static hybrid_status keep_text(const hy_h5_file *file, const char *text, size_t bytes,
                               char **out)
{
    const size_t length = strnlen(text, bytes);
    void *copy;

    HY_TRY(hy_array(file->ctx, (int64_t)length + 1, 1, "a part of a file", &copy));
    *out           = memcpy(copy, text, length);
    (*out)[length] = '\0';
    return HYBRID_OK;
}

static hybrid_status read_variable(const hy_h5_file *file, hid_t attribute, hid_t type,
                                   const char *name, char **out)
{
    char *text = NULL;

    if (H5Aread(attribute, type, &text) < 0 || !text)
        return hy_h5_fail(file, "libhdf5 cannot read the attribute '%s'", name);
    const size_t bytes         = strnlen(text, MOST_TEXT);
    const hybrid_status status = keep_text(file, text, bytes, out);
    (void)H5free_memory(text);
    return status;
}

static hybrid_status read_fixed(const hy_h5_file *file, hid_t attribute, hid_t type,
                                const char *name, char **out)
{
    const size_t bytes   = H5Tget_size(type);
    hybrid_status status = HYBRID_OK;
    void *text;

    HY_TRY(hy_array(file->ctx, (int64_t)bytes, 1, "a part of a file", &text));
    if (H5Aread(attribute, type, text) < 0)
        status = hy_h5_fail(file, "libhdf5 cannot read the attribute '%s'", name);
    else
        status = keep_text(file, text, bytes, out);
    hy_array_free(file->ctx, text);
    return status;
}

static hybrid_status read_text(const hy_h5_file *file, hid_t attribute, hid_t type,
                               const char *object, const char *name, char **out)
{
    const hid_t space    = H5Aget_space(attribute);
    const int is_one     = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    const int is_text    = type >= 0 && H5Tget_class(type) == H5T_STRING;
    const htri_t is_long = is_text ? H5Tis_variable_str(type) : -1;

    if (space >= 0)
        (void)H5Sclose(space);
    if (!is_one || is_long < 0 || (is_long == 0 && H5Tget_size(type) > MOST_TEXT))
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: attribute '%s' of '%s' is not one text of at most 1 MiB",
                       file->path, name, object);
    return (is_long ? read_variable : read_fixed)(file, attribute, type, name, out);
}

/* Opens the attribute. *out is below 0 if the object does not have it. */
static hybrid_status open_attribute(const hy_h5_file *file, const char *object,
                                    const char *name, hid_t *out)
{
    const htri_t exists = H5Aexists_by_name(file->id, object, name, H5P_DEFAULT);

    *out = -1;
    if (exists > 0)
        *out = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT);
    return exists == 0 || *out >= 0
               ? HYBRID_OK
               : hy_h5_fail(file, "libhdf5 cannot open the attribute '%s'", name);
}

hybrid_status hy_h5_text(const hy_h5_file *file, const char *object, const char *name,
                         char **out)
{
    hid_t attribute;

    *out = NULL;
    HY_TRY(open_attribute(file, object, name, &attribute));
    if (attribute < 0)
        return HYBRID_OK;
    const hid_t type           = H5Aget_type(attribute);
    const hybrid_status status = read_text(file, attribute, type, object, name, out);
    if (type >= 0)
        (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    return status;
}

static int read_sizes(hid_t attribute, int64_t *out)
{
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const int is_good = type >= 0 && H5Tget_class(type) == H5T_INTEGER && space >= 0 &&
                        H5Sget_simple_extent_npoints(space) == 2 &&
                        H5Aread(attribute, H5T_NATIVE_INT64, out) >= 0;

    if (type >= 0)
        (void)H5Tclose(type);
    if (space >= 0)
        (void)H5Sclose(space);
    return is_good && out[0] >= 0 && out[1] >= 0;
}

hybrid_status hy_h5_sizes(const hy_h5_file *file, const char *object, const char *name,
                          int64_t *out, int *found)
{
    hid_t attribute;

    HY_TRY(open_attribute(file, object, name, &attribute));
    *found = attribute >= 0;
    if (!*found)
        return HYBRID_OK;
    const int is_good = read_sizes(attribute, out);
    (void)H5Aclose(attribute);
    return is_good
               ? HYBRID_OK
               : hy_fail(file->ctx, HYBRID_BAD_FILE,
                         "%s: attribute '%s' of '%s' is not two integers of 0 or more",
                         file->path, name, object);
}

/* ---- lists ------------------------------------------------------------------------- */

typedef struct listing {
    const hy_h5_file *file;
    char *text;
    size_t bytes, length;
    int visited;
} listing;

static int has_two_axes(hid_t root, const char *path)
{
    const hid_t dataset = H5Dopen2(root, path, H5P_DEFAULT);
    const hid_t space   = dataset >= 0 ? H5Dget_space(dataset) : -1;
    const int axes      = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;

    if (space >= 0)
        (void)H5Sclose(space);
    if (dataset >= 0)
        (void)H5Dclose(dataset);
    return axes == 2;
}

/* Appends the path to the list. Returns 0 if the text has no room for it. */
static int append(listing *l, const char *path)
{
    const size_t needed = strlen(path) + (l->length ? 2 : 0);

    if (l->length + needed + 6 > l->bytes) {
        snprintf(l->text + l->length, l->bytes - l->length, "%s...",
                 l->length ? ", " : "");
        return 0;
    }
    l->length += (size_t)snprintf(l->text + l->length, l->bytes - l->length, "%s%s",
                                  l->length ? ", " : "", path);
    return 1;
}

static herr_t visit(hid_t root, const char *path, const H5O_info_t *info, void *list)
{
    listing *l = list;
    int is_matrix;

    if (++l->visited > MOST_LISTED || strlen(path) > MOST_PATH)
        return 1; /* time would grow with the square of the depth */
    if (info->type == H5O_TYPE_DATASET)
        is_matrix = has_two_axes(root, path);
    else
        is_matrix =
            info->type == H5O_TYPE_GROUP &&
            (hy_h5_holds(l->file, path, "data") || hy_h5_holds(l->file, path, "values"));
    return is_matrix && strcmp(path, ".") != 0 ? !append(l, path) : 0;
}

void hy_h5_list_matrices(const hy_h5_file *file, char *text, size_t bytes)
{
    listing l = {file, text, bytes, 0, 0};

    snprintf(text, bytes, "none");
    (void)H5Ovisit2(file->id, H5_INDEX_NAME, H5_ITER_INC, visit, &l, H5O_INFO_BASIC);
}

typedef struct search {
    const hy_h5_file *file;
    const char *name;
    char *found;
    size_t bytes;
    int count;
} search;

static herr_t note_group(hid_t root, const char *group, const H5L_info_t *info, void *arg)
{
    search *s = arg;

    (void)root;
    (void)info;
    if (!hy_h5_is_group(s->file, group) || !hy_h5_holds(s->file, group, s->name))
        return 0;
    if (s->count++ == 0)
        snprintf(s->found, s->bytes, "%s", group);
    return 0;
}

int hy_h5_groups_with(const hy_h5_file *file, const char *name, char *found, size_t bytes)
{
    search s = {file, name, found, bytes, 0};

    (void)H5Literate(file->id, H5_INDEX_NAME, H5_ITER_INC, NULL, note_group, &s);
    return s.count;
}
