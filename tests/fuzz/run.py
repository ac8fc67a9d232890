#!/usr/bin/env python3
"""Builds each target of targets/ with clang's fuzzer and sanitizers, and runs it on inputs that libFuzzer makes from the seeds:
texts for the parser and the emulator, and files of each format that kaio reads. Fails if a target crashes, hangs or takes
memory without bound.

usage: run.py BUILD_FOLDER [--seconds N] [--cxx CLANG] [TARGET...]

The environment variable KAIO_FUZZ_SECONDS is how long all targets run together (64). Every run makes other inputs; those
that reach new code are kept in BUILD_FOLDER for the next run. Exits with 77 if there is no clang with a fuzzer runtime
(Debian: clang-16 and libclang-rt-16-dev)."""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import seeds  # noqa: E402
SKIPPED = 77
# tests/instrumented makes a shared library of these objects too.
FLAGS = ["-std=c++20", "-O1", "-g1", "-fPIC", "-ffp-contract=off", "-fno-omit-frame-pointer",
         "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=all",
         f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{ROOT}"]


@dataclasses.dataclass
class Target:
    """The sources of a target besides its own file, and its share of the time."""
    sources: tuple = ()
    emulator: bool = False
    share: int = 6
    longest: int = 2048  # bytes of an input
    options: tuple = ()


WEIGHTS = (*(str(file.relative_to(ROOT)) for file in sorted((ROOT / "src/weights").rglob("*.cpp"))),
           "src/runtime/base/error.cpp", "src/runtime/base/text.cpp")
TARGETS = {
    "ptx": Target(emulator=True, share=40, longest=8192, options=(f"-dict={HERE / 'ptx.dict'}",)),
    "suppressions": Target(emulator=True),
    "fat_binary": Target(("src/driver_emulator/module/fat_binary.cpp", "src/driver_emulator/module/inflate.cpp")),
    "npy": Target(("tools/program/npy.cpp",)),
    "tune_file": Target(("src/ops/choice/tune_text.cpp",)),
    "gguf": Target(WEIGHTS),
    "safetensors": Target(WEIGHTS),
}


def works(compiler):
    """Whether the compiler can build a fuzzer."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "empty.cpp")
        source.write_text('extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) '
                          "{ return 0; }\n")
        built = subprocess.run([compiler, "-fsanitize=fuzzer,address,undefined", source, "-o",
                                pathlib.Path(folder, "empty")], capture_output=True)
        return built.returncode == 0


def find_compiler(wanted):
    for name in [wanted] if wanted else ["clang++-16", "clang++-19", "clang++"]:
        path = shutil.which(name)
        if path and works(path):
            return path
    return None


def precompile(compiler, folder):
    """Precompiles precompiled.hpp. ccache identifies the result by a hash of its inputs, the same in every clone."""
    header, output = HERE / "precompiled.hpp", folder / "precompiled.pch"
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    made_of = hashlib.sha256("\0".join([version, header.read_text(), *FLAGS]).replace(str(ROOT), "").encode())
    listing = pathlib.Path(f"{output}.sum")
    if not (output.exists() and listing.exists() and listing.read_text() == made_of.hexdigest()):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, *FLAGS, "-Xclang", "-fno-pch-timestamp", "-x", "c++-header", header, "-o", output],
                       check=True)
        listing.write_text(made_of.hexdigest())
    os.environ.setdefault("CCACHE_PCH_EXTSUM", "1")
    os.environ.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros,include_file_mtime,include_file_ctime")
    return output


def compile_one(compiler, source, output, more=()):
    """Compiles if the object is older than one of the files that it was made from."""
    listing = output.with_suffix(".d")
    if output.exists() and listing.exists():
        words = listing.read_text().replace("\\\n", " ").split()[1:]
        made = output.stat().st_mtime
        if all(os.path.exists(word) and os.path.getmtime(word) <= made for word in words):
            return None
    output.parent.mkdir(parents=True, exist_ok=True)
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    built = subprocess.run([*launcher, compiler, *FLAGS, *more, "-MMD", "-MF", listing, "-c", source, "-o", output],
                           capture_output=True, text=True)
    return built.stderr if built.returncode else None


def host_sources():
    """The sources of src/host for this system, which has clang's fuzzer."""
    return sorted(file for folder in ("src/host", "src/host/posix") for file in (ROOT / folder).glob("*.cpp"))


def build(compiler, folder, names):
    """{target: its program}; None if something does not compile."""
    emulator = sorted((ROOT / "src/emulator").rglob("*.cpp"))
    host = host_sources()
    sources_of = {}
    for name in names:
        sources_of[name] = [HERE / f"targets/{name}.cpp", *(ROOT / source for source in TARGETS[name].sources),
                            *(emulator if TARGETS[name].emulator else []), *host]
    object_of = {source: folder / "objects" / source.relative_to(ROOT).with_suffix(".o")
                 for sources in sources_of.values() for source in sources}
    precompiled = ["-include-pch", precompile(compiler, folder)]
    jobs = int(os.environ.get("KAIO_JOBS") or os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for failure in pool.map(lambda pair: compile_one(compiler, *pair, precompiled), object_of.items()):
            if failure:
                print(failure)
                return None
    programs = {}
    for name, sources in sources_of.items():
        programs[name] = folder / name
        linked = subprocess.run([compiler, "-fsanitize=fuzzer,address,undefined",
                                 *(object_of[source] for source in sources), "-o", programs[name], "-lspdlog", "-lfmt",
                                 "-lpthread", "-ldl"], capture_output=True, text=True)
        if linked.returncode:
            print(linked.stderr)
            return None
    return programs


def fuzz(name, program, folder, seconds):
    """Runs a target; returns whether every input passed."""
    target = TARGETS[name]
    kept, made, found = folder / "corpus" / name, folder / "seeds" / name, folder / "found" / name
    for needed in (kept, found):
        needed.mkdir(parents=True, exist_ok=True)
    seeds.write(name, made)
    written = [HERE / "seeds" / name] if (HERE / "seeds" / name).is_dir() else []
    command = [program, kept, made, *written, *target.options, f"-artifact_prefix={found}/",
               f"-max_total_time={seconds}", f"-max_len={target.longest}", "-timeout=20", "-rss_limit_mb=3072",
               "-print_final_stats=1"]
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    ran = subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
    said = ran.stderr.splitlines()[-60 if ran.returncode else -8:]
    print(f"{name}, {seconds} s:", *said, sep="\n", flush=True)
    if ran.returncode:
        print(f"the fuzzer found an input on which {name} fails: see {found}")
    return ran.returncode == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(TARGETS)}; by default all")
    arguments.add_argument("--seconds", type=int, default=int(os.environ.get("KAIO_FUZZ_SECONDS") or 64))
    arguments.add_argument("--cxx", default="")
    options = arguments.parse_intermixed_args()
    names = options.targets or list(TARGETS)
    for name in names:
        if name not in TARGETS:
            arguments.error(f"there is no target '{name}'")
    folder = options.folder.resolve()

    compiler = find_compiler(options.cxx)
    if compiler is None:
        print("skipped: there is no clang with a fuzzer runtime (Debian: clang-16, libclang-rt-16-dev)")
        return SKIPPED
    programs = build(compiler, folder, names)
    if programs is None:
        print("a fuzz target does not build")
        return 1
    shares = sum(TARGETS[name].share for name in names)
    good = [fuzz(name, programs[name], folder, max(1, options.seconds * TARGETS[name].share // shares))
            for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
