#!/usr/bin/env python3
"""Tests of bindings/rust/kaio-candle with the stand-in of candle. Ends with 'N passed, N failed'.

    candle.py tests|style --library FILE --driver FILE --work FOLDER

- tests: the stand-in's own tests, kaio-candle's on CPU tensors and on CUDA tensors, and its three examples on both. The driver of
  CUDA tensors is --driver, libkaio_cuda_emulator.so.
- style: rustfmt, clippy and rustdoc without warnings, with and without the feature cuda.

The real candle needs fetched crates: `cargo test` in bindings/rust/kaio-candle. Exits with 77 if there is no cargo.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402

CRATE, STAND_IN = run.CRATES / "kaio-candle", run.CRATES / "candle-stand-in"
# The stand-in calculates: unoptimised, that takes longer than the compiler.
PATCH = ["--config", f'patch.crates-io.candle-core.path="{STAND_IN}"', "--config", "profile.dev.package.candle-core.opt-level=1"]
EXAMPLES = ("kaio", "llama", "gpt")


def results(code, text):
    """(passed, failed) of what `cargo test` has said."""
    counts = [tuple(map(int, found)) for found in re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", text, re.MULTILINE)]
    passed, failed = sum(p for p, _ in counts), sum(f for _, f in counts)
    return passed, failed if code == 0 else max(failed, 1)


def run_tests(cargo, driver):
    folder = cargo.work / "driver"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libcuda.so.1", "libcuda.so"):
        link = folder / name
        if link.is_symlink() or link.exists():
            link.unlink()
        link.symlink_to(driver)
    emulated = {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")]))}
    all_results = [
        results(*cargo("test", "--offline", where=STAND_IN)),
        # With the feature cuda, tests take CPU tensors too.
        results(*cargo("test", "--offline", *PATCH, "--no-fail-fast", "--features", "cuda", where=CRATE, **emulated)),
    ]
    for example in EXAMPLES:
        for device in ("cpu", "cuda"):
            words = ("run", "--offline", *PATCH, "--features", "cuda", "--example", example, "--", device)
            code, text = cargo(*words, where=CRATE, **emulated)
            right = code == 0 and "\nPASS" in text
            all_results.append((int(right), int(not right)))
    return sum(passed for passed, _ in all_results), sum(failed for _, failed in all_results)


def run_style(cargo):
    checks = []
    for crate, patch, features in ((STAND_IN, [], ["--features", "cuda"]), (CRATE, PATCH, []), (CRATE, PATCH, ["--features", "cuda"])):
        checks.append((crate, ("fmt", "--check"), {}))
        checks.append((crate, ("clippy", "--offline", *patch, *features, "--all-targets", "--", "-D", "warnings"), {}))
        checks.append((crate, ("doc", "--offline", *patch, *features, "--no-deps"), {"RUSTDOCFLAGS": "-D warnings"}))
    wrong = [words for crate, words, more in checks if cargo(*words, where=crate, **more)[0] != 0]
    return len(checks) - len(wrong), len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["tests", "style"])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--driver", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.library, arguments.work = arguments.library.resolve(), arguments.work.resolve()
    folder = run.newest()
    arguments.work.mkdir(parents=True, exist_ok=True)
    cargo = run.runner(folder, arguments)
    if arguments.part == "style":
        if not all((folder / name).exists() for name in ("cargo-fmt", "cargo-clippy")):
            run.skip("rustfmt and clippy are not installed; 'rustup component add rustfmt clippy' has them")
        passed, failed = run_style(cargo)
    else:
        if not shutil.which(os.environ.get("CC", "cc")):
            run.skip("there is no C compiler, which rustc needs to link")
        passed, failed = run_tests(cargo, arguments.driver.resolve())
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
