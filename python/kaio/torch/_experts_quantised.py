"""The feed-forward block of a mixture of experts with quantised weights, as a module of torch."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch

from .. import _packed
from ..errors import InvalidArgument
from ._experts import RoutedTokens, gather_tokens
from ._experts_codes import matmul_fp8_grouped, matmul_int8_grouped, matmul_w4_grouped, matmul_w8_grouped
from ._experts_module import Experts
from ._quant import _Quantised
from ._quant_codes import dequantise_fp8, quantise_fp8, quantise_fp8_blocks, quantise_int8, quantise_mxfp4
from ._quant_ops import W4_FIELDS, dequantise_layout

_PACKED = ("w4", "w8", "mxfp4")
_FORMATS = (*_PACKED, "fp8", "int8")
# Rows that a product gathers itself. More of them are gathered before it, for tensor copies are faster then.
MOST_GATHERED = 256


class _Groups(_Quantised):
    """The weights of all experts: (experts, out_features, in_features)."""

    def _set_shape(self, experts: int, n: int, k: int) -> None:
        self.experts, self.out_features, self.in_features = experts, n, k
        self.register_parameter("bias", None)

    def product(self, x: torch.Tensor, offsets: torch.Tensor, **options: Any) -> torch.Tensor:
        """x * W^T by groups; options: gather, bias and a gate."""
        raise NotImplementedError

    def dequantise(self, dtype: torch.dtype) -> torch.Tensor:
        """The weights as matrices. Codes of 8 bits have all gates first."""
        raise NotImplementedError

    def turns(self) -> int:
        """Gates, and then values, that follow each other in the rows of a product with a gate."""
        return 1

    def extra_repr(self) -> str:
        return f"experts={self.experts}, in_features={self.in_features}, out_features={self.out_features}"


class _PackedGroups(_Groups):
    _codes = ("memory",)
    memory: torch.Tensor

    def __init__(self, name: str, weights: Sequence[_packed.Packed]) -> None:
        super().__init__()
        self.layout = _packed.layout_of(weights[0])
        for one in weights:
            if _packed.layout_of(one) != self.layout:
                raise InvalidArgument(f"kaio: QuantisedExperts: argument {name} has weights of several formats")
            if not isinstance(one.memory, torch.Tensor):
                raise TypeError(f"kaio: QuantisedExperts: argument {name} has weights whose memory is no torch.Tensor")
        self.register_buffer("memory", torch.cat([one.memory for one in weights]))
        self._set_shape(len(weights), self.layout[1], self.layout[2])

    def _layout_numbers(self) -> tuple[int, ...]:
        return (*self.layout, self.experts)

    def product(self, x: torch.Tensor, offsets: torch.Tensor, **options: Any) -> torch.Tensor:
        gather = options.get("gather")
        if gather is not None and len(gather.tokens) > MOST_GATHERED:
            x, options = gather_tokens(x, gather), {**options, "gather": None}
        if len(self.layout) == W4_FIELDS:
            return matmul_w4_grouped(x, _packed.w4_with(self.layout, self.memory), offsets, **options)
        return matmul_w8_grouped(x, _packed.w8_with(self.layout, self.memory), offsets, **options)

    def dequantise(self, dtype: torch.dtype) -> torch.Tensor:
        return torch.stack([dequantise_layout(one, self.layout, dtype) for one in self.memory.chunk(self.experts)])


class _CodeGroups(_Groups):
    """e4m3 or i8; scales: (experts, out_features), or of e4m3 (experts, ceil(out_features / 128), ceil(in_features / 128))."""

    _codes = ("codes", "scales")
    codes: torch.Tensor
    scales: torch.Tensor

    def __init__(self, name: str, codes: torch.Tensor, scales: torch.Tensor, gated: bool) -> None:
        """gated: all gates are first in the arguments; the product takes fours of gates and of their values in turn."""
        super().__init__()
        if codes.dim() != 3 or codes.dtype not in (torch.float8_e4m3fn, torch.int8):
            raise InvalidArgument(f"kaio: QuantisedExperts: the codes of argument {name} are not (experts, n, k) of e4m3 or i8")
        experts, n, k = codes.shape
        shapes = [(experts, n), (experts, -(-n // 128), -(-k // 128))]
        if tuple(scales.shape) not in shapes[: 1 if codes.dtype == torch.int8 else 2]:
            raise InvalidArgument(
                f"kaio: QuantisedExperts: the scales of argument {name} are {tuple(scales.shape)}; codes are {tuple(codes.shape)}"
            )
        self.gated = gated
        multiple = 1 if not gated else 128 if scales.dim() == 3 else 8
        if n % multiple != 0:
            raise InvalidArgument(f"kaio: QuantisedExperts: argument {name} has {n} rows; it has to be a multiple of {multiple}")
        if gated:
            codes = _in_order(codes.view(torch.uint8), 0, 4).view(codes.dtype)
            scales = scales if scales.dim() == 3 else _in_order(scales, 0, 4)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales.float())
        self._set_shape(experts, n, k)

    def _layout_numbers(self) -> tuple[int, ...]:
        return (int(self.codes.dtype == torch.int8), *self.codes.shape, *self.scales.shape)

    def product(self, x: torch.Tensor, offsets: torch.Tensor, **options: Any) -> torch.Tensor:
        w, options = self.codes.mT, {"dtype": x.dtype, **options}
        if w.dtype == torch.int8:
            codes, scales = quantise_int8(x)
            return matmul_int8_grouped(codes, w, offsets, scale_a=scales, scale_b=self.scales, **options)
        if self.scales.dim() == 2:
            codes, scales = quantise_fp8(x)
            return matmul_fp8_grouped(codes, w, offsets, scale_a=scales, scale_b=self.scales, **options)
        codes, scales = quantise_fp8(x, groups=True)
        return matmul_fp8_grouped(codes, w, offsets, groups_a=scales, blocks_b=self.scales.mT, **options)

    def dequantise(self, dtype: torch.dtype) -> torch.Tensor:
        codes, scales = self.codes, self.scales
        if self.gated:
            codes = _in_order(codes.view(torch.uint8), 4, 0).view(codes.dtype)
            scales = scales if scales.dim() == 3 else _in_order(scales, 4, 0)
        if scales.dim() == 2:
            return (codes.float() * scales[:, :, None]).to(dtype)
        return torch.stack([dequantise_fp8(w, s, dtype) for w, s in zip(codes, scales)])

    def turns(self) -> int:
        return 4


def _groups(name: str, weights: Any, gated: bool) -> _Groups:
    if isinstance(weights, tuple) and len(weights) == 2 and isinstance(weights[0], torch.Tensor):
        return _CodeGroups(name, *weights, gated)
    if not weights:
        raise InvalidArgument(f"kaio: QuantisedExperts: argument {name} has no experts")
    return _PackedGroups(name, weights)


def _in_order(t: torch.Tensor, now: int, wanted: int) -> torch.Tensor:
    """Rows of gate and up along dimension 1: `now` of each in turn, and `wanted` of each in turn in the result. 0: the gate's first."""
    half = t.shape[1] // 2
    now, wanted = now or half, wanted or half
    if now != wanted:
        pairs = t.unflatten(1, (half // now, 2, now)).transpose(1, 2).flatten(2, 3)  # (experts, 2, half, ...)
        t = pairs.unflatten(2, (half // wanted, wanted)).transpose(1, 2).flatten(1, 3)
    return t.contiguous()


class QuantisedExperts(Experts):
    """Experts whose products have quantised weights. Gradients do not reach x through the experts.

    block = kaio.torch.QuantisedExperts.of_experts(experts, "mxfp4")
    y = block(x)

    Weights of files come without a copy in 16 bits; `like` gives the options, the router and the shared expert:

    block = kaio.torch.QuantisedExperts(like, [kaio.weights.from_mxfp4(b, s) for b, s in zip(blocks, scales)], ...)   # gpt-oss
    block = kaio.torch.QuantisedExperts(like, (gate_up, gate_up_scales), (down, down_scales))                        # DeepSeek-V3

    Scales and codes are buffers, which half() and to(dtype) leave as they are. Activations are rounded to 8 bits with fp8 and int8.
    """

    gate_up: Any
    down: Any

    def __init__(self, like: Experts, gate_up: Any, down: Any) -> None:
        """like: has the options, the router, the shared expert and the biases; its gate_up and down are not read

        gate_up, down: of (experts, 2 * intermediate, size) and (experts, size, intermediate)

        - packed weights of each expert, W4Weights or W8Weights: rows 0, 2, 4, ... of gate_up are the gate's
        - codes and scales. The gate's rows come first. e4m3 with scales of blocks of 128 x 128 or of rows, i8 with scales of rows

        Raises kaio.InvalidArgument, which names the argument.
        """
        torch.nn.Module.__init__(self)
        for name in ("size", "intermediate", "experts", "k", "interleaved", "routing", "activation", "limits"):
            setattr(self, name, getattr(like, name))
        for name in ("router", "router_bias", "shared_gate", "shared_up", "shared_down"):
            self.register_parameter(name, getattr(like, name))
        self.register_buffer("choice_bias", like.choice_bias)
        self.gate_up, self.down = _groups("gate_up", gate_up, True), _groups("down", down, False)
        for name, made, shape in (
            ("gate_up", self.gate_up, (self.experts, 2 * self.intermediate, self.size)),
            ("down", self.down, (self.experts, self.size, self.intermediate)),
        ):
            found = (made.experts, made.out_features, made.in_features)
            if found != shape:
                raise InvalidArgument(f"kaio: QuantisedExperts: argument {name} is {found}; it has to be {shape}")
        bias = like.gate_up_bias
        if bias is not None:
            bias = _in_order(bias.detach(), int(self.interleaved), self.gate_up.turns())
        self.register_buffer("gate_up_bias", bias)
        self.register_buffer("down_bias", None if like.down_bias is None else like.down_bias.detach().contiguous())

    @classmethod
    def of_experts(cls, module: Experts, format: str, *, group: int = 128) -> QuantisedExperts:
        """Rounds the weights of a module.

        format: "w4", integers of 4 bits in groups along k; "w8", integers of 8 bits with scales of rows; "mxfp4"; and with activations
            of 8 bits "fp8", e4m3 with scales of 128 x 128, and "int8"
        group: of "w4"
        """
        if format not in _FORMATS:
            raise ValueError(
                f"kaio: QuantisedExperts: argument format is {format!r}; it has to be one of {', '.join(map(repr, _FORMATS))}"
            )
        now = int(module.interleaved)
        gate_up = _in_order(module.gate_up.detach(), now, 1 if format in _PACKED else 0)
        weights = (gate_up, module.down.detach().contiguous())
        run: dict[str, Callable[[torch.Tensor], Any]] = {
            "w4": lambda w: _packed.from_matrix(w, group=group),
            "w8": lambda w: _packed.from_matrix(w, bits=8),
            "mxfp4": lambda w: _packed.from_mxfp4(*quantise_mxfp4(w)),
            "fp8": quantise_fp8_blocks,
            "int8": quantise_int8,
        }
        made = [[run[format](w) for w in t] for t in weights]
        if format in _PACKED:
            return cls(module, *made)
        return cls(module, *(tuple(torch.stack(part) for part in zip(*t)) for t in made))

    def dequantise(self, dtype: torch.dtype = torch.bfloat16) -> tuple[torch.Tensor, torch.Tensor]:
        """gate_up and down as matrices, with the rows of gate_up in the order of the options."""
        gate_up = _in_order(self.gate_up.dequantise(dtype), 1 if self.gate_up.turns() == 1 else 0, int(self.interleaved))
        return gate_up, self.down.dequantise(dtype)

    def _hidden(self, x: torch.Tensor, routed: RoutedTokens) -> torch.Tensor:
        gate = self._gate()
        gate["gate"] = gate.pop("activation")
        made: torch.Tensor = self.gate_up.product(x, routed.offsets, gather=routed, bias=self.gate_up_bias, **gate)
        return made

    def _outputs(self, h: torch.Tensor, routed: RoutedTokens) -> torch.Tensor:
        made: torch.Tensor = self.down.product(h, routed.offsets, bias=self.down_bias)
        return made
