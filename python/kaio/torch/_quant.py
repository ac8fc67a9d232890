"""Linear layers with quantised weights.

    layer = kaio.torch.Linear4.from_float(model.proj.weight, model.proj.bias, group=128)
    layer = kaio.torch.Linear4.from_gptq(qweight, scales, qzeros, g_idx)
    y = layer(x)                                    # x: (..., k), f16 or bf16

Packed weights are buffers: state_dict() has them, and .to(device) moves them. Their numbers are codes, so that .half() and
.to(dtype) leave them as they are. Gradients reach x and bias, for adapters such as LoRA; the weights have none.
"""

from __future__ import annotations

from typing import Any, Callable, Literal

import torch

from .. import _packed
from .. import operations
from .. import weights as _weights
from ..errors import InvalidArgument, UnsupportedFormat
from ._library import needs_gradient
from ._matmul import any_autocast, autocast, product
from ._quant_codes import dequantise_fp8, matmul_fp8, quantise_fp8, quantise_fp8_blocks
from ._quant_ops import W4_FIELDS, dequantise_layout, packed_linear


class _Quantised(torch.nn.Module):
    """A module whose buffers in `_codes` keep their element types."""

    _codes: tuple[str, ...] = ()
    in_features: int
    out_features: int
    bias: torch.nn.Parameter | None

    def _set_bias(self, bias: torch.Tensor | None) -> None:
        if bias is not None and tuple(bias.shape) != (self.out_features,):
            raise InvalidArgument(f"kaio: argument bias has the shape {tuple(bias.shape)}; it has to be ({self.out_features},)")
        if bias is None:
            self.register_parameter("bias", None)
        else:
            self.bias = bias if isinstance(bias, torch.nn.Parameter) else torch.nn.Parameter(bias.detach().clone())

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
        # As bytes, codes and their scales pass through half() and to(dtype), which convert numbers of floating point alone.
        if fn(torch.empty(0, dtype=torch.uint8)).dtype != torch.uint8:
            raise TypeError(f"kaio: {type(self).__name__} cannot convert its packed weights to another type; use dequantise()")
        kept = {name: self._buffers[name] for name in self._codes}
        for name, buffer in kept.items():
            self._buffers[name] = None if buffer is None else buffer.view(torch.uint8)
        try:
            super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        finally:
            for name, buffer in kept.items():
                now = self._buffers[name]
                if buffer is not None and now is not None:
                    self._buffers[name] = now.view(buffer.dtype)
        return self

    def _layout_numbers(self) -> tuple[int, ...]:
        raise NotImplementedError

    def get_extra_state(self) -> torch.Tensor:
        """The shape and format of the packed weights, as a tensor, so that every kind of file can hold it."""
        return torch.tensor(self._layout_numbers(), dtype=torch.int64)

    def set_extra_state(self, state: Any) -> None:
        """Does nothing: _load_from_state_dict has compared the state."""

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        stored = state_dict.get(f"{prefix}_extra_state")
        if stored is not None and tuple(int(v) for v in stored) != self._layout_numbers():
            error_msgs.append(
                f"kaio: {prefix[:-1] or type(self).__name__}: the state has weights of another format, {stored.tolist()}, "
                f"and the module is {self._layout_numbers()}; make the module from weights of that format first"
            )
            return
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _words(tensor: torch.Tensor, name: str) -> torch.Tensor:
    """Tensors of words: kaio takes i32."""
    if tensor.dtype == torch.int32:
        return tensor
    if tensor.dtype == getattr(torch, "uint32", None):
        return tensor.view(torch.int32)
    raise InvalidArgument(f"kaio: argument {name} has elements of {tensor.dtype}; they have to be torch.int32")


def _detached(tensor: torch.Tensor | None) -> Any:
    return None if tensor is None else tensor.detach()


class _PackedLinear(_Quantised):
    """y = x W^T + bias with packed weights."""

    _codes = ("memory",)
    _name = "linear"
    memory: torch.Tensor
    """the packed weights: bytes"""
    constant_weights: bool
    """True: nothing writes the weights any more; kernels then read them before earlier work has ended"""
    exact_weights: bool
    """True: no weight is rounded to the type of x, as may be faster from 17 rows on"""

    def __init__(self, weights: _packed.Packed, bias: torch.Tensor | None = None) -> None:
        super().__init__()
        layout = _packed.layout_of(weights)
        other = "Linear4" if len(layout) == W4_FIELDS else "Linear8"
        if other != self._name:
            raise TypeError(f"kaio: {self._name}: argument weights is a {type(weights).__qualname__}; use {other}")
        memory = weights.memory
        if not isinstance(memory, torch.Tensor):
            raise TypeError(
                f"kaio: {self._name}: argument weights.memory is a {type(memory).__qualname__}; it has to be a torch.Tensor"
            )
        if memory.dtype != torch.uint8 or memory.dim() != 1 or memory.numel() != _packed.packed_bytes(weights):
            raise InvalidArgument(
                f"kaio: {self._name}: argument weights.memory has to be {_packed.packed_bytes(weights)} numbers of torch.uint8"
            )
        self.layout = layout
        self.out_features, self.in_features = layout[1], layout[2]
        self.register_buffer("memory", memory)
        self.constant_weights, self.exact_weights = False, False
        self._set_bias(bias)

    def _layout_numbers(self) -> tuple[int, ...]:
        return self.layout

    @property
    def weights(self) -> _packed.Packed:
        """The packed weights, as kaio.torch.matmul_w4 and matmul_w8 take them."""
        made = _packed.w4_with if len(self.layout) == W4_FIELDS else _packed.w8_with
        return made(self.layout, self.memory)

    def dequantise(self, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """W as a matrix (n, k)."""
        return dequantise_layout(self.memory, self.layout, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if any_autocast():
            (x,) = autocast(x)
        return packed_linear(self._name, x, self.memory, self.layout, self.bias, self.exact_weights, self.constant_weights, None)

    @classmethod
    def _made(cls, packed: _packed.Packed, bias: torch.Tensor | None) -> Any:
        four = isinstance(packed, operations.W4Weights)
        if four is not (cls._name == "Linear4"):
            raise UnsupportedFormat(f"kaio: these weights have {4 if four else 8} bits; use kaio.torch.Linear{4 if four else 8}")
        return cls(packed, bias)

    @classmethod
    def from_gguf(
        cls, bytes: torch.Tensor, format: str, out_features: int, in_features: int, bias: torch.Tensor | None = None
    ) -> Any:
        """From blocks of GGUF.

        Linear4: Q4_0, Q4_1, Q4_K, MXFP4, NVFP4. Linear8: Q5_0, Q5_1, Q8_0, Q3_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS.

        bytes: kaio.weights.block_bytes(format, n k) bytes, uint8, row after row
        Raises kaio.errors.UnsupportedFormat for other formats.
        """
        return cls._made(_packed.from_blocks(bytes, format, out_features, in_features), bias)

    @classmethod
    def from_layer(cls, layer: _weights.QuantisedLayer, bias: torch.Tensor | None = None, device: Any = "cpu") -> Any:
        """From a layer of a file (kaio.weights), on `device`, a torch.device or its name."""
        return cls._made(layer.repack(torch.device(device)), bias)


class Linear4(_PackedLinear):
    """A linear layer with weights of four bits: y = x W^T + bias.

    x: (..., k), f16 or bf16. It has the memory of its packed weights as the buffer `memory`; `dequantise()` makes a matrix.
    Linear4(weights, bias) takes a kaio.W4Weights whose memory is a torch tensor.
    """

    _name = "Linear4"

    @classmethod
    def from_float(
        cls, weight: torch.Tensor, bias: torch.Tensor | None = None, *, group: int = 128, symmetric: bool = True
    ) -> Linear4:
        """Quantises a matrix, rounded to nearest.

        weight: (n, k), f32, f16 or bf16
        group: codes along k that share a scale: a multiple of 16 that divides k; -1: k
        symmetric: False: with zero points
        """
        return cls(_packed.from_matrix(_detached(weight), bits=4, group=group, symmetric=symmetric), bias)

    @classmethod
    def from_gptq(
        cls,
        qweight: torch.Tensor,
        scales: torch.Tensor,
        qzeros: torch.Tensor | None = None,
        g_idx: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        *,
        bits: int = 4,
        group: int | None = None,
        v2: bool = False,
    ) -> Linear4:
        """From GPTQ's tensors of 2, 3 or 4 bits, as kaio.weights.from_gptq takes them."""
        zeros = None if qzeros is None else _words(qzeros, "qzeros")
        packed = _packed.from_gptq(_words(qweight, "qweight"), scales, zeros, g_idx, bits=bits, group=group, v2=v2)
        return cls._made(packed, bias)  # type: ignore[no-any-return]

    @classmethod
    def from_awq(
        cls,
        qweight: torch.Tensor,
        qzeros: torch.Tensor,
        scales: torch.Tensor,
        bias: torch.Tensor | None = None,
        *,
        version: Literal["gemm", "gemv", "gemv_fast"] = "gemm",
        group: int | None = None,
    ) -> Linear4:
        """From AutoAWQ's tensors, as kaio.weights.from_awq takes them."""
        return cls(_packed.from_awq(qweight, qzeros, scales, version=version, group=group), bias)

    @classmethod
    def from_compressed_tensors(
        cls,
        weight_packed: torch.Tensor,
        weight_scale: torch.Tensor,
        weight_zero_point: torch.Tensor | None = None,
        weight_g_idx: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        *,
        bits: int = 4,
        in_features: int | None = None,
        group: int | None = None,
    ) -> Linear4:
        """From compressed-tensors' pack-quantized of 2, 3 or 4 bits, as kaio.weights.from_compressed_tensors takes them."""
        packed = _packed.from_compressed_tensors(
            weight_packed, weight_scale, weight_zero_point, weight_g_idx, bits=bits, k=in_features, group=group
        )
        return cls._made(packed, bias)  # type: ignore[no-any-return]

    @classmethod
    def from_bnb(
        cls,
        weight: torch.Tensor,
        quant_state: Any = None,
        bias: torch.Tensor | None = None,
        *,
        absmax: torch.Tensor | None = None,
        code: Literal["nf4", "fp4"] = "nf4",
        blocksize: int = 64,
        shape: tuple[int, int] | None = None,
    ) -> Linear4:
        """From bitsandbytes' nf4 or fp4.

        weight: the bytes of a Params4bit, (n k / 2, 1) or of any shape; its quant_state is taken if none is given
        quant_state: bitsandbytes' QuantState, nested ones too; or None, with absmax, code, blocksize and shape (n, k)
        """
        state = quant_state if quant_state is not None else getattr(weight, "quant_state", None)
        data = weight.detach().as_subclass(torch.Tensor).view(torch.uint8)
        if state is None:
            if absmax is None or shape is None:
                raise InvalidArgument("kaio: Linear4.from_bnb: argument quant_state is None; give it, or absmax and shape")
            return cls(_packed.from_bitsandbytes(data, absmax, *shape, code=code, blocksize=blocksize), bias)
        n, k = (int(extent) for extent in state.shape)
        nested = getattr(state, "state2", None)
        if nested is None:
            packed = _packed.from_bitsandbytes(data, state.absmax, n, k, code=state.quant_type, blocksize=int(state.blocksize))
        else:
            packed = _packed.from_bitsandbytes(
                data,
                state.absmax,
                n,
                k,
                code=state.quant_type,
                blocksize=int(state.blocksize),
                nested_absmax=nested.absmax,
                nested_quant_map=nested.code,
                nested_offset=float(state.offset),
                nested_blocksize=int(nested.blocksize),
            )
        return cls(packed, bias)

    @classmethod
    def from_torchao(cls, weight: Any, bias: torch.Tensor | None = None) -> Linear4:
        """From torchao's Int4Tensor (qdata, scale, zero_point) or Int4TilePackedTo4dTensor (qdata, scale_and_zero).

        A tile-packed weight may be padded; its rows and columns are those of its qdata.
        Raises kaio.errors.UnsupportedFormat for other tensors.
        """
        qdata, both = getattr(weight, "qdata", None), getattr(weight, "scale_and_zero", None)
        if qdata is not None and both is not None and qdata.dim() == 4:
            return cls(_packed.from_tinygemm(qdata, both), bias)
        scale, zero = getattr(weight, "scale", None), getattr(weight, "zero_point", None)
        if qdata is None or scale is None or zero is None or qdata.dtype not in (torch.int8, torch.uint8):
            raise UnsupportedFormat(
                f"kaio: Linear4.from_torchao: argument weight is a {type(weight).__qualname__}, whose layout kaio does not know"
            )
        return cls(_packed.from_torchao_int4(qdata.contiguous().view(torch.int32), scale, zero), bias)

    @classmethod
    def from_mxfp4(cls, blocks: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None = None) -> Linear4:
        """From MXFP4, as kaio.weights.from_mxfp4 takes it; the last two dimensions of gpt-oss' blocks are joined."""
        if blocks.dim() > 2:
            blocks = blocks.reshape(scales.numel() // scales.shape[-1], -1)
            scales = scales.reshape(blocks.shape[0], -1)
        return cls(_packed.from_mxfp4(blocks, scales), bias)

    @classmethod
    def from_nvfp4(
        cls,
        weight: torch.Tensor,
        scales: torch.Tensor,
        tensor_scale: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        *,
        divides: bool = False,
    ) -> Linear4:
        """From NVFP4, as kaio.weights.from_nvfp4 takes it."""
        return cls(
            _packed.from_nvfp4(weight, scales, None if tensor_scale is None else tensor_scale.reshape(-1), divides=divides), bias
        )

    def extra_repr(self) -> str:
        weights = _packed.w4_with(self.layout, None)
        return f"{super().extra_repr()}, codes={weights.codes}, group={weights.group}"


class Linear8(_PackedLinear):
    """A linear layer with weights of eight bits, integers or e4m3, and x of 16 bits: y = x W^T + bias.

    Linear8(weights, bias) takes a kaio.W8Weights whose memory is a torch tensor.
    """

    _name = "Linear8"

    @classmethod
    def from_float(cls, weight: torch.Tensor, bias: torch.Tensor | None = None) -> Linear8:
        """Quantises a matrix (n, k) to integers with a scale for each row, rounded to nearest."""
        return cls(_packed.from_matrix(_detached(weight), bits=8), bias)

    @classmethod
    def from_int8(
        cls,
        weight: torch.Tensor,
        scales: torch.Tensor,
        zero_points: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        *,
        group: int | None = None,
    ) -> Linear8:
        """From integers with scales, as kaio.weights.from_int8 takes them."""
        return cls(_packed.from_int8(weight, scales, zero_points, group=group), bias)

    @classmethod
    def from_llm_int8(cls, weight: torch.Tensor, scb: torch.Tensor | None = None, bias: torch.Tensor | None = None) -> Linear8:
        """From bitsandbytes' LLM.int8: weight (n, k) of int8, and SCB (n); None: that of an Int8Params.

        All columns are multiplied as integers: outliers of x are not taken out.
        """
        scb = getattr(weight, "SCB", None) if scb is None else scb
        if scb is None:
            raise InvalidArgument("kaio: Linear8.from_llm_int8: argument scb is None, and the weight has no SCB")
        return cls(_packed.from_llm_int8(weight.detach().as_subclass(torch.Tensor), scb), bias)

    @classmethod
    def from_gptq(
        cls,
        qweight: torch.Tensor,
        scales: torch.Tensor,
        qzeros: torch.Tensor | None = None,
        g_idx: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        *,
        group: int | None = None,
        v2: bool = False,
    ) -> Linear8:
        """From GPTQ's tensors of 8 bits, as kaio.weights.from_gptq takes them."""
        zeros = None if qzeros is None else _words(qzeros, "qzeros")
        packed = _packed.from_gptq(_words(qweight, "qweight"), scales, zeros, g_idx, bits=8, group=group, v2=v2)
        return cls._made(packed, bias)  # type: ignore[no-any-return]

    @classmethod
    def from_compressed_tensors(
        cls,
        weight_packed: torch.Tensor,
        weight_scale: torch.Tensor,
        weight_zero_point: torch.Tensor | None = None,
        weight_g_idx: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        *,
        in_features: int | None = None,
        group: int | None = None,
    ) -> Linear8:
        """From compressed-tensors' pack-quantized of 8 bits, as kaio.weights.from_compressed_tensors takes them."""
        packed = _packed.from_compressed_tensors(
            weight_packed, weight_scale, weight_zero_point, weight_g_idx, bits=8, k=in_features, group=group
        )
        return cls._made(packed, bias)  # type: ignore[no-any-return]

    @classmethod
    def from_fp8(
        cls, weight: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None = None, *, group: int | None = None
    ) -> Linear8:
        """From e4m3 with scales, as kaio.weights.from_fp8 takes them. x stays of 16 bits; LinearFp8 quantises it."""
        return cls(_packed.from_fp8(weight, scales, group=group), bias)

    def extra_repr(self) -> str:
        weights = _packed.w8_with(self.layout, None)
        return f"{super().extra_repr()}, codes={weights.codes}, group={weights.group}"


class _Fp8(torch.autograd.Function):
    """x * (weight * scales)^T + bias. Rounding x has the gradient of the identity."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, scales: Any, bias: Any) -> torch.Tensor:
        ctx.save_for_backward(weight, scales)
        ctx.of_x, ctx.bias = x.dtype, None if bias is None else bias.dtype
        return _fp8_product(x.detach(), weight, scales, None if bias is None else bias.detach())

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        weight, scales = ctx.saved_tensors
        dx = dbias = None
        if ctx.needs_input_grad[0]:
            dx = product(gradient.to(ctx.of_x).contiguous(), dequantise_fp8(weight, scales, ctx.of_x))
        if ctx.bias is not None and ctx.needs_input_grad[3]:
            dbias = gradient.sum(0).to(ctx.bias)
        return dx, None, None, dbias


def _fp8_product(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    blocks = scales.dim() == 2
    codes, of_x = quantise_fp8(x, groups=blocks)
    if blocks:
        return matmul_fp8(codes, weight.t(), groups_a=of_x, blocks_b=scales.t(), bias=bias, dtype=x.dtype)
    return matmul_fp8(codes, weight.t(), scale_a=of_x, scale_b=scales, bias=bias, dtype=x.dtype)


class LinearFp8(_Quantised):
    """A linear layer that multiplies floats of 8 bits: x is rounded to e4m3 in each call, the weight once.

    x: (..., k), f32, f16 or bf16
    weight: (n, k), e4m3
    scales: f32: (1), (n), or (ceil(n / 128), ceil(k / 128)) for blocks of 128 x 128, DeepSeek's weight_scale_inv. With
      blocks, x gets a scale for each 128 of k, else one for each row.
    Gradients of x pass through its rounding as if it were the identity; they are those of the dequantised weight.
    """

    _codes = ("weight", "scales")
    weight: torch.Tensor
    scales: torch.Tensor

    def __init__(self, weight: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        super().__init__()
        if weight.dim() != 2 or weight.dtype not in (torch.float8_e4m3fn, torch.float8_e5m2):
            raise InvalidArgument(
                f"kaio: LinearFp8: argument weight is {weight.dtype} of {weight.dim()} dimensions; give a matrix of 8-bit floats"
            )
        n, k = weight.shape
        self.out_features, self.in_features = n, k
        scales = scales.detach().to(torch.float32)
        if scales.numel() in (1, n) and (scales.dim() < 2 or scales.shape[-1] == 1):
            scales = scales.reshape(-1)
        if tuple(scales.shape) not in ((1,), (n,), (-(-n // 128), -(-k // 128))):
            raise InvalidArgument(
                f"kaio: LinearFp8: argument scales has the shape {tuple(scales.shape)}; "
                f"it has to be (1,), ({n},) or {(-(-n // 128), -(-k // 128))}"
            )
        self.register_buffer("weight", weight.detach().contiguous())
        self.register_buffer("scales", scales.contiguous())
        self._set_bias(bias)

    def _layout_numbers(self) -> tuple[int, ...]:
        return (self.out_features, self.in_features, *self.scales.shape)

    @classmethod
    def from_float(cls, weight: torch.Tensor, bias: torch.Tensor | None = None, *, blocks: bool = False) -> LinearFp8:
        """Rounds a matrix (n, k) to e4m3 with a scale for each row, or for each block of 128 x 128."""
        codes, scales = quantise_fp8_blocks(weight.detach()) if blocks else quantise_fp8(weight.detach())
        return cls(codes, scales, bias)

    @classmethod
    def from_layer(cls, layer: _weights.QuantisedLayer, bias: torch.Tensor | None = None, device: Any = "cpu") -> LinearFp8:
        """From a layer of a file (kaio.weights) with scales for all of it, for rows, or for blocks of 128 x 128."""
        if not layer.operation.startswith("matmul_fp8"):
            raise UnsupportedFormat(
                f"kaio: layer '{layer.name}': matmul_fp8 does not take it" + (f": {layer.obstacle}" if layer.obstacle else "")
            )
        codes, scales = layer.codes_and_scales(torch.device(device))
        return cls(codes, scales, bias)

    def dequantise(self, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """W as a matrix (n, k)."""
        return dequantise_fp8(self.weight, self.scales, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if any_autocast():
            (x,) = autocast(x)
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise InvalidArgument(
                f"kaio: LinearFp8: argument x has elements of {x.dtype}; they have to be torch.float32, float16 or bfloat16"
            )
        if x.dim() == 0 or x.shape[-1] != self.in_features:
            raise InvalidArgument(
                f"kaio: LinearFp8: argument x has the shape {tuple(x.shape)}; its last extent has to be k = {self.in_features}"
            )
        rows = x if x.dim() == 2 else x.reshape(-1, self.in_features)
        if needs_gradient(rows, self.bias):
            y = _Fp8.apply(rows, self.weight, self.scales, self.bias)
        else:
            y = _fp8_product(rows, self.weight, self.scales, self.bias)
        return y if x.dim() == 2 else y.reshape(*x.shape[:-1], self.out_features)  # type: ignore[no-any-return]
