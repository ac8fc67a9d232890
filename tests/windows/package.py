#!/usr/bin/env python3
"""A new user's projects with the package for Windows: kaio's CMake package is found in the unpacked zip, by a toolchain file of their
own. The README's two programs are linked with the static libraries, a program in C with kaio.dll; all run under Wine.

    package.py ZIP WORK [--without-operations]

ZIP: what `tools/kaio package --windows` printed. WORK: an empty folder. Needs Debian's MinGW and Wine. Prints 'N passed, N failed'.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 {prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(first C CXX)
find_package(kaio REQUIRED)
add_executable(first first.cpp)
target_link_libraries(first PRIVATE kaio::runtime -static)
if(OPERATIONS)
  add_executable(second second.cpp)
  target_link_libraries(second PRIVATE kaio::kaio -static)
  add_executable(in_c in_c.c)
  target_link_libraries(in_c PRIVATE kaio::c)
endif()
"""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: code {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def unpack(archive, work):
    """The one folder of the zip."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(work)
        folders = {name.split("/")[0] for name in opened.namelist()}
    assert len(folders) == 1, folders
    return work / folders.pop()


def lacking(prefix, operations):
    wanted = ["include/kaio/kaio.hpp", "lib/cmake/kaio/kaioConfig.cmake", "lib/kaio/cuda/nvcuda.dll", "bin/kaio.exe"]
    if operations:
        wanted += ["bin/kaio.dll", "lib/libkaio.dll.a", "lib/kaio.def", "include/kaio/c/kaio.h"]
    return [name for name in wanted if not (prefix / name).is_file()]


def main():
    words = [word for word in sys.argv[1:] if word != "--without-operations"]
    operations = len(words) == len(sys.argv) - 1
    if len(words) != 2:
        sys.exit(__doc__)
    work = pathlib.Path(words[1]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    prefix = unpack(words[0], work)
    problems = [f"the package lacks {name}" for name in lacking(prefix, operations)]
    blocks = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    first, second = [block for block in blocks if "int main()" in block][:2]
    (work / "first.cpp").write_text(first)
    (work / "second.cpp").write_text(second)
    shutil.copy(ROOT / "tests/consumer/c/main.c", work / "in_c.c")
    (work / "CMakeLists.txt").write_text(PROJECT)
    (work / "toolchain.cmake").write_text(TOOLCHAIN.format(prefix=prefix))
    run("cmake", "-S", work, "-B", work / "build", "-G", "Ninja", "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release", f"-DOPERATIONS={int(operations)}", cwd=work)
    run("cmake", "--build", work / "build")
    programs = {"first": ""}
    if operations:
        programs |= {"second": "1", "in_c": "right"}
        shutil.copy(prefix / "bin/kaio.dll", work / "build")
    environment = os.environ | {"KAIO_DEVICE": "emulator"}
    for name, wanted in programs.items():
        said = run(ROOT / "tools/wine.sh", work / f"build/{name}.exe", env=environment).replace("\r", "").strip()
        if wanted and wanted not in said.split("\n"):
            problems.append(f"{name}.exe printed {said!r} rather than {wanted!r}")
    said = run(ROOT / "tools/wine.sh", prefix / "bin/kaio.exe", "--version", env=environment)
    if not re.fullmatch(r"\d+\.\d+\.\d+", said.strip()):
        problems.append(f"kaio.exe --version printed {said!r}")
    run(ROOT / "tools/wine.sh", "--end")
    print("\n".join(problems))
    print(f"{len(programs) + 2 - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
