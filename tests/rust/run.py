#!/usr/bin/env python3
"""Runs the tests of bindings/rust with cargo. Ends with 'N passed, N failed'.

    run.py tests|link|oldest|style --library FILE --work FOLDER [--kernels FILE] [--cxx COMPILER]

- tests: all tests, examples of the documentation among them. libkaio is opened at run time.
- link: likewise, with the feature `link`.
- oldest: likewise, with the oldest Rust that the crates take: that of rustup (`rustup toolchain install 1.63.0`), the system's, or
  the one in the folder KAIO_OLDEST_RUST. The system's is Debian 12's.
- style: rustfmt, clippy and rustdoc without warnings, and the files of the packages.

`--kernels` is tests/c/kernel_library.cpp as a library; it is compiled if it does not exist. KAIO_DEVICE is the emulator by default.
Exits with 77 if there is no cargo, or no oldest Rust. Nothing is fetched.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRATES = ROOT / "bindings" / "rust"
sys.path.insert(0, str(ROOT / "tests/c"))
import programs  # noqa: E402

OLDEST = re.search(r'rust-version = "([\d.]+)"', (CRATES / "kaio/Cargo.toml").read_text())[1]
PACKAGED = re.compile(r"(src/.*\.rs|build\.rs|README\.md|LICENSE-(MIT|APACHE)|Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json)$")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def version_of(rustc):
    done = subprocess.run([*rustc, "--version"], capture_output=True, text=True)
    return done.stdout.split()[1] if done.returncode == 0 else ""


def newest():
    """The folder of the user's cargo, or of the first on the path."""
    own = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")) / "bin"
    found = shutil.which("cargo") or shutil.which("cargo", path=str(own))
    if not found:
        skip("cargo is not installed; Debian has it as cargo, rust-lang.org as rustup")
    return pathlib.Path(found).parent


def oldest():
    """The folder of the oldest Rust, or None."""
    named = os.environ.get("KAIO_OLDEST_RUST")
    installed = pathlib.Path(os.environ.get("RUSTUP_HOME", pathlib.Path.home() / ".rustup")) / "toolchains"
    places = [pathlib.Path(named)] if named else [*(folder / "bin" for folder in installed.glob(f"{OLDEST}*")), pathlib.Path("/usr/bin")]
    for place in places:
        if (place / "cargo").exists() and version_of([place / "rustc"]).startswith(f"{OLDEST}."):
            return place
    return None


class runner:
    def __init__(self, folder, arguments):
        self.folder, self.work = folder, arguments.work
        self.environment = {"KAIO_DEVICE": "emulator", **os.environ, "KAIO_LIBRARY": str(arguments.library),
                            "KAIO_LIB_DIR": str(arguments.library.parent), "CARGO_TARGET_DIR": str(arguments.work / arguments.part),
                            "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0", "RUST_BACKTRACE": "0", "CARGO_TERM_COLOR": "never",
                            "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}", "RUSTC": str(folder / "rustc"),
                            "RUSTDOC": str(folder / "rustdoc")}

    def __call__(self, *words, where=CRATES, **more):
        """Runs cargo, prints what it says, and returns (code, its text)."""
        print(f"cargo {' '.join(words)}", flush=True)
        done = subprocess.run([self.folder / "cargo", *words], cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**self.environment, **more})
        print(done.stdout, flush=True)
        return done.returncode, done.stdout


def run_tests(cargo, *features):
    libraries = os.pathsep.join(filter(None, [cargo.environment["KAIO_LIB_DIR"], os.environ.get("LD_LIBRARY_PATH")]))
    code, text = cargo("test", "--offline", "--no-fail-fast", *features, "--", "--include-ignored", LD_LIBRARY_PATH=libraries)
    counts = [tuple(map(int, found)) for found in re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", text, re.MULTILINE)]
    passed, failed = sum(p for p, _ in counts), sum(f for _, f in counts)
    # A program that does not compile has no result.
    return passed, failed if code == 0 else max(failed, 1)


def run_style(cargo):
    wrong = [name for name, words, more in (
        ("rustfmt", ("fmt", "--all", "--check"), {}),
        ("clippy", ("clippy", "--offline", "--all-targets", "--", "-D", "warnings"), {}),
        ("rustdoc", ("doc", "--offline", "--no-deps"), {"RUSTDOCFLAGS": "-D warnings"}),
    ) if cargo(*words, **more)[0] != 0]
    for crate in ("kaio-sys", "kaio"):
        code, text = cargo("package", "--offline", "--list", "--allow-dirty", where=CRATES / crate)
        files = [line for line in text.splitlines() if line and not line.startswith(("warning", " ", "note"))]
        strange = [file for file in files if not PACKAGED.match(file)]
        if code or strange or not {"README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"} <= set(files):
            print(f"the package {crate} has {', '.join(strange) or 'not all of its files'}")
            wrong.append(crate)
    return 5 - len(wrong), len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["tests", "link", "oldest", "style"])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--kernels", type=pathlib.Path)
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    arguments.library, arguments.work = arguments.library.resolve(), arguments.work.resolve()
    folder = newest()
    if arguments.part == "oldest":
        folder = oldest()
        if folder is None:
            skip(f"Rust {OLDEST} is not installed; 'rustup toolchain install {OLDEST}.0' has it")
    print(f"rustc {version_of([folder / 'rustc'])} in {folder}", flush=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    cargo = runner(folder, arguments)
    if arguments.part == "style":
        if not all((folder / name).exists() for name in ("cargo-fmt", "cargo-clippy")):
            skip("rustfmt and clippy are not installed; 'rustup component add rustfmt clippy' has them")
        passed, failed = run_style(cargo)
    else:
        if not shutil.which(os.environ.get("CC", "cc")):
            skip("there is no C compiler, which rustc needs to link")
        if arguments.kernels is None or not arguments.kernels.exists():
            programs.make_kernel_libraries(arguments)
            arguments.kernels = arguments.work / "libkernels.so"
        cargo.environment["KAIO_TEST_KERNELS"] = str(arguments.kernels.resolve())
        passed, failed = run_tests(cargo, *(["--features", "link"] if arguments.part == "link" else []))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
