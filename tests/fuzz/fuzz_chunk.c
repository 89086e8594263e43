/* tests/fuzz/fuzz_chunk.c - decoding a chunk of an HDF5 file, converting its numbers and
   reading the JSON of an attribute survive any bytes. libhdf5 itself does not survive
   damaged files, so this target leaves it out: it waits for ever for some texts.

   An input begins with {: it is JSON. Otherwise its bytes are: 0 the number of filters,
   1 to 4 filters, 5 the filters that are not applied, 6 the size of a number, 7 and 8 the
   numbers of a chunk; the rest is the chunk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5/decode/h5_filters.h"
#include "io/hdf5/decode/h5_json.h"
#include "io/hdf5/decode/h5_numbers.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;
static int good, bad;

static void read_json(const unsigned char *data, size_t bytes)
{
    char *text = malloc(bytes + 1), word[16];
    int64_t count;

    io_must(ctx, text != NULL, "no memory");
    memcpy(text, data, bytes);
    text[bytes]       = '\0';
    const char *fault = hy_h5_json_fault(text);
    if (fault) {
        io_must(ctx, fault >= text && fault <= text + bytes, "a fault is outside");
        bad++;
    } else {
        const char *header = hy_h5_json_member(text, "binsparse");
        const char *shape  = hy_h5_json_member(header, "shape");
        for (int i = 0; i < 4; i++)
            if (hy_h5_json_count(hy_h5_json_element(shape, i), &count))
                io_must(ctx, count >= 0, "a count is negative");
        (void)hy_h5_json_text(hy_h5_json_member(header, "format"), word, sizeof word);
        (void)hy_h5_json_is(hy_h5_json_member(header, "fill"), "true");
        good++;
    }
    free(text);
}

static void convert(const hy_h5_filters *filters, int kind, const char *numbers)
{
    const size_t size        = filters->number_bytes;
    const int64_t count      = (int64_t)(filters->chunk_bytes / size);
    const hy_h5_number from  = {(hy_h5_kind)(kind % 2), size, kind & 2};
    const hy_h5_number to[3] = {
        {HY_H5_SIGNED, 4, 0}, {HY_H5_SIGNED, 8, 0}, {HY_H5_FLOAT, 8, 0}};
    char *out = malloc((size_t)count * 8 + 1);

    io_must(ctx, out != NULL, "no memory");
    for (int i = 0; i < 3; i++) {
        const int64_t done = hy_h5_convert(&from, &to[i], numbers, count, out);
        io_must(ctx, done >= 0 && done <= count, "too many numbers are converted");
    }
    free(out);
}

static void decode(const unsigned char *data, size_t bytes)
{
    static const int known[] = {HY_H5_DEFLATE, HY_H5_SHUFFLE, HY_H5_FLETCHER32, HY_H5_LZF,
                                HY_H5_ZSTD};
    hy_h5_filters filters    = {.count        = data[0] % 5,
                                .number_bytes = (size_t)1 << data[6] % 4};
    hy_h5_decoder decoder    = {.inflater = NULL};

    for (int i = 0; i < 4; i++)
        filters.filter[i] = known[data[1 + i] % 5];
    filters.chunk_bytes = ((size_t)data[7] | (size_t)data[8] << 8) * filters.number_bytes;
    decoder.room        = hy_h5_scratch_bytes(&filters);
    for (int i = 0; i < 2; i++)
        decoder.scratch[i] = malloc(decoder.room);
    char *to = malloc(filters.chunk_bytes + 1);
    io_must(ctx, decoder.scratch[0] && decoder.scratch[1] && to, "no memory");
    hy_h5_inflater_make(&decoder);
    if (hy_h5_decode(&filters, data[5], &decoder, data + 9, bytes - 9, to))
        bad++;
    else {
        convert(&filters, data[6], to);
        good++;
    }
    hy_h5_inflater_free(&decoder);
    free(decoder.scratch[0]);
    free(decoder.scratch[1]);
    free(to);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    if (!ctx)
        ctx = io_open(1);
    if (bytes > 0 && data[0] == '{')
        read_json(data, bytes);
    else if (bytes >= 9)
        decode(data, bytes);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".chunk", argc > 1 ? atoi(argv[1]) : 5000, LLVMFuzzerTestOneInput);
    io_must(ctx, good > 0 && bad > 0, "mutations are all alike");
    io_close(ctx);
    return 0;
}
#endif
