"""Rotary position embeddings for torch, with gradients, and their tables."""

from __future__ import annotations

from typing import Any

import torch

from .. import operations
from ..operations import RotaryScaling, RotarySections
from ._library import define, is_direct, needs_gradient, refuse_vmap, written

_SCALING = ("factor", "low_frequency", "high_frequency", "original_length", "beta_fast", "beta_slow", "mscale", "mscale_all_dim",
            "length", "rotated")  # fmt: skip


def _write(
    x: torch.Tensor, out: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None,
    offsets: torch.Tensor | None, cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool,
) -> None:  # fmt: skip
    call = operations.rotary if x.dim() == 4 else operations.rotary_varlen
    call(x, cos, sin, out, interleaved=interleaved, inverse=inverse, positions=positions, offsets=offsets, cu_seqlens=cu_seqlens)


def _run(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None, offsets: torch.Tensor | None,
    cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool,
) -> torch.Tensor:  # fmt: skip
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    _write(x, out, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)
    return out


def _run_inplace(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None, offsets: torch.Tensor | None,
    cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool,
) -> None:  # fmt: skip
    _write(x, x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)


def _run_out(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None, offsets: torch.Tensor | None,
    cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool, out: torch.Tensor,
) -> None:  # fmt: skip
    _write(x, out, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)


_ARGUMENTS = "Tensor cos, Tensor sin, Tensor? positions, Tensor? offsets, Tensor? cu_seqlens, bool interleaved, bool inverse"
_operator = define(f"rotary(Tensor x, {_ARGUMENTS}) -> Tensor", _run, lambda x, *arguments: x.new_empty(x.shape))
_operator_inplace = define(f"rotary_(Tensor(a!) x, {_ARGUMENTS}) -> ()", _run_inplace, lambda *arguments: None)
_operator_out = define(f"rotary_out(Tensor x, {_ARGUMENTS}, Tensor(a!) out) -> ()", _run_out, lambda *arguments: None)
for _name in ("rotary", "rotary_", "rotary_out"):
    refuse_vmap(_name)


class _Rotary(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None,
        offsets: torch.Tensor | None, cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool,
    ) -> Any:  # fmt: skip
        ctx.save_for_backward(cos, sin, positions, offsets, cu_seqlens)
        ctx.interleaved, ctx.inverse = interleaved, inverse
        return _call(x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (gradient,) = gradients
        # A rotation's gradient is the rotation by the negative angle.
        cos, sin, positions, offsets, cu_seqlens = ctx.saved_tensors
        dx = _call(gradient, cos, sin, positions, offsets, cu_seqlens, ctx.interleaved, not ctx.inverse)
        return dx, None, None, None, None, None, None, None


_apply: Any = _Rotary.apply


def _call(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None, offsets: torch.Tensor | None,
    cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool,
) -> Any:  # fmt: skip
    if needs_gradient(x):
        return _apply(x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)
    if x.dim() > 0 and x.stride(-1) != 1 and x.shape[-1] > 1:
        x = x.contiguous()
    run: Any = _run if is_direct(x, cos, sin, positions, offsets, cu_seqlens) else _operator
    return run(x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)


def _rotate(
    name: str, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor | None,
    offsets: torch.Tensor | None,
    cu_seqlens: torch.Tensor | None, interleaved: bool, inverse: bool, inplace: bool, out: torch.Tensor | None,
) -> torch.Tensor:  # fmt: skip
    rank = 4 if name == "rotary" else 3
    if x.dim() != rank:
        shape = "(batches, tokens, heads, size)" if rank == 4 else "(tokens, heads, size)"
        raise ValueError(f"kaio: {name}: argument x is {tuple(x.shape)}; it has to be {shape}")
    if needs_gradient(cos, sin):
        raise ValueError(f"kaio: {name}: cos and sin get no gradient; detach them")
    if not inplace and out is None:
        made: torch.Tensor = _call(x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)
        return made
    if inplace and out is not None:
        raise ValueError(f"kaio: {name}: argument out is given; with inplace=True the result is in x")
    if needs_gradient(x, out):
        raise ValueError(f"kaio: {name}: inplace and out have no gradient; leave them out, or call it under torch.no_grad()")
    to = x if out is None else out
    if not is_direct(x, cos, sin, positions, offsets, cu_seqlens, to):
        if out is None:
            _operator_inplace(x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)
        else:
            _operator_out(x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse, out)
    else:
        _write(x, to, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse)
        written(to)
    return to


def rotary(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, positions: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None, interleaved: bool = False, inverse: bool = False, inplace: bool = False,
    out: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """Turns each pair of elements of a head by the angle of its position, with the gradient of x.

    x: (batches, tokens, heads, size), f32, f16, bf16, of any strides; the first 2 * pairs elements of a head turn
    cos, sin: (positions, pairs), f32, f16, bf16: rotary_table makes them
    positions: (tokens) or (batches, tokens), i32 or i64; None: token i is at position i
    offsets: (batches), i32: added to positions 0, 1, ...; not with positions
    interleaved: True: pairs (0, 1), (2, 3), ..., as in GPT-J; False: (i, i + pairs), as in Llama
    inverse: turns by the negative angle
    inplace: writes into x, without a gradient; out: as x, is written, without a gradient
    Returns the result, as x.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    return _rotate("rotary", x, cos, sin, positions, offsets, None, interleaved, inverse, inplace, out)


def rotary_varlen(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, cu_seqlens: torch.Tensor | None = None,
    positions: torch.Tensor | None = None, offsets: torch.Tensor | None = None, interleaved: bool = False, inverse: bool = False,
    inplace: bool = False, out: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """rotary of packed sequences: x is (tokens, heads, size).

    cu_seqlens: (sequences + 1), i32: sequence b has tokens cu_seqlens[b] to before cu_seqlens[b + 1], at positions 0, 1, ...
    positions: (tokens), i32 or i64, in place of cu_seqlens
    offsets: (sequences), i32, added to the positions of cu_seqlens
    Other arguments, result and errors: as for rotary.
    """
    return _rotate("rotary_varlen", x, cos, sin, positions, offsets, cu_seqlens, interleaved, inverse, inplace, out)


def _run_table(
    cos: torch.Tensor, sin: torch.Tensor, base: float, first_position: int, positions: torch.Tensor | None, kind: str,
    truncate: bool,
    numbers: list[float], attention_factor: float | None, pair_factors: list[float], sections: list[int], alternate: bool,
) -> None:  # fmt: skip
    scaling = None
    if kind != "none":
        made: dict[str, Any] = {"kind": kind, **dict(zip(_SCALING, numbers))}
        factors = list(pair_factors) or None
        scaling = RotaryScaling(truncate=truncate, attention_factor=attention_factor, pair_factors=factors, **made)
    kinds = RotarySections(interleaved=alternate, pairs=list(sections)) if sections else None
    operations.rotary_table(cos, sin, base=base, first_position=first_position, positions=positions, scaling=scaling,
                            sections=kinds)


_operator_table = define(
    "rotary_table(Tensor(a!) cos, Tensor(b!) sin, float base, int first_position, Tensor? positions, str kind, bool truncate, "
    "float[] numbers, float? attention_factor, float[] pair_factors, int[] sections, bool alternate) -> ()",
    _run_table,
    lambda *arguments: None,
)
refuse_vmap("rotary_table")


def rotary_table(
    rows: int | None, pairs: int, *, base: float = 10000.0, first_position: int = 0, positions: torch.Tensor | None = None,
    scaling: RotaryScaling | None = None, sections: RotarySections | None = None, dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The tables of rotary: cos and sin of position * base^(-i / pairs), computed in double precision and rounded once.

    rows: positions first_position and those after it; None: the rows of positions
    pairs: half of the elements that turn
    positions: (rows), or (axes, rows) with sections, i32 or i64: the position of each row
    scaling: kaio.RotaryScaling; None: none
    sections: kaio.RotarySections, for tokens with several positions
    Returns cos and sin, (rows, pairs) of dtype on device.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    if rows is None:
        if positions is None:
            raise ValueError("kaio: rotary_table: argument rows is None; without positions it has to be a number")
        rows = positions.shape[-1]
    where = device if device is not None else None if positions is None else positions.device
    cos = torch.empty(rows, pairs, dtype=dtype, device=where)
    sin = torch.empty_like(cos)
    kind, truncate, numbers, attention_factor, pair_factors = "none", True, [0.0] * len(_SCALING), None, []
    if scaling is not None:
        kind, truncate, attention_factor = scaling.kind, scaling.truncate, scaling.attention_factor
        numbers = [float(getattr(scaling, name)) for name in _SCALING]
        pair_factors = [float(f) for f in scaling.pair_factors or ()]
    parts = [] if sections is None else [int(p) for p in sections.pairs or ()]
    run = _run_table if is_direct(cos, positions) else _operator_table
    run(cos, sin, base, first_position, positions, kind, truncate, numbers, attention_factor, pair_factors, parts,
        sections is not None and sections.interleaved)  # fmt: skip
    return cos, sin
