/* tests/fuzz/fuzz_npz.c - the .npz reader survives any bytes. */
#define FORMAT hy_format_npz
#define ENDING ".npz"
#define RUNS 200
#include "tests/fuzz/fuzz_format.inc"
