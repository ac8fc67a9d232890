#!/usr/bin/env python3
"""The C interface agrees with itself:

- What src/c/generate.py makes is what the repository has.
- libkaio.so exports the functions that the headers declare, each with the version of the interface, and nothing else.
- It needs no library apart from those of the C library, and its SONAME has the major version.
- Headers, library and CMake have one version.
- Each function is on a page of docs/c.md or docs/c/.
- kaio.h includes every header.
- Functions, members of structs and constants are those of interface.txt, in their order. What is gone or has changed breaks
  programs, and is a new major version. What is new raises the minor version and has the default 0; --update then writes the file anew.

    check.py [--update] LIBRARY VERSION
"""

import ctypes
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORD = HERE / "interface.txt"
ALLOWED = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux\S*|libz\.so\.\d+")
sys.path.insert(0, str(ROOT / "src/c"))
import generate  # noqa: E402


def code_of(header):
    """The declarations of a header, without comments and directives."""
    return re.sub(r"/\*.*?\*/|^#[^\n]*$", "", header.read_text(), flags=re.DOTALL | re.MULTILINE)


def interface(headers):
    """A line for each function, member and constant."""
    for header in headers:
        text = code_of(header)
        for prototype in re.findall(r"KAIO_API (.*?);", text, re.DOTALL):
            yield "function " + re.sub(r"\s+", " ", prototype)
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.DOTALL):
            for number, member in enumerate(filter(None, (line.strip() for line in body.split(";")))):
                yield f"struct {name} {number} {member}"
        for body in re.findall(r"\nenum \{(.*?)\}", text, re.DOTALL):
            for name, value in re.findall(r"(\w+) = (-?\d+)", body):
                yield f"constant {name} {value}"


def symbols_of(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in listed.splitlines()]


def problems_of_library(library, names, major, version):
    exported = [symbol for symbol in symbols_of(library) if symbol.partition("@")[2].lstrip("@") or not symbol.startswith("KAIO_")]
    tag = f"@@KAIO_{major}"
    found = {symbol.removesuffix(tag) for symbol in exported if symbol.endswith(tag)}
    yield from (f"{library.name} exports {symbol}, which no header declares" for symbol in sorted({s for s in exported if not s.endswith(tag)} | found - names))
    yield from (f"{library.name} does not export {name}" for name in sorted(names - found))
    listed = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    soname = re.search(r"SONAME +(\S+)", listed)[1]
    if soname != f"libkaio.so.{major}":
        yield f"the SONAME is {soname}, and the interface has the major version {major}"
    yield from (f"{library.name} needs {needed}: it is not one file" for needed in re.findall(r"NEEDED +(\S+)", listed)
                if not ALLOWED.fullmatch(needed))
    loaded = ctypes.CDLL(str(library))
    loaded.kaio_version.restype = ctypes.c_char_p
    if loaded.kaio_version().decode() != version:
        yield f"the library says that it is {loaded.kaio_version().decode()}, and CMake {version}"
    macros = dict(re.findall(r"#define KAIO_ABI_(MAJOR|MINOR) (\d+)", (ROOT / "include/kaio/c/base.h").read_text()))
    if loaded.kaio_abi_version() != int(macros["MAJOR"]) << 16 | int(macros["MINOR"]):
        yield f"the library's interface is {loaded.kaio_abi_version():#x}, and the header's {macros}"
    if version.split(".")[0] != macros["MAJOR"]:
        yield f"the version is {version}, and the interface has the major version {macros['MAJOR']}"


def problems_of_interface(recorded, lines):
    """What has changed. A member may take the place of one that is reserved. A new member has the default 0, which libraries that do
    not know it accept."""
    places = {line.rsplit(" ", 2)[0]: line for line in lines if line.startswith("struct ")}
    for line in recorded:
        taken = " reserved_" in line and re.search(r" (u?int32_t|float) \w+$", places.get(line.rsplit(" ", 2)[0], ""))
        if line not in lines and not taken:
            yield f"interface.txt: gone: {line}"
    structs = generate.descriptions().structs
    for line in lines:
        if line in recorded:
            continue
        yield f"interface.txt: new: {line}"
        words = line.split()
        grown = words[0] == "struct" and any(other.startswith(f"struct {words[1]} ") for other in recorded)
        fields = structs.get(words[1].removeprefix("kaio_"), {}).get("fields", ()) if grown else ()
        if any(field["name"] == words[-1] and field.get("default") for field in fields):
            yield f"{words[1]}: the new member {words[-1]} has a default that is not 0; let 0 mean the default"


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    if len(words) != 2:
        sys.exit(__doc__)
    if not (shutil.which("nm") and shutil.which("objdump")):
        print("skipped: nm or objdump is not installed (Debian: binutils)")
        return 77
    library, version = pathlib.Path(words[0]), words[1]
    headers = sorted((ROOT / "include/kaio/c").glob("*.h"))
    names = set(generate.exported([code_of(header) for header in headers]))
    problems = [f"{path}: run src/c/generate.py, and commit the result" for path, text in generate.files(generate.descriptions()).items()
                if not (ROOT / path).exists() or (ROOT / path).read_text() != text]
    made = {pathlib.Path(path).name for path in generate.files(generate.descriptions())}
    problems += [f"src/c/generated/{file.name}: no description makes it" for file in (ROOT / "src/c/generated").iterdir() if file.name not in made]
    major = re.search(r"#define KAIO_ABI_MAJOR (\d+)", (ROOT / "include/kaio/c/base.h").read_text())[1]
    problems += problems_of_library(library, names, major, version)
    pages = "".join(page.read_text() for page in [ROOT / "docs/c.md", *sorted((ROOT / "docs/c").glob("*.md"))])
    problems += [f"docs/c.md, docs/c/: no page has {name}" for name in sorted(names) if not re.search(rf"\b{name}\b", pages)]
    umbrella = (ROOT / "include/kaio/c/kaio.h").read_text()
    problems += [f"kaio.h does not include {header.name}" for header in headers
                 if header.name != "kaio.h" and f"<kaio/c/{header.name}>" not in umbrella]

    lines = list(interface(headers))
    if "--update" in sys.argv[1:]:
        RECORD.write_text("".join(f"{line}\n" for line in lines))
    recorded = RECORD.read_text().splitlines() if RECORD.exists() else []
    problems += problems_of_interface(recorded, lines)
    print("\n".join(problems))
    if any("interface.txt" in problem for problem in problems):
        print(f"kaio: if this is intended, raise KAIO_ABI_MINOR, or KAIO_ABI_MAJOR if something is gone, and commit what "
              f"tests/c/check.py --update {' '.join(words)} writes")
    print(f"{len(names)} functions, {len(lines)} lines of the interface, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
