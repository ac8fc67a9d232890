#!/usr/bin/env python3
"""Installs the wheel of kaio into fresh environments, and runs the tests of tests/python there. Ends with 'N passed, N failed'.

    environments.py --library FILE|--wheel FILE --work FOLDER [--turn N | --all]

FILE is the libkaio.so of a build folder: the wheel is linked of its objects (tools/kaio wheel --from).

| environment | tests |
| --- | --- |
| each Python from 3.10 on that is found here, with NumPy | test_package.py; in one of them all, and torch's skip |
| one Python with a PyTorch: in turn the newest and an old one | in turn a quarter; with the newest, mypy of the package too (test_types.py) |

The turn (tests/turn.py) chooses them; --all has every Python and every PyTorch. A machine with a GPU uses the PyTorch that is
installed there. Elsewhere it is installed without the libraries of CUDA, which torch_stubs.py replaces.

Exits with 77 if the Python packages cannot be had: no index is reached, and PIP_FIND_LINKS names no folder of them.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import torch_stubs

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
# A version, and the Pythons that it has wheels for.
TORCHES = [("2.15.0", ["3.10", "3.11", "3.12", "3.13", "3.14"]), ("2.11.0", ["3.10", "3.11", "3.12", "3.13", "3.14"])]
NEEDED_BY_TORCH = ["typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "filelock"]
PYTEST = "pytest>=8,<10"
MYPY = "mypy>=1.19,<3"


class Unreachable(Exception):
    pass


def run(*words, **options):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | options.pop("env", {})
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, **options)


def find_pythons():
    """{"3.10": path, ...} of the Pythons here that can make environments."""
    places = sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python"))
    found = {}
    for version in PYTHONS:
        named = [shutil.which(f"python{version}"), shutil.which("python3"), "/usr/bin/python3", sys.executable]
        for path in [*(place for place in places if f"/{version}." in str(place)), *named]:
            if path and version not in found and os.path.exists(path):
                done = run(path, "-c", "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])")
                if done.returncode == 0 and done.stdout.strip() == version:
                    found[version] = str(path)
    return found


def install(python, *words):
    done = run(python, "-m", "pip", "install", "--quiet", "--no-compile", "--retries", "2", "--timeout", "60", *words)
    if done.returncode != 0:
        raise Unreachable(f"pip install {' '.join(map(str, words))}:\n{done.stdout[-2000:]}")


def has_gpu():
    return any(pathlib.Path("/dev").glob("nvidia[0-9]*"))


def part_of(turn):
    """The files of tests that run with PyTorch in a turn: a quarter of them, and all with --all."""
    files = sorted(HERE.rglob("test_*.py"), key=lambda file: file.name)
    if turn is None:
        return files
    return [file for number, file in enumerate(files)
            if file.stem in ("test_package", "test_torch_matmul") or (number + turn // len(TORCHES)) % 4 == 0]


class Environment:
    """One Python with some packages, and the tests that run there."""

    variables: dict = {}  # KAIO_PROGRAM and KAIO_CUDA_EMULATOR, where they are given

    def __init__(self, work, version, python, torch=None, files=None):
        files = files or [HERE / "test_package.py"]
        self.version, self.python, self.torch, self.files = version, python, torch, files
        self.types = torch in (TORCHES[0][0], "of this machine") and any(file.stem == "test_types" for file in files)
        self.name = f"Python {version}, " + (f"PyTorch {torch}" if torch else "NumPy")
        self.folder = work / f"{version}{'-torch-' + torch if torch else ''}"
        self.passed = self.failed = 0
        self.lines = []

    def make(self, wheel):
        shutil.rmtree(self.folder, ignore_errors=True)
        of_machine = ["--system-site-packages"] if self.torch == "of this machine" else []
        done = run(self.python, "-m", "venv", *of_machine, self.folder)
        if done.returncode != 0:
            raise Unreachable(f"{self.python} makes no environment:\n{done.stdout}")
        python = self.folder / "bin/python"
        if self.torch and not of_machine:
            # With the real libcudart, PyTorch has a device under `kaio check --cuda`.
            install(python, "--no-deps", f"torch=={self.torch}", "nvidia-cuda-runtime>=13,<14")
            install(python, *NEEDED_BY_TORCH, "setuptools<82", "numpy")
            began = time.monotonic()
            stubs = torch_stubs.make(next((self.folder / "lib").glob("python3.*/site-packages")))
            self.lines.append(f"{len(stubs)} libraries of CUDA replaced in {time.monotonic() - began:.0f} s")
        packages = [PYTEST, "numpy"] + ([MYPY] if self.types else [])
        install(python, *packages, wheel)
        return python

    def pytest(self, python, *paths):
        """Runs tests in a folder outside of the tree, so that the installed package is the one that is imported."""
        done = run(python, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "--rootdir", HERE,
                   *paths, cwd=self.folder, env={"PYTHONDONTWRITEBYTECODE": "1"} | self.variables)
        summary = re.findall(r"(\d+) (passed|failed|errors?)", done.stdout.splitlines()[-1])
        numbers = {word: int(number) for number, word in summary}
        failed = sum(number for word, number in numbers.items() if word != "passed")
        self.passed += numbers.get("passed", 0)
        self.failed += failed or (done.returncode not in (0, 5))
        if done.returncode != 0:
            self.lines.append(done.stdout[-20000:])

    def test(self, wheel):
        began = time.monotonic()
        python = self.make(wheel)
        made = time.monotonic()
        self.pytest(python, *self.files)
        shutil.rmtree(self.folder)
        self.lines.insert(0, f"{self.name}: {self.passed} passed, {self.failed} failed; installed in {made - began:.0f} s, tests "
                          f"{time.monotonic() - made:.0f} s")


def plan(work, turn):
    """The environments of a turn; of all turns if it is None."""
    pythons = find_pythons()
    if not pythons:
        print("skipped: there is no Python from 3.10 on with venv")
        sys.exit(77)
    versions = list(pythons)
    whole = versions if turn is None else [versions[turn % len(versions)]]
    chosen = [Environment(work, version, python, files=part_of(None) if version in whole else None) for version, python in pythons.items()]
    if has_gpu():
        for version, python in pythons.items():
            if run(python, "-c", "import torch; assert torch.cuda.is_available()").returncode == 0:
                return [Environment(work, version, python, "of this machine", part_of(None)), *chosen]
    for number, (torch, known) in enumerate(TORCHES):
        if turn is None or turn % len(TORCHES) == number:
            possible = [version for version in versions if version in known]
            if possible:
                version = possible[(turn or 0) // len(TORCHES) % len(possible)]
                chosen.insert(0, Environment(work, version, pythons[version], torch, part_of(turn)))
    return chosen


def check_index():
    """Raises Unreachable if pip can fetch no package."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(sys.executable, "-m", "venv", f"{folder}/venv")
        if done.returncode == 0:
            done = run(f"{folder}/venv/bin/python", "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "1",
                       "--timeout", "30", "--dest", folder, "nanobind-backend")
        if done.returncode != 0:
            raise Unreachable(f"no Python packages can be had:\n{done.stdout[-1000:]}")


def build_wheel(library):
    """The path of the wheel of a build folder, in which the library is src/c/libkaio.so."""
    done = subprocess.run([str(ROOT / "tools/kaio"), "wheel", "--from", str(library.absolute().parents[2])],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    print(done.stderr, end="")
    if done.returncode != 0:
        print("0 passed, 1 failed")
        sys.exit(1)
    return pathlib.Path(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made = parser.add_mutually_exclusive_group(required=True)
    made.add_argument("--library", type=pathlib.Path)
    made.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, help="kaio, for test_emulated.py")
    parser.add_argument("--emulator", type=pathlib.Path, help="libkaio_cuda_emulator.so, for test_emulated.py")
    parser.add_argument("--turn", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    if arguments.program and arguments.emulator:
        Environment.variables = {"KAIO_PROGRAM": str(arguments.program.resolve()),
                                 "KAIO_CUDA_EMULATOR": str(arguments.emulator.resolve())}
    try:
        check_index()
        wheel = arguments.wheel.resolve() if arguments.wheel else build_wheel(arguments.library)
        arguments.work.mkdir(parents=True, exist_ok=True)
        environments = plan(arguments.work.resolve(), None if arguments.all else arguments.turn)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for future in [pool.submit(environment.test, wheel) for environment in environments]:
                future.result()
    except Unreachable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    for environment in environments:
        print("\n  ".join(environment.lines))
    passed, failed = (sum(getattr(e, what) for e in environments) for what in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
