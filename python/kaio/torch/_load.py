"""Quantised checkpoints into the modules of a model.

model = transformers.AutoModelForCausalLM.from_config(config)
report = kaio.torch.load_quantised(model, "model.gguf")
print(report)                                   # what was replaced, copied and left, and why
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any

import torch

from .. import operations
from .. import weights as _weights
from .._layers import Destination
from ..errors import UnsupportedFormat
from ._library import NAMES
from ._matmul import Linear
from ._quant import Linear4, Linear8, LinearFp8

# Names of llama.cpp's tensors by those of transformers, for the architectures whose tensors are equal except for their names and
# the order of rows below.
_GGUF_NAMES = (
    (r"token_embd\.", "model.embed_tokens."),
    (r"output_norm\.", "model.norm."),
    (r"output\.", "lm_head."),
    (r"blk\.(\d+)\.attn_norm\.", r"model.layers.\1.input_layernorm."),
    (r"blk\.(\d+)\.ffn_norm\.", r"model.layers.\1.post_attention_layernorm."),
    (r"blk\.(\d+)\.attn_q\.", r"model.layers.\1.self_attn.q_proj."),
    (r"blk\.(\d+)\.attn_k\.", r"model.layers.\1.self_attn.k_proj."),
    (r"blk\.(\d+)\.attn_v\.", r"model.layers.\1.self_attn.v_proj."),
    (r"blk\.(\d+)\.attn_output\.", r"model.layers.\1.self_attn.o_proj."),
    (r"blk\.(\d+)\.attn_q_norm\.", r"model.layers.\1.self_attn.q_norm."),
    (r"blk\.(\d+)\.attn_k_norm\.", r"model.layers.\1.self_attn.k_norm."),
    (r"blk\.(\d+)\.ffn_gate\.", r"model.layers.\1.mlp.gate_proj."),
    (r"blk\.(\d+)\.ffn_up\.", r"model.layers.\1.mlp.up_proj."),
    (r"blk\.(\d+)\.ffn_down\.", r"model.layers.\1.mlp.down_proj."),
)
_GGUF_ARCHITECTURES = ("llama", "qwen2", "qwen3")


@dataclasses.dataclass
class LoadReport:
    """What load_quantised has done. print() shows it line by line."""

    replaced: dict[str, str] = dataclasses.field(default_factory=dict)
    """modules that have quantised weights now, and what they are: "Linear4, Q4_K" """
    copied: dict[str, str] = dataclasses.field(default_factory=dict)
    """parameters and buffers that were copied, and the format in the file"""
    dequantised: dict[str, str] = dataclasses.field(default_factory=dict)
    """parameters that got a quantised weight as a matrix, and why no module multiplies it"""
    unused: dict[str, str] = dataclasses.field(default_factory=dict)
    """tensors of the file that the model has no place for, and why"""
    missing: list[str] = dataclasses.field(default_factory=list)
    """parameters of the model that the file does not have"""

    def __str__(self) -> str:
        lines = [
            f"{len(self.replaced)} replaced, {len(self.copied)} copied, {len(self.dequantised)} dequantised, "
            f"{len(self.unused)} unused, {len(self.missing)} missing"
        ]
        for title in ("replaced", "copied", "dequantised", "unused"):
            lines += [f"{title} {name}: {why}" for name, why in getattr(self, title).items()]
        return "\n".join(lines + [f"missing {name}" for name in self.missing])


def _mapped(name: str) -> str:
    for pattern, to in _GGUF_NAMES:
        changed, count = re.subn(f"^{pattern}", to, name)
        if count:
            return changed
    return name


class _Loader:
    def __init__(
        self, model: torch.nn.Module, file: _weights.Weights, config: Any, device: torch.device | None, fp8: bool
    ) -> None:
        self.model, self.file, self.device, self.fp8 = model, file, device, fp8
        self.layers = file.layers(config)
        self.report = LoadReport()
        self.modules = dict(model.named_modules())
        self.state = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers(remove_duplicate=False))}
        self.done: set[str] = set()  # parameters that have their values
        metadata = file.metadata
        self.architecture = str(metadata.get("general.architecture", "")) if file.kind == "gguf" else ""

    # ---- Names

    def name_of(self, name: str) -> str:
        """The model's name of a tensor or a layer of the file."""
        if self.file.kind != "gguf":
            return self.with_prefix(name)
        if name in self.state or name in self.modules or self.architecture not in _GGUF_ARCHITECTURES:
            return name
        return self.with_prefix(_mapped(f"{name}.")[:-1])

    def with_prefix(self, name: str) -> str:
        """`name`, or without "model." for a model that is the inner one, or with it for one that is the outer one."""
        for candidate in (name, name[len("model.") :] if name.startswith("model.") else name, f"model.{name}"):
            if candidate in self.state or candidate in self.modules:
                return candidate
        return name

    def row_order(self, name: str, rows: int) -> Any:
        """llama.cpp stores rows of q and k of architecture llama with the pairs of rotary as neighbours; transformers with the
        pairs half a head apart. The order that brings transformers' rows, or None."""
        found = re.fullmatch(r"blk\.\d+\.attn_([qk])(\.weight|\.bias)?", name)
        if self.architecture != "llama" or found is None:
            return None
        heads = self.file.metadata.get("llama.attention.head_count")
        if found[1] == "k":
            heads = self.file.metadata.get("llama.attention.head_count_kv", heads)
        if not isinstance(heads, int) or heads <= 0 or rows % (2 * heads) != 0:
            raise UnsupportedFormat(
                f"kaio: '{self.file.path}': tensor '{name}' has {rows} rows, and llama.attention.head_count is {heads}"
            )
        return torch.arange(rows).reshape(heads, rows // heads // 2, 2).transpose(1, 2).reshape(-1).numpy()

    # ---- Layers

    def device_of(self, module: torch.nn.Module) -> torch.device:
        if self.device is not None:
            return self.device
        for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
            if tensor.device.type != "meta":
                return tensor.device
        return torch.device("cpu")

    def use(self, layer: _weights.QuantisedLayer) -> None:
        name = self.name_of(layer.name)
        module = self.modules.get(name)
        parts = ", ".join(t.name for t in layer.tensors.values())
        if layer.problem:
            self.report.unused[parts] = layer.problem
            return
        if isinstance(module, torch.nn.Linear):
            if layer.experts != 1 or (layer.n, layer.k) != (module.out_features, module.in_features):
                self.report.unused[parts] = (
                    f"the layer is ({layer.n}, {layer.k})"
                    + (f" of {layer.experts} experts" if layer.experts > 1 else "")
                    + f", and module {name} is ({module.out_features}, {module.in_features})"
                )
                return
            if type(module) not in (torch.nn.Linear, Linear):
                self.dense(
                    name, f"{name}.weight", layer, f"module {name} is a {type(module).__qualname__}, with a forward of its own"
                )
                return
            if self.is_tied(name):
                self.dense(name, f"{name}.weight", layer, f"{name}.weight is a parameter of other modules too")
                return
            try:
                made = self.module_for(layer, module)
            except UnsupportedFormat as reason:
                self.dense(name, f"{name}.weight", layer, str(reason))
                return
            self.replace(name, module, made, layer)
            return
        for parameter in (f"{name}.weight", name):
            if parameter in self.state:
                self.dense(name, parameter, layer, "no linear layer multiplies it")
                return
        self.report.unused[parts] = f"the model has no module {name}"

    def is_tied(self, name: str) -> bool:
        weight = self.state.get(f"{name}.weight")
        return sum(tensor is weight for tensor in self.state.values()) > 1

    def module_for(self, layer: _weights.QuantisedLayer, module: torch.nn.Linear) -> torch.nn.Module:
        """A quantised module with the layer's weight, and the module's bias, which is copied later."""
        device, bias = self.device_of(module), module.bias
        if bias is not None and bias.device.type not in ("meta", device.type):
            bias = torch.nn.Parameter(bias.detach().to(device), requires_grad=bias.requires_grad)
        if self.fp8 and layer.operation.startswith("matmul_fp8"):
            return LinearFp8.from_layer(layer, bias, device)
        if layer.scheme == "blocks":
            layer._check()
            packed = layer._repack_blocks(Destination(device), self.row_order(layer.name, layer.n))
        else:
            packed = layer.repack(device)
        if (packed.n, packed.k) != (module.out_features, module.in_features):
            raise UnsupportedFormat(
                f"kaio: layer '{layer.name}' is packed as ({packed.n}, {packed.k}), which is not the shape of its module"
            )
        return (Linear4 if isinstance(packed, operations.W4Weights) else Linear8)(packed, bias)

    def replace(self, name: str, old: torch.nn.Module, made: torch.nn.Module, layer: _weights.QuantisedLayer) -> None:
        parent, _, child = name.rpartition(".")
        setattr(self.modules[parent], child, made.train(old.training))
        self.modules[name] = made
        bias = getattr(made, "bias", None)
        if bias is not None:
            self.state[f"{name}.bias"] = bias
        self.done.add(f"{name}.weight")
        self.report.replaced[name] = f"{type(made).__name__}, {layer.format}"

    def dense(self, name: str, parameter: str, layer: _weights.QuantisedLayer, why: str) -> None:
        """Fills a parameter with the weight as a matrix."""
        target = self.state[parameter]
        if target.numel() != layer.experts * layer.n * layer.k:
            self.report.unused[layer.tensors["codes"].name] = (
                f"the layer has other extents than {parameter}, {tuple(target.shape)}"
            )
            return
        codes = layer.tensors["codes"]
        try:
            if layer.scheme == "blocks":  # the reader decodes them on the host
                matrix = codes.torch()
            else:
                where = self.device or (target.device if target.device.type != "meta" else torch.device("cpu"))
                matrix = layer.dequantise(where, NAMES.get(target.dtype, "f32"))
        except UnsupportedFormat as reason:
            self.report.unused[codes.name] = str(reason)
            return
        order = self.row_order(layer.name, layer.n) if layer.scheme == "blocks" else None
        self.put(parameter, matrix if order is None else matrix.reshape(layer.n, layer.k)[order])
        self.report.dequantised[parameter] = why

    # ---- Tensors

    def put(self, name: str, values: torch.Tensor) -> None:
        """Copies values into a parameter or buffer. One on the device "meta" is made, for all modules that share it."""
        target = self.state[name]
        names = [other for other, tensor in self.state.items() if tensor is target]
        with torch.no_grad():
            if target.device.type != "meta":
                target.copy_(values.reshape(target.shape))
            else:
                made = values.reshape(target.shape).to(device=self.device or "cpu", dtype=target.dtype)
                if isinstance(target, torch.nn.Parameter):
                    made = torch.nn.Parameter(made, requires_grad=target.requires_grad)
                for other in names:
                    self.set(other, made)
        self.done.update(names)

    def set(self, name: str, tensor: torch.Tensor) -> None:
        parent, _, child = name.rpartition(".")
        if isinstance(tensor, torch.nn.Parameter):
            setattr(self.modules[parent], child, tensor)
        else:
            self.modules[parent]._buffers[child] = tensor
        self.state[name] = tensor

    def copy(self, tensor: _weights.WeightTensor) -> None:
        name = self.name_of(tensor.name)
        target = self.state.get(name)
        if target is None:
            known = (
                f"; architecture '{self.architecture}' has no names in kaio"
                if self.architecture not in ("", *_GGUF_ARCHITECTURES)
                else ""
            )
            self.report.unused[tensor.name] = f"the model has no tensor {name}{known}"
            return
        if target.numel() != tensor.size or (tuple(target.shape) != tensor.shape and tensor.size != 1):
            self.report.unused[tensor.name] = f"its shape is {tensor.shape}, and the model's {name} has {tuple(target.shape)}"
            return
        if tensor.dtype is None and not tensor.has_values:
            self.report.unused[tensor.name] = f"kaio does not decode {tensor.format}"
            return
        order = self.row_order(tensor.name, tensor.shape[0]) if tensor.shape else None
        values = tensor.torch()
        self.put(name, values if order is None else values[order])
        self.report.copied[name] = tensor.format

    def run(self) -> LoadReport:
        used = {t.name for layer in self.layers for t in layer.tensors.values()}
        for layer in self.layers:
            self.use(layer)
        for tensor in self.file.values():
            if tensor.name not in used:
                self.copy(tensor)
        persistent = set(self.model.state_dict().keys())
        self.report.missing = [name for name in self.state if name not in self.done and name in persistent]
        return self.report


def load_quantised(
    model: torch.nn.Module,
    path: str | os.PathLike[str] | _weights.Weights,
    *,
    config: Any = None,
    device: Any = None,
    fp8: bool = True,
) -> LoadReport:
    """Loads a quantised checkpoint into a model: linear layers become Linear4, Linear8 or LinearFp8, all else is copied.

    model: its torch.nn.Linear modules are replaced in place. Modules on the device "meta" are filled too.
    path: as kaio.weights.open takes it: a *.gguf, a *.safetensors, an index or a folder; or an open kaio.weights.Weights
    config: as for Weights.layers: None: the config.json next to the file
    device: where replaced modules are made; None: the device of each module, or the CPU for modules on "meta"
    fp8: True: weights of e4m3 with scales that matmul_fp8 takes become LinearFp8; False: Linear8, with x of 16 bits

    Names of safetensors are those of the model; "model." may be missing on either side. GGUF's names of llama, qwen2 and
    qwen3 become transformers' names; of other architectures names have to be equal.
    Returns a LoadReport. Raises UnreadableFile, DamagedFile, UnsupportedFormat.
    """
    where = None if device is None else torch.device(device)
    if isinstance(path, _weights.Weights):
        return _Loader(model, path, config, where, fp8).run()
    with _weights.open(path) as file:
        return _Loader(model, file, config, where, fp8).run()
