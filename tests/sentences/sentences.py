"""Checks and produces every sentence of sentences.txt, which explains its format.

Usage: sentences.py listed | cpu | cuda | gpu

listed: every text in the sources is part of a sentence of the list, and the list has no
sentence without such a text.
cpu, cuda: every sentence is printed by the program or said by the library, in a build
without or with CUDA. A command that fails leaves no file behind.
gpu: the same for the sentences that need a GPU.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import sources

HERE = Path(__file__).parent
PROGRAMS = Path(os.environ.get("HYBRID_BUILD", "")) / "bin"

CONVERSION = re.compile(
    r"%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|[@~]"
)
PLACEHOLDER = re.compile(r"<[a-z][a-z ]*>")
NUMBER = "(?:-?[0-9]+|<[a-z][a-z ]*>)"


class Sentence(NamedTuple):
    """A sentence of the list and how it is produced."""

    line: int
    text: str
    where: str  # "": any machine; "cpu" or "cuda": a build; "gpu": a machine; "never"
    how: str  # a command, a test program, or the reason for never
    code: int  # exit code of the command; -1 for a test program


# ---- the list -----------------------------------------------------------------------


def read_how(line: int, text: str, how: str) -> Sentence:
    """Return the sentence with the line that says how to produce it."""
    match = re.fullmatch(r"(?:(cpu|cuda|gpu|never) )?(?:(\d+|test) )?(.+)", how)
    if not match or not (match[2] or match[1] == "never"):
        raise SystemExit(f"sentences.txt:{line}: cannot read '{how}'")
    code = int(match[2]) if match[2] and match[2] != "test" else -1
    return Sentence(line, text, match[1] or "", match[3], code)


def read_list() -> Iterator[Sentence]:
    """Yield the sentences of the list. A frame holds for the names that follow it."""
    text, frame = "", ""
    for line, row in enumerate((HERE / "sentences.txt").read_text().splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            frame = ""
        elif row.startswith("= "):
            frame = row[2:]
        elif frame:
            name, how = re.split(r" {2,}", row)
            yield read_how(line, frame.replace("NAME", name), how)
        elif not row.startswith("    "):
            text = row
        else:
            yield read_how(line, text, row.strip())


# ---- patterns -----------------------------------------------------------------------


def variable(part: str) -> str:
    """Return a regular expression for what takes the place of a conversion."""
    if part == "%%":
        return "%%?"
    return NUMBER if re.fullmatch(r"%[0-9*.]*[hlzjt]*[diu]", part) else ".*"


def pattern(text: str, varies: re.Pattern[str]) -> str:
    """Return a regular expression for the text, of which parts vary."""
    out, begin = "", 0
    for match in varies.finditer(text):
        out += re.escape(text[begin : match.start()]) + variable(match[0])
        begin = match.end()
    return out + re.escape(text[begin:])


def as_printed(text: str) -> str:
    """Return the text without the end of the line and the name of the program."""
    return text.split("\n")[0].removeprefix("hybrid_spmm: ")


def check_listed() -> Iterator[str]:
    """Yield what is in the sources alone, or in the list alone."""
    sentences = list(read_list())
    lines = "\n".join(sentence.text for sentence in sentences)
    texts = list(sources.find(Path(os.environ["HYBRID_SOURCE"])))
    patterns = [re.compile(pattern(as_printed(text.text), CONVERSION)) for text in texts]
    for text, wanted in zip(texts, patterns, strict=True):
        if not wanted.search(lines):
            yield f"{text.place}: sentences.txt has no sentence with '{text.text}'"
    for sentence in sentences:
        if not any(wanted.search(sentence.text) for wanted in patterns):
            yield f"sentences.txt:{sentence.line}: no source has a text of '{sentence.text}'"


# ---- production ---------------------------------------------------------------------


class Producer:
    """Runs commands and test programs in a folder of its own."""

    def __init__(self, folder: Path, hide: bool) -> None:
        self.folder = folder
        self.said: dict[str, tuple[int, set[str]]] = {}
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if hide else {}
        self.environ = {**os.environ, **hidden, "TMPDIR": str(folder)}
        self.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
        (folder / "hybrid_spmm").symlink_to(os.environ["HYBRID_SPMM"])
        (folder / "data").symlink_to(os.environ["TEST_DATA"])
        self.run(["bash", "-c", f". {HERE}/operands.sh"], {})

    def run(self, command: list[str], environ: dict[str, str]) -> tuple[int, set[str]]:
        """Return the exit code and the lines that the command prints."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        lines = done.stdout.decode(errors="replace").splitlines()
        return done.returncode, {line.strip().removeprefix("hybrid_spmm: ") for line in lines}

    def said_by(self, how: str) -> tuple[int, set[str]]:
        """Return what a test program, or one of its functions, prints, and the library says."""
        if how not in self.said:
            program, *only = how.split()
            path = self.folder / f"said_{len(self.said)}"
            environ = {"HYBRID_SAID": str(path)} | {"HYBRID_ONLY": name for name in only}
            code, lines = self.run([str(PROGRAMS / program)], environ)
            if path.exists():
                lines |= set(path.read_text(errors="replace").splitlines())
            self.said[how] = code, lines
        return self.said[how]

    def fault(self, sentence: Sentence) -> str:
        """Return why the sentence is not produced, or nothing."""
        if sentence.code >= 0:
            before = set(os.listdir(self.folder))
            code, lines = self.run(["bash", "-c", sentence.how], {})
            if code != 0 and (left := set(os.listdir(self.folder)) - before):
                return f"leaves {sorted(left)}"
        else:
            code, lines = self.said_by(sentence.how)
        if code != max(sentence.code, 0):
            return f"ends with exit code {code}"
        wanted = re.compile(pattern(sentence.text, PLACEHOLDER))
        if any(wanted.fullmatch(line) for line in lines):
            return ""
        return f"says {sorted(lines)}" if len(lines) < 5 else "does not say it"


def check_produced(places: list[str]) -> Iterator[str]:
    """Yield the sentences that are not produced."""
    with tempfile.TemporaryDirectory() as folder:
        producer = Producer(Path(folder), hide="gpu" not in places)
        for sentence in read_list():
            if sentence.where in places and (fault := producer.fault(sentence)):
                yield f"sentences.txt:{sentence.line}: '{sentence.how}' {fault}\n"


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "listed": check_listed,
    "cpu": lambda: check_produced(["", "cpu"]),
    "cuda": lambda: check_produced(["", "cuda"]),
    "gpu": lambda: check_produced(["gpu"]),
}


def has_gpu() -> bool:
    """Tell whether the program can use a GPU."""
    command = [os.environ["HYBRID_SPMM"], *"multiply -q gen:band:9,1 --backend cuda".split()]
    return subprocess.run(command, capture_output=True).returncode == 0


def main() -> int:
    """Print what is wrong. Return 1 if anything is, and 77 if a GPU is needed and missing."""
    if sys.argv[1] == "gpu" and not has_gpu():
        return 77
    wrong = list(CHECKS[sys.argv[1]]())
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
