#!/usr/bin/env python3
"""Examples of the public headers and the C blocks of docs/manual.md compile without warnings
and run.

An example follows "Example:" in a comment, indented by 8. The first one opens the engine that
all others use. They also share A, B, X and Y; after the last one Y is A times X.
Usage: header_examples.py <folder of libhybrid_spmm.so>
"""
import os
import re
import sys
import tempfile

from recipes import compile_program, run

EXPLAINED = ["hybrid_engine_create", "hybrid_spgemm", "hybrid_spmm", "hybrid_spmm_run",
             "hybrid_plan_report"]
PROGRAM = """/* examples.c - the examples of hybrid_spmm.h */
#include "hybrid_spmm.h"

#include <stdio.h>
#include <stdlib.h>

static hybrid_engine *engine;
static hybrid_plan *plan;
static hybrid_csr A, B, C;
static hybrid_dense X, Y;

static void check(hybrid_status status)
{
    if (status != HYBRID_OK) {
        printf("failed: %%s\\n", hybrid_engine_message(engine));
        exit(1);
    }
}

int main(void)
{
    int64_t row = -2;

    {
%s
    }
    check(hybrid_generate(engine, "er:200,5", HYBRID_F64, 1, &A));
    check(hybrid_generate(engine, "er:200,5", HYBRID_F64, 2, &B));
    check(hybrid_dense_create(engine, 200, 8, HYBRID_ROW_MAJOR, HYBRID_F64, &X));
    check(hybrid_dense_create(engine, 200, 8, HYBRID_ROW_MAJOR, HYBRID_F64, &Y));
    check(hybrid_dense_random(engine, 3, &X));
    check(hybrid_spmm_plan(engine, &A, 8, NULL, &plan));
    check(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y));
    check(hybrid_dense_random(engine, 4, &Y));
%s
    check(hybrid_verify_spmm(engine, &A, &X, &Y, 10, 5, &row));
    printf("first wrong row: %%d\\n", (int)row);
    hybrid_csr_free(engine, &C);
    hybrid_csr_free(engine, &B);
    hybrid_csr_free(engine, &A);
    hybrid_dense_free(engine, &X);
    hybrid_dense_free(engine, &Y);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return 0;
}
"""


def read(name):
    with open(os.path.join(os.environ["HYBRID_SOURCE"], name), encoding="utf-8") as f:
        return f.read()


def header_examples():
    """[(name of the function, code)] in the order of the header"""
    found = []
    commented = r"/\*\* ((?:(?!\*/).)*)\*/\n(HYBRID_API.*?);"
    text = read("include/hybrid_spmm.h") + read("include/hybrid_spmm_files.h")
    for comment, declared in re.findall(commented, text, re.S):
        code = re.search(r"Example:\n\n((?: {8}.*(?:\n|$))+)", comment)
        if code:
            found.append((re.search(r"(hybrid_\w+)\(", declared)[1], code[1].rstrip()))
    return found


def main(library):
    examples = header_examples()
    if [name for name, _ in examples] != EXPLAINED:
        sys.exit(f"examples are of {[name for name, _ in examples]}")
    blocks = [code for _, code in examples]
    blocks += re.findall(r"^```c\n(.*?)^```$", read("docs/manual.md"), re.S | re.M)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("examples.c", "w", encoding="utf-8") as f:
            f.write(PROGRAM % (blocks[0], "\n".join(f"    {{\n{code}\n    }}" for code in blocks[1:])))
        compile_program("examples.c", library)
        said = run(["./examples"])
        if not re.fullmatch(r"\S+ s, bound by [\w ]+\nfirst wrong row: -1\n", said):
            sys.exit(f"the examples print\n{said}")
        if not os.path.getsize("trace.json"):
            sys.exit("the trace is empty")
        os.chdir("/")
    print(f"{len(blocks)} examples")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
