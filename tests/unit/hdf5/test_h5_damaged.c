/* tests/unit/hdf5/test_h5_damaged.c - chunks with a fault each, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/formats/file_format.h"
#include "support/engines/io_fixture.h"
#include "support/hdf5/h5_refuse.h"

static void long_chunk(hid_t f)
{
    const char bytes[4000] = "";
    const hsize_t ten = 10, first = 0;

    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &ten, h5_chunks_of(10));
    const hid_t dataset = H5Dopen2(f, "Y", H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &first, sizeof bytes, bytes) >=
                0);
    H5Dclose(dataset);
}

/* Creates the dataset Y of ten 32-bit numbers. Its only chunk has the given bytes in the
   file, which are the output of `filter`. */
static void put_chunk(hid_t f, int filter, const void *bytes, size_t count)
{
    const hsize_t ten = 10, first = 0;
    const hid_t list = h5_chunks_of(10);

    assert_true(H5Pset_filter(list, filter, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
    h5_put_empty(f, "Y", H5T_STD_I32LE, 1, &ten, list);
    const hid_t dataset = H5Dopen2(f, "Y", H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &first, count, bytes) >= 0);
    H5Dclose(dataset);
}

static void put_deflated(hid_t f, size_t count)
{
    unsigned char text[100] = "", bytes[200];
    uLongf deflated         = sizeof bytes;

    assert_int_equal(compress(bytes, &deflated, text, count), Z_OK);
    put_chunk(f, H5Z_FILTER_DEFLATE, bytes, deflated);
}

static void deflated_too_long(hid_t f)
{
    put_deflated(f, 41);
}

static void deflated_too_short(hid_t f)
{
    put_deflated(f, 39);
}

static void deflated_badly(hid_t f)
{
    put_chunk(f, H5Z_FILTER_DEFLATE, "x", 1);
}

static void packed_badly(hid_t f)
{
    put_chunk(f, 32000, "\x1f", 1);
}

#if HYBRID_WITH_ZSTD

static void zstd_badly(hid_t f)
{
    put_chunk(f, 32015, "zstd", 4);
}

#endif

static void shuffled_too_long(hid_t f)
{
    const char bytes[44] = "";

    put_chunk(f, H5Z_FILTER_SHUFFLE, bytes, sizeof bytes);
}

static void checked_too_short(hid_t f)
{
    put_chunk(f, H5Z_FILTER_FLETCHER32, "123", 3);
}

static const struct fault {
    void (*change)(hid_t file);
    const char *member, *sentence;
} faults[] = {
    {long_chunk, "Y", "'Y' has a chunk that takes more bytes than its numbers"},
    {deflated_too_long, "Y",
     "chunk 0 of 'Y' cannot be decoded: it inflates to more than a chunk"},
    {deflated_too_short, "Y",
     "chunk 0 of 'Y' cannot be decoded: it does not have the size of a chunk"},
    {deflated_badly, "Y",
     "chunk 0 of 'Y' cannot be decoded: its deflated data are damaged"},
    {packed_badly, "Y",
     "chunk 0 of 'Y' cannot be decoded: its LZF data are damaged or hold more than"},
#if HYBRID_WITH_ZSTD
    {zstd_badly, "Y",
     "chunk 0 of 'Y' cannot be decoded: its zstd data are damaged or hold more than"},
#endif
    {shuffled_too_long, "Y",
     "chunk 0 of 'Y' cannot be decoded: it is longer than a chunk"},
    {checked_too_short, "Y",
     "chunk 0 of 'Y' cannot be decoded: it is too short for its checksum"},
};

static void each_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        h5_store_changed(faults[i].change);
        h5_refuse(faults[i].member, HYBRID_BAD_FILE, faults[i].sentence);
    }
}

/* ---- damaged files ---- */

/* Replaces the 8-byte number `old` by `number` everywhere in a.h5, which must be at
   `places` places. */
static void patch(uint64_t old, uint64_t number, int places)
{
    size_t bytes;
    int found  = 0;
    char *text = io_load(io_temp("a.h5"), &bytes);

    for (size_t at = 0; at + 8 <= bytes; at++)
        if (memcmp(text + at, &old, 8) == 0) {
            memcpy(text + at, &number, 8);
            found++;
        }
    assert_int_equal(found, places);
    io_store(io_temp("a.h5"), text, bytes);
    free(text);
}

/* Returns the position in a.h5 at which the numbers of X/data begin (of the first chunk
   if `chunked`). */
static uint64_t find_values(int chunked)
{
    const hid_t file = H5Fopen(io_temp("a.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, "X/data", H5P_DEFAULT);
    hsize_t first    = 0, bytes;
    haddr_t at       = 0;
    unsigned mask;

    if (chunked)
        H5Dget_chunk_info_by_coord(data, &first, &mask, &at, &bytes);
    else
        at = H5Dget_offset(data);
    H5Dclose(data);
    H5Fclose(file);
    assert_true(at > 0 && at != HADDR_UNDEF);
    return at;
}

static void damaged_files_are_refused(void **state)
{
    char *text;
    size_t bytes;

    (void)state;
    h5_store_cells(io_temp("a.h5"), h5_matrix(), &h5_packed);
    patch(find_values(1), 1ll << 40, 1);
    h5_refuse(NULL, HYBRID_BAD_FILE,
              "libhdf5 cannot find a chunk of 'X/data': addr over");
    h5_store_cells(io_temp("a.h5"), h5_matrix(), &h5_packed);
    text = io_load(io_temp("a.h5"), &bytes);
    text[find_values(1) + 5] ^= 1;
    io_store(io_temp("a.h5"), text, bytes);
    h5_refuse(NULL, HYBRID_BAD_FILE,
              "chunk 0 of 'X/data' cannot be decoded: its checksum is wrong");
    io_store(io_temp("a.h5"), text, bytes / 2);
    h5_refuse(NULL, HYBRID_BAD_FILE,
              "libhdf5 cannot open the file: truncated file: eof = ");
    memset(text + 9, 77, bytes - 9);
    io_store(io_temp("a.h5"), text, bytes);
    h5_refuse(NULL, HYBRID_BAD_FILE, "libhdf5 cannot open the file: ");
    free(text);
    h5_store_cells(io_temp("a.h5"), h5_matrix(), &h5_plain);
    patch(find_values(0), 1ll << 40, 1);
    h5_refuse(NULL, HYBRID_BAD_FILE, "'X/data' has ");
}

static void a_short_compact_dataset_is_refused(void **state)
{
    const hid_t file    = h5_new(io_temp("a.h5"));
    const hsize_t count = 1237;

    (void)state;
    h5_put_empty(file, "Y", H5T_STD_I64LE, 1, &count, h5_layout(H5D_COMPACT));
    h5_end(file);
    patch(1237, 1238, 2); /* the dataset's number of elements and its maximum are both
                             1237 */
    h5_refuse("Y", HYBRID_BAD_FILE, "'Y' does not store all its numbers");
}

static void a_file_may_become_shorter(void **state)
{
    hy_matrix_file file;
    double found[9];

    (void)state;
    for (int i = 0; i < 2; i++) {
        h5_store_cells(io_temp("a.h5"), h5_matrix(), i ? &h5_packed : &h5_plain);
        assert_int_equal(
            hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("a.h5"), &file),
            HYBRID_OK);
        assert_int_equal(truncate(io_temp("a.h5"), 800), 0);
        assert_int_equal(hy_stored_read(&file.values, 0, 9, found), HYBRID_IO_FAILED);
        assert_non_null(strstr(io_ctx->message.text,
                               "are not all there: the file became shorter after it"));
        hy_message_clear(&io_ctx->message);
        hy_matrix_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_short_compact_dataset_is_refused),
        cmocka_unit_test(a_file_may_become_shorter),
    };

    return cmocka_run_group_tests(tests, h5_group_open, h5_group_close);
}
