/* io/hdf5/h5_binsparse.c - reads the description of a matrix in the Binsparse format,
   version 0.1: the JSON text of the attribute "binsparse" of a group.

     {"binsparse": {"version": "0.1", "format": "CSR", "shape": [4, 3],
                    "number_of_stored_values": 5,
                    "data_types": {"pointers_to_1": "uint64", "indices_1": "uint32",
                                   "values": "float32"}}} */
#include <string.h>

#include "io/hdf5/decode/h5_json.h"
#include "io/hdf5/h5_layout.h"
#include "io/hdf5/h5_tree.h"

static const struct known {
    const char *name;
    hy_h5_layout layout;
} formats[] = {
    {"CSR", {HY_H5_SPARSE_LINES, 0, .pointers = "pointers_to_1", .indices = "indices_1"}},
    {"CSC", {HY_H5_SPARSE_LINES, 1, .pointers = "pointers_to_1", .indices = "indices_1"}},
    {"DCSR",
     {HY_H5_SPARSE_LINES, 0, .pointers = "pointers_to_1", .lines = "indices_0",
      .indices = "indices_1"}},
    {"DCSC",
     {HY_H5_SPARSE_LINES, 1, .pointers = "pointers_to_1", .lines = "indices_0",
      .indices = "indices_1"}},
    {"COO", {HY_H5_SPARSE_ENTRIES, 0, .lines = "indices_0", .indices = "indices_1"}},
    {"COOR", {HY_H5_SPARSE_ENTRIES, 0, .lines = "indices_0", .indices = "indices_1"}},
    {"COOC", {HY_H5_SPARSE_ENTRIES, 1, .lines = "indices_0", .indices = "indices_1"}},
    {"DMAT", {HY_H5_DENSE_ROWS}},
    {"DMATR", {HY_H5_DENSE_ROWS}},
    {"DMATC", {HY_H5_DENSE_COLS}},
};

static hybrid_status fail(const hy_h5_file *file, const char *object, const char *what,
                          const char *word)
{
    return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: Binsparse matrix '%s': %s%s%s%s",
                   file->path, object, what, word ? ": '" : "", word ? word : "",
                   word ? "'" : "");
}

static hybrid_status take_format(const hy_h5_file *file, const char *object,
                                 const char *header, hy_h5_layout *out)
{
    char word[64] = "";

    if (!hy_h5_json_text(hy_h5_json_member(header, "version"), word, sizeof word))
        return fail(file, object, "'version' is missing", NULL);
    if (strcmp(word, "0.1") != 0 && strncmp(word, "0.1.", 4) != 0)
        return fail(file, object, "this library reads version 0.1, not this version",
                    word);
    if (!hy_h5_json_text(hy_h5_json_member(header, "format"), word, sizeof word))
        return fail(file, object, "'format' is missing", NULL);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(word, formats[i].name) == 0) {
            *out        = formats[i].layout;
            out->values = "values";
            return HYBRID_OK;
        }
    return fail(file, object, "this library does not read this format", word);
}

/* The values may be stored once for all entries: "iso[float32]". */
static hybrid_status take_values(const hy_h5_file *file, const char *object,
                                 const char *header, hy_h5_layout *out)
{
    const char *types = hy_h5_json_member(header, "data_types");
    char word[64]     = "";

    if (!hy_h5_json_text(hy_h5_json_member(types, "values"), word, sizeof word))
        return fail(file, object, "'data_types' does not have 'values'", NULL);
    out->is_single = strncmp(word, "iso[", 4) == 0;
    if (strstr(word, "complex["))
        return fail(file, object, "complex values are not supported", word);
    return HYBRID_OK;
}

/* Sets out->mirror. The values are real, so that a Hermitian matrix is symmetric. */
static hybrid_status take_structure(const hy_h5_file *file, const char *object,
                                    const char *header, hy_h5_layout *out)
{
    static const struct {
        const char *name;
        int mirror;
    } structures[] = {
        {"general", 0},
        {"symmetric_lower", 1},
        {"symmetric_upper", 1},
        {"hermitian_lower", 1},
        {"hermitian_upper", 1},
        {"skew_symmetric_lower", -1},
        {"skew_symmetric_upper", -1},
    };
    const int is_dense = out->indices == NULL;
    char word[64]      = "general";

    (void)hy_h5_json_text(hy_h5_json_member(header, "structure"), word, sizeof word);
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++)
        if (strcmp(word, structures[i].name) == 0 && !(is_dense && i > 0)) {
            out->mirror = structures[i].mirror;
            if (out->mirror == 0 || out->rows == out->cols)
                return HYBRID_OK;
            return fail(file, object, "rows and columns must agree in this structure",
                        word);
        }
    return fail(file, object,
                is_dense ? "a dense matrix with this structure is not supported"
                         : "this structure is not supported",
                word);
}

static hybrid_status take_rest(const hy_h5_file *file, const char *object,
                               const char *header, hy_h5_layout *out)
{
    const char *shape = hy_h5_json_member(header, "shape");

    if (!hy_h5_json_count(hy_h5_json_element(shape, 0), &out->rows) ||
        !hy_h5_json_count(hy_h5_json_element(shape, 1), &out->cols) ||
        hy_h5_json_element(shape, 2))
        return fail(file, object, "'shape' is not two integers of 0 or more", NULL);
    if (!hy_h5_json_count(hy_h5_json_member(header, "number_of_stored_values"),
                          &out->nnz))
        return fail(file, object,
                    "'number_of_stored_values' is not an integer of 0 or more", NULL);
    HY_TRY(take_structure(file, object, header, out));
    if (hy_h5_json_is(hy_h5_json_member(header, "fill"), "true"))
        return fail(file, object, "a fill value is not supported", NULL);
    return HYBRID_OK;
}

static hybrid_status parse(const hy_h5_file *file, const char *object, const char *text,
                           hy_h5_layout *out)
{
    const char *fault = hy_h5_json_fault(text);

    if (fault)
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: Binsparse matrix '%s': its description is not JSON from byte "
                       "%lld on",
                       file->path, object, (long long)(fault - text));
    const char *header = hy_h5_json_member(text + strspn(text, " \t\r\n"), "binsparse");
    HY_TRY(take_format(file, object, header, out));
    HY_TRY(take_values(file, object, header, out));
    return take_rest(file, object, header, out);
}

hybrid_status hy_h5_binsparse(const hy_h5_file *file, const char *object,
                              hy_h5_layout *out, int *found)
{
    char *text;

    HY_TRY(hy_h5_text(file, object, "binsparse", &text));
    *found = text != NULL;
    if (!*found)
        return HYBRID_OK;
    const hybrid_status status = parse(file, object, text, out);
    hy_array_free(file->ctx, text);
    return status;
}
