"""The steps of a mixture of experts for torch: the router, the sort by expert, products of groups of rows, and the sum.

No step reads anything back, so that a mixture is one graph: of CUDA, and of torch.compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

from .. import operations
from ._embedding import _call as _rows_of_tokens
from ._embedding import gradient_of as _gradient_of_embedding
from ._library import define, distinct, is_compiling, is_direct, needs_gradient, refuse_vmap
from ._matmul import any_autocast, autocast, product
from ._quant_ops import rows_of


class RoutedTokens(NamedTuple):
    """The choices of all tokens, sorted by expert, and by token within an expert."""

    offsets: torch.Tensor  # (experts + 1), i32: rows of expert e are offsets[e] to offsets[e + 1] - 1
    tokens: torch.Tensor  # (tokens * k), i32: the token of each sorted row; -1 after the last expert's rows
    positions: torch.Tensor  # (tokens, k), i32: the sorted row of each choice; -1 if it is left out


def _need(name: str, argument: str, t: torch.Tensor, rank: int, shape: str) -> None:
    if t.dim() != rank:
        raise ValueError(f"kaio: {name}: argument {argument} is {tuple(t.shape)}; it has to be {shape}")


# ---- The router


def _run_router(
    logits: torch.Tensor, k: int, score: Any, bias: torch.Tensor | None, groups: int, kept_groups: int, group_by_best_two: bool,
    renormalise: bool, factor: float,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    indices = torch.empty((logits.shape[0], k), dtype=torch.int32, device=logits.device)
    weights = torch.empty((logits.shape[0], k), dtype=torch.float32, device=logits.device)
    operations.topk_router(rows_of(logits), indices, weights, score=score, bias=bias, groups=groups, kept_groups=kept_groups,
                           group_by_best_two=group_by_best_two, renormalise=renormalise, factor=factor)  # fmt: skip
    return indices, weights


_router = define(
    "topk_router(Tensor logits, int k, str score, Tensor? bias, int groups, int kept_groups, bool group_by_best_two, "
    "bool renormalise, float factor) -> (Tensor, Tensor)",
    _run_router,
    lambda logits, k, *others: (
        logits.new_empty((logits.shape[0], k), dtype=torch.int32),
        logits.new_empty((logits.shape[0], k), dtype=torch.float32),
    ),
)


def _call_router(logits: torch.Tensor, k: int, score: str, bias: Any, *options: Any) -> Any:
    run: Any = _run_router if is_direct(logits, bias) else _router
    return run(logits, k, score, bias, *options)


class _Router(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, k: int, score: str, bias: Any, *options: Any) -> Any:
        indices, weights = _call_router(logits, k, score, bias, *options)
        ctx.save_for_backward(logits, indices)
        ctx.score, (ctx.renormalise, ctx.factor) = score, options[-2:]
        ctx.mark_non_differentiable(indices)
        return indices, weights

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Only weights have a gradient: choices have none."""
        logits, indices = ctx.saved_tensors
        chosen, z = indices.long(), logits.float()
        scores = torch.softmax(z, -1) if ctx.score == "softmax" else torch.sigmoid(z)
        s, g = scores.gather(-1, chosen), gradients[1] * ctx.factor
        if ctx.renormalise:  # w = s / total
            total = s.sum(-1, keepdim=True) + 1e-20
            g = (g - (g * s).sum(-1, keepdim=True) / total) / total
        if ctx.score == "sigmoid":
            dlogits = torch.zeros_like(z).scatter(-1, chosen, g * s * (1 - s))
        else:
            dlogits = torch.zeros_like(z).scatter(-1, chosen, g * s) - scores * (g * s).sum(-1, keepdim=True)
        return dlogits.to(logits.dtype), *(None for _ in range(8))


_apply_router: Any = _Router.apply


def topk_router(
    logits: torch.Tensor, k: int, *, score: str = "softmax", bias: torch.Tensor | None = None, groups: int = 1, kept_groups: int = 1,
    group_by_best_two: bool = True, renormalise: bool = False, factor: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The k experts of each token with the largest score + bias, and their scores as weights, with a gradient of the logits.

    logits: (tokens, experts), f32, f16, bf16
    k: 1 to 32
    score: "softmax" of the logits, or "sigmoid"
    bias: (experts), f32: changes the choice alone, and has no gradient
    groups, kept_groups: groups of neighbouring experts, and how many of them a token may choose from
    group_by_best_two: a group's score is the sum of its best two scores with bias; False: its best one
    renormalise: divides a token's weights by their sum
    factor: multiplies the weights
    Returns indices (tokens, k) of i32, the largest score first, and weights (tokens, k) of f32.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _need("topk_router", "logits", logits, 2, "(tokens, experts)")
    if score not in ("softmax", "sigmoid"):
        raise ValueError(f"kaio: topk_router: argument score is {score!r}; it has to be 'softmax' or 'sigmoid'")
    if not 1 <= k <= 32:
        raise ValueError(f"kaio: topk_router: argument k is {k}; it has to be 1 to 32")
    bias = None if bias is None else bias.detach()
    options = (k, score, bias, groups, kept_groups, group_by_best_two, renormalise, factor)
    if needs_gradient(logits):
        return _apply_router(logits, *options)  # type: ignore[no-any-return]
    return _call_router(logits, *options)  # type: ignore[no-any-return]


# ---- The sort


def _run_sort(indices: torch.Tensor, experts: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    offsets, tokens, positions = (
        torch.empty(shape, dtype=torch.int32, device=indices.device)
        for shape in ((experts + 1,), (indices.shape[0] * indices.shape[1],), indices.shape)
    )
    operations.sort_by_expert(rows_of(indices), offsets, tokens=tokens, positions=positions)
    return offsets, tokens, positions


_sort = define(
    "sort_by_expert(Tensor indices, int experts) -> (Tensor, Tensor, Tensor)",
    _run_sort,
    lambda indices, experts: (
        indices.new_empty((experts + 1,)),
        indices.new_empty((indices.shape[0] * indices.shape[1],)),
        indices.new_empty(indices.shape),
    ),
)


def sort_by_expert(indices: torch.Tensor, experts: int) -> RoutedTokens:
    """Sorts the choices of tokens by expert, and by token within an expert.

    indices: (tokens, k), i32: an expert of 0 to experts - 1; another number leaves the choice out
    Returns RoutedTokens: offsets, tokens and positions. Rows of each expert: offsets.diff().
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _need("sort_by_expert", "indices", indices, 2, "(tokens, k)")
    if experts < 1:
        raise ValueError(f"kaio: sort_by_expert: argument experts is {experts}; it has to be 1 or more")
    run: Any = _run_sort if is_direct(indices) else _sort
    return RoutedTokens(*run(indices, experts))


# ---- Sums of rows, and the gather, which is their transpose


def _run_combine(
    y: torch.Tensor, weights: torch.Tensor, positions: torch.Tensor, residual: torch.Tensor | None, dtype: torch.dtype
) -> torch.Tensor:
    shape = (positions.shape[0], y.shape[1])
    out = torch.empty(shape, dtype=dtype, device=y.device)
    if residual is not None:
        out.copy_(residual)
    operations.combine_experts(rows_of(y), rows_of(weights), rows_of(positions), out, accumulate=residual is not None)
    return out


_combine = define(
    "combine_experts(Tensor y, Tensor weights, Tensor positions, Tensor? residual, ScalarType dtype) -> Tensor",
    _run_combine,
    lambda y, weights, positions, residual, dtype: y.new_empty((positions.shape[0], y.shape[1]), dtype=dtype),
)


def _call_combine(y: torch.Tensor, weights: torch.Tensor, positions: torch.Tensor, residual: Any, dtype: torch.dtype) -> Any:
    run: Any = _run_combine if is_direct(y, weights, positions, residual) else _combine
    return run(y, weights, positions, residual, dtype)


def _choice_of_rows(positions: torch.Tensor, rows: int) -> torch.Tensor:
    """The choice, token * k + j, of each row; -1 for a row of none."""
    flat = positions.reshape(-1).long()
    choices = torch.arange(flat.shape[0], dtype=torch.int32, device=flat.device)
    of_rows = torch.full((rows + 1,), -1, dtype=torch.int32, device=flat.device)
    return of_rows.scatter(0, torch.where((flat >= 0) & (flat < rows), flat, rows), choices)[:rows]


class _Combine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: torch.Tensor, weights: torch.Tensor, positions: torch.Tensor, residual: Any, dtype: Any) -> Any:
        ctx.save_for_backward(y, weights, positions)
        ctx.residual = None if residual is None else residual.dtype
        return _call_combine(y, weights, positions, residual, dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        y, weights, positions = ctx.saved_tensors
        (dout,), k = gradients, positions.shape[1]
        g, dy, dweights = rows_of(dout.to(y.dtype)), None, None
        if ctx.needs_input_grad[0]:  # dy[row] = weight of its choice * dout[its token]
            choices = _choice_of_rows(positions, y.shape[0])
            of_rows = weights.reshape(-1)[choices.clamp(min=0)]
            tokens = torch.where(choices < 0, -1, choices // k).to(torch.int32)
            dy = _call_combine(g, of_rows[:, None], tokens[:, None], None, y.dtype)
        if ctx.needs_input_grad[1]:  # dweights[token, j] = y[positions[token, j]] . dout[token]
            dweights = product(_rows_of_tokens(positions, y), g[:, :, None], dtype=torch.float32)[:, :, 0]
        dresidual = dout.to(ctx.residual) if ctx.needs_input_grad[3] else None
        return dy, dweights, None, dresidual, None


_apply_combine: Any = _Combine.apply


def combine_experts(
    y: torch.Tensor, weights: torch.Tensor, positions: torch.Tensor, *, residual: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """out[token] = the sum of weights[token, j] * y[positions[token, j]] over all j, plus the residual, with gradients.

    y: (rows, size), f32, f16, bf16
    weights: (tokens, k), f32
    positions: (tokens, k), i32, as sort_by_expert makes them: no two are equal, or the gradient of y is wrong. One that is negative,
        or not below the rows of y, adds nothing
    residual: (tokens, size): the output of a shared expert
    dtype: of the result: that of y, or f32; None: that of y
    Returns (tokens, size). Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    for name, t in (("weights", weights), ("positions", positions)):
        _need("combine_experts", name, t, 2, "(tokens, k)")
    _need("combine_experts", "y", y, 2, "(rows, size)")
    if weights.shape != positions.shape:
        raise ValueError(f"kaio: combine_experts: argument weights is {tuple(weights.shape)}; positions are {tuple(positions.shape)}")
    shape = (positions.shape[0], y.shape[1])
    if residual is not None and residual.shape != shape:
        raise ValueError(f"kaio: combine_experts: argument residual is {tuple(residual.shape)}; it has to be {tuple(shape)}")
    arguments = (y, weights, positions, residual, dtype or y.dtype)
    if needs_gradient(y, weights, residual):
        if is_compiling():
            y, residual = distinct(y, residual)
            arguments = (y, weights, positions, residual, dtype or y.dtype)
        return _apply_combine(*arguments)  # type: ignore[no-any-return]
    return _call_combine(*arguments)  # type: ignore[no-any-return]


def _rows_to_tokens(rows: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The sum of each token's rows."""
    ones = torch.ones(positions.shape, dtype=torch.float32, device=positions.device)
    return _call_combine(rows, ones, positions, None, rows.dtype)  # type: ignore[no-any-return]


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, tokens: torch.Tensor, positions: torch.Tensor) -> Any:
        ctx.save_for_backward(positions)
        return _rows_of_tokens(tokens, x)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        (positions,) = ctx.saved_tensors
        return _rows_to_tokens(rows_of(gradients[0]), positions), None, None


_apply_gather: Any = _Gather.apply


def gather_tokens(x: torch.Tensor, routed: RoutedTokens) -> torch.Tensor:
    """x[routed.tokens]: the row of x for each choice, sorted by expert, with a gradient. A row of no expert is zeros.

    x: (tokens, size), f32, f16, bf16. Returns (tokens * k, size).
    """
    _need("gather_tokens", "x", x, 2, "(tokens, size)")
    if needs_gradient(x):
        return _apply_gather(x, routed.tokens, routed.positions)  # type: ignore[no-any-return]
    return _rows_of_tokens(routed.tokens, x)


# ---- Products


def _run_grouped(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, rows: torch.Tensor | None, bias: torch.Tensor | None, dtype: torch.dtype
) -> torch.Tensor:
    out = torch.empty(((a if rows is None else rows).shape[0], b.shape[2]), dtype=dtype, device=a.device)
    operations.matmul_grouped(a, b, offsets, out, rows=rows, bias=bias)
    return out


_grouped = define(
    "matmul_grouped(Tensor a, Tensor b, Tensor offsets, Tensor? rows, Tensor? bias, ScalarType dtype) -> Tensor",
    _run_grouped,
    lambda a, b, offsets, rows, bias, dtype: a.new_empty(((a if rows is None else rows).shape[0], b.shape[2]), dtype=dtype),
)


def _call_grouped(a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, rows: Any, bias: Any, dtype: torch.dtype) -> Any:
    run: Any = _run_grouped if is_direct(a, b, offsets, rows, bias) else _grouped
    return run(a, b, offsets, rows, bias, dtype)


def _run_grouped_backward(
    dc: torch.Tensor, a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, of_a: bool, of_b: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """da, with zeros in rows of no group, and db, with the neighbours of b. Those that are not wanted have no elements."""
    da = torch.zeros(a.shape if of_a else (0,), dtype=a.dtype, device=a.device)
    db = _like_b(b) if of_b else torch.empty(0, dtype=b.dtype, device=b.device)
    operations.matmul_grouped_backward(dc, a, b, offsets, da if of_a else None, db if of_b else None)
    return da, db


def _like_b(b: torch.Tensor) -> torch.Tensor:
    groups, k, n = b.shape
    if b.stride(1) == 1:
        return b.new_empty((groups, n, k)).mT
    return b.new_empty((groups, k, n))


_grouped_backward = define(
    "matmul_grouped_backward(Tensor dc, Tensor a, Tensor b, Tensor offsets, bool of_a, bool of_b) -> (Tensor, Tensor)",
    _run_grouped_backward,
    lambda dc, a, b, offsets, of_a, of_b: (
        a.new_empty(a.shape if of_a else (0,)),
        _like_b(b) if of_b else b.new_empty((0,)),
    ),
)


class _Grouped(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, tokens: Any, positions: Any, bias: Any, dtype: Any
    ) -> Any:
        ctx.save_for_backward(a, b, offsets, tokens, positions)
        ctx.bias = None if bias is None else bias.dtype
        return _call_grouped(a, b, offsets, tokens, _f32(bias), dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        a, b, offsets, tokens, positions = ctx.saved_tensors
        (of_a, of_b), of_bias = ctx.needs_input_grad[:2], ctx.needs_input_grad[5]
        dc, da, db, dbias = rows_of(gradients[0].to(a.dtype)), None, None, None
        if of_a or of_b:
            rows = a if tokens is None else _rows_of_tokens(tokens, a)
            run: Any = _run_grouped_backward if is_direct(dc, rows, b, offsets) else _grouped_backward
            da, db = run(dc, rows, b, offsets, of_a, of_b)
            if of_a and tokens is not None:
                da = _rows_to_tokens(da, positions)
        if of_bias:
            # The group of each row; rows of no group have a number that is no group.
            numbers = torch.arange(dc.shape[0], dtype=torch.int32, device=dc.device)
            groups = torch.searchsorted(offsets[1:], numbers, right=True, out_int32=True)
            dbias = _gradient_of_embedding(gradients[0].float(), groups, b.shape[0]).to(ctx.bias)
        return da if of_a else None, db if of_b else None, None, None, None, dbias, None


_apply_grouped: Any = _Grouped.apply


def matmul_grouped(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, *, gather: RoutedTokens | None = None, bias: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """a[r] * b[g] + bias[g] for the group g with offsets[g] <= r < offsets[g + 1]: the experts of a mixture, with gradients.

    a: (rows, k), f16 or bf16
    b: (groups, k, n), elements of a; any strides: weights (groups, n, k) are `weight.mT`
    offsets: (groups + 1), i32, not decreasing; read on the device alone
    gather: a is (tokens, k), and row r is its row gather.tokens[r]: that of gather_tokens, which is not in memory then
    bias: (groups, n)
    dtype: of the result: that of a, or f32; None: that of a
    Returns (rows, n). Rows of no group hold any numbers.
    Under torch.autocast a and b are taken in its type.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _need("matmul_grouped", "a", a, 2, "(rows, k)")
    _need("matmul_grouped", "b", b, 3, "(groups, k, n)")
    if any_autocast():
        a, b = autocast(a, b)
    tokens, positions = (None, None) if gather is None else (gather.tokens, gather.positions)
    if needs_gradient(a, b, bias):
        return _apply_grouped(a, b, offsets, tokens, positions, bias, dtype or a.dtype)  # type: ignore[no-any-return]
    return _call_grouped(a, b, offsets, tokens, _f32(bias), dtype or a.dtype)  # type: ignore[no-any-return]


def _f32(t: torch.Tensor | None) -> torch.Tensor | None:
    """A bias as kernels read it."""
    return None if t is None else t.float().contiguous()


def _run_gate_up_grouped(
    x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, offsets: torch.Tensor, rows: torch.Tensor | None,
    gate_bias: torch.Tensor | None, up_bias: torch.Tensor | None, activation: Any, alpha: float, limit: float, up_offset: float,
) -> torch.Tensor:  # fmt: skip
    out = torch.empty(((x if rows is None else rows).shape[0], gate.shape[2]), dtype=x.dtype, device=x.device)
    operations.gate_up_grouped(x, gate, up, offsets, out, rows=rows, gate_bias=gate_bias, up_bias=up_bias, activation=activation,
                               alpha=alpha, limit=limit, up_offset=up_offset)  # fmt: skip
    return out


_gate_up_grouped = define(
    "gate_up_grouped(Tensor x, Tensor gate, Tensor up, Tensor offsets, Tensor? rows, Tensor? gate_bias, Tensor? up_bias, "
    "str activation, float alpha, float limit, float up_offset) -> Tensor",
    _run_gate_up_grouped,
    lambda x, gate, up, offsets, rows, *others: x.new_empty(((x if rows is None else rows).shape[0], gate.shape[2])),
)


def gate_up_grouped(
    x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, offsets: torch.Tensor, *, gather: RoutedTokens | None = None,
    gate_bias: torch.Tensor | None = None, up_bias: torch.Tensor | None = None, activation: str = "silu", alpha: float = 1.0,
    limit: float = 0.0, up_offset: float = 0.0,
) -> torch.Tensor:  # fmt: skip
    """activation(min(g, limit)) * (clamp(u, -limit, limit) + up_offset) with the products g and u of matmul_grouped, in one launch.

    It has no gradient: matmul_grouped and gated have.

    x: (rows, k), f16 or bf16; with gather (tokens, k)
    gate, up: (groups, k, n), elements of x; both may be views of one tensor
    offsets, gather: as of matmul_grouped
    gate_bias, up_bias: (groups, n)
    activation: "silu", "gelu", "gelu_tanh" or "relu"
    alpha: silu is g / (1 + exp(-alpha g)). gpt-oss: alpha=1.702, limit=7, up_offset=1
    limit: above 0; 0: none
    Returns (rows, n), as x. Rows of no group hold any numbers.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _need("gate_up_grouped", "x", x, 2, "(rows, k)")
    for name, t in (("gate", gate), ("up", up)):
        _need("gate_up_grouped", name, t, 3, "(groups, k, n)")
    if any_autocast():
        x, gate, up = autocast(x, gate, up)
    if needs_gradient(x, gate, up, gate_bias, up_bias):
        raise ValueError("kaio: gate_up_grouped has no gradient; use matmul_grouped and gated, or call it under torch.no_grad()")
    rows = None if gather is None else gather.tokens
    tensors = (x, gate, up, offsets, rows, _f32(gate_bias), _f32(up_bias))
    run: Any = _run_gate_up_grouped if is_direct(*tensors) else _gate_up_grouped
    return run(*tensors, activation, alpha, limit, up_offset)  # type: ignore[no-any-return]


for _name in ("topk_router", "sort_by_expert", "combine_experts", "matmul_grouped", "matmul_grouped_backward", "gate_up_grouped"):
    refuse_vmap(_name)
