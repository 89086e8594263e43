/* io/text/foreign.c - recognises files of other formats by their first bytes.

   A table lists the formats; the first row that fits is reported. In its commands, '@'
   stands for the path and '~' for the path without its ending. */
#include "io/text/foreign.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/text/text_table.h"

typedef struct foreign {
    const char *what;                 /* words about the file, which continue "FILE is
                                         ..." */
    int (*is)(const hy_input *input); /* NULL: the file begins with `magic` */
    const char *magic;
    size_t bytes;                     /* bytes of `magic` */
    const char *to_sparse, *to_dense; /* commands that make a sparse or a dense matrix of
                                         the file; if to_dense is NULL, to_sparse serves
                                         both */
    const char *before;               /* text before "try: COMMAND"; NULL: a semicolon */
} foreign;

/* ---- tests ------------------------------------------------------------------------- */

/* Returns 1 if `word` is at byte `at`. */
static int has(const hy_input *input, size_t at, const char *word)
{
    const size_t length = strlen(word);

    return at + length <= input->bytes && memcmp(input->text + at, word, length) == 0;
}

static int ends_in(const hy_input *input, const char *ending)
{
    const size_t length = strlen(input->path), tail = strlen(ending);

    return length >= tail && strcasecmp(input->path + length - tail, ending) == 0;
}

/* A NumPy archive is a ZIP file with an array as its first member. The member's name
   begins at byte 30, and its length is at byte 26. */
static int is_npz(const hy_input *input)
{
    if (!has(input, 0, "PK\x03\x04") || input->bytes < 30)
        return 0;
    const size_t length = (size_t)(unsigned char)input->text[26] |
                          (size_t)(unsigned char)input->text[27] << 8;
    return length >= 4 && has(input, 30 + length - 4, ".npy");
}

static int is_hdf5(const hy_input *input)
{
    return has(input, 0, "\x89HDF\r\n\x1a\n") || has(input, 512, "\x89HDF\r\n\x1a\n");
}

static int is_h5ad(const hy_input *input)
{
    return is_hdf5(input) && ends_in(input, ".h5ad");
}

static int is_tar(const hy_input *input)
{
    return has(input, 257, "ustar");
}

static int is_json(const hy_input *input)
{
    return has(input, strspn(input->text, " \t\r\n"), "{");
}

static int is_html(const hy_input *input)
{
    const char *p = input->text + strspn(input->text, " \t\r\n");

    return strncasecmp(p, "<!doctype html", 14) == 0 || strncasecmp(p, "<html", 5) == 0;
}

static int is_harwell_boeing(const hy_input *input)
{
    return hy_is_harwell_boeing(input->text);
}

/* ---- the table --------------------------------------------------------------------- */

#define PYTHON(imports, call) "python3 -c \"import " imports "; " call "\""
#define SPARSE(value)                                                                    \
    PYTHON("numpy, scipy.io, scipy.sparse", "scipy.io.mmwrite('~.mtx', " value ")")
#define DENSE(value) PYTHON("numpy", "numpy.save('~.npy', " value ")")
#define COO(dense) "scipy.sparse.coo_array(" dense ")"
#define NAME_A "; put the name of its variable in place of A, and"
#define COLUMNS "; if its columns are those of a matrix,"
#define MAGIC(text) NULL, text, sizeof text - 1

static const foreign formats[] = {
    {"a NumPy archive (.npz)", is_npz, NULL, 0, SPARSE("scipy.sparse.load_npz('@')"),
     DENSE("numpy.load('@')['arr_0']")},
    {"a ZIP archive", MAGIC("PK\x03\x04"), "unzip @", NULL},
    {"a NumPy array (.npy), which is dense", MAGIC("\x93NUMPY"),
     SPARSE(COO("numpy.load('@')")), NULL},
    {"an AnnData file (.h5ad)", is_h5ad, NULL, 0,
     PYTHON("anndata, scipy.io", "scipy.io.mmwrite('~.mtx', anndata.read_h5ad('@').X)"),
     PYTHON("anndata, numpy", "numpy.save('~.npy', anndata.read_h5ad('@').X)")},
    {"a MATLAB file of version 7.3", MAGIC("MATLAB 7.3 MAT-file"),
     PYTHON("h5py, scipy.io, scipy.sparse",
            "a = h5py.File('@')['A']; scipy.io.mmwrite('~.mtx', "
            "scipy.sparse.csc_array((a['data'][:], a['ir'][:], a['jc'][:]), "
            "shape=(int(a.attrs['MATLAB_sparse']), len(a['jc']) - 1)))"),
     PYTHON("h5py, numpy", "numpy.save('~.npy', h5py.File('@')['A'][:].T)"), NAME_A},
    {"a MATLAB file of version 5", MAGIC("MATLAB 5.0 MAT-file"),
     PYTHON("scipy.io", "scipy.io.mmwrite('~.mtx', scipy.io.loadmat('@')['A'])"),
     PYTHON("numpy, scipy.io", "numpy.save('~.npy', scipy.io.loadmat('@')['A'])"),
     NAME_A},
    {"an HDF5 file", is_hdf5, NULL, 0, PYTHON("h5py", "h5py.File('@').visit(print)"),
     NULL, "; to list its arrays,"},
    {"a Parquet table", MAGIC("PAR1"),
     PYTHON("pandas, scipy.io, scipy.sparse",
            "scipy.io.mmwrite('~.mtx', "
            "scipy.sparse.coo_array(pandas.read_parquet('@').to_numpy()))"),
     PYTHON("numpy, pandas", "numpy.save('~.npy', pandas.read_parquet('@').to_numpy())"),
     COLUMNS},
    {"an Arrow table (Feather)", MAGIC("ARROW1"),
     PYTHON("pandas, scipy.io, scipy.sparse",
            "scipy.io.mmwrite('~.mtx', "
            "scipy.sparse.coo_array(pandas.read_feather('@').to_numpy()))"),
     PYTHON("numpy, pandas", "numpy.save('~.npy', pandas.read_feather('@').to_numpy())"),
     COLUMNS},
    {"a file that was compressed twice with gzip", MAGIC("\x1f\x8b"), "gunzip @", NULL},
    {"compressed with xz",
     MAGIC("\xfd"
           "7zXZ"),
     "xz -dk @", NULL},
    {"compressed with bzip2", MAGIC("BZh"), "bzip2 -dk @", NULL},
    {"compressed with lz4", MAGIC("\x04\x22\x4d\x18"), "lz4 -d @", NULL},
    {"a 7-Zip archive", MAGIC("7z\xbc\xaf\x27\x1c"), "7z x @", NULL},
    {"a tar archive", is_tar, NULL, 0, "tar xf @", NULL},
    {"a web page (HTML), perhaps the error page of a failed download", is_html, NULL, 0,
     "less @", NULL},
    {"JSON; a description of raw numbers needs a name that ends in .json", is_json, NULL,
     0, "mv @ ~.json", NULL},
    {"a Harwell-Boeing file", is_harwell_boeing, NULL, 0,
     PYTHON("scipy.io", "scipy.io.mmwrite('~.mtx', scipy.io.hb_read('@'))"), NULL},
};

/* ---- text in columns --------------------------------------------------------------- */

enum { COMMAND_BYTES = 768 };

static const char *name_of(char separator)
{
    return separator == '\t'  ? "tab-separated text (TSV)"
           : separator == ' ' ? "text in columns, without the banner of Matrix Market"
                              : "comma-separated text (CSV)";
}

/* Writes the Python expression that reads the numbers of a table. */
static void put_load(char *to, size_t room, const hy_text_table *t)
{
    char separator[32] = "";

    if (t->separator != ' ')
        snprintf(separator, sizeof separator, t->separator == '\t' ? "'\\t'" : "'%c'",
                 t->separator);
    if (t->has_words)
        snprintf(to, room,
                 "pandas.read_csv('@', sep=%s, index_col=0, header=%s).to_numpy()",
                 separator[0] ? separator : "' '", t->heading ? "0" : "None");
    else
        snprintf(to, room, "numpy.loadtxt('@', comments=('#', '%%')%s%s%s)",
                 separator[0] ? ", delimiter=" : "", separator,
                 t->heading ? ", skiprows=1" : "");
}

/* Writes a command with the marks '@' and '~'. */
static void put_table_command(char to[COMMAND_BYTES], const hy_text_table *t, int dense)
{
    const char *imports = t->has_words ? "numpy, pandas" : "numpy";
    char load[COMMAND_BYTES / 4];

    put_load(load, sizeof load, t);
    if (dense)
        snprintf(to, COMMAND_BYTES, "python3 -c \"import %s; numpy.save('~.npy', %s)\"",
                 imports, load);
    else
        snprintf(to, COMMAND_BYTES,
                 "python3 -c \"import %s, scipy.io, scipy.sparse; "
                 "scipy.io.mmwrite('~.mtx', " COO("%s") ")\"",
                 imports, load);
}

/* ---- the sentence ------------------------------------------------------------------ */

/* Returns 1 if neither a shell nor Python would interpret any character of the name. */
static int is_plain(const char *name)
{
    return name[0] != '-' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-+./")] == '\0';
}

/* Returns the number of bytes of a path without the ending of its name. */
static size_t stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

/* Writes the command for `path`, or for FILE if the path is long or needs quotes. */
static void put_command(char to[COMMAND_BYTES], const char *command, const char *path)
{
    const char *name =
        strlen(path) < 64 && is_plain(path) && !hy_is_descriptor(path) ? path : "FILE";
    size_t used = 0;

    for (; *command && used < COMMAND_BYTES - 1; command++) {
        const size_t length = *command == '@'   ? strlen(name)
                              : *command == '~' ? stem_of(name)
                                                : 1;
        const size_t copied = hy_smaller(length, COMMAND_BYTES - 1 - used);
        memcpy(to + used, *command == '@' || *command == '~' ? name : command, copied);
        used += copied;
    }
    to[used] = '\0';
}

static int fits(const foreign *f, const hy_input *input)
{
    if (f->is)
        return f->is(input);
    return input->bytes >= f->bytes && memcmp(input->text, f->magic, f->bytes) == 0;
}

/* Fails with a sentence if the text is a table of numbers; else returns OK. A file named
   .mtx, .mtx.gz or .npy is not taken for a table: it has another fault, which the caller
   reports. */
static hybrid_status refuse_table(hy_context *ctx, const hy_input *input, int dense)
{
    const hy_text_table t = hy_text_table_of(input->text, 0);
    char marked[COMMAND_BYTES], command[COMMAND_BYTES];

    if (!t.separator || ends_in(input, ".mtx") || ends_in(input, ".mtx.gz") ||
        ends_in(input, ".npy"))
        return HYBRID_OK;
    put_table_command(marked, &t, dense);
    put_command(command, marked, input->path);
    return hy_fail(ctx, HYBRID_BAD_FILE,
                   "%s: is %s; if it has a line for each row of the matrix, try: %s",
                   input->path, name_of(t.separator), command);
}

hybrid_status hy_foreign_refuse(hy_context *ctx, const hy_input *input, int dense)
{
    char command[COMMAND_BYTES];

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const foreign *f = &formats[i];
        if (!fits(f, input))
            continue;
        put_command(command, dense && f->to_dense ? f->to_dense : f->to_sparse,
                    input->path);
        return hy_fail(ctx, HYBRID_BAD_FILE, "%s: is %s%s try: %s", input->path, f->what,
                       f->before ? f->before : ";", command);
    }
    return refuse_table(ctx, input, dense);
}
