/* tests/unit/hdf5/test_h5_decode.c - chunks that are too long, too short or damaged,
   types of numbers, and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <zlib.h>

#include "io/hdf5/decode/h5_filters.h"
#include "io/hdf5/decode/h5_json.h"
#include "io/hdf5/decode/h5_numbers.h"

enum { BYTES = 64, ROOM = 2048 };

static unsigned char packed[4 * ROOM]; /* up to ROOM bytes, deflated by zlib */
static uLongf packed_bytes;

/* Decodes a chunk, which has BYTES bytes when it is decoded. Returns NULL or what is
   wrong. Bit 0 of `mask`: 1, the filter was not applied. */
static const char *decode(int filter, uint32_t mask, const void *raw, size_t bytes,
                          void *to)
{
    static char scratch[2][ROOM];
    const hy_h5_filters filters = {1, {filter}, 4, BYTES};
    hy_h5_decoder decoder       = {
              NULL, {scratch[0], scratch[1]}, hy_h5_scratch_bytes(&filters)};

    assert_true(decoder.room <= ROOM);
    hy_h5_inflater_make(&decoder);
    const char *why = hy_h5_decode(&filters, mask, &decoder, raw, bytes, to);
    hy_h5_inflater_free(&decoder);
    return why;
}

static void deflate_bytes(size_t bytes)
{
    unsigned char text[ROOM];

    for (size_t i = 0; i < bytes; i++)
        text[i] = (unsigned char)(i * i);
    packed_bytes = sizeof packed;
    assert_int_equal(compress(packed, &packed_bytes, text, bytes), Z_OK);
}

static void deflated_chunks(void **state)
{
    char to[BYTES];

    (void)state;
    deflate_bytes(BYTES);
    assert_null(decode(HY_H5_DEFLATE, 0, packed, packed_bytes, to));
    assert_true((unsigned char)to[63] == (unsigned char)(63 * 63));
    assert_string_equal(decode(HY_H5_DEFLATE, 0, packed, packed_bytes - 9, to),
                        "its deflated data are damaged");
    assert_string_equal(decode(HY_H5_DEFLATE, 1, packed, packed_bytes, to),
                        "it does not have the size of a chunk");
    /* decodes with mask 1: the chunk was stored without the filter */
    assert_null(decode(HY_H5_DEFLATE, 1, packed, BYTES, to));
    deflate_bytes(BYTES - 1);
    assert_string_equal(decode(HY_H5_DEFLATE, 0, packed, packed_bytes, to),
                        "it does not have the size of a chunk");
    deflate_bytes(BYTES + 1);
    assert_string_equal(decode(HY_H5_DEFLATE, 0, packed, packed_bytes, to),
                        "it inflates to more than a chunk");
}

/* Without libdeflate (no inflater in the decoder), zlib inflates, with the same results
   and errors. The scratch memory of a chunk may have more than 2^32 bytes. */
static void zlib_agrees(void **state)
{
    static char scratch[BYTES];
    const hy_h5_filters both    = {2, {HY_H5_SHUFFLE, HY_H5_DEFLATE}, 4, BYTES};
    const hy_h5_filters filters = {1, {HY_H5_DEFLATE}, 4, BYTES};
    hy_h5_decoder decoder       = {.inflater = NULL};
    char to[BYTES];

    (void)state;
    deflate_bytes(BYTES);
    assert_null(hy_h5_decode(&filters, 0, &decoder, packed, packed_bytes, to));
    assert_true((unsigned char)to[63] == (unsigned char)(63 * 63));
    decoder.scratch[0] = decoder.scratch[1] = scratch;
    decoder.room                            = ((size_t)1 << 32) + 8;
    assert_null(hy_h5_decode(&both, 0, &decoder, packed, packed_bytes, to));
    packed[9] ^= 1;
    assert_string_equal(hy_h5_decode(&filters, 0, &decoder, packed, packed_bytes, to),
                        "its deflated data are damaged");
    deflate_bytes(BYTES + 1);
    assert_string_equal(hy_h5_decode(&filters, 0, &decoder, packed, packed_bytes, to),
                        "it inflates to more than a chunk");
}

static void other_filters(void **state)
{
    /* LZF data: 32 zeros as a literal of one and a run of 31, twice; a later part refers
       to bytes before the beginning */
    static const unsigned char lzf[] = {0, 0, 0xe0, 22, 0, 0, 0, 0xe0, 22, 0};
    static const char damaged[]   = "its LZF data are damaged or hold more than a chunk";
    unsigned char text[BYTES + 4] = {0};
    char to[BYTES];
    int known;

    (void)state;
    memset(to, 1, sizeof to);
    assert_null(decode(HY_H5_LZF, 0, lzf, sizeof lzf, to));
    assert_memory_equal(to, text, BYTES);
    assert_string_equal(decode(HY_H5_LZF, 0, lzf, sizeof lzf - 1, to), damaged);
    assert_string_equal(decode(HY_H5_LZF, 0, lzf + 2, 3, to), damaged);
    assert_string_equal(decode(HY_H5_LZF, 0, "\x1f", 1, to), damaged);
    assert_string_equal(decode(HY_H5_FLETCHER32, 0, text, 3, to),
                        "it is too short for its checksum");
    /* the checksum of zeros is 0 */
    assert_null(decode(HY_H5_FLETCHER32, 0, text, sizeof text, to));
    text[BYTES - 1] = 1;
    assert_string_equal(decode(HY_H5_FLETCHER32, 0, text, sizeof text, to),
                        "its checksum is wrong");
    assert_string_equal(decode(HY_H5_SHUFFLE, 0, text, BYTES + 4, to),
                        "it is longer than a chunk");
    assert_string_equal(decode(9, 0, text, BYTES, to), "its filter is unknown");
    assert_string_equal(hy_h5_unreadable(32001, &known), "Blosc");
}

/* ---- numbers ---- */

static int64_t convert(hy_h5_kind kind, size_t bytes, int big_endian, hy_h5_kind to_kind,
                       size_t to_bytes, const void *in, int64_t count, void *out)
{
    const hy_h5_number from = {kind, bytes, big_endian}, to = {to_kind, to_bytes, 0};

    return hy_h5_convert(&from, &to, in, count, out);
}

static void numbers_are_converted(void **state)
{
    static const unsigned char bytes[] = {0xff, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x07};
    double value[8];
    int64_t wide[8];
    int32_t narrow[8];
    float single[2];

    (void)state;
    assert_true(convert(HY_H5_SIGNED, 1, 0, HY_H5_FLOAT, 8, bytes, 8, value) == 8);
    assert_true(value[0] == -1 && value[1] == -2 && value[2] == -128 && value[7] == 7);
    assert_true(convert(HY_H5_UNSIGNED, 1, 0, HY_H5_SIGNED, 4, bytes, 8, narrow) == 8);
    assert_true(narrow[0] == 255 && narrow[2] == 128);
    assert_true(convert(HY_H5_SIGNED, 2, 1, HY_H5_SIGNED, 8, bytes, 4, wide) == 4);
    assert_true(wide[0] == -2 && wide[1] == -32768 && wide[3] == 7);
    assert_true(convert(HY_H5_UNSIGNED, 2, 0, HY_H5_SIGNED, 8, bytes, 4, wide) == 4);
    assert_true(wide[0] == 0xfeff && wide[3] == 0x700);
    assert_true(convert(HY_H5_UNSIGNED, 4, 1, HY_H5_SIGNED, 4, bytes, 2, narrow) == 0);
    assert_true(convert(HY_H5_UNSIGNED, 4, 1, HY_H5_SIGNED, 4, bytes + 4, 1, narrow) ==
                1);
    assert_true(narrow[0] == 7);
    assert_true(convert(HY_H5_UNSIGNED, 8, 1, HY_H5_SIGNED, 8, bytes, 1, wide) == 0);
    assert_true(convert(HY_H5_UNSIGNED, 8, 1, HY_H5_FLOAT, 8, bytes, 1, value) == 0);
    assert_true(convert(HY_H5_FLOAT, 4, 1, HY_H5_FLOAT, 4, "\x40\x20\0\0", 1, single) ==
                1);
    assert_true(single[0] == 2.5f);
}

static void a_number_that_does_not_fit_is_named(void **state)
{
    int64_t numbers[2000] = {0};
    int32_t narrow[2000];

    (void)state;
    for (int64_t i = 0; i < 2000; i += 333) {
        numbers[i] = INT32_MAX;
        assert_true(convert(HY_H5_SIGNED, 8, 0, HY_H5_SIGNED, 4, numbers, 2000, narrow) ==
                    2000);
        numbers[i]++;
        assert_true(convert(HY_H5_SIGNED, 8, 0, HY_H5_SIGNED, 4, numbers, 2000, narrow) ==
                    i);
        numbers[i] = 0;
    }
}

/* ---- JSON ---- */

static void json_is_checked(void **state)
{
    static const struct {
        const char *text;
        int fault; /* index of the byte at which the text is wrong; -1: the text is
                      valid */
    } cases[] = {{"{}", -1},
                 {"[]", -1},
                 {" 1 ", -1},
                 {"-0.5e+10", -1},
                 {"[1, [2, {}]]", -1},
                 {"{\"a\": {\"b\": null}}", -1},
                 {"[true, false]", -1},
                 {"", 0},
                 {"{", 1},
                 {"[1,]", 3},
                 {"{\"a\" 1}", 5},
                 {"{a: 1}", 1},
                 {"01", 1},
                 {"1.", 2},
                 {"-", 1},
                 {"[1 2]", 3},
                 {"nul", 0},
                 {"{} x", 3},
                 {"\"a", 1},
                 {"1e", 2}};
    char deep[100];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = hy_h5_json_fault(cases[i].text);
        if ((at ? at - cases[i].text : -1) != cases[i].fault)
            fail_msg("%s: %d", cases[i].text, at ? (int)(at - cases[i].text) : -1);
    }
    memset(deep, '[', 33);
    memset(deep + 33, ']', 33);
    deep[66] = '\0';
    assert_true(hy_h5_json_fault(deep) == deep + 32);
    deep[65] = '\0';
    assert_null(hy_h5_json_fault(deep + 1));
}

static void json_is_found(void **state)
{
    static const char text[] =
        "{\"x\": [\"]\", {\"y\": 1}], \"y\" : [ 3, 4 ], \"z\": \"a\\u0062\","
        " \"big\": 99999999999999999999, \"half\": 1.5}";
    char word[8];
    int64_t count;

    (void)state;
    assert_null(hy_h5_json_fault(text));
    const char *y = hy_h5_json_member(text, "y");
    assert_true(hy_h5_json_count(hy_h5_json_element(y, 0), &count) && count == 3);
    assert_true(hy_h5_json_count(hy_h5_json_element(y, 1), &count) && count == 4);
    assert_null(hy_h5_json_element(y, 2));
    assert_null(hy_h5_json_element(text, 0));
    assert_null(hy_h5_json_member(y, "y"));
    assert_null(hy_h5_json_member(text, "none"));
    assert_true(hy_h5_json_text(hy_h5_json_member(text, "z"), word, sizeof word));
    assert_string_equal(word, "ab");
    assert_false(hy_h5_json_text(hy_h5_json_member(text, "z"), word, 7));
    assert_false(hy_h5_json_count(hy_h5_json_member(text, "big"), &count));
    assert_false(hy_h5_json_count(hy_h5_json_member(text, "half"), &count));
    assert_false(hy_h5_json_count(NULL, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deflated_chunks),
        cmocka_unit_test(zlib_agrees),
        cmocka_unit_test(other_filters),
        cmocka_unit_test(numbers_are_converted),
        cmocka_unit_test(a_number_that_does_not_fit_is_named),
        cmocka_unit_test(json_is_checked),
        cmocka_unit_test(json_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
