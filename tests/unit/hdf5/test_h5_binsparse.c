/* tests/unit/hdf5/test_h5_binsparse.c - faults of descriptions of Binsparse matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "support/engines/io_fixture.h"
#include "support/hdf5/h5_refuse.h"

static void binsparse(hid_t f, const char *format, const char *shape, const char *rest)
{
    char text[512];

    snprintf(text, sizeof text, "{\"binsparse\": {%s, \"shape\": %s, %s}}", format, shape,
             rest);
    h5_text(f, "X", "binsparse", text);
}

#define CSR "\"version\": \"0.1\", \"format\": \"CSR\""
#define TYPES "\"data_types\": {\"values\": \"float32\"}"
#define STORED "\"number_of_stored_values\": 3"
#define BINSPARSE(name, format, shape, rest)                                             \
    static void name(hid_t f)                                                            \
    {                                                                                    \
        binsparse(f, format, shape, rest);                                               \
    }

BINSPARSE(no_version, "\"format\": \"CSR\"", "[1, 2]", TYPES)
BINSPARSE(version_2, "\"version\": \"2.0\"", "[1, 2]", TYPES)
BINSPARSE(no_format, "\"version\": \"0.1\"", "[1, 2]", TYPES)
BINSPARSE(vector, "\"version\": \"0.1.3\", \"format\": \"CVEC\"", "[1]", TYPES)
BINSPARSE(no_types, CSR, "[1, 2]", STORED)
BINSPARSE(complex, CSR, "[1, 2]", "\"data_types\": {\"values\": \"complex[float32]\"}")
BINSPARSE(three_sizes, CSR, "[1, 2, 3]", TYPES)
BINSPARSE(no_number, CSR, "[1, 2]", TYPES)
BINSPARSE(symmetric, CSR, "[1, 2]",
          TYPES ", " STORED ", \"structure\": \"symmetric_lower\"")
BINSPARSE(toeplitz, CSR, "[2, 2]", TYPES ", " STORED ", \"structure\": \"toeplitz\"")
BINSPARSE(dense_half, "\"version\": \"0.1\", \"format\": \"DMAT\"", "[2, 2]",
          TYPES ", " STORED ", \"structure\": \"symmetric_lower\"")
BINSPARSE(filled, CSR, "[1, 2]", TYPES ", " STORED ", \"fill\": true")
BINSPARSE(few_values, "\"version\": \"0.1\", \"format\": \"DMAT\"", "[1, 2]",
          TYPES ", " STORED)
BINSPARSE(vast, "\"version\": \"0.1\", \"format\": \"DMAT\"",
          "[4611686018427387904, 4611686018427387904]", TYPES ", " STORED)

static void no_json(hid_t f)
{
    h5_text(f, "X", "binsparse", "{\"binsparse\": nil}");
}

static void two_values(hid_t f)
{
    h5_put(f, "X/values", H5T_NATIVE_DOUBLE, 2, 1);
    h5_put(f, "X/pointers_to_1", H5T_NATIVE_INT64, 2, 0);
    h5_put(f, "X/indices_1", H5T_NATIVE_INT64, 3, 0);
    binsparse(f, CSR, "[1, 2]",
              "\"data_types\": {\"values\": \"iso[float32]\"}, " STORED);
}

static const struct fault {
    void (*change)(hid_t file);
    const char *member, *sentence;
} faults[] = {
    {no_version, NULL, "Binsparse matrix 'X': 'version' is missing"},
    {version_2, NULL,
     "Binsparse matrix 'X': this library reads version 0.1, not this version: '2.0'"},
    {no_format, NULL, "Binsparse matrix 'X': 'format' is missing"},
    {vector, NULL,
     "Binsparse matrix 'X': this library does not read this format: 'CVEC'"},
    {no_types, NULL, "Binsparse matrix 'X': 'data_types' does not have 'values'"},
    {complex, NULL,
     "Binsparse matrix 'X': complex values are not supported: 'complex[float32]'"},
    {three_sizes, NULL, "Binsparse matrix 'X': 'shape' is not two integers of 0 or more"},
    {no_number, NULL,
     "Binsparse matrix 'X': 'number_of_stored_values' is not an integer of 0 or more"},
    {symmetric, NULL,
     "Binsparse matrix 'X': rows and columns must agree in this structure: "
     "'symmetric_lower'"},
    {toeplitz, NULL, "Binsparse matrix 'X': this structure is not supported: 'toeplitz'"},
    {dense_half, NULL,
     "Binsparse matrix 'X': a dense matrix with this structure is not supported: "
     "'symmetric_lower'"},
    {filled, NULL, "Binsparse matrix 'X': a fill value is not supported"},
    {few_values, NULL, "dense matrix 'X' stores 3 values instead of 2"},
    {vast, NULL, "'X' takes 2^63 bytes or more"},
    {no_json, NULL, "Binsparse matrix 'X': its description is not JSON from byte 14 on"},
    {two_values, NULL, "'X/values' must hold the one value of all entries"},
};

static void each_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        h5_store_changed(faults[i].change);
        h5_refuse(faults[i].member, HYBRID_BAD_FILE, faults[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
    };

    return cmocka_run_group_tests(tests, h5_group_open, h5_group_close);
}
