"""What can be asked of a call without running it: its kernel, its workspace, its warm-up, its measurement."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from . import _core

_WARMUP, _WORKSPACE_BYTES, _CHOICE, _TUNE = 1, 2, 3, 4


class Choice(NamedTuple):
    """The kernel that a call runs. `name` is a value for its argument `variant`; empty: the call has nothing to do."""

    name: str
    splits: int
    in_cluster: bool


class TuneReport(NamedTuple):
    """What measuring has found: the fastest kernel and the one before, each with its seconds; whether a file keeps it."""

    variant: str
    seconds: float
    variant_before: str
    seconds_before: float
    saved: bool


def _ask(mode: int, operation: Callable[..., Any], arguments: Any, keywords: Any, repetitions: int = 20, remember: bool = True,
         use_files: bool = True) -> Any:  # fmt: skip
    _core.begin_mode(mode, repetitions, remember, use_files)
    try:
        operation(*arguments, **keywords)
    finally:
        result = _core.end_mode()
    return result


def warmup(operation: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    """Loads what a call launches, without running it: its first run then takes no longer than others, and may be captured
    into a graph.

        kaio.warmup(kaio.matmul, a, b)
    """
    _ask(_WARMUP, operation, arguments, keywords)


def choice(operation: Callable[..., Any], *arguments: Any, **keywords: Any) -> Choice:
    """The kernel that a call runs.

    kaio.choice(kaio.matmul, a, b).name
    """
    return Choice(*_ask(_CHOICE, operation, arguments, keywords))


def workspace_bytes(operation: Callable[..., Any], *arguments: Any, **keywords: Any) -> int:
    """The bytes of workspace that a call makes for itself if it is given none."""
    found = _ask(_WORKSPACE_BYTES, operation, arguments, keywords)
    return int(found or 0)


def tune(operation: Callable[..., Any], *arguments: Any, repetitions: int = 20, remember: bool = True, use_files: bool = True,
         **keywords: Any) -> TuneReport:  # fmt: skip
    """Measures every kernel that can run a call, on memory of its own, and remembers the fastest. Waits for the device.

    repetitions: of each kernel; the median counts
    remember: False: measures only
    use_files: False: the result holds for this process alone
    """
    return TuneReport(*_ask(_TUNE, operation, arguments, keywords, repetitions, remember, use_files))
