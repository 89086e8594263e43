/* tests/fuzz/fuzz_petsc.c - the reader of PETSc's files survives any bytes. */
#define FORMAT hy_format_petsc
#define ENDING ".petsc"
#define RUNS 200
#include "tests/fuzz/fuzz_format.inc"
