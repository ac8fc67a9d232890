#!/usr/bin/env python3
"""Checks a wheel of kaio, and prints a line for each check. Exits with 1 if one fails.

- auditwheel finds no symbol of a system newer than manylinux_2_28, and no library that a system may lack. A wheel for Windows needs
  only DLLs that Windows and Python have.
- Only the functions of the C interface leave libkaio.so.0 or kaio.dll, and only PyInit__core the module, which uses nothing but
  Python's stable interface.
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

import pefile
from elftools.elf.elffile import ELFFile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEWEST = (2, 28)
MOST_BYTES = 40e6
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}
WINDOWS = {"advapi32.dll", "kernel32.dll", "msvcrt.dll", "ntdll.dll"}
EXPECTED = re.compile(r"""kaio/(?!include/|lib/)([\w/]+\.pyi?|py\.typed)
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


def check_stable_interface(module, version):
    code, text = tool("abi3audit", "-v", "--strict", "--assume-minimum-abi3", version, module)
    say(code == 0, "abi3audit: " + " ".join(re.sub(r"^\[.*?\]\W*", "", text).split()))


def check_objects(folder):
    needed, symbols = dynamic(folder / "kaio/lib/libkaio.so.0")
    others = sorted(name for name in symbols if not name.startswith("kaio_"))
    say(not others, f"libkaio.so.0 exports {len(symbols)} functions kaio_*, and {', '.join(others) or 'nothing else'}")
    say(needed <= SYSTEM, f"libkaio.so.0 needs {', '.join(sorted(needed))}: the C library")
    needed, symbols = dynamic(folder / "kaio/_core.abi3.so")
    say(symbols == {"PyInit__core"}, f"the module exports {', '.join(sorted(symbols))}")
    needed -= SYSTEM
    say(needed == {"libkaio.so.0", "libstdc++.so.6", "libgcc_s.so.1"}, f"the module needs {', '.join(sorted(needed))}")
    check_stable_interface(folder / "kaio/_core.abi3.so", "3.10")


def imports_and_exports(path):
    """(the DLLs that a DLL needs, the names that leave it)"""
    file = pefile.PE(str(path))
    needed = {item.dll.decode().lower() for item in file.DIRECTORY_ENTRY_IMPORT}
    return needed, {symbol.name.decode() for symbol in file.DIRECTORY_ENTRY_EXPORT.symbols}


def check_dlls(folder):
    needed, symbols = imports_and_exports(folder / "kaio/kaio.dll")
    interface = set(re.findall(r"^ *(kaio_\w+);$", (ROOT / "src/c/generated/exports.map").read_text(), re.MULTILINE))
    others = sorted(symbols ^ interface)
    say(not others, f"kaio.dll exports {len(symbols)} functions; {', '.join(others) or 'none'} differs from the C interface")
    say(needed <= WINDOWS, f"kaio.dll needs {', '.join(sorted(needed))}: DLLs of Windows")
    needed, symbols = imports_and_exports(folder / "kaio/_core.pyd")
    symbols = {name for name in symbols if not name.startswith("_ZTVN8nanobind")}  # nanobind exports the tables of its errors
    say(symbols == {"PyInit__core"}, f"the module exports {', '.join(sorted(symbols))}")
    needed = {name for name in needed if name not in WINDOWS and not name.startswith("api-ms-win-crt-")}
    say(needed == {"python3.dll", "kaio.dll"}, f"the module needs {', '.join(sorted(needed))}")
    check_stable_interface(folder / "kaio/_core.pyd", "3.12")


def check_content(wheel, names, binaries):
    others = [name for name in names if name not in binaries and not EXPECTED.fullmatch(name)]
    say(not others, f"{len(names)} files, and {', '.join(others) or 'none that does not belong there'}")
    needed = {"kaio/__init__.py", "kaio/py.typed", "kaio/include/kaio/c/kaio.h", *binaries}
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
    for_windows = path.name.endswith("-cp312-abi3-win_amd64.whl")
    if not for_windows:
        check_platform(path)
    binaries = {"kaio/_core.pyd", "kaio/kaio.dll"} if for_windows else {"kaio/_core.abi3.so", "kaio/lib/libkaio.so.0"}
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        check_content(wheel, wheel.namelist(), binaries)
        if failures:
            return 1
        wheel.extractall(folder)
        (check_dlls if for_windows else check_objects)(pathlib.Path(folder))
    print(f"{path.name}: {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
