/* tests/fuzz/fuzz_json.c - the JSON reader survives any bytes.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/json_string.h"
#include "io/formats/raw.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;
static int good, bad;

static void check_array(const hy_raw_array *array, const hy_input *input)
{
    io_must(ctx,
            array->length > 0 && array->name >= input->text &&
                array->name + array->length <= input->text + input->bytes,
            "a name is not in the text");
    char *name = malloc(array->length);
    io_must(ctx, name != NULL, "no memory");
    const size_t length = hy_json_string_decode(array->name, array->length, name);
    io_must(ctx, length > 0 && length <= array->length, "a decoded name is longer");
    io_must(ctx, !memchr(name, 0, length), "a name holds a zero");
    free(name);
    io_must(ctx, array->offset >= 0 && array->offset <= INT64_MAX / 2, "odd offset");
}

static void check(const hy_raw_header *h, const hy_input *input)
{
    io_must(ctx, h->version == 1 && h->rows >= 0 && h->cols >= 0 && h->nnz >= 0,
            "odd sizes");
    io_must(ctx, h->type == 1 || h->type == 2, "odd type");
    check_array(&h->values, input);
    if (h->form == HY_RAW_CSR) {
        check_array(&h->row_ptr, input);
        check_array(&h->col, input);
        io_must(ctx, h->nnz <= INT64_MAX / 16 && h->rows < INT64_MAX / 16, "too large");
    } else {
        const int64_t lines = h->order == 1 ? h->rows : h->cols;
        io_must(ctx, h->order == 1 || h->order == 2, "odd order");
        io_must(ctx, h->ld >= (h->order == 1 ? h->cols : h->rows), "short lines");
        io_must(ctx, lines == 0 || h->ld <= INT64_MAX / 16 / lines, "too large");
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    hy_raw_header header;
    hy_input input;

    if (!ctx)
        ctx = io_open(1);
    if (hy_input_copy(ctx, "fuzz", data, bytes, &input) != HYBRID_OK) {
        hy_message_clear(&ctx->message); /* refused before the reader: the bytes begin
                                            like gzip data */
        return 0;
    }
    const hybrid_status status = hy_raw_parse(ctx, &input, &header);
    if (status == HYBRID_OK) {
        check(&header, &input);
        good++;
    } else {
        io_must(ctx, status == HYBRID_BAD_FILE, "unexpected status");
        io_must(ctx, strncmp(ctx->message.text, "fuzz:", 5) == 0, "no sentence");
        hy_message_clear(&ctx->message);
        bad++;
    }
    hy_input_close(ctx, &input);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".json", argc > 1 ? atoi(argv[1]) : 20000, LLVMFuzzerTestOneInput);
    io_must(ctx, good > 0 && bad > 0, "mutations are all alike");
    io_close(ctx);
    return 0;
}
#endif
