"""What the tests of kaio.operations on NumPy arrays share: numbers, comparisons, and a record of the operations that were called."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np
import pytest

from kaio import operations

F32, F16 = np.float32, np.float16
# Those of several ranks are called in ranks/test_peers.py.
FUNCTIONS = [
    name
    for name in operations.__all__
    if inspect.isfunction(getattr(operations, name)) and "peers" not in inspect.signature(getattr(operations, name)).parameters
]
SMALL = {
    "activate", "activate_backward", "combine_experts", "copy_tensor", "cross_entropy", "cross_entropy_backward", "embedding",
    "embedding_backward", "gate_up_grouped", "gated", "gated_backward", "histogram", "int8_dequant", "int8_dequant_groups", "layer_norm",
    "layer_norm_backward", "layer_norm_codes", "linear_cross_entropy", "linear_cross_entropy_backward", "log_softmax",
    "log_softmax_backward", "matmul_grouped", "matmul_grouped_backward", "matmul_int8_grouped", "qk_norm_rotary", "reduce", "rms_norm_backward", "sample", "scan", "softmax", "softmax_backward",
    "sort_by_expert", "top_k", "topk_router",
}  # fmt: skip
CALLED: set[str] = set()


def _recording(name: str, native: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        result = native(*arguments)
        CALLED.add(name)
        return result

    return call


def record_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FUNCTIONS:
        monkeypatch.setattr(operations, f"_{name}", _recording(name, getattr(operations, f"_{name}")))


def not_called(names: set[str], request: pytest.FixtureRequest, tests: int) -> list[str]:
    """Those of `names` that no test of the file has called. Skips if only a part of its tests runs."""
    here = {item.name for item in request.session.items if item.path == request.path}
    if len(here) < tests:
        pytest.skip("only a part of the file runs")
    return sorted(names - CALLED)


def normal(random: np.random.Generator, *shape: int, dtype: Any = F32) -> Any:
    return random.standard_normal(shape).astype(dtype)


def close(got: Any, expected: Any, tolerance: float = 2e-5) -> None:
    """Within `tolerance` of the largest number."""
    got, expected = np.asarray(got, F32), np.asarray(expected, F32)
    assert got.shape == expected.shape
    assert np.isfinite(got).all()
    assert np.abs(got - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-6)
