#!/usr/bin/env python3
"""An install is whole, or copies nothing: from a build with each KAIO_BUILD_* off.

    install.py --work FOLDER [--turn N | --build FOLDER] [option...] BUILT_FILE...

Each variant is configured, but not compiled: what the build under test has made (BUILT_FILE) is linked into its folder, a file
at a time. Before the last one the install must fail, name what is missing, and leave its prefix empty. Then a project finds
the moved prefix by CMake, with the parts that the variant has, and by pkg-config; it calls each library. A part that the
variant lacks must be refused by its name. --turn N: a third of the variants. --build FOLDER: installs that build, which is whole,
in place of the variants: shared libraries know the folder that they were made in.
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
options = ["TESTS", "SHOWCASE", "BENCH", "TOOLS", "OPS", "WEIGHTS", "C"]
# The parts of an install, and their files and options.
parts = {"runtime": ("libkaio_runtime", None), "ops": ("libkaio_ops", "OPS"), "weights": ("libkaio_weights", "WEIGHTS"),
         "program": ("kaio", "TOOLS"), "c": ("libkaio", "C")}
# Parts that are built only with others.
needs = {"C": ["OPS", "WEIGHTS"]}


def run(*command, code=0, **more):
    """The output of a command that must end with this code; None is any other than 0."""
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != code and (code is not None or done.returncode == 0):
        sys.exit(f"failed: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def require(true, what):
    if not true:
        sys.exit(f"failed: {what}")


def stem(file):
    return re.split(r"\.(?:a|so)\b", file.name)[0]


class variant:
    def __init__(self, arguments, off):
        self.arguments = arguments
        self.work = arguments.work / off.lower()
        self.build, self.prefix = self.work / "build", self.work / "first"
        built = {stem(file) for file in arguments.built}
        has = {option: option != off for option in options}
        for name, option in parts.values():
            if option:
                has[option] = has[option] and name in built and all(has[other] for other in needs.get(option, ()))
        self.parts = [part for part, (_, option) in parts.items() if option is None or has[option]]
        self.settings = [f"-DKAIO_BUILD_{option}={'ON' if on else 'OFF'}" for option, on in has.items()]

    def cmake(self, source, build, *settings, **more):
        return run(self.arguments.cmake, "-S", source, "-B", build, "-G", "Ninja",
                   f"-DCMAKE_CXX_COMPILER={self.arguments.compiler}", f"-DCMAKE_CXX_FLAGS={self.arguments.flags}",
                   f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.arguments.launcher}", *settings, **more)

    def install(self, **more):
        return run(self.arguments.cmake, "--install", self.build, "--prefix", self.prefix, **more)

    def refused(self):
        """The files that an install misses, which copies nothing."""
        said = self.install(code=None)
        require("kaio: nothing is installed" in said and "--target kaio_to_install" in said, f"no advice in\n{said}")
        require(not self.prefix.exists(), "a refused install has copied something")
        return [pathlib.Path(line.strip()) for line in said.splitlines() if line.strip().startswith(f"{self.build}/")]

    def make_whole(self):
        missing = self.refused()
        built = {stem(file): file for file in self.arguments.built}
        expected = {"libkaio_ptx_tool"} | {parts[part][0] for part in self.parts}
        emulators = {"libkaio_cuda_emulator"} | ({"libkaio_cublas_emulator", "libkaio_curand_emulator"} if "c" in self.parts else set())
        expected |= emulators & built.keys()
        require({stem(file) for file in missing} == expected, f"missing are {missing}, expected {expected}")
        for number, file in enumerate(missing):
            if number == len(missing) - 1:
                require(self.refused() == missing[-1:], "another file than the last is missing")
            file.parent.mkdir(parents=True, exist_ok=True)
            os.link(built[stem(file)], file)
            for name in re.findall(r"SONAME +(\S+)", run("objdump", "-p", file)) if ".so." in file.name else ():
                file.with_name(name).symlink_to(file.name)
                file.with_name(f"{stem(file)}.so").symlink_to(name)
        self.install()

    def consume(self):
        prefix = self.work / "second"
        self.prefix.rename(prefix)
        project = self.work / "project"
        found = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_PREFIX_PATH={prefix}"]
        self.cmake(here / "installed", project, *found, "-DPARTS=" + ";".join(["dsl", *self.parts]))
        run(self.arguments.cmake, "--build", project, "--target", "parts", *["program"] * ("program" in self.parts))
        folder = next(prefix.rglob("kaio.pc")).parent
        environment = {**os.environ, "KAIO_DEVICE": "emulator", "LD_LIBRARY_PATH": str(folder.parent)}
        require(run(project / "parts", env=environment) == "right\n", "the project of CMake computed something else")
        for part in parts.keys() - set(self.parts):
            said = self.cmake(here / "installed", self.work / "refused", *found, f"-DPARTS={part}", code=None)
            require(f"this install has no '{part}'" in " ".join(said.split()), f"no reason in\n{said}")
        if not shutil.which("pkg-config"):
            return print("skipped: pkg-config is not installed")
        paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PKG_CONFIG_PATH")]))
        words = run("pkg-config", "--cflags", "--libs", *["kaio-c"] * ("c" in self.parts), "kaio", env={**os.environ, "PKG_CONFIG_PATH": paths}).split()
        defined = [f"-DHAS_{part.upper()}" for part in self.parts]
        run(self.arguments.compiler, "-std=c++20", *self.arguments.flags.split(), *defined, here / "installed/parts.cpp", "-o",
            self.work / "parts", *words)
        require(run(self.work / "parts", env=environment) == "right\n", "the program of pkg-config computed something else")

    def check(self):
        self.cmake(root, self.build, "-DCMAKE_BUILD_TYPE=Release", f"-DKAIO_PRECOMPILE={self.arguments.precompile}",
                   *self.settings)
        self.make_whole()
        self.consume()

    def check_build(self, build):
        self.build = build
        self.install()
        self.consume()


def check_quick_build(arguments):
    """The build of tools/kaio is not for an install, whatever is built."""
    quick = variant(arguments, "QUICK")
    quick.cmake(root, quick.build, "-DKAIO_QUICK_TOOLS=ON", "-DKAIO_BUILD_TESTS=OFF", "-DKAIO_BUILD_OPS=OFF",
                "-DKAIO_BUILD_SHOWCASE=OFF", "-DKAIO_BUILD_BENCH=OFF")
    said = quick.install(code=None)
    require("tools/kaio package" in " ".join(said.split()) and not quick.prefix.exists(), f"not refused\n{said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="it is emptied first")
    parser.add_argument("--turn", type=int)
    parser.add_argument("--all", action="store_true", help="all variants, as without --turn")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="")
    parser.add_argument("--launcher", default="", help="ccache, or nothing")
    parser.add_argument("--precompile", default="ON")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("built", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    if arguments.build:
        return variant(arguments, "none").check_build(arguments.build)
    check_quick_build(arguments)
    chosen = [off for number, off in enumerate(options) if arguments.turn is None or number % 3 == arguments.turn % 3]
    for off in chosen:
        print(f"== KAIO_BUILD_{off}=OFF", flush=True)
        variant(arguments, off).check()
        shutil.rmtree(arguments.work / off.lower())


if __name__ == "__main__":
    main()
