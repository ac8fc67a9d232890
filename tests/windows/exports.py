#!/usr/bin/env python3
"""A DLL exports the names of a linker's map and nothing else, and needs no DLL apart from those of Windows.

    exports.py DLL MAP

The map is that of the library for Linux. Prints 'N passed, N failed' over the names; exits with 77 if objdump is not installed.
"""

import pathlib
import re
import shutil
import subprocess
import sys

SYSTEM = {"KERNEL32.dll", "msvcrt.dll", "WS2_32.dll", "ADVAPI32.dll", "SHELL32.dll"}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    dll, map_file = map(pathlib.Path, sys.argv[1:])
    objdump = shutil.which("x86_64-w64-mingw32-objdump")
    if objdump is None:
        print("skipped: MinGW's objdump is not installed (Debian: binutils-mingw-w64-x86-64)")
        return 77
    wanted = set(re.findall(r"^ *([A-Za-z0-9_]+);$", map_file.read_text(), re.MULTILINE))
    listed = subprocess.run([objdump, "-p", dll], capture_output=True, text=True, check=True).stdout
    table = listed.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    exported = set(re.findall(r"^\s*\[ *\d+\] (?:\+base\[ *\d+\] +[0-9a-f]+ )?(\S+)$", table, re.MULTILINE))
    problems = [f"{dll.name} does not export {name}" for name in sorted(wanted - exported)]
    problems += [f"{dll.name} exports {name}, which the map does not have" for name in sorted(exported - wanted)]
    problems += [f"{dll.name} needs {name}: a program would have to bring it"
                 for name in re.findall(r"DLL Name: (\S+)", listed) if name not in SYSTEM]
    print("\n".join(problems))
    print(f"{len(wanted & exported)} passed, {len(problems)} failed")
    return 1 if problems or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
