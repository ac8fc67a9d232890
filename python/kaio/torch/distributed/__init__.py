"""Ranks of torch.distributed that compute together: attention over a sequence whose rows are divided among them, and sums and
products of tensors that are divided (tensor parallelism).

    mine = kaio.torch.distributed.shard(x)                      # (B, S, ...) -> this rank's rows
    positions = kaio.torch.distributed.positions(S)             # for rotary embeddings
    out = kaio.torch.distributed.context_attention(q, k, v, causal=True)

    w = kaio.torch.distributed.workspace()                      # every rank, once
    h = kaio.torch.distributed.all_gather_matmul(w, x, up, activation="silu")
    y = kaio.torch.distributed.matmul_reduce_scatter(w, h, down)

torch.distributed moves tensors, and kaio computes: on GPUs by NCCL, on the CPU by gloo with kaio's emulator. A rank that fails
is an error on the others when the time limit of the process group ends.
"""

from __future__ import annotations

from ._attention import context_attention
from ._plan import context_rows
from ._products import all_gather_matmul, matmul_all_reduce, matmul_reduce_scatter
from ._rows import positions, shard, unshard
from ._sums import all_reduce, all_reduce_rms_norm
from ._workspace import Workspace, workspace

__all__ = [
    "Workspace", "all_gather_matmul", "all_reduce", "all_reduce_rms_norm", "context_attention", "context_rows",
    "matmul_all_reduce", "matmul_reduce_scatter", "positions", "shard", "unshard", "workspace",
]  # fmt: skip
