"""What joins the ranks of a process group besides its collectives: bytes of the host, and memory that the kernels of all ranks use.

On GPUs it is torch's symmetric memory. Processes of one host whose ranks compute on the emulator share memory of the host.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import pickle
import socket
import tempfile
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

Tensor = torch.Tensor


class Host:
    """Bytes and objects of all ranks, on the host: by the group's backend for the CPU, or by gloo."""

    def __init__(self, group: Any, time_limit: float) -> None:
        world: Any = dist.group.WORLD
        self.group = world if group is None else group
        self.time_limit = time_limit
        self.ranks, self.rank = dist.get_world_size(self.group), dist.get_rank(self.group)
        self.by: Any = self.group
        try:
            self.group._get_backend(torch.device("cpu"))
        except RuntimeError:  # of NCCL alone
            members = dist.get_process_group_ranks(self.group)
            self.by = dist.new_group(members, timedelta(seconds=time_limit), "gloo", use_local_synchronization=True)

    def gather(self, mine: bytes, time_limit: float | None = None) -> bytes:
        """The bytes of all ranks, rank 0 first; all have the same number."""
        sent = torch.frombuffer(bytearray(mine), dtype=torch.uint8)
        parts = [torch.empty_like(sent) for _ in range(self.ranks)]
        work = dist.all_gather(parts, sent, group=self.by, async_op=True)
        if work is not None:
            work.wait(timedelta(seconds=self.time_limit if time_limit is None else time_limit))
        return b"".join(ctypes.string_at(p.data_ptr(), len(mine)) for p in parts)

    def objects(self, mine: Any) -> list[Any]:
        """An object of each rank."""
        text = pickle.dumps(mine)
        most = max(int.from_bytes(n, "little") for n in self._split(self.gather(len(text).to_bytes(8, "little"))))
        return [pickle.loads(part) for part in self._split(self.gather(text.ljust(most, b"\0")))]

    def _split(self, all_bytes: bytes) -> list[bytes]:
        size = len(all_bytes) // self.ranks
        return [all_bytes[r * size : (r + 1) * size] for r in range(self.ranks)]

    def are_on_one_host(self) -> bool:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id")
        names = self.objects((socket.gethostname(), boot.read_text() if boot.exists() else ""))
        return names.count(names[0]) == self.ranks


def memory_of(host: Host, device: torch.device) -> Any:
    """The memory of all ranks on their devices: an object with allocate(bytes) -> (addresses, token) and release(token); `last` is this
    rank's part of what was allocated last. None: the ranks have none. Every rank calls it."""
    found: Any = None
    if host.are_on_one_host():
        if device.type == "cpu":
            found = SharedMemory(host)
        elif device.type == "cuda":
            try:
                found = SymmetricMemory(host, device)
            except ImportError:
                pass
    return found if all(host.objects(found is not None)) else None


class SymmetricMemory:
    """torch's symmetric memory of GPUs. It makes no multicast objects."""

    last: Tensor

    def __init__(self, host: Host, device: torch.device) -> None:
        import torch.distributed._symmetric_memory as symmetric

        os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
        self.host, self.device, self.symmetric = host, device, symmetric
        if not hasattr(symmetric, "empty"):
            raise ImportError("torch's symmetric memory has no empty()")

    def allocate(self, bytes_: int) -> tuple[list[int], Any]:
        memory = self.symmetric.empty(bytes_, dtype=torch.uint8, device=self.device)
        shared = self.symmetric.rendezvous(memory, self.host.group)
        self.last = memory
        first = memory.data_ptr() - shared.buffer_ptrs[shared.rank]
        return [address + first for address in shared.buffer_ptrs], (memory, shared)

    def release(self, token: Any) -> None:
        pass  # the references of `token` go


class SharedMemory:
    """Memory of the host that processes, or threads, share; the emulator's kernels use it."""

    last: Tensor

    def __init__(self, host: Host) -> None:
        self.host = host
        self.folder = "/dev/shm" if os.path.isdir("/dev/shm") else None

    def allocate(self, bytes_: int) -> tuple[list[int], Any]:
        name: str | None = None
        error: Exception | None = None
        parts: list[Tensor] = []
        try:
            try:
                file, name = tempfile.mkstemp(prefix="kaio_", dir=self.folder)
                os.truncate(file, bytes_)
                os.close(file)
            except OSError as found:
                error = found
            names = self.host.objects(name if error is None else None)
            try:
                if None not in names:
                    parts = [torch.from_file(n, shared=True, size=bytes_, dtype=torch.uint8) for n in names]
            except RuntimeError as found:
                error = found
            done = self.host.objects(len(parts) == self.host.ranks)  # all have opened the files
        finally:
            if name is not None:
                os.unlink(name)
        if error is not None:
            raise error
        if not all(done):
            raise RuntimeError(f"kaio: rank {done.index(False)} has no memory that the others share")
        self.last = parts[self.host.rank]
        return [p.data_ptr() for p in parts], parts

    def release(self, token: Any) -> None:
        pass  # the references of `token` go
