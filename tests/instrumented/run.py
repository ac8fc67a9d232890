#!/usr/bin/env python3
"""Runs test programs under clang's AddressSanitizer and UndefinedBehaviorSanitizer. Instrumented are the emulator, the runtime,
the driver-shaped library, the host side of the operations and the reader of weight files. Only these are compiled anew; the
objects of the emulator and of the reader are shared with the fuzzer. The tests and the kernels, which are constants, are
the objects of the build with g++.

usage: run.py BUILD_FOLDER PROGRAM... [--turn N] [--all] [--cxx CLANG]

Each round of commits runs a part of the programs (`part_of`, tests/CMakeLists.txt); --all runs every case of the given
programs. Exits with 77 if there is no clang with the sanitizers' runtime (Debian: clang-16 and libclang-rt-16-dev)."""

import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZERS = "-fsanitize=address,undefined"
LIBRARY = "src/driver_emulator/libkaio_cuda_emulator.so"


def part_of(number):
    """{program: (share, number of shares) of its test cases} of a part. The driver-shaped library is compiled only for its
    own tests, so these have every third part."""
    if number % 3 == 0:
        return {"unit": (0, 1), "driver_emulator": (0, 1), "driver": (0, 1), "weights": (0, 1)}
    part = number // 3 * 2 + number % 3 - 1
    return {"emulator": (part % 2, 2), "kernels": (part % 4, 4), "ops": (part % 12, 12)}


def load(path):
    spec = importlib.util.spec_from_file_location("fuzz", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.insert(0, str(ROOT / "tests"))  # for what cases.py imports
fuzz = load(ROOT / "tests/fuzz/run.py")
cases = load(ROOT / "tests/cases.py")
turn = load(ROOT / "tests/turn.py")


def workers():
    return int(os.environ.get("KAIO_JOBS") or os.cpu_count() or 1)


def fail(message):
    print(f"kaio: {message}")
    sys.exit(1)


def command_of(build, target):
    """The words of the command that makes a target of the build."""
    said = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", target], capture_output=True, text=True,
                          check=True).stdout.strip().splitlines()
    return shlex.split(said[-1].removeprefix(": && ").removesuffix(" && :"))


def settings_of(build, an_object):
    """The options of a file of the build for definitions, and for the folders of headers of the build and of other projects."""
    words = command_of(build, an_object)
    return [word for at, word in enumerate(words)
            if word.startswith(("-D", "-isystem", f"-I{build}/")) or words[at - 1] == "-isystem"]


def jobs_of(build, with_driver, with_weights):
    """The files to compile: for each library, triples (source, object, settings)."""
    def triples(sources, folder, settings):
        return [(source, build / "tests" / folder / "objects" / source.relative_to(ROOT).with_suffix(".o"), settings)
                for source in sources]

    def all_of(folder):
        return sorted((ROOT / "src" / folder).rglob("*.cpp"))

    settings = settings_of(build, "src/runtime/CMakeFiles/kaio_device_objects.dir/device.cpp.o")
    host = fuzz.host_sources()
    runtime = triples([*all_of("emulator"), *host], "fuzz", ())
    runtime += triples(all_of("runtime"), "instrumented", settings)
    ops = []
    if (build / "libkaio_ops.a").exists():  # without the kernels
        names = [word for word in command_of(build, "libkaio_ops.a") if "/kaio_ops_common.dir/src/" in word]
        sources = [ROOT / name.split("/kaio_ops_common.dir/")[1].removesuffix(".o") for name in names]
        ops = [one for source, name in zip(sources, names) if source not in host
               for one in triples([source], "instrumented", settings_of(build, name))]
    driver = triples(all_of("driver_emulator"), "instrumented", settings) if with_driver else []
    weights = triples(all_of("weights"), "fuzz", ()) if with_weights else []
    return runtime, driver, ops, weights


def compile_all(compiler, jobs):
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        for failure in pool.map(lambda job: fuzz.compile_one(compiler, *job), jobs):
            if failure:
                fail(f"a file does not compile:\n{failure}")


def archive_of_kernels(build, made, output):
    """Makes the library of the operations without the instrumented objects. Otherwise the linker could take such a member
    for an inline function."""
    if (build / "libkaio_ops.a").exists():
        instrumented = {str(one.with_suffix(".cpp.o")).split("/objects/")[1] for one in made}
        kept = [word for word in command_of(build, "libkaio_ops.a")
                if word.endswith(".cpp.o") and word.split(".dir/")[1] not in instrumented]
        output.unlink(missing_ok=True)
        subprocess.run(["ar", "qcs", output, *kept], cwd=build, check=True)


def link(compiler, build, target, instrumented, replaced, output):
    """Links as the build does, with the instrumented objects in place of those that `replaced` matches."""
    kernels = str(build / "tests/instrumented/libkaio_kernels.a")
    words = [kernels if word == "libkaio_ops.a" else word for word in command_of(build, target)[1:]
             if not re.search(replaced, word)]
    words[words.index("-o") + 1] = str(output)
    # The instrumented objects come first: if several objects have an inline function, the linker takes the first.
    linked = subprocess.run([compiler, SANITIZERS, *instrumented, *words], cwd=build, capture_output=True, text=True)
    if linked.returncode:
        fail(f"{target} does not link:\n{linked.stderr}")


def run(program, environment, chosen, part):
    """Runs some test cases; returns whether all passed."""
    listing = program.with_suffix(f".{part}.tests")
    cases.write_list(chosen, listing)
    begin = time.monotonic()
    ran = subprocess.run([program, "--input-file", listing], env=environment, capture_output=True, text=True,
                         errors="replace")
    counts = re.findall(r"(?:assertions? in |^test cases: +)(\d+)", ran.stdout, re.MULTILINE)
    passed = ran.returncode == 0 and counts[-1:] == [str(len(chosen))]
    print(f"{program.name}: {counts[-1] if counts else 0} of {len(chosen)} test cases in "
          f"{time.monotonic() - begin:.0f} s, {'passed' if passed else 'FAILED'}", flush=True)
    if not passed:
        print("\n".join((ran.stdout + ran.stderr).splitlines()[-120:]))
    return passed


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("programs", type=pathlib.Path, nargs="+")
    arguments.add_argument("--turn", type=int, help="the number of the part; by default the commit's round")
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--cxx", default="")
    options = arguments.parse_args()
    build = options.build.resolve()
    names = [program.name for program in options.programs]
    of_round = turn.number() // 4 if options.turn is None else options.turn
    part = {name: (0, 1) for name in names} if options.all else part_of(of_round)
    part = {name: share for name, share in part.items() if name in names}
    with_driver = not part.keys().isdisjoint({"driver", "driver_emulator"})

    compiler = fuzz.find_compiler(options.cxx)
    if compiler is None:
        print("skipped: there is no clang with the sanitizers' runtime (Debian: clang-16, libclang-rt-16-dev)")
        return fuzz.SKIPPED
    begin = time.monotonic()
    jobs = jobs_of(build, with_driver, "weights" in part)
    compile_all(compiler, [job for library in jobs for job in library])
    runtime, driver, ops, weights = [[made for _, made, _ in library] for library in jobs]
    folder = build / "tests/instrumented"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / pathlib.Path(LIBRARY).name
    if with_driver:
        link(compiler, build, LIBRARY, [*driver, *runtime], r"kaio_cuda_emulator\.dir/|libkaio_runtime\.a$", library)
    archive_of_kernels(build, [*ops, *runtime], folder / "libkaio_kernels.a")
    environment = dict(os.environ, KAIO_DEVICE="emulator", KAIO_CUDA_LIBRARY=str(library),
                       LD_LIBRARY_PATH=str(folder), UBSAN_OPTIONS="print_stacktrace=1",
                       ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=64")
    print(f"compiled in {time.monotonic() - begin:.0f} s", flush=True)

    runs = []
    for name, (share, shares) in part.items():
        program = folder / name
        # The program of the weights links no operations, and a runtime without the emulator.
        instrumented = [*weights, *runtime] if name == "weights" else [
            *([library] if name == "driver_emulator" else []), *ops, *runtime]
        link(compiler, build, f"tests/{name}", instrumented,
             r"libkaio_(runtime\.a|device\.a|cuda_emulator\.so)$|kaio_weights_objects\.dir/|^-Wl,-rpath", program)
        listed = cases.names_of(program, environment)
        if listed is None:
            fail(f"{program} does not list its tests")
        chosen = listed[share::shares]
        runs += [(program, chosen[k::workers()], k) for k in range(workers()) if chosen[k::workers()]]
    # The operations take longest, so they begin first.
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        passed = all(list(pool.map(lambda one: run(one[0], environment, *one[1:]), reversed(runs))))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
