"""A typed program of a user. test_types.py runs mypy over it: a line with `# error: CODE` must be refused, every other one not."""

from __future__ import annotations

from typing import Any

import numpy as np
from typing_extensions import assert_type

import kaio

a: Any = np.zeros((4, 8), np.float32)
b: Any = np.zeros((8, 4), np.float32)
c: Any = kaio.matmul(a, b, activation="relu", alpha=2.0)
kaio.matmul(a, b, activation="rel")  # error: arg-type
kaio.matmul(a, b, aplha=2.0)  # error: call-arg
kaio.matmul(a)  # error: call-arg
kaio.matmul(a, b, alpha="2")  # error: arg-type
kaio.attention(a, a, a, causal="bottom_right", lse=True)
kaio.attention(a, a, a, causal=True)  # error: arg-type
kaio.rms_norm(a, b, epsilon=1e-5)
kaio.rms_norm(a, b, None, 1e-5)  # error: call-arg
cache = kaio.KvCache(a, b, lengths=a)
kaio.KvCache(a)  # error: call-arg
kaio.attention_decode(a, cache)
kaio.attention_decode(a, kaio.BlockMask())  # error: arg-type

memory = kaio.array(a, "cpu", "bf16")
assert_type(memory, kaio.Array)
assert_type(memory.shape, tuple[int, ...])
assert_type(memory.dtype, str)
memory.dtype = "f32"  # error: misc
assert_type(kaio.zeros((2, 3)), kaio.Array)
assert_type(kaio.choice(kaio.matmul, a, b).name, str)
assert_type(kaio.workspace_bytes(kaio.matmul, a, b), int)
assert_type(kaio.tune(kaio.matmul, a, b, repetitions=3).seconds, float)
kaio.tune(kaio.matmul, a, b, repetitions="3")  # error: arg-type
assert_type(kaio.devices()[0].architecture, str)
assert_type(kaio.memory_info(), tuple[int, int])
assert_type(kaio.doctor(), str)
try:
    kaio.synchronize("cuda:0")
except kaio.NoDeviceAnywhere:  # error: attr-defined
    pass
except kaio.Error as error:
    assert_type(error, kaio.Error)
