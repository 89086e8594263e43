/* tests/fuzz/fuzz_json.c - the JSON reader survives any bytes.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/json_string.h"
#include "io/arrays/raw.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;
static int good, bad;

static void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s: %s\n", what, ctx->message.text);
        abort();
    }
}

static void check_array(const hy_raw_array *array, const hy_input *input)
{
    must(array->length > 0 && array->name >= input->text &&
             array->name + array->length <= input->text + input->bytes,
         "a name is not in the text");
    char *name = malloc(array->length);
    must(name != NULL, "no memory");
    const size_t length = hy_json_string_decode(array->name, array->length, name);
    must(length > 0 && length <= array->length, "a decoded name is longer");
    must(!memchr(name, 0, length), "a name holds a zero");
    free(name);
    must(array->offset >= 0 && array->offset <= INT64_MAX / 2, "odd offset");
}

static void check(const hy_raw_header *h, const hy_input *input)
{
    must(h->version == 1 && h->rows >= 0 && h->cols >= 0 && h->nnz >= 0, "odd sizes");
    must(h->type == 1 || h->type == 2, "odd type");
    check_array(&h->values, input);
    if (h->sparse) {
        check_array(&h->row_ptr, input);
        check_array(&h->col, input);
        must(h->nnz <= INT64_MAX / 16 && h->rows < INT64_MAX / 16, "too large");
    } else {
        const int64_t lines = h->order == 1 ? h->rows : h->cols;
        must(h->order == 1 || h->order == 2, "odd order");
        must(h->ld >= (h->order == 1 ? h->cols : h->rows), "short lines");
        must(lines == 0 || h->ld <= INT64_MAX / 16 / lines, "too large");
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
        hy_message_clear(&ctx->message); /* begins like gzip data */
        return 0;
    }
    const hybrid_status status = hy_raw_parse(ctx, &input, &header);
    if (status == HYBRID_OK) {
        check(&header, &input);
        good++;
    } else {
        must(status == HYBRID_BAD_FILE, "unexpected status");
        must(strncmp(ctx->message.text, "fuzz:", 5) == 0, "no sentence");
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
    must(good > 0 && bad > 0, "mutations are all alike");
    io_close(ctx);
    return 0;
}
#endif
