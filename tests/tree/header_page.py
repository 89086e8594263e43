#!/usr/bin/env python3
"""Doxygen makes a page of the public headers without warnings, and nothing is undocumented.

Doxygen complains about functions, types, fields and macros without a comment. This test adds
enumerators, parameters that neither the comment of their function nor the list of common
parameters names, and references to sections that docs/manual.md does not have. It then damages
the header in several places and expects a complaint about each.
Usage: header_page.py (in the environment: HYBRID_SOURCE)
"""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

HEADERS = ["include/hybrid_spmm.h", "include/hybrid_spmm_files.h"]
SETTINGS, MANUAL = "docs/header", "docs/manual.md"
COMMON = "Common parameters"


def text_of(element):
    return " ".join(element.itertext()) if element is not None else ""


def documented(member):
    return text_of(member.find("briefdescription")) + text_of(member.find("detaileddescription"))


def parameters(member):
    """The names of the parameters of a function or of a type of functions."""
    if member.get("kind") == "function":
        return [p.findtext("declname") for p in member.iter("param") if p.findtext("declname")]
    listed = member.findtext("argsstring") or ""
    return re.findall(r"(\w+)(?=[,)])", listed) if listed.startswith(")(") else []


def members(folder):
    for name in sorted(os.listdir(folder)):
        if name.startswith("group__"):
            yield from ET.parse(os.path.join(folder, name)).iter("memberdef")


def common_parameters(folder):
    page = ET.parse(os.path.join(folder, "hybrid__spmm_8h.xml")).find("compounddef/detaileddescription")
    found = next(item for item in page.iter("listitem") if COMMON in text_of(item))
    return {name.text for name in found.iter("computeroutput")}


def lost_references(header, manual):
    sections = re.findall(r"^## (.*)$", manual, re.M)
    quoted = re.findall(r'"([A-Z][^"]*)"\s+in\s+the\s+manual', header)
    names = [re.sub(r"\s+", " ", name) for name in quoted]
    assert names, "the header refers to no section of the manual"
    return [f"docs/manual.md has no section {name}" for name in names
            if not any(section.startswith(name) for section in sections)]


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def complaints(root):
    """What is wrong with the header below `root`, as lines."""
    out = os.path.join(root, "build/header")
    os.makedirs(out, exist_ok=True)
    done = subprocess.run(["doxygen", f"{SETTINGS}/Doxyfile"], cwd=root, text=True, check=False,
                          capture_output=True)
    found = done.stderr.splitlines()
    if done.returncode != 0 and not found:
        found = [f"doxygen: exit code {done.returncode}"]
    xml, functions = os.path.join(out, "xml"), 0
    common = common_parameters(xml)
    for member in members(xml):
        names, text = parameters(member), set(re.findall(r"\w+", documented(member)))
        functions += member.get("kind") == "function"
        found += [f"{member.findtext('name')}: the comment does not name {name}"
                  for name in names if name not in text and name not in common]
        found += [f"{value.findtext('name')} has no comment"
                  for value in member.iter("enumvalue") if not documented(value).strip()]
    headers = "".join(read(root, header) for header in HEADERS)
    declared = len(re.findall(r"^HYBRID_API", headers, re.M))
    if functions != declared:
        found.append(f"the page has {functions} functions, the headers {declared}")
    return found + lost_references(headers, read(root, MANUAL))


def copy_of(source, root, damage):
    shutil.copytree(os.path.join(source, SETTINGS), os.path.join(root, SETTINGS))
    shutil.copy(os.path.join(source, MANUAL), os.path.join(root, MANUAL))
    os.makedirs(os.path.join(root, "include"))
    for header in HEADERS:
        text = damage.get(header, lambda text: text)(read(source, header))
        with open(os.path.join(root, header), "w", encoding="utf-8") as f:
            f.write(text)


def replacing(pattern, text):
    def damage(header):
        damaged, count = re.subn(pattern, text, header, count=1, flags=re.S)
        assert count == 1, pattern
        return damaged
    return damage


def damaged(header):
    return functools.reduce(lambda text, damage: damage(text), DAMAGES.values(), header)


DAMAGES = {
    "hybrid_version": replacing(r"/\*\* Returns the version.*?\*/\n", ""),
    "nnz": replacing(r"int64_t( +)nnz; +/\*\*<.*?\*/", r"int64_t\1nnz;"),
    "names": replacing(r"(hybrid_pin\(hybrid_engine \*engine, void \*ptr, size_t) bytes",
                       r"\1 names"),
    "HYBRID_CHECK": replacing(r"(HYBRID_CHECK +=.*?,) /\*\*<.*?\*/", r"\1"),
    "No such section": replacing(r'"Numbers" in the manual', '"No such section" in the manual'),
    "no_such_command": replacing(r"/\*\* Dense matrix\.", r"/** Dense matrix. @no_such_command"),
}


def main(source):
    if not shutil.which("doxygen"):
        print("SKIP: no doxygen")
        return 77
    with tempfile.TemporaryDirectory() as root:
        copy_of(source, root, {})
        found = complaints(root)
    with tempfile.TemporaryDirectory() as root:
        copy_of(source, root, {HEADERS[0]: damaged})
        about_damages = "\n".join(complaints(root))
    found += [f"a damaged header: no complaint about {name}"
              for name in DAMAGES if name not in about_damages]
    print("\n".join(found) or "every function, parameter and field is documented")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(os.environ["HYBRID_SOURCE"]))
