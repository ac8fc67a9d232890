"""Runs a PyTorch program on the emulator, without a GPU: its Triton and CUDA kernels with PTX are emulated, and PyTorch's own
operations, which PyTorch brings as machine code, are computed on the CPU.

    kaio check --cuda -- python -m kaio.torch.emulated program.py [argument...]

`kaio check --cuda` puts the emulator in the place of the driver. PyTorch then has a device `cuda`, whose memory is real; an
operation on it copies its inputs to the CPU, computes there, and copies the results back. Kernels that the program brings read
and write that memory as on a GPU, under the sanitizer.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

__all__ = ["HostOperations", "main"]

# They launch no kernel. Views, which launch none either, are known by their schemas.
_NATIVE = {
    "aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty", "aten::new_empty_strided", "aten::set_",
    "aten::resize_", "aten::record_stream", "aten::is_pinned", "aten::_pin_memory", "aten::is_same_size",
    "aten::_local_scalar_dense", "aten::_reshape_alias", "aten::_unsafe_view",
}


def _on_device(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_cuda


def _elements_of_storage(tensor: torch.Tensor) -> torch.Tensor:
    """The storage of a tensor from its first element on, as one row."""
    bytes_ = tensor.untyped_storage().nbytes()
    row = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return row.set_(tensor.untyped_storage(), 0, (bytes_ // tensor.element_size(),), (1,))


def _to_host(tensor: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU with the same strides: copies of device memory as it is need no kernel."""
    bare = tensor.detach()
    if bare.is_conj() or bare.is_neg():
        raise NotImplementedError("kaio.torch.emulated: a tensor with a pending conjugation or negation")
    if bare.is_contiguous():
        return bare.cpu()
    row = _elements_of_storage(bare).cpu()
    return torch.as_strided(row, bare.shape, bare.stride(), bare.storage_offset())


def _write(tensor: torch.Tensor, result: torch.Tensor) -> None:
    """Puts a result of the CPU into a tensor of the device."""
    bare = tensor.detach()
    if bare.shape != result.shape:
        bare.resize_(result.shape)
    if bare.is_contiguous():
        bare.copy_(result.to(bare.dtype).contiguous())
        return
    device_row = _elements_of_storage(bare)
    row = device_row.cpu()
    torch.as_strided(row, bare.shape, bare.stride(), bare.storage_offset()).copy_(result)
    device_row.copy_(row)


class HostOperations(TorchDispatchMode):
    """While it is entered, operations of PyTorch on tensors of device `cuda` are computed on the CPU."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        schema = func._schema
        device: Any = kwargs.get("device")
        made = device is not None and torch.device(device).type == "cuda"
        leaves: list[Any] = []
        tree_map(leaves.append, (args, kwargs))
        if not made and not any(map(_on_device, leaves)):
            return func(*args, **kwargs)
        is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
        if schema.name in _NATIVE or is_view or not schema.name.startswith(("aten::", "prims::")):
            return func(*args, **kwargs)

        target = torch.device(device) if made else next(leaf.device for leaf in leaves if _on_device(leaf))
        if device is not None and not made:
            target = torch.device(device)  # a copy to the CPU
        copies: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

        def host(value: Any) -> Any:
            if _on_device(value):
                return copies.setdefault(id(value), (value, _to_host(value)))[1]
            if isinstance(value, torch.device) and value.type == "cuda":
                return torch.device("cpu")
            return None if isinstance(value, torch.Generator) and value.device.type == "cuda" else value

        host_args, host_kwargs = tree_map(host, args), tree_map(host, kwargs)
        if made:
            host_kwargs["device"] = torch.device("cpu")
        results = func(*host_args, **host_kwargs)

        # What the operation wrote goes back, and is returned where the operation returns it.
        back: dict[int, torch.Tensor] = {}
        for at, argument in enumerate(schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = args[at] if at < len(args) else kwargs.get(argument.name)
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(one, torch.Tensor) and one.is_cuda:
                    _write(one, copies[id(one)][1])
                    back[id(copies[id(one)][1])] = one

        def device_result(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in back:
                return back[id(value)]
            if target.type != "cuda":
                return value
            out = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=target)
            _write(out, value)
            return out

        return tree_map(device_result, results)


def _print_from_host() -> None:
    """PyTorch leaves all modes to print a tensor: its numbers are taken on the CPU here."""
    names: Any = torch._tensor_str
    original = names._str_intern

    def of_host(tensor: torch.Tensor, *, tensor_contents: str | None = None) -> Any:
        if tensor_contents is None and _on_device(tensor):
            with torch.no_grad():
                tensor_contents = names._tensor_str(_to_host(tensor), len("tensor("))
        return original(tensor, tensor_contents=tensor_contents)

    names._str_intern = of_host


def main(words: Sequence[str]) -> None:
    if not words:
        sys.exit("usage: kaio check --cuda -- python -m kaio.torch.emulated program.py [argument...]")
    if not torch.cuda.is_available():
        sys.exit("kaio.torch.emulated: PyTorch has no device; run it under `kaio check --cuda`, with PyTorch's build for CUDA")
    _print_from_host()
    sys.argv = list(words)
    sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
    with HostOperations():  # type: ignore[no-untyped-call]
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
