#!/usr/bin/env python3
"""Builds a project that uses kaio in one way, and runs its program: the kernel must compute the right result.

- With CMake, the program of kaio_add_ptx_tool must list, print, verify, profile and check that kernel.
- The installed package is that of the build under test.
- add_subdirectory builds shared libraries as Release, without the operations, and an install of them is whole (install.py).
- fetch_content has only libraries that add_subdirectory has too, and builds only the program of kaio_add_ptx_tool.
- Every project compiles its own files without a warning; the package's headers are system headers.

    run.py find_package|add_subdirectory|fetch_content|pkg_config --prefix INSTALLED --work FOLDER [--brief]

--brief: add_subdirectory compiles only the project's own files, not kaio's libraries a second time; it checks the commands
that would link them. tests/abi links shared libraries from the build's objects.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def run(*command, **more):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], **more)
    if done.returncode != 0:
        sys.exit(f"failed: {command[0]}")


def build_with_cmake(arguments, *definitions):
    run(arguments.cmake, "-S", here / arguments.way, "-B", arguments.work, "-G", "Ninja",
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
        f"-DCMAKE_CXX_FLAGS={arguments.flags}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}",
        *definitions)
    programs = {"add_subdirectory": ["silu", "kaio_program", "kaio_to_install"] if not arguments.brief else ["silu_objects"],
                "find_package": ["silu", "silu_precompiled", "silu_carries_code", "sound_kernel_check", "broken"]}.get(arguments.way, [])
    run(arguments.cmake, "--build", arguments.work, "--target", "silu_kernels", *programs)


def link_of(arguments, target):
    """The command that links a target."""
    commands = output_of(arguments.cmake, "--build", arguments.work, "--", "-t", "commands", target, environment=os.environ)
    return commands.splitlines()[-1]


def check_shared_libraries(arguments):
    """The shared runtime exports what tests/abi lists. The driver-shaped library, which is not built here, is linked to no
    other library of kaio."""
    if arguments.brief:
        expect(link_of(arguments, "silu"), r" \S*libkaio_runtime\.so\b")
    else:
        run(sys.executable, root / "tests/abi/symbols.py", next(arguments.work.rglob("libkaio_runtime.so")))
    link = link_of(arguments, "kaio_cuda_emulator")
    expect(link, r"-o \S*libkaio_cuda_emulator\.so")
    if re.search(r"libkaio_\w+\.so", link.replace("libkaio_cuda_emulator.so", "")):
        sys.exit(f"failed: libkaio_cuda_emulator.so is not one file\n{link}")


def check_shared_install(arguments):
    found = [file for pattern in ("libkaio_*.a", "libkaio_*.so*", "kaio") for file in sorted(arguments.work.rglob(pattern))
             if file.is_file() and not file.is_symlink()]
    run(sys.executable, here / "install.py", "--work", arguments.work / "install", "--build", arguments.work, "--cmake",
        arguments.cmake, "--compiler", arguments.compiler, f"--flags={arguments.flags}", f"--launcher={arguments.launcher}", *found)


def expect_refused(arguments, target):
    """Builds a target whose kernel breaks a rule: it must not compile, and the compiler must say why."""
    command = [arguments.cmake, "--build", str(arguments.work), "--target", target]
    print("+", *command, flush=True)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        sys.exit(f"failed: {target} compiles, though its kernel breaks a rule")
    expect(done.stdout + done.stderr, r"kaio: the step of a range\(\) is 0")


def build_with_pkg_config(arguments):
    if not shutil.which("pkg-config"):
        print("skipped: pkg-config is not installed")
        sys.exit(77)
    folder = next(arguments.prefix.rglob("kaio.pc")).parent
    paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PKG_CONFIG_PATH")]))
    environment = {**os.environ, "PKG_CONFIG_PATH": paths, "CXX": arguments.compiler}
    run(here / "pkg_config/build.sh", arguments.work / "silu", *arguments.flags.split(), env=environment)


def output_of(*command, environment, codes=(0,)):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    if done.returncode not in codes:
        sys.exit(f"failed: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(text, pattern):
    if not re.search(pattern, text):
        sys.exit(f"failed: '{pattern}' is not in\n{text}")


def try_ptx_tool(arguments, environment):
    """The commands of a program of kaio_add_ptx_tool."""
    def tool(*words, **more):
        return output_of(arguments.work / "silu_kernels", *words, environment=environment, **more)
    name = "fused_silu_gate"
    expect(tool("list"), rf"^{name} +silu_kernels +sm_70 ")
    expect(tool("ptx", name), rf"\.entry {name}\(")
    expect(tool("ptx", name, "--lines"), r"// \S*kernels\.hpp:\d+")
    tool("ptx", "no_such_kernel", codes=(1,))
    tool("dump", arguments.work / "dumped")
    expect((arguments.work / f"dumped/{name}.ptx").read_text(), rf"\.entry {name}\(")
    expect(tool("verify", codes=(0, 77)), "skipped|0 failed")  # 77: no ptxas here
    if arguments.way != "fetch_content" and not arguments.brief:  # these do not build the program `kaio`
        launch = ["--block", "256", "--arg", "zeros:f32:256", "--arg", "zeros:f32:256", "--arg", "zeros:f32:256"]
        expect(tool("profile", name, *launch, "--arg", "256:u32"), name)
        tool("check", name, *launch, "--arg", "256:u32")
        tool("check", name, *launch, "--arg", "257:u32", "--grid", "2", codes=(3,))  # writes after the end


def try_precompiled(arguments, environment):
    """The program has machine code, and finds it; the emulator in the shape of the driver takes the text instead."""
    driver = next(arguments.prefix.rglob("libkaio_cuda_emulator.so"), None)
    if driver is None:
        return
    for name in ("libcuda.so.1", "libcuda.so"):
        link = driver.parent / "kaio/cuda" / name
        if link.resolve() != driver.resolve():
            sys.exit(f"failed: {link} is not {driver}")
    gpu = {**environment, "KAIO_DEVICE": "cuda:0", "KAIO_CUDA_LIBRARY": str(driver.resolve())}
    made = "precompiled" if list(arguments.work.rglob("kernels.code")) else "compiled"
    run(arguments.work / "silu", "compiled", env=gpu)
    run(arguments.work / "silu_carries_code", made, env=gpu)
    run(arguments.work / "silu_precompiled", made, env=gpu)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=["find_package", "add_subdirectory", "fetch_content", "pkg_config"])
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where kaio is installed")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="the build folder; it is emptied first")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="")
    parser.add_argument("--launcher", default="", help="ccache, or nothing")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--werror", default="OFF", help="ON: the libraries must compile without a warning too")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    release = ["-DCMAKE_BUILD_TYPE=Release", f"-DKAIO_WERROR={arguments.werror}", "-DKAIO_BUILD_OPS=OFF"]
    if arguments.way == "find_package":
        build_with_cmake(arguments, "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
        expect_refused(arguments, "broken_checked")
        expect_refused(arguments, "broken_headers")
    elif arguments.way == "add_subdirectory":
        build_with_cmake(arguments, *release, "-DKAIO_BUILD_TOOLS=ON", "-DBUILD_SHARED_LIBS=ON", "-DKAIO_INSTALL=ON")
        check_shared_libraries(arguments)
        if not arguments.brief:
            check_shared_install(arguments)
    elif arguments.way == "fetch_content":
        build_with_cmake(arguments, *release, f"-DFETCHCONTENT_SOURCE_DIR_KAIO={root}")
    else:
        build_with_pkg_config(arguments)
    if arguments.way == "fetch_content" or arguments.brief:
        return try_ptx_tool(arguments, os.environ)
    libraries = [str(file.parent) for file in arguments.prefix.rglob("libkaio_runtime.so")]
    paths = os.pathsep.join(libraries + list(filter(None, [os.environ.get("LD_LIBRARY_PATH")])))
    environment = {**os.environ, "KAIO_DEVICE": "emulator", "LD_LIBRARY_PATH": paths}
    run(arguments.work / "silu", env=environment)
    if arguments.way == "find_package":
        try_precompiled(arguments, environment)
    if arguments.way != "pkg_config":
        try_ptx_tool(arguments, environment)


if __name__ == "__main__":
    main()
