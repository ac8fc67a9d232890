"""The types of the package, by mypy."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parent.parent / "python"


def mypy(*arguments: str, cache: pathlib.Path) -> list[str]:
    command = [sys.executable, "-m", "mypy", "--config-file", str(PYTHON / "pyproject.toml"), "--cache-dir", str(cache), *arguments]
    ran = subprocess.run(command, cwd=PYTHON, capture_output=True, text=True, timeout=600)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.stdout.splitlines()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("mypy")


def test_package(cache: pathlib.Path) -> None:
    """mypy --strict on the package; kaio.torch needs torch, and is checked where it is tested."""
    assert mypy("--exclude", "kaio/torch/", "kaio", cache=cache)[-1].startswith("Success")


def test_user(cache: pathlib.Path) -> None:
    """A user's mistakes are found, and nothing else."""
    user = HERE / "support/typed_user.py"
    expected = {}
    for number, line in enumerate(user.read_text().splitlines(), 1):
        if found := re.search(r"# error: ([a-z-]+)$", line):
            expected[number] = found[1]
    assert len(expected) > 8
    got = {}
    for line in mypy(str(user), cache=cache):
        if found := re.match(r".*typed_user\.py:(\d+): error: .*\[([a-z-]+)\]$", line):
            got[int(found[1])] = found[2]
    assert got == expected
