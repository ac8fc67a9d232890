#!/usr/bin/env python3
"""Builds the emulator with clang's fuzzer and sanitizers and lets it run on texts that libFuzzer makes from the
seeds. Fails where one of them crashes, hangs or takes memory without bound.

usage: run.py BUILD_FOLDER [--seconds N] [--cxx CLANG]

The environment variable KAIO_FUZZ_SECONDS is how long (120). Exits with 77 where there is no clang with a
fuzzer runtime (Debian: clang-16 and libclang-rt-16-dev)."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
FLAGS = ["-std=c++20", "-O1", "-g1", "-ffp-contract=off", "-fno-omit-frame-pointer",
         "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=all",
         f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{ROOT}"]


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


def compile_one(compiler, source, output):
    """Compiles where the object is older than one of the files that it was made of."""
    listing = output.with_suffix(".d")
    if output.exists() and listing.exists():
        words = listing.read_text().replace("\\\n", " ").split()[1:]
        made = output.stat().st_mtime
        if all(os.path.exists(word) and os.path.getmtime(word) <= made for word in words):
            return None
    output.parent.mkdir(parents=True, exist_ok=True)
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    built = subprocess.run([*launcher, compiler, *FLAGS, "-MMD", "-MF", listing, "-c", source, "-o", output],
                           capture_output=True, text=True)
    return built.stderr if built.returncode else None


def build(compiler, folder):
    sources = sorted((ROOT / "src/emulator").rglob("*.cpp")) + sorted((ROOT / "src/host").glob("*.cpp"))
    sources += [HERE / "parse_and_run.cpp"]
    objects = [folder / "objects" / source.relative_to(ROOT).with_suffix(".o") for source in sources]
    jobs = int(os.environ.get("KAIO_JOBS") or os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for failure in pool.map(lambda pair: compile_one(compiler, *pair), zip(sources, objects)):
            if failure:
                print(failure)
                return None
    program = folder / "parse_and_run"
    linked = subprocess.run([compiler, "-fsanitize=fuzzer,address,undefined", *objects, "-o", program,
                             "-lspdlog", "-lfmt", "-lpthread", "-ldl"], capture_output=True, text=True)
    if linked.returncode:
        print(linked.stderr)
        return None
    return program


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--seconds", type=int, default=int(os.environ.get("KAIO_FUZZ_SECONDS") or 120))
    arguments.add_argument("--cxx", default="")
    options = arguments.parse_args()
    folder = options.folder.resolve()

    compiler = find_compiler(options.cxx)
    if compiler is None:
        print("skipped: there is no clang with a fuzzer runtime (Debian: clang-16, libclang-rt-16-dev)")
        return SKIPPED
    program = build(compiler, folder)
    if program is None:
        print("the fuzz target does not build")
        return 1
    for name in ("found", "corpus"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    command = [program, folder / "corpus", HERE / "seeds", f"-dict={HERE / 'ptx.dict'}",
               f"-artifact_prefix={folder / 'found'}/", f"-max_total_time={options.seconds}", "-max_len=8192",
               "-timeout=20", "-rss_limit_mb=3072", "-print_final_stats=1"]
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    ran = subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
    print("\n".join(ran.stderr.splitlines()[-60:]))
    if ran.returncode:
        print(f"the fuzzer found a text that must not do what it does: see {folder / 'found'}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
