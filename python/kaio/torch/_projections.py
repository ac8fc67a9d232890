"""The projections of a transformer's layer for torch: Q, K and V of an attention, and a gated feed-forward block."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence, Union

import torch

from .. import operations
from ..operations import GateUpWeights, KvCache, ProjectionWeight, QkvOutputs, QkvRotary, QkvWeights, W4Weights, W8Weights, XNorm
from ._cache import INDEX_SCHEMA, cache_of, indices_of, no_gradient
from ._library import define, is_direct, needs_gradient, refuse_vmap, written
from ._matmul import _ACTIVATIONS, any_autocast, autocast, linear

# A weight (n, k): a tensor, or packed.
Weight = Union[torch.Tensor, W4Weights, W8Weights]

_PACKED: dict[str, Any] = {"w4": W4Weights, "w8": W8Weights}
_FIELDS = {kind: [name for name in packed.__slots__ if name != "memory"] for kind, packed in _PACKED.items()}


def _parts(name: str, weights: Weight | Sequence[Weight], most: int) -> tuple[list[torch.Tensor], list[str]]:
    """The tensors of weights, and a text for each: empty for a matrix, else what a packed weight is."""
    given: list[Any] = list(weights) if isinstance(weights, (tuple, list)) else [weights]
    if len(given) not in (1, most):
        raise ValueError(f"kaio: {name}: argument weights has {len(given)} weights; it has to be one, or {most}")
    tensors, packing = [], []
    for weight in given:
        if isinstance(weight, torch.Tensor):
            tensors.append(weight)
            packing.append("")
            continue
        kind = next((k for k, packed in _PACKED.items() if isinstance(weight, packed)), None)
        if kind is None:
            found = type(weight).__name__
            raise TypeError(f"kaio: {name}: argument weights has a {found}; it has to be a tensor, kaio.W4Weights or kaio.W8Weights")
        tensors.append(weight.memory)
        packing.append(" ".join([kind, *(str(getattr(weight, field)) for field in _FIELDS[kind])]))
    return tensors, packing


def _value(text: str) -> Any:
    return {"True": True, "False": False}.get(text, int(text) if text.lstrip("-").isdigit() else text)


def _weight(tensor: torch.Tensor, packing: str) -> ProjectionWeight:
    if not packing:
        return ProjectionWeight(matrix=tensor)
    kind, *values = packing.split(" ")
    fields = {name: _value(value) for name, value in zip(_FIELDS[kind], values)}
    return ProjectionWeight(**{kind: _PACKED[kind](memory=tensor, **fields)})


def _outputs(tensor: torch.Tensor, packing: str) -> Any:
    """The outputs of a weight: its n."""
    if not packing:
        return tensor.shape[0]
    kind, *values = packing.split(" ")
    return int(values[_FIELDS[kind].index("n")])


def _along_k(x: torch.Tensor) -> torch.Tensor:
    return x if x.stride(-1) == 1 or x.shape[-1] <= 1 else x.contiguous()


class Norm(NamedTuple):
    """The RMS norm of x before a projection: h = x + residual; x = h / rms(h) * (weight_offset + weight)."""

    weight: torch.Tensor
    eps: float = 1e-6
    weight_offset: float = 0.0
    residual: torch.Tensor | None = None


_NO_NORM: Any = (None, 1e-6, 0.0, None)


def _x_norm(x: torch.Tensor, weight: Any, eps: float, offset: float, residual: Any) -> tuple[XNorm | None, torch.Tensor]:
    h = torch.empty(x.shape if residual is not None else (0,), dtype=x.dtype, device=x.device)
    if weight is None:
        return None, h
    return XNorm(weight, epsilon=eps, weight_offset=offset, residual=residual, residual_out=None if residual is None else h), h


# ---- Gate and up


def _gate_up_shape(x: Any, weights: Any, packing: Any) -> tuple[Any, ...]:
    n = _outputs(weights[0], packing[0])
    return (*x.shape[:-1], n // 2 if len(weights) == 1 else n)


def _run_gate_up(
    x: torch.Tensor, weights: list[torch.Tensor], packing: list[str], activation: str, gate_bias: Any, up_bias: Any, norm: Any,
    eps: float, norm_offset: float, residual: Any, dtype: Any,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    out = torch.empty(_gate_up_shape(x, weights, packing), dtype=dtype if dtype is not None else x.dtype, device=x.device)
    x_norm, h = _x_norm(x, norm, eps, norm_offset, residual)
    given = [_weight(w, p) for w, p in zip(weights, packing)]
    record = GateUpWeights(both=given[0]) if len(given) == 1 else GateUpWeights(gate=given[0], up=given[1])
    kind: Any = activation
    operations.gate_up_project(x, record, out, activation=kind, gate_bias=gate_bias, up_bias=up_bias, x_norm=x_norm)
    return out, h


def _fake_gate_up(
    x: Any, weights: Any, packing: Any, activation: str, gate_bias: Any, up_bias: Any, norm: Any, eps: float, norm_offset: float,
    residual: Any, dtype: Any,
) -> Any:  # fmt: skip
    return (x.new_empty(_gate_up_shape(x, weights, packing), dtype=dtype if dtype is not None else x.dtype),
            x.new_empty(x.shape if residual is not None else (0,)))  # fmt: skip


_gate_up = define(
    "gate_up_project(Tensor x, Tensor[] weights, str[] packing, str activation, Tensor? gate_bias, Tensor? up_bias, "
    "Tensor? norm, float eps, float norm_offset, Tensor? residual, ScalarType? dtype) -> (Tensor, Tensor)",
    _run_gate_up,
    _fake_gate_up,
)
refuse_vmap("gate_up_project")


def gate_up_project(
    x: torch.Tensor, weights: Weight | Sequence[Weight], *, activation: str = "silu", gate_bias: torch.Tensor | None = None,
    up_bias: torch.Tensor | None = None, norm: Norm | None = None, dtype: torch.dtype | None = None,
) -> Any:  # fmt: skip
    """activation(x Wg^T + gate_bias) * (x Wu^T + up_bias) in one call. Has no gradient: gate_up has.

    x: (..., k), f32, f16, bf16
    weights: one of (2 f, k), with the gate's rows first, or the gate's and up's of (f, k); tensors, or kaio.W4Weights or
        kaio.W8Weights
    activation: "none", "relu", "gelu", "gelu_tanh", "silu"
    gate_bias, up_bias: (f)
    norm: Norm: of x before the product, with the residual's addition
    dtype: of the result; None: that of x
    Returns (..., f); with norm.residual also h = x + residual, as x.
    Raises kaio.InvalidArgument, which names the argument.
    """
    tensors, packing = _parts("gate_up_project", weights, 2)
    norm_weight, norm_eps, norm_offset, residual = norm if norm is not None else _NO_NORM
    no_gradient("gate_up_project", x, *tensors, gate_bias, up_bias, norm_weight, residual)
    rows = _along_k(x) if x.dim() in (2, 3) else x.reshape(-1, x.shape[-1])
    residual = None if residual is None else residual.reshape(rows.shape)
    run: Any = _run_gate_up if is_direct(rows, *tensors, gate_bias, up_bias, norm_weight, residual) else _gate_up
    out, h = run(rows, tensors, packing, activation, gate_bias, up_bias, norm_weight, norm_eps,
                                                    norm_offset, residual, dtype)  # fmt: skip
    out = out.reshape(*x.shape[:-1], out.shape[-1])
    return out if residual is None else (out, h.reshape(x.shape))


def gate_up(
    x: torch.Tensor, gate_weight: torch.Tensor, up_weight: torch.Tensor, activation: str = "silu", *,
    gate_bias: torch.Tensor | None = None, up_bias: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """activation(x Wg^T + gate_bias) * (x Wu^T + up_bias), with gradients: SwiGLU with "silu", GeGLU with "gelu".

    x: (..., k), f32, f16, bf16
    gate_weight, up_weight: (f, k), elements of x
    activation: "none", "relu", "gelu", "gelu_tanh", "silu"
    gate_bias, up_bias: (f)
    Under torch.autocast all are taken in its type.
    Returns (..., f). Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    if activation != "none" and activation not in _ACTIVATIONS:
        known = ", ".join(_ACTIVATIONS)
        raise ValueError(f"kaio: gate_up: argument activation is '{activation}'; it has to be one of none, {known}")
    if any_autocast():
        x, gate_weight, up_weight, gate_bias, up_bias = autocast(x, gate_weight, up_weight, gate_bias, up_bias)
    if needs_gradient(x, gate_weight, up_weight, gate_bias, up_bias):
        gate, up = linear(x, gate_weight, gate_bias), linear(x, up_weight, up_bias)
        function: Any = _ACTIVATIONS.get(activation)
        product: torch.Tensor = (gate if function is None else function(gate)) * up
        return product
    out: torch.Tensor = gate_up_project(x, (gate_weight, up_weight), activation=activation, gate_bias=gate_bias, up_bias=up_bias)
    return out


def swiglu_mlp(
    x: torch.Tensor, gate_weight: torch.Tensor, up_weight: torch.Tensor, down_weight: torch.Tensor, *,
    residual: torch.Tensor | None = None, activation: str = "silu",
) -> torch.Tensor:  # fmt: skip
    """(activation(x Wg^T) * (x Wu^T)) Wd^T + residual, the feed-forward block of Llama, Mistral and Qwen, with gradients.

    x: (..., k); gate_weight, up_weight: (f, k); down_weight: (n, f); residual: (..., n)
    Returns (..., n). Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    return linear(gate_up(x, gate_weight, up_weight, activation), down_weight, residual=residual)


# ---- Q, K and V


def _heads(weights: Any, packing: Any, q_heads: int, kv_heads: int) -> tuple[int, int]:
    """The size of a head of Q and K, and of V."""
    if q_heads < 1 or kv_heads < 1:
        raise ValueError(f"kaio: qkv_project: q_heads is {q_heads} and kv_heads {kv_heads}; both have to be at least 1")
    rows = [_outputs(w, p) for w, p in zip(weights, packing)]
    heads = [q_heads + 2 * kv_heads] if len(rows) == 1 else [q_heads, kv_heads, kv_heads]
    for n, count in zip(rows, heads):
        if n % count != 0:
            raise ValueError(f"kaio: qkv_project: argument weights has one with {n} outputs, which {count} heads do not divide")
    return rows[0] // heads[0], rows[-1] // heads[-1]


def _q_shape(x: Any, weights: Any, packing: Any, q_heads: int, kv_heads: int) -> tuple[Any, ...]:
    return (*x.shape[:-1], q_heads, _heads(weights, packing, q_heads, kv_heads)[0])


def _run_qkv_into(
    x: Any, weights: Any, packing: Any, outputs: QkvOutputs, q_bias: Any, k_bias: Any, v_bias: Any, q_norm: Any, k_norm: Any,
    head_eps: float, head_offset: float, q_scale: float, cos: Any, sin: Any, positions: Any, offsets: Any, interleaved: bool,
    cu_seqlens: Any, norm: Any, eps: float, norm_offset: float, residual: Any, **cache: Any,
) -> torch.Tensor:  # fmt: skip
    x_norm, h = _x_norm(x, norm, eps, norm_offset, residual)
    given = [_weight(w, p) for w, p in zip(weights, packing)]
    record = QkvWeights(all=given[0]) if len(given) == 1 else QkvWeights(q=given[0], k=given[1], v=given[2])
    rotary = None if cos is None else QkvRotary(cos, sin, interleaved=interleaved, positions=positions, offsets=offsets)
    operations.qkv_project(x, record, outputs, epsilon=head_eps, norm_offset=head_offset, q_scale=q_scale, q_bias=q_bias,
                           k_bias=k_bias,
                           v_bias=v_bias, q_norm=q_norm, k_norm=k_norm, x_norm=x_norm, rotary=rotary, cu_seqlens=cu_seqlens,
                           **cache)  # fmt: skip
    return h


def _run_qkv(x: Any, weights: Any, packing: Any, q_heads: int, kv_heads: int, *steps: Any) -> Any:
    size, v_size = _heads(weights, packing, q_heads, kv_heads)
    q = torch.empty((*x.shape[:-1], q_heads, size), dtype=x.dtype, device=x.device)
    k = torch.empty((*x.shape[:-1], kv_heads, size), dtype=x.dtype, device=x.device)
    v = torch.empty((*x.shape[:-1], kv_heads, v_size), dtype=x.dtype, device=x.device)
    h = _run_qkv_into(x, weights, packing, QkvOutputs(q=q, k=k, v=v), *steps)
    return q, k, v, h


def _fake_qkv(x: Any, weights: Any, packing: Any, q_heads: int, kv_heads: int, *steps: Any) -> Any:
    size, v_size = _heads(weights, packing, q_heads, kv_heads)
    return (x.new_empty((*x.shape[:-1], q_heads, size)), x.new_empty((*x.shape[:-1], kv_heads, size)),
            x.new_empty((*x.shape[:-1], kv_heads, v_size)), x.new_empty(x.shape if steps[-1] is not None else (0,)))  # fmt: skip


def _run_qkv_cache(
    x: Any, weights: Any, packing: Any, q_heads: int, kv_heads: int, cache_k: Any, cache_v: Any, table: Any, indptr: Any,
    indices: Any,
    lengths: Any, last_page_len: Any, batch_index: Any, left_padding: Any, slots: Any, k_scale: Any, v_scale: Any,
    k_scale_out: Any,
    v_scale_out: Any, *steps: Any,
) -> Any:  # fmt: skip
    q = torch.empty(_q_shape(x, weights, packing, q_heads, kv_heads), dtype=x.dtype, device=x.device)
    cache = cache_of(cache_k, cache_v, (table, indptr, indices, lengths, last_page_len, batch_index, left_padding))
    h = _run_qkv_into(x, weights, packing, QkvOutputs(q=q, cache=cache), *steps, slots=slots, k_scale=k_scale, v_scale=v_scale,
                      k_scale_out=k_scale_out, v_scale_out=v_scale_out)  # fmt: skip
    return q, h


def _fake_qkv_cache(x: Any, weights: Any, packing: Any, q_heads: int, kv_heads: int, *others: Any) -> Any:
    h = x.new_empty(x.shape if others[-1] is not None else (0,))
    return x.new_empty(_q_shape(x, weights, packing, q_heads, kv_heads)), h


_STEPS = (
    "Tensor? q_bias, Tensor? k_bias, Tensor? v_bias, Tensor? q_norm, Tensor? k_norm, float head_eps, float head_offset, "
    "float q_scale, Tensor? cos, Tensor? sin, Tensor? positions, Tensor? offsets, bool interleaved, Tensor? cu_seqlens, "
    "Tensor? norm, float eps, float norm_offset, Tensor? residual"
)
_X = "Tensor x, Tensor[] weights, str[] packing, int q_heads, int kv_heads"
_qkv = define(f"qkv_project({_X}, {_STEPS}) -> (Tensor, Tensor, Tensor, Tensor)", _run_qkv, _fake_qkv)
_qkv_cache = define(
    f"qkv_project_cache({_X}, Tensor(a!) cache_k, Tensor(b!) cache_v, {INDEX_SCHEMA}, Tensor? slots, "
    f"Tensor? k_scale, Tensor? v_scale, Tensor(c!)? k_scale_out, Tensor(d!)? v_scale_out, {_STEPS}) -> (Tensor, Tensor)",
    _run_qkv_cache,
    _fake_qkv_cache,
)
refuse_vmap("qkv_project")
refuse_vmap("qkv_project_cache")


def qkv_project(
    x: torch.Tensor, weights: Weight | Sequence[Weight], q_heads: int, kv_heads: int, *, q_bias: torch.Tensor | None = None,
    k_bias: torch.Tensor | None = None, v_bias: torch.Tensor | None = None, norm: Norm | None = None,
    q_norm: torch.Tensor | None = None, k_norm: torch.Tensor | None = None, head_eps: float = 1e-6, head_offset: float = 0.0,
    rotary: QkvRotary | None = None, q_scale: float = 1.0, cu_seqlens: torch.Tensor | None = None, cache: KvCache | None = None,
    slots: torch.Tensor | None = None, k_scale: torch.Tensor | None = None, v_scale: torch.Tensor | None = None,
    k_scale_out: torch.Tensor | None = None, v_scale_out: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """Queries, keys and values of hidden states in one call: norm, product, bias, norms of heads, rotation, append. No gradient.

    x: (tokens, k) or (batches, tokens, k), f16 or bf16
    weights: one of ((q_heads + 2 kv_heads) * size, k), Q's rows first, then K's, then V's; or three; tensors, kaio.W4Weights or
        kaio.W8Weights
    q_bias, k_bias, v_bias: (heads * size)
    norm: Norm: of x before the product, with the residual's addition
    q_norm, k_norm: (size): weights of the RMS norm of each head, with head_eps and head_offset
    rotary: kaio.QkvRotary: turns Q and K by position
    q_scale: multiplies Q at the end
    cu_seqlens: (sequences + 1), i32: for packed sequences
    cache: kaio.KvCache of tensors: K and V are appended to it, as append_kv does, with slots and scales as there
    Returns q, k, v, each (..., heads, size); with a cache only q; with norm.residual also h = x + residual, as x, at the end.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    tensors, packing = _parts("qkv_project", weights, 3)
    norm_weight, norm_eps, norm_offset, residual = norm if norm is not None else _NO_NORM
    r = rotary
    turned = (None,) * 4 if r is None else (r.cos, r.sin, r.positions, r.offsets)
    scales = (k_scale, v_scale, k_scale_out, v_scale_out)
    cached: list[Any] = [] if cache is None else [cache.k, cache.v, *indices_of(cache), slots, *scales]
    if cache is None and any(t is not None for t in (slots, *scales)):
        raise ValueError("kaio: qkv_project: slots and scales need the argument cache")
    tensors_of_steps = (q_bias, k_bias, v_bias, q_norm, k_norm, *turned, cu_seqlens, norm_weight, residual)
    no_gradient("qkv_project", x, *tensors, *tensors_of_steps)
    x = _along_k(x)
    steps = (q_bias, k_bias, v_bias, q_norm, k_norm, head_eps, head_offset, q_scale, *turned, r is not None and r.interleaved,
             cu_seqlens,
             norm_weight, norm_eps, norm_offset, residual)  # fmt: skip
    direct = is_direct(x, *tensors, *tensors_of_steps, *cached)
    if cache is None:
        *made, h = (_run_qkv if direct else _qkv)(x, tensors, packing, q_heads, kv_heads, *steps)
    else:
        *made, h = (_run_qkv_cache if direct else _qkv_cache)(x, tensors, packing, q_heads, kv_heads, *cached, *steps)
        if direct:
            written(cache.k, cache.v, k_scale_out, v_scale_out)
    return tuple(made) if residual is None else (*made, h)
