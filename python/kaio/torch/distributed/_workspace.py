"""Memory that sums and products over the ranks of a process group share (kaio.PeerWorkspace), or the group's collectives."""

from __future__ import annotations

from typing import Any, Sequence

import torch
import torch.distributed as dist

from ..._core import PeerBuffer, PeerWorkspace
from ...errors import InvalidArgument
from ._memory import Host, memory_of

Tensor = torch.Tensor


class Workspace:
    """Memory that operations of the ranks of a process group share; workspace() makes it. `peers` is None if the ranks have no such
    memory: collectives of the group then move the tensors."""

    peers: PeerWorkspace | None = None

    def __init__(self, group: Any, device: torch.device, host: Host) -> None:
        self.group, self.device, self.host = group, device, host
        self._memory: Any = None
        self.ranks, self.rank = host.ranks, host.rank

    def agree(self, name: str, numbers: Sequence[Any], refusal: str = "") -> None:
        """Raises InvalidArgument on all ranks if numbers differ, or one refuses its arguments."""
        calls = self.host.objects((name, tuple(numbers), bool(refusal)))
        if refusal:
            raise InvalidArgument(f"kaio: {name}: {refusal}")
        for r, (other, theirs, refuses) in enumerate(calls):
            if other != calls[0][0]:
                raise InvalidArgument(f"kaio: {name}: rank 0 calls {calls[0][0]}, and rank {r} calls {other}")
            if refuses:
                raise InvalidArgument(f"kaio: {name}: rank {r} refuses its arguments")
            if theirs != calls[0][1]:
                raise InvalidArgument(f"kaio: {name}: the shapes, types or options of rank {r} are {theirs}, those of rank 0 "
                                      f"{calls[0][1]}; they are equal on all ranks")  # fmt: skip

    def buffer(self, rows: int, size: int, dtype: torch.dtype) -> tuple[PeerBuffer, Tensor]:
        """Memory of this rank that other ranks write, for kaio.send_to_experts and kaio.return_from_experts: (rows, size), zeroed, as
        those functions take it and as a tensor, which is valid while the buffer is. Every rank calls it, with the same numbers."""
        if self.peers is None:
            raise RuntimeError("kaio: the ranks of this workspace have no memory that the kernels of all may use")
        bytes_ = rows * size * dtype.itemsize
        made = self.peers.buffer(bytes_)
        return made, self._memory.last[:bytes_].view(dtype).view(rows, size)

    def gather(self, x: Tensor) -> Tensor:
        """(ranks, ...): x of each rank, by a collective of the group."""
        if x.numel() == 0:
            return x.new_empty(self.ranks, *x.shape)
        sent = x.contiguous().view(-1).view(torch.uint8)
        parts = [torch.empty_like(sent) for _ in range(self.ranks)]
        dist.all_gather(parts, sent, group=self.group)
        return torch.stack(parts).view(x.dtype).view(self.ranks, *x.shape)

    def exchange(self, x: Tensor) -> Tensor:
        """(ranks, ...) -> (ranks, ...): part p of rank r becomes part r of rank p."""
        if x.numel() == 0:
            return x
        sent = x.contiguous().view(self.ranks, -1).view(torch.uint8)
        came = torch.empty_like(sent)
        dist.all_to_all_single(came, sent, group=self.group)
        return came.view(x.dtype).view(x.shape)


def workspace(
    group: Any = None, *, device: Any = None, memory: bool | None = None, time_limit: float = 60.0, sum_bytes: int = 8 << 20,
    one_shot_bytes: int = 512 << 10, product_bytes: int = 64 << 20, staging_bytes: int = 8 << 20, blocks: int = 64,
    compares_repeated_calls: bool = False,
) -> Workspace:  # fmt: skip
    """Makes the workspace of this rank. Every rank of the group calls it, with the same options.

    group: a process group of torch.distributed; None: all ranks
    device: of this rank; None: the current GPU, or the CPU if there is none, where kaio's emulator computes
    memory: True: memory that the kernels of all ranks use, or RuntimeError if the ranks have none; False: tensors are moved by
        collectives of the group; None: memory, if the ranks are on one host and have it
    time_limit: seconds that a call waits for the other ranks
    sum_bytes, one_shot_bytes, blocks: of sums; larger tensors take more steps
    product_bytes: memory for the parts of one product; a rank has twice as much
    staging_bytes: memory that tensors of more than sum_bytes pass through
    compares_repeated_calls: False: a call that all ranks have made before is not compared again, which would take the host some
        100 us. Ranks that then make different calls stop at the time limit.
    """
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    host = Host(group, time_limit)
    options = (memory, sum_bytes, one_shot_bytes, product_bytes, staging_bytes, blocks, compares_repeated_calls)
    made = Workspace(host.group, device, host)
    made.agree("workspace", (device.type, *options))
    found = None if memory is False else memory_of(host, device)
    if found is None:
        if memory:
            raise RuntimeError("kaio: workspace: the ranks have no memory that the kernels of all may use; give memory=False")
        return made
    name = "emulator" if device.type == "cpu" else f"cuda:{device.index}"
    made._memory = found
    made.peers = PeerWorkspace(
        name, host.ranks, host.rank, gather=host.gather, allocate=found.allocate, release=found.release, time_limit=time_limit,
        staging_bytes=staging_bytes, sum_bytes=sum_bytes, one_shot_bytes=one_shot_bytes, product_bytes=product_bytes, blocks=blocks,
        compares_repeated_calls=compares_repeated_calls,
    )  # fmt: skip
    return made
