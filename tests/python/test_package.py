"""The installed package: what is in it, how soon it is imported, and that it computes."""

import importlib.metadata
import pathlib
import re
import subprocess
import sys

import numpy as np

import kaio

FOLDER = pathlib.Path(kaio.__file__).parent


def test_it_is_the_installed_package():
    assert FOLDER.parent.name == "site-packages"


def test_one_version_and_one_requirement():
    assert importlib.metadata.version("kaio-gpu") == kaio.__version__
    required = [line for line in importlib.metadata.requires("kaio-gpu") if "extra ==" not in line]
    assert [re.match(r"[\w-]+", line)[0] for line in required] == ["nanobind-backend"]


def test_types_headers_and_licences_are_inside():
    assert (FOLDER / "py.typed").exists()
    assert (FOLDER / "include/kaio/dsl/dsl.hpp").exists()
    assert (FOLDER / "include/kaio/c/kaio.h").exists()
    licences = [file for file in importlib.metadata.files("kaio-gpu") if "licenses" in file.parts]
    assert len(licences) == 3


def test_import_is_quick_and_brings_no_framework():
    code = "import time, sys; t = time.perf_counter(); import kaio; print(time.perf_counter() - t, *sys.modules)"
    seconds, modules = 1.0, []
    for _ in range(5):
        text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        seconds, modules = min(seconds, float(text[0])), text[1:]
    assert not {"torch", "numpy", "cupy", "jax"} & set(modules)
    assert seconds < 0.2  # 20 to 40 ms alone; other tests run meanwhile


def test_a_product_on_the_emulator():
    a = np.arange(32 * 16, dtype=np.float32).reshape(32, 16) / 64
    b = np.eye(16, 24, dtype=np.float32)
    assert np.array_equal(kaio.matmul(a, b), a @ b)


def test_an_error_of_the_library_is_an_exception():
    try:
        kaio.matmul(np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32))
    except kaio.Error as error:
        assert str(error).startswith("kaio: ")
    else:
        raise AssertionError("shapes that do not fit are accepted")
