#!/usr/bin/env python3
"""Checks a wheel of kaio, and prints a line for each check. Exits with 1 if one fails.

- auditwheel finds no symbol of a system newer than manylinux_2_28, and no library that a system may lack.
- Only kaio_* leaves libkaio.so.0, and only PyInit__core the module, which uses nothing but Python's stable interface.
- The files are those of the package: its modules, type information, headers and licences, no work of a developer's tree.
- The file is at most 40 MB.

    check.py WHEEL
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from elftools.elf.elffile import ELFFile

NEWEST = (2, 28)
MOST_BYTES = 40e6
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}
EXPECTED = re.compile(r"""kaio/(?!include/|lib/)([\w/]+\.pyi?|py\.typed|_core\.abi3\.so)
  |kaio/lib/libkaio\.so\.0
  |kaio/include/kaio/[\w/]+\.(hpp|h)
  |kaio_gpu-[\w.]+\.dist-info/(METADATA|WHEEL|RECORD|licenses/[\w/.-]+)""", re.VERBOSE)

failures = []


def say(right, what):
    print(f"{'right' if right else 'WRONG'}: {what}")
    if not right:
        failures.append(what)


def tool(name, *words):
    done = subprocess.run([sys.executable, "-m", name, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.returncode, done.stdout


def check_platform(wheel):
    code, text = tool("auditwheel", "show", wheel)
    found = re.search(r'manylinux_(\d+)_(\d+)_x86_64"', " ".join(text.split()))
    say(code == 0 and found is not None and tuple(map(int, found.groups())) <= NEWEST,
        f"auditwheel: {'manylinux_%s_%s' % found.groups() if found else text.strip()}, at most manylinux_2_28")


def dynamic(path):
    """(the libraries that a shared object needs, the symbols that leave it)"""
    with path.open("rb") as file:
        elf = ELFFile(file)
        needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
        symbols = {symbol.name for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
                   if symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS") and symbol.name}
    return needed, symbols


def check_objects(folder):
    needed, symbols = dynamic(folder / "kaio/lib/libkaio.so.0")
    others = sorted(name for name in symbols if not name.startswith("kaio_"))
    say(not others, f"libkaio.so.0 exports {len(symbols)} functions kaio_*, and {', '.join(others) or 'nothing else'}")
    say(needed <= SYSTEM, f"libkaio.so.0 needs {', '.join(sorted(needed))}: the C library")
    needed, symbols = dynamic(folder / "kaio/_core.abi3.so")
    say(symbols == {"PyInit__core"}, f"the module exports {', '.join(sorted(symbols))}")
    needed -= SYSTEM
    say(needed == {"libkaio.so.0", "libstdc++.so.6", "libgcc_s.so.1"}, f"the module needs {', '.join(sorted(needed))}")
    code, text = tool("abi3audit", "-v", "--strict", "--assume-minimum-abi3", "3.10", folder / "kaio/_core.abi3.so")
    say(code == 0, "abi3audit: " + " ".join(re.sub(r"^\[.*?\]\W*", "", text).split()))


def check_content(wheel, names):
    others = [name for name in names if not EXPECTED.fullmatch(name)]
    say(not others, f"{len(names)} files, and {', '.join(others) or 'none that does not belong there'}")
    needed = {"kaio/__init__.py", "kaio/py.typed", "kaio/_core.abi3.so", "kaio/lib/libkaio.so.0", "kaio/include/kaio/c/kaio.h"}
    say(needed <= set(names), f"{', '.join(sorted(needed - set(names))) or 'nothing'} is missing")
    metadata = wheel.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    requirements = re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra ==)", metadata, re.MULTILINE)
    say(requirements == ["nanobind-backend"], f"requires {', '.join(requirements)}")
    licences = [name for name in names if "/licenses/" in name]
    say(len(licences) == 3 and all(wheel.getinfo(name).file_size > 500 for name in licences), f"{len(licences)} licences")


def main():
    path = pathlib.Path(sys.argv[1])
    size = path.stat().st_size
    say(size <= MOST_BYTES, f"{size / 1e6:.1f} MB, at most {MOST_BYTES / 1e6:.0f}")
    check_platform(path)
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        check_content(wheel, wheel.namelist())
        if failures:
            return 1
        wheel.extractall(folder)
        check_objects(pathlib.Path(folder))
    print(f"{path.name}: {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
