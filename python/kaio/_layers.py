"""Quantised layers of files, as packed weights and as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from . import operations as ops
from ._arrays import Array
from ._packed import (
    Packed,
    from_awq,
    from_bitsandbytes,
    from_blocks,
    from_compressed_tensors,
    from_fp8,
    from_gptq,
    from_int8,
    from_llm_int8,
    from_mxfp4,
    from_nvfp4,
    from_tinygemm,
    from_torchao_int4,
)
from ._weight_tensor import WeightTensor, torch_dtype, torch_of
from .errors import UnsupportedFormat

_SCHEMES = (
    "gptq",
    "awq_gemm",
    "awq_gemv",
    "awq_gemv_fast",
    "packed_int",
    "int8",
    "llm_int8",
    "fp8",
    "fp8_block",
    "nf4",
    "fp4",
    "nvfp4_packed",
    "nvfp4_modelopt",
    "mxfp4_packed",
    "mxfp4_blocks",
    "torchao_int8",
    "torchao_fp8",
    "torchao_tinygemm",
    "torchao_int4_plain",
    "torchao_nvfp4",
    "torchao_mx",
    "mxfp8",
)
_PARTS = (
    "codes",
    "scales",
    "zero_points",
    "group_index",
    "shape",
    "global_scale",
    "input_scale",
    "code_table",
    "nested_scales",
    "nested_table",
    "state",
    "input_factors",
    "unknown",
)


class Destination:
    """Where the arrays of a layer are made: a device of kaio by its name, or a torch.device."""

    def __init__(self, device: Any) -> None:
        self.is_torch = device is not None and not isinstance(device, str)
        if self.is_torch and type(device).__module__.split(".")[0] != "torch":
            raise TypeError(
                f"kaio: argument device is a {type(device).__qualname__}; it has to be a name, as 'cuda:0', or a torch.device"
            )
        self.device = device if device is not None else _core.open(None)

    def array(self, data: Any, dtype: str, shape: Sequence[int]) -> Array:
        """An array of this type and shape with these bytes."""
        if self.is_torch:
            return torch_of(data, dtype, shape, self.device)
        import numpy

        made = _core.allocate(self.device, list(shape), dtype)
        data = numpy.ascontiguousarray(data)
        if data.nbytes != made.nbytes:
            raise UnsupportedFormat(f"kaio: {data.nbytes} bytes make no array {tuple(shape)} of {dtype}")
        if data.nbytes:
            made._write(data.ctypes.data)
        return made

    def empty(self, dtype: str, shape: Sequence[int]) -> Array:
        if self.is_torch:
            import torch

            return torch.empty(tuple(shape), dtype=torch_dtype(dtype), device=self.device)
        return _core.allocate(self.device, list(shape), dtype)


class QuantisedLayer:
    """A weight (n, k) that tensors of a file make up together."""

    name: str
    """of the module: the common beginning of the names of its tensors; of GGUF without ".weight" """
    scheme: str
    """ "gptq", "awq_gemm", "packed_int", "fp8_block", ...; of GGUF "blocks" """
    format: str
    """of GGUF: "Q4_K"; else the scheme in words, as "GPTQ" """
    n: int
    """outputs, of one expert"""
    k: int
    """inputs"""
    experts: int
    """matrices in this layer; they are packed as one matrix (experts n, k)"""
    group: int
    """codes along k that share a scale; 0: blocks of rows and columns, or of GGUF"""
    bits: int
    """of a code"""
    act_order: bool
    """whether an index gives the groups of k"""
    operation: str
    """what multiplies with it, as "matmul_w4 after repack"; empty: nothing does"""
    obstacle: str
    """why nothing does"""
    tensors: dict[str, WeightTensor]
    """its tensors by what they are to it: codes, scales, zero_points, ..."""

    def __init__(self) -> None:
        self.group = self.block_rows = self.block_columns = self.bits = 0
        self.nested_group, self.nested_offset, self.act_order = 0, 0.0, False
        self.obstacle = self.problem = ""
        self._layers: Any = None
        self._index = 0
        self._v2 = False

    @classmethod
    def _of_layer(cls, tensors: list[WeightTensor], layers: Any, index: int, v2: bool) -> QuantisedLayer:
        self, facts = cls(), layers.layer(index)
        self._layers, self._index, self._v2 = layers, index, v2
        self.scheme = _SCHEMES[facts["scheme_number"]]
        self.format = facts["scheme_name"]
        for field in (
            "name",
            "n",
            "k",
            "group",
            "block_rows",
            "block_columns",
            "nested_group",
            "nested_offset",
            "bits",
            "act_order",
            "problem",
            "operation",
            "obstacle",
        ):
            setattr(self, field, facts[field])
        self.tensors = {_PARTS[part]: tensors[tensor] for part, _, tensor in facts["parts"]}
        codes = self.tensors.get("codes")
        self.experts = 1
        if codes is not None and self.n and self.k and self.scheme not in ("nf4", "fp4", "torchao_tinygemm"):
            self.experts = max(1, codes.nbytes * 8 // (self.n * self.k * (self.bits or 8))) if len(codes.shape) > 2 else 1
        return self

    @classmethod
    def _of_blocks(cls, tensor: WeightTensor) -> QuantisedLayer:
        self = cls()
        self.scheme, self.format, self.tensors = "blocks", tensor.format, {"codes": tensor}
        self.name = tensor.name[: -len(".weight")] if tensor.name.endswith(".weight") else tensor.name
        self.n, self.k = tensor.shape[-2:]
        self.experts = tensor.size // (self.n * self.k)
        self.operation = tensor.operation
        if not self.operation:
            self.obstacle = f"kaio has no product for blocks of {tensor.format}"
        elif tensor.operation.startswith("matmul_w"):
            self.bits = 4 if tensor.operation.startswith("matmul_w4") else 8
        return self

    def __repr__(self) -> str:
        return f"QuantisedLayer({self.name!r}, {self.format}, ({self.n}, {self.k}))"

    def part(self, name: str) -> Any:
        """The bytes of a part as repack takes them: a NumPy array of uint8; None: the layer has no such part."""
        import numpy

        if name not in _PARTS:
            raise ValueError(f"kaio: argument name is {name!r}; it has to be one of {', '.join(_PARTS)}")
        if self._layers is None:
            return self.tensors[name].bytes if name in self.tensors else None
        if name not in self.tensors:
            return None
        count = self._layers.part_bytes(self._index, _PARTS.index(name))
        data = numpy.empty(count, dtype=numpy.uint8)
        self._layers.read_part(self._index, _PARTS.index(name), data.ctypes.data, count)
        return data

    def _check(self) -> None:
        if self.problem or (self.obstacle and not self.operation):
            raise UnsupportedFormat(f"kaio: layer '{self.name}': {self.problem or self.obstacle}")

    def _array(self, to: Destination, name: str, shape: Sequence[int] | None = None, dtype: str | None = None) -> Array:
        """A part on a device. Its type is that in the file, unless the reader has converted it."""
        data = self.part(name)
        tensor = self.tensors[name]
        if dtype is None:
            dtype = (
                "i32"
                if name == "group_index" or (name == "zero_points" and self.scheme == "packed_int")
                else tensor.dtype or "u8"
            )
        return to.array(data, dtype, tensor.shape if shape is None else shape)

    def _optional(self, to: Destination, name: str, shape: Sequence[int] | None = None, dtype: str | None = None) -> Array | None:
        return self._array(to, name, shape, dtype) if name in self.tensors else None

    @property
    def _rows(self) -> int:
        return self.n * self.experts

    def _has_zero_points(self) -> bool:
        return "zero_points" in self.tensors and (
            not self.scheme.startswith("torchao_int8") or bool(self.tensors["zero_points"].bytes.any())
        )

    def _eight_bit_scales(self, to: Destination) -> Array:
        """Scales (1), (rows, groups) or of blocks, of all experts one below the other."""
        tensor = self.tensors["scales"]
        if self.group == 0:
            if self.experts > 1 and self.n % self.block_rows != 0:
                raise UnsupportedFormat(
                    f"kaio: layer '{self.name}': blocks of {self.block_rows} rows end inside of an expert of {self.n} rows"
                )
            return self._array(to, "scales", (self.experts * -(-self.n // self.block_rows), -(-self.k // self.block_columns)))
        groups = -(-self.k // self.group)
        if tensor.size == 1:
            return self._array(to, "scales", (1,))
        if tensor.size != self._rows * groups:
            raise UnsupportedFormat(f"kaio: layer '{self.name}': each expert has one scale; no product takes them")
        return self._array(to, "scales", (self._rows, groups))

    def repack(self, device: Any = None) -> Packed:
        """Packs the weight for matmul_w4 or matmul_w8, once at load.

        device: a name of kaio, as "cuda:0", "emulator" or "cpu"; None: the first GPU, else the emulator. A torch.device: the
          memory is a torch tensor there.
        Returns kaio.W4Weights or kaio.W8Weights, of experts n rows if there are several experts.
        Raises UnsupportedFormat if neither product takes the layer; dequantise() may still make a matrix of it.
        """
        self._check()
        to = Destination(device)
        if self.scheme == "blocks":
            return self._repack_blocks(to)
        return self._repack(to)

    def _repack_blocks(self, to: Destination, rows: Any = None) -> Packed:
        """rows: the order in which rows are packed."""
        data = self.part("codes")
        if rows is not None:
            data = data.reshape(self._rows, -1)[rows].reshape(-1)
        if not self.operation.startswith("matmul_w"):
            raise UnsupportedFormat(
                f"kaio: layer '{self.name}': no product takes blocks of {self.format}; dequantise() makes a matrix of them"
            )
        return from_blocks(to.array(data, "u8", (data.size,)), self.format, self._rows, self.k)

    def _repack(self, to: Destination) -> Packed:
        n, k, scheme = self._rows, self.k, self.scheme
        group, words = self.group, self.tensors["codes"]
        if scheme == "gptq":
            return from_gptq(
                self._array(to, "codes"),
                self._array(to, "scales"),
                self._optional(to, "zero_points"),
                self._array(to, "group_index") if self.act_order else None,
                bits=self.bits,
                group=group,
                v2=self._v2,
            )
        if scheme.startswith("awq"):
            version: Any = scheme[4:]
            return from_awq(
                self._array(to, "codes"), self._array(to, "zero_points"), self._array(to, "scales"), version=version, group=group
            )
        if scheme == "packed_int":
            groups = -(-k // group)
            return from_compressed_tensors(
                self._array(to, "codes"),
                self._array(to, "scales", (n, groups)),
                self._optional(to, "zero_points", (-(-n * self.bits // 32), groups)),
                self._array(to, "group_index") if self.act_order else None,
                bits=self.bits,
                k=k,
                group=group,
            )
        if scheme in ("int8", "torchao_int8"):
            zeros = (
                self._array(to, "zero_points", (n, -(-k // group)) if self.tensors["zero_points"].size > 1 else (1, 1))
                if self._has_zero_points()
                else None
            )
            return from_int8(self._array(to, "codes", (n, k)), self._eight_bit_scales(to), zeros, group=self._eight_bit_group())
        if scheme == "llm_int8":
            return from_llm_int8(self._array(to, "codes", (n, k)), self._array(to, "scales", (n,)))
        if scheme in ("fp8", "fp8_block", "torchao_fp8") and words.dtype == "e4m3" and self._scale_is_float():
            return from_fp8(self._array(to, "codes", (n, k)), self._eight_bit_scales(to), group=self._eight_bit_group(64))
        if scheme in ("nf4", "fp4"):
            code: Any = scheme
            codes = self._array(to, "codes", (n, k // 2), "u8")
            blocks = (n, k // group) if k % group == 0 else (self.tensors["scales"].size,)
            absmax = self._array(to, "scales", blocks)
            if not self.nested_group:
                return from_bitsandbytes(codes, absmax, n, k, code=code, blocksize=group)
            return from_bitsandbytes(
                codes,
                absmax,
                n,
                k,
                code=code,
                blocksize=group,
                nested_absmax=self._array(to, "nested_scales"),
                nested_quant_map=self._array(to, "nested_table"),
                nested_offset=self.nested_offset,
                nested_blocksize=self.nested_group,
            )
        if scheme in ("nvfp4_packed", "nvfp4_modelopt", "torchao_nvfp4"):
            return from_nvfp4(
                self._array(to, "codes", (n, k // 2), "u8"),
                self._array(to, "scales", (n, k // 16), "e4m3"),
                self._global_scale(to),
                divides=scheme == "nvfp4_packed",
            )
        if scheme in ("mxfp4_packed", "mxfp4_blocks") or (scheme == "torchao_mx" and self.bits == 4):
            return from_mxfp4(self._array(to, "codes", (n, k // 2), "u8"), self._array(to, "scales", (n, k // 32), "u8"))
        if scheme == "torchao_tinygemm":
            return from_tinygemm(self._array(to, "codes"), self._array(to, "scales"))
        if scheme == "torchao_int4_plain":
            return from_torchao_int4(
                self._array(to, "codes", (n, k // 8), "i32"), self._array(to, "scales"), self._array(to, "zero_points")
            )
        raise UnsupportedFormat(
            f"kaio: layer '{self.name}' of {self.format}: matmul_w4 and matmul_w8 do not take it; use {self.operation}"
            + (", which dequantise() makes a matrix for" if "dequantise" in self.operation else "")
        )

    def _global_scale(self, to: Destination) -> Array | None:
        """The scale of NVFP4's matrices: of several experts one for each row."""
        if "global_scale" not in self.tensors:
            return None
        if self.tensors["global_scale"].size == 1:
            return self._array(to, "global_scale", (1,), "f32")
        import numpy

        scales = self.part("global_scale").view(numpy.float32)
        return to.array(numpy.repeat(scales, self._rows // scales.size).view(numpy.uint8), "f32", (self._rows,))

    def _scale_is_float(self) -> bool:
        return self.tensors["scales"].dtype in ("f32", "f16", "bf16")

    def _eight_bit_group(self, multiple: int = 16) -> int:
        if self.group == 0 and (self.block_rows, self.block_columns) != (128, 128):
            raise UnsupportedFormat(
                f"kaio: layer '{self.name}': blocks of {self.block_rows} x {self.block_columns}; matmul_w8 takes 128 x 128"
            )
        if self.group not in (0, self.k) and self.group % multiple != 0:
            raise UnsupportedFormat(
                f"kaio: layer '{self.name}': its groups are of {self.group} codes, and matmul_w8 takes multiples of {multiple}"
            )
        return 128 if self.group == 0 else -1 if self.group == self.k else self.group

    def codes_and_scales(self, device: Any = None) -> tuple[Array, Array]:
        """Codes of 8 bits (rows, k) and their scales, for matmul_fp8, matmul_int8 and kaio.torch.LinearFp8.

        Scales: (1), (rows, groups), or (rows / block_rows, k / block_columns), rounded up.
        Raises UnsupportedFormat if the layer has no codes of 8 bits.
        """
        self._check()
        if self.scheme not in ("int8", "torchao_int8", "fp8", "fp8_block", "torchao_fp8"):
            raise UnsupportedFormat(f"kaio: layer '{self.name}' of {self.format} has no codes of 8 bits with scales")
        to = Destination(device)
        return self._array(to, "codes", (self._rows, self.k)), self._eight_bit_scales(to)

    def dequantise(self, device: Any = None, dtype: str = "bf16") -> Array:
        """The weight as a matrix (experts n, k), made on the device.

        device: as for repack
        dtype: "f32", "f16" or "bf16"
        Raises UnsupportedFormat if kaio cannot make it.
        """
        if self.problem:
            raise UnsupportedFormat(f"kaio: layer '{self.name}': {self.problem}")
        to = Destination(device)
        n, k = self._rows, self.k
        out = to.empty(dtype, (n, k))
        if self.scheme == "blocks":
            if not self.operation:
                self._check()
            codes = self.tensors["codes"]
            data = self._array(to, "codes", (codes.nbytes,), "u8")
            return ops.dequantise_blocks(self.format.lower(), data, out)  # type: ignore[arg-type]
        self._check()
        if self.scheme in ("fp8", "fp8_block", "torchao_fp8", "mxfp8", "int8", "torchao_int8") or (
            self.scheme == "torchao_mx" and self.bits == 8
        ):
            if not self._has_zero_points():
                return self._dequantise_bytes(to, out)
        if self.scheme in ("nf4", "fp4"):
            return self._dequantise_bitsandbytes(to, out)
        packed = self._repack(to)
        return ops.dequantise_w4(packed, out) if isinstance(packed, ops.W4Weights) else ops.dequantise_w8(packed, out)

    def _dequantise_bytes(self, to: Destination, out: Array) -> Array:
        n, k = self._rows, self.k
        if self.scheme in ("mxfp8", "torchao_mx") or not self._scale_is_float():
            shape = (n, -(-k // self.group)) if self.group else (-(-n // self.block_rows), -(-k // self.block_columns))
            scales = self._array(to, "scales", shape, "u8")
        else:
            scales = self._eight_bit_scales(to)
            if len(scales.shape) == 1:
                scales = self._array(to, "scales", (1, 1))
        rows, columns = (self.block_rows, self.block_columns) if self.group == 0 else (1, self.group)
        return ops.dequantise_scaled_bytes(
            ops.ScaledBytes(self._array(to, "codes", (n, k)), scales, block_rows=rows, block_columns=columns), out
        )

    def _dequantise_bitsandbytes(self, to: Destination, out: Array) -> Array:
        codes, scales = self.tensors["codes"], self.tensors["scales"]
        code: Any = self.scheme
        weight = self._array(to, "codes", (codes.nbytes,), "u8")
        absmax = self._array(to, "scales", (scales.size,))
        if not self.nested_group:
            return ops.dequantise_bnb_4bit(ops.Bnb4bit(weight, code=code, absmax=absmax, blocksize=self.group), out)
        nested = ops.BnbNested(
            absmax,
            self._array(to, "nested_scales"),
            self._array(to, "nested_table"),
            offset=self.nested_offset,
            blocksize=self.nested_group,
        )
        return ops.dequantise_bnb_4bit(ops.Bnb4bit(weight, code=code, nested=nested, blocksize=self.group), out)


class QuantisedLayers(Sequence[QuantisedLayer]):
    """The quantised layers of a model, in the order of their names; of GGUF in that of the file. They keep the files mapped."""

    config_path: str | None
    """the configuration that was read"""
    config: dict[str, Any]
    """what it says: method, format, bits, group, act_order, symmetric, ...; has_config: False: there is none"""

    def __init__(self, kind: str, tensors: list[WeightTensor], layers: Any, config_path: str | None) -> None:
        self.config_path, self.config = config_path, layers.describe()
        count = self.config.pop("layers")
        v2 = self.config["format"] == "gptq_v2"
        self._layers: list[QuantisedLayer]
        if kind == "gguf":
            self._layers = [QuantisedLayer._of_blocks(t) for t in tensors if t.dtype is None and len(t.shape) >= 2]
        else:
            self._layers = [QuantisedLayer._of_layer(tensors, layers, i, v2) for i in range(count)]
        self._by_name = {layer.name: layer for layer in self._layers}

    def __getitem__(self, index: Any) -> Any:
        """A layer by its number or by its name."""
        return self._by_name[index] if isinstance(index, str) else self._layers[index]

    def __len__(self) -> int:
        return len(self._layers)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name or name in self._layers

    def __repr__(self) -> str:
        return f"<{len(self)} quantised layers>"
