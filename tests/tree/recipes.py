#!/usr/bin/env python3
"""Every program of docs/recipes.md compiles without warnings, runs, and prints the stated output.

A program is a block of C or Python whose first line names its file. A block `console` holds
commands after "$ " and their output, in which "..." stands for any text, on a line of its own
for any lines. Commands run in one folder, which holds the matrices of examples/.
Usage: recipes.py <folder of libhybrid_spmm.so>
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(c|python|console)\n(.*?)^```$", re.S | re.M)
NAME = re.compile(r"^(?:/\*|#) (\w+\.(?:c|py)) - ")
FLAGS = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
         "-pthread"]


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def compile_program(source, library):
    include = os.path.join(os.environ["HYBRID_SOURCE"], "include")
    sanitize = os.environ.get("HYBRID_SANITIZE")
    run([os.environ["CC"], *FLAGS, *([f"-fsanitize={sanitize}"] if sanitize else []),
         "-I", include, source, "-o", source.removesuffix(".c"), "-L", library,
         f"-Wl,-rpath,{library}", "-lhybrid_spmm", "-lm"])


def pattern(expected):
    """Returns a regular expression that matches lines of output."""
    lines = [r"(?:.*\n)*?" if line == "..." else
             ".*?".join(map(re.escape, line.split("..."))) + r" *\n" for line in expected]
    return re.compile("".join(lines))


def converse(text):
    """Runs the commands of a block `console`."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, *expected = part.splitlines()
        said = run(command, shell=True, executable="/bin/bash")
        if not pattern(expected).fullmatch(said):
            sys.exit(f"$ {command}\nprints\n{said}\nand not\n" + "\n".join(expected))


def main(python):
    library = os.path.abspath(sys.argv[1])
    source, program = os.environ["HYBRID_SOURCE"], os.path.abspath(os.environ["HYBRID_SPMM"])
    with open(os.path.join(source, "docs", "recipes.md"), encoding="utf-8") as f:
        blocks = BLOCK.findall(f.read())
    programs, talks = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("bin")
        os.symlink(python, "bin/python3")
        os.environ["PATH"] = os.pathsep.join([os.path.abspath("bin"), os.path.dirname(program),
                                              os.environ["PATH"]])
        for matrix in ("ring.mtx", "wheel.mtx"):
            shutil.copy(os.path.join(source, "examples", matrix), folder)
        for kind, text in blocks:
            if kind == "console":
                converse(text)
                talks += 1
                continue
            name = NAME.match(text)[1]
            with open(name, "w", encoding="utf-8") as f:
                f.write(text)
            if kind == "c":
                compile_program(name, library)
            programs += 1
        os.chdir("/")
    print(f"{programs} programs, {talks} conversations")
    if programs < 6 or talks < programs:
        sys.exit("a recipe has no program, or no line runs it")


def with_scipy():
    """Returns a Python that has SciPy, or None."""
    for python in (shutil.which("python3"), "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import scipy.sparse"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            return python
    return None


if __name__ == "__main__":
    found = with_scipy()
    if not found:
        print("SKIP: no Python with NumPy and SciPy")
        sys.exit(77)
    main(found)
