"""The declarations for ctypes against the header, as a C compiler reads it."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hybrid_spmm._native import capi

HEADER = Path(__file__).parents[2] / "include" / "hybrid_spmm.h"
STRUCTS = {
    "hybrid_csr": capi.Csr,
    "hybrid_dense": capi.Dense,
    "hybrid_allocator": capi.Allocator,
    "hybrid_engine_options": capi.EngineOptions,
    "hybrid_machine": capi.Machine,
    "hybrid_plan_options": capi.PlanOptions,
    "hybrid_operand": capi.FileOperand,
    "hybrid_file_options": capi.FileOptions,
    "hybrid_candidate": capi.Candidate,
    "hybrid_use": capi.Use,
    "hybrid_report": capi.Report,
}
ENUMERATORS = [
    name
    for name, value in vars(capi).items()
    if name.isupper() and name != "VERSION" and isinstance(value, int)
]


def headers():
    """Return the text of the public headers."""
    return "".join(path.read_text() for path in sorted(HEADER.parent.glob("*.h")))


pytestmark = pytest.mark.skipif(
    not HEADER.exists() or not shutil.which("cc"), reason="needs the header and a C compiler"
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Compile and run a program that prints sizes, offsets and enumerators."""
    folder = tmp_path_factory.mktemp("capi")
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field in struct._fields_:
            lines.append(f'printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));')
    for name in ENUMERATORS:
        lines.append(f'printf("{name} %d\\n", (int)HYBRID_{name});')
    source = folder / "measure.c"
    source.write_text(
        "#include <stdio.h>\n#include <hybrid_spmm.h>\nint main(void){" + "\n".join(lines) + "}"
    )
    program = folder / "measure"
    subprocess.run(["cc", f"-I{HEADER.parent}", source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in map(str.split, printed.splitlines())}


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_have_the_layout_of_the_header(measured, name):
    struct = STRUCTS[name]
    assert ctypes.sizeof(struct) == measured[name]
    for field in struct._fields_:
        assert getattr(struct, field[0]).offset == measured[f"{name}.{field[0]}"], field[0]


@pytest.mark.parametrize("name", ENUMERATORS)
def test_enumerators_have_the_values_of_the_header(measured, name):
    assert getattr(capi, name) == measured[name]


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_have_all_fields_of_the_header(name):
    text = re.sub(r"/\*.*?\*/", "", headers(), flags=re.S)
    body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", text, re.S)[1]
    declared = re.findall(r"(\w+)\s*(?:\[\w+\])?\s*[,;]|\(\*(\w+)\)", body)
    names = {a or b for a, b in declared}
    assert {field[0] for field in STRUCTS[name]._fields_} <= names | {"alloc", "free"}
    assert (
        len(names - {field[0] for field in STRUCTS[name]._fields_} - {"user", "bytes", "ptr"}) == 0
    )


def test_declared_functions_are_those_of_the_header():
    declared = set(re.findall(r"(hybrid_\w+)\(", headers()))
    assert set(capi.FUNCTIONS) <= declared


@pytest.mark.parametrize("name", sorted(capi.FUNCTIONS))
def test_functions_take_as_many_arguments_as_in_the_header(name):
    text = re.sub(r"/\*.*?\*/", "", headers(), flags=re.S)
    found = re.search(rf"^HYBRID_API[^;]*?\b{name}\(([^;]*?)\);", text, re.M | re.S)
    arguments = found[1].strip()
    assert len(capi.FUNCTIONS[name][1]) == (0 if arguments == "void" else arguments.count(",") + 1)


def test_version_is_the_header_s():
    found = {k: int(v) for k, v in re.findall(r"HYBRID_VERSION_(\w+) (\d+)", headers())}
    assert found["MAJOR"] * 10000 + found["MINOR"] * 100 + found["PATCH"] == capi.VERSION


def test_status_has_an_exception():
    from hybrid_spmm import _errors

    codes = re.findall(r"X\(\w+, +(\d+), \"", headers().split("HYBRID_RESOURCE_MAP")[0])
    assert set(_errors.BY_STATUS) == {int(code) for code in codes} - {0}
