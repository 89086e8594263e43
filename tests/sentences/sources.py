"""Finds the texts of sentences in the sources of the library and the program.

A text is a string literal with at least two words, or the name of an array in a call that
allocates it. Adjacent literals are one text.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDERS = ["base", "cli", "engine", "gpu", "host", "include", "io", "partition", "pipeline"]

# Help, manual pages, completions and the progress line.
DOCUMENTS = [
    "cli/commands/commands.c",
    "cli/options/options.c",
    "cli/output/progress.c",
    "cli/output/text.c",
    "cli/pages/",
]

# Functions and macros that write reports and files, and texts for compilers. Tests of
# the commands compare the reports with tests/cli/expected.
WRITERS = """
    printf fprintf fputs fscanf sscanf hy_facts_add put hy_words_put hy_json_put put_head put_rate put_rule put_terms cli_job_step transpose
    hy_byte_region_print put_json KEY SPEED RULE PYTHON MAGIC strncasecmp asm static_assert _Static_assert
""".split()

# Functions that take the name of an array, which ends a sentence about memory: [NAME].
ALLOCATORS = set(
    """
    hy_array hy_results_array hy_results_reserve hy_tenants_alloc alloc alloc_result
    hy_memory_full hy_memory_refused hy_address_space_full hy_device_full
    """.split()
)

# Fields of the tables of variants and formats, and of keys in rates files.
FIELDS = ["summary", "source", "parameters", "endings"]

TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\s+|\w+|.""", re.DOTALL
)
ESCAPE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class Text(NamedTuple):
    """A text of the sources."""

    place: str
    text: str


def unescaped(literal: str) -> str:
    """Return what the literal stands for."""
    return re.sub(r"\\(.)", lambda m: ESCAPE.get(m[1], m[0]), literal[1:-1])


def literals(source: str) -> Iterator[tuple[int, str, set[str]]]:
    """Yield line, text, and the calls and the field that the text is in."""
    calls: list[str] = []
    text, line, last, field, begin = "", 1, "", "", 0
    for match in TOKEN.finditer(source):
        token = match[0]
        if token[0] == '"':
            begin = begin if text else line
            text += unescaped(token)
        elif text and token.startswith("PRI"):
            text += "lld"
        elif not token.isspace() and not token.startswith(("/*", "//")):
            if text:
                yield begin, text, {*calls, field}
            text = ""
            if token in "({[":
                calls.append(last)
            elif token in ")}]" and calls:
                calls.pop()
            if token in ",;{":
                field = ""
            elif last == ".":
                field = "." + token
            last = token
        line += token.count("\n")


def is_words(text: str) -> bool:
    """Tell whether the text has at least two words."""
    return re.search(r"[a-z]{2}", text) is not None and " " in text.strip(" ")


def find(root: Path) -> Iterator[Text]:
    """Yield all texts that are sentences or parts of sentences."""
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS], cwd=root, check=True, capture_output=True, text=True
    )
    skipped = {*WRITERS, *("." + field for field in FIELDS)}
    for name in listed.stdout.split():
        if not name.endswith((".c", ".h", ".cu", ".cuh")) or name.startswith(tuple(DOCUMENTS)):
            continue
        for line, text, within in literals((root / name).read_text()):
            if is_words(text) and not within & skipped:
                yield Text(f"{name}:{line}", text)
            elif re.fullmatch("[a-z]+", text) and within & ALLOCATORS:
                yield Text(f"{name}:{line}", f"[{text}]")
