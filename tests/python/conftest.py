"""Fixtures of the Python tests: every test that takes `device` runs on the CPU, which means the emulator, and on a GPU."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))  # what several tests share

os.environ.setdefault("KAIO_DEVICE", "emulator")


def _devices() -> list[str]:
    try:
        import torch
    except ImportError:
        return ["cpu"]
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.fixture(params=_devices())
def device(request: pytest.FixtureRequest) -> str:
    """The name of a device of torch."""
    name: str = request.param
    return name


# Every operator of kaio goes through torch.library.opcheck in some test: a run of all tests fails if one does not.
_checked: set[str] = set()
_collected: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    try:
        import torch
    except ImportError:
        return
    check = torch.library.opcheck

    def recorded(operator, *arguments, **keywords):  # type: ignore[no-untyped-def]
        _checked.add(str(operator).removesuffix(".default"))
        return check(operator, *arguments, **keywords)

    torch.library.opcheck = recorded


def pytest_collection_finish(session: pytest.Session) -> None:
    files = {item.path.name for item in session.items}
    here = {path.name for path in pathlib.Path(__file__).parent.glob("test_*.py")}
    _collected.extend(sorted(here - files))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus != 0 or _collected or not _checked:
        return
    import torch

    all_operators = {s.name.replace("::", ".") for s in torch._C._jit_get_all_schemas() if s.name.startswith("kaio::")}
    missing = sorted(all_operators - _checked)
    if missing:
        print(f"\nno test has torch.library.opcheck for {', '.join(missing)}")
        session.exitstatus = 1
