#!/usr/bin/env python3
"""Compiles a program that uses libkaio.so, and runs it on the device that KAIO_DEVICE names.

    programs.py c99|FILE|cxx17|old_caller|page --library FILE --work FOLDER --cc COMPILER --cxx COMPILER

- c99: operations.c, as C99 without an extension or a warning. Likewise the files of FILES, such as attention.c.
  A program that writes files gets the work folder as its argument.
- kernels: also kernel_library.cpp, a library with kernels that it loads, and one without.
- cxx17: without_exceptions.cpp, as C++17 without exceptions and RTTI.
- old_caller: old_caller.c, with headers in which each struct of options has only its first fields.
- page: the example of docs/c.md, compiled as C99 and as C++17 alone.
"""

import argparse
import copy
import os
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(root / "src/c"))
import generate  # noqa: E402

WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
C99 = ["-std=c99", *WARNINGS, "-Wstrict-prototypes", "-Wno-unused-function"]
FILES = ["attention", "cache", "kernels", "packed_weights", "products_8bit", "projections", "ranks", "repack", "runtime", "small_operations", "threads",
         "weight_files"]
KEPT_FIELDS = {"matmul_options": 4}  # a struct of 24 bytes


def old_headers(folder):
    """Writes headers of an older version; returns the size of its kaio_matmul_options."""
    shutil.copytree(root / "include/kaio/c", folder / "kaio/c", dirs_exist_ok=True)
    all = copy.deepcopy(generate.descriptions())
    for name, count in KEPT_FIELDS.items():
        del all.structs[name]["fields"][count:]
    for name in all.families:
        (folder / f"kaio/c/{name}.h").write_text(generate.header(all, name))
    return 4 * len(list(generate.layout(all.structs["matmul_options"])))


def compile_page(arguments):
    examples = [block for block in re.findall(r"^```c\n(.*?)^```", (root / "docs/c.md").read_text(), re.DOTALL | re.MULTILINE) if "#include" in block]
    for language, compiler in (("c99", arguments.cc), ("c++17", arguments.cxx)):
        for example in examples:
            subprocess.run([compiler, "-x", language.rstrip("0123456789"), f"-std={language}", *WARNINGS, f"-I{root / 'include'}", "-fsyntax-only",
                            "-"], input=example, text=True, check=True)
    return 0 if examples else 1


def make_kernel_libraries(arguments):
    """Compiles what kernels.c loads, with the flags of kaio_kernel_library() of CMake."""
    kind = subprocess.run([arguments.cxx, "--version"], capture_output=True, text=True, check=True).stdout
    more = ["-fconstexpr-steps=16777216"] if "clang" in kind else []
    for name, source in (("kernels", here / "kernel_library.cpp"), ("empty", "/dev/null")):
        subprocess.run([arguments.cxx, "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", *WARNINGS, *more, f"-I{root / 'include'}",
                        "-x", "c++", source, "-o", arguments.work / f"lib{name}.so"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=["c99", *FILES, "cxx17", "old_caller", "page"])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    includes = root / "include"
    if arguments.program == "page":
        command = [arguments.cc]
    elif arguments.program == "c99":
        command = [arguments.cc, *C99, here / "operations.c"]
    elif arguments.program in FILES:
        command = [arguments.cc, *C99, here / f"{arguments.program}.c"]
    elif arguments.program == "cxx17":
        command = [arguments.cxx, "-std=c++17", "-fno-exceptions", "-fno-rtti", *WARNINGS, "-Wno-unused-function",
                   here / "without_exceptions.cpp"]
    else:
        includes = arguments.work / "old_headers"
        command = [arguments.cc, *C99, f"-DOLD_BYTES={old_headers(includes)}", here / "old_caller.c"]
    if not shutil.which(str(command[0])):
        print(f"skipped: {command[0]} is not installed")
        return 77
    if arguments.program == "page":
        return compile_page(arguments)
    if arguments.program == "kernels":
        make_kernel_libraries(arguments)
    program = arguments.work / arguments.program
    command += [f"-I{includes}", "-O1", "-o", program, arguments.library, f"-Wl,-rpath,{arguments.library.parent}", "-lm", "-pthread"]
    subprocess.run([str(word) for word in command], check=True)
    needed = subprocess.run(["objdump", "-p", program], capture_output=True, text=True).stdout if shutil.which("objdump") else ""
    if re.search(r"NEEDED +libkaio_", needed):
        sys.exit(f"failed: the program needs another library of kaio\n{needed}")
    return subprocess.run([program, arguments.work], env={"KAIO_DEVICE": "emulator", **os.environ}).returncode


if __name__ == "__main__":
    sys.exit(main())
