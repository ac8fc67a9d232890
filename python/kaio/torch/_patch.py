"""kaio.torch.patch: a model whose norms, linear layers, feed-forward blocks and attention run on kaio.

A module is replaced in place: it gets a subclass of its own class, whose forward calls kaio. The object, its parameters, its
hooks and the keys of its state stay as they are, so an optimiser, a checkpoint or a wrapper does not notice.

Names of classes only nominate modules. What decides is a sample: the module's forward, with small random weights on the CPU, has
to give what kaio's formula gives.
"""

from __future__ import annotations

import copy
import inspect
import re
from typing import Any, Callable, Iterator, NamedTuple

import torch

from ._library import NAMES, needs_gradient
from ._matmul import _ACTIVATIONS, Linear, _activated, autocast, linear
from ._norm import _norm_of_module
from ._projections import gate_up, gate_up_project


class Row(NamedTuple):
    """A module of a report: its name in the model, its class, and what runs it now, or why it is left."""

    name: str
    module: str
    text: str


class Report:
    """What kaio.torch.patch has done. `print(report)` shows a table; equal rows of several layers are one.

    replaced: the modules that kaio runs now
    left: the modules that torch runs, each with the reason
    """

    def __init__(self) -> None:
        self.replaced: list[Row] = []
        self.left: list[Row] = []
        self._undo: list[Callable[[], None]] = []

    def unpatch(self) -> None:
        """Makes the model what it was. A second call does nothing."""
        while self._undo:
            self._undo.pop()()

    def __repr__(self) -> str:
        return f"kaio.torch.Report({len(self.replaced)} replaced, {len(self.left)} left)"

    def __str__(self) -> str:
        rows = [("module", "class", "now", "number")]
        for mark, part in (("", self.replaced), ("left: ", self.left)):
            groups: dict[tuple[str, str, str], int] = {}
            for row in part:
                key = (re.sub(r"(?<![^.])\d+(?![^.])", "*", row.name) or "(model)", row.module, mark + row.text)
                groups[key] = groups.get(key, 0) + 1
            rows += [(*key, str(count)) for key, count in groups.items()]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


# ---- Classes whose forward calls kaio


class _Rebuilt:
    """A class that patch makes: copying and pickling go by the class that it was made from."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (type(self)._kaio_parts,), self.__dict__  # type: ignore[attr-defined]


class _OfLinear(_Rebuilt):
    def forward(self: Any, input: torch.Tensor) -> torch.Tensor:
        x, weight, bias = autocast(input, self.weight, self.bias)
        return linear(x, weight, bias, precision=self._kaio)


class _OfConv1D(_Rebuilt):
    """transformers' Conv1D: a linear layer whose weight is (k, n)."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        x, weight, bias = autocast(x, self.weight, self.bias)
        return linear(x, weight.t(), bias, precision=self._kaio)


# The classes below take x by whatever name the forward of their base gives it.


class _OfNorm(_Rebuilt):
    def forward(self: Any, x: Any = None, **named: torch.Tensor) -> Any:
        if named:
            (x,) = named.values()
        eps, weight_offset = self._kaio
        return _norm_of_module(x, self.weight, eps, None, weight_offset)


def _is_read(layer: Any, kind: Any) -> bool:
    """Whether a fused call may read a layer's parameters: since patch, nothing has wrapped it, replaced it, or hooked it."""
    return (type(layer) is kind and "forward" not in layer.__dict__ and not layer._forward_hooks and not layer._forward_pre_hooks
            and not layer._backward_hooks and not layer._backward_pre_hooks)  # fmt: skip


class _OfGatedMlp(_Rebuilt):
    def forward(self: Any, x: Any = None, **named: torch.Tensor) -> Any:
        if named:
            (x,) = named.values()
        names, activation, precision, kinds = self._kaio
        *first, down = (getattr(self, name) for name in names)
        if not all(_is_read(layer, kind) for layer, kind in zip(first, kinds)):  # an adapter, for example
            gate, up = (layer(x) for layer in first) if len(first) == 2 else first[0](x).chunk(2, -1)
            return down(_activated(gate, activation) * up)
        cast = autocast(x, *(t for layer in first for t in (layer.weight, layer.bias)))
        if len(first) == 2:
            x, gate_weight, gate_bias, up_weight, up_bias = cast
            if precision == "ieee":
                return down(gate_up(x, gate_weight, up_weight, activation, gate_bias=gate_bias, up_bias=up_bias))
            up = linear(x, up_weight, up_bias, precision=precision)
            return down(linear(x, gate_weight, gate_bias, activation=activation, precision=precision) * up)
        x, weight, bias = cast
        if precision != "ieee" or needs_gradient(x, weight, bias):
            gate, up = linear(x, weight, bias, precision=precision).chunk(2, -1)
            return down(_activated(gate, activation) * up)
        gate_bias, up_bias = (None, None) if bias is None else bias.chunk(2)
        return down(gate_up_project(x, weight, activation=activation, gate_bias=gate_bias, up_bias=up_bias))


class _OfMlp(_Rebuilt):
    def forward(self: Any, x: Any = None, **named: torch.Tensor) -> Any:
        if named:
            (x,) = named.values()
        (first_name, second_name), activation, precision, (kind,) = self._kaio
        first, second = getattr(self, first_name), getattr(self, second_name)
        if not _is_read(first, kind):
            return second(_activated(first(x), activation))
        x, weight, bias = autocast(x, first.weight, first.bias)
        weight = weight if isinstance(first, torch.nn.Linear) else weight.t()
        return second(linear(x, weight, bias, activation=activation, precision=precision))


_made: dict[tuple[type, type], type] = {}


def _class_of(mixin: type, base: type) -> type:
    """The subclass of a module's class that runs on kaio."""
    key = (mixin, base)
    if key not in _made:
        if mixin is _OfLinear and base is torch.nn.Linear:
            _made[key] = type("Linear", (_OfLinear, Linear), {"__module__": __name__, "_kaio_parts": key})
        else:
            _made[key] = type(f"Kaio{base.__name__}", (mixin, base), {"__module__": __name__, "_kaio_parts": key})
    return _made[key]


def _rebuilt(parts: tuple[type, type]) -> Any:
    made: Any = _class_of(*parts)
    return made.__new__(made)


# ---- What decides


def _kind(module: torch.nn.Module) -> str:
    return type(module).__name__


def _unfit(*tensors: torch.Tensor | None) -> str | None:
    """Why kaio cannot take these parameters."""
    for t in tensors:
        if t is None:
            continue
        if type(t) not in (torch.Tensor, torch.nn.Parameter):
            return f"a parameter is a {type(t).__name__}"
        if t.device.type not in ("cpu", "cuda"):
            return f"its parameters are on {t.device.type}; kaio runs on cuda, and on cpu by the emulator"
        if t.dtype not in NAMES:
            return f"its parameters are {str(t.dtype).removeprefix('torch.')}; kaio has f32, f16 and bf16"
        if t.numel() == 0:
            return "a parameter has no elements"
        if t.is_cuda and not torch.version.hip:
            major, minor = torch.cuda.get_device_capability(t.device)
            if major < 7 or (t.dtype == torch.bfloat16 and major < 8):
                return f"its GPU is sm_{major}{minor}; kaio needs sm_70, and sm_80 for bf16"
    kinds = {t.dtype for t in tensors if t is not None}
    if len(kinds) > 1:
        return f"its parameters have several types: {', '.join(sorted(str(k).removeprefix('torch.') for k in kinds))}"
    return None


def _is_replaced(module: torch.nn.Module) -> bool:
    return isinstance(module, (_Rebuilt, Linear))


def _untouchable(module: torch.nn.Module) -> str | None:
    if "forward" in module.__dict__:
        return "something else has replaced its forward"
    if isinstance(module, torch.jit.ScriptModule):
        return "it is a script"
    return None


def _has_hooks(module: torch.nn.Module) -> bool:
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, name, None) for name in names)


def _takes_one(module: torch.nn.Module) -> bool:
    """Whether forward takes one tensor, and nothing else."""
    try:
        parameters = list(inspect.signature(type(module).forward).parameters.values())[1:]
    except (TypeError, ValueError):
        return False
    return len(parameters) == 1 and parameters[0].kind in (parameters[0].POSITIONAL_ONLY, parameters[0].POSITIONAL_OR_KEYWORD)


def _sample_of(module: torch.nn.Module, parameters: dict[str, torch.Tensor], children: dict[str, torch.nn.Module]) -> Any:
    """A copy of a module that is training, with other parameters and children."""
    made = copy.copy(module)
    made.__dict__["_parameters"] = {**module._parameters, **parameters}
    own = {name: copy.copy(child) for name, child in module._modules.items() if child is not None and name not in children}
    for child in own.values():
        child.__dict__["training"] = True
    made.__dict__["_modules"] = {**module._modules, **own, **children}
    made.__dict__["training"] = True
    return made


def _forward(module: Any, x: torch.Tensor) -> Any:
    """The forward of a sample; None if it fails."""
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]), torch.autocast("cpu", enabled=False):
            return type(module).forward(module, x)
    except Exception:
        return None


def _random(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), device="cpu", dtype=torch.float32)


def _equal(got: Any, want: torch.Tensor) -> bool:
    return isinstance(got, torch.Tensor) and got.shape == want.shape and torch.allclose(got.float(), want, rtol=1e-4, atol=1e-4)


# ---- Norms


def _is_norm(module: torch.nn.Module) -> bool:
    return "rmsnorm" in _kind(module).lower().replace("_", "")


def _norm(module: Any) -> tuple[tuple[float, float], None] | tuple[None, str]:
    """epsilon and the offset of the weight, or why the norm is left."""
    weight = getattr(module, "weight", None)
    if not isinstance(weight, torch.Tensor):
        return None, "it has no weight"
    if weight.dim() != 1:
        return None, f"its weight has {weight.dim()} dimensions; kaio's norm is that of the last one"
    why = _untouchable(module) or _unfit(weight)
    if why:
        return None, why
    if not _takes_one(module):
        return None, "its forward takes more than x"
    found = next((getattr(module, name) for name in ("variance_epsilon", "eps", "epsilon") if hasattr(module, name)), 0)
    if found is None and weight.dtype == torch.float32:
        found = torch.finfo(torch.float32).eps
    if found is None:
        return None, "its eps is None, which depends on the type of x"
    eps = float(found)
    if eps != 0 and not 1e-30 <= eps <= 1e30:
        return None, f"its eps is {eps}; kaio needs 0, or 1e-30 to 1e30"
    sample_weight, x = _random(weight.shape[0], seed=1), _random(2, weight.shape[0], seed=2)
    got, typed = (
        _forward(_sample_of(module, {"weight": torch.nn.Parameter(sample_weight.to(dtype))}, {}), x.to(dtype))
        for dtype in (torch.float32, weight.dtype)
    )
    keeps_type = isinstance(typed, torch.Tensor) and typed.dtype == weight.dtype
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    for offset in (0.0, 1.0):
        if keeps_type and _equal(got, normed * (sample_weight + offset)):
            return (eps, offset), None
    return None, "its forward is not x / rms(x) * weight, nor x / rms(x) * (1 + weight)"


# ---- Feed-forward blocks

_GATED = (("gate_proj", "up_proj", "down_proj"), ("w1", "w3", "w2"), ("gate_up_proj", "down_proj"))
_PLAIN = (("fc1", "fc2"), ("dense_h_to_4h", "dense_4h_to_h"), ("c_fc", "c_proj"), ("fc_in", "fc_out"), ("up_proj", "down_proj"))


def _is_conv1d(module: torch.nn.Module | None) -> bool:
    return module is not None and _kind(module) == "Conv1D" and type(module).__module__ == "transformers.pytorch_utils"


def _mlp(module: torch.nn.Module) -> tuple[tuple[str, ...], bool] | None:
    """The names of the layers of a feed-forward block, and whether it has a gate. None: the module is none."""
    for gated, all in ((True, _GATED), (False, _PLAIN)):
        for names in all:
            layers = [module._modules.get(name) for name in names]
            if any(layer is None for layer in layers):
                continue
            others = [child for name, child in module.named_children() if name not in names]
            if module._parameters or any(list(child.parameters()) for child in others):
                continue
            return names, gated
    return None


def _small(layer: Any, n: int, k: int, seed: int) -> torch.nn.Module:
    """A layer of the same kind with n outputs and k inputs."""
    bias = layer.bias is not None
    made: Any = copy.copy(layer) if _is_conv1d(layer) else torch.nn.Linear(k, n, bias=bias, device="cpu", dtype=torch.float32)
    weight = 0.3 * _random(n, k, seed=seed)
    weight = weight.t().contiguous() if _is_conv1d(layer) else weight
    made.__dict__["_parameters"] = {"weight": torch.nn.Parameter(weight),
                                    "bias": torch.nn.Parameter(_random(n, seed=seed + 1)) if bias else None}  # fmt: skip
    if _is_conv1d(layer):
        made.nf, made.nx = n, k
    module: torch.nn.Module = made
    return module


def _product(layer: Any, x: torch.Tensor) -> torch.Tensor:
    weight = layer.weight.t() if _is_conv1d(layer) else layer.weight
    return torch.nn.functional.linear(x, weight, layer.bias)


def _activation_of(module: Any, names: tuple[str, ...], gated: bool) -> tuple[str, None] | tuple[None, str]:
    """The activation of a feed-forward block, or why it is left."""
    layers = [getattr(module, name) for name in names]
    for name, layer in zip(names, layers):
        if not (type(layer) is torch.nn.Linear or isinstance(layer, (_OfLinear, Linear)) or (_is_conv1d(layer) and not gated)):
            return None, f"its {name} is a {_kind(layer)}"
    why = _untouchable(module) or _unfit(*(p for layer in layers for p in (layer.weight, layer.bias)))
    if why:
        return None, why
    hooked = next((name for name, layer in zip(names[:-1], layers) if _has_hooks(layer) or _untouchable(layer)), None)
    if hooked:
        return None, f"its {hooked} has hooks, which a fused call would not run"
    if not _takes_one(module):
        return None, "its forward takes more than x"
    k, f, x = 8, 12, _random(1, 3, 8, seed=0)
    wide = 2 * f if len(names) == 2 and gated else f
    small = {name: _small(layer, k if name == names[-1] else wide, f if name == names[-1] else k, 10 * i)
             for i, (name, layer) in enumerate(zip(names, layers))}  # fmt: skip
    got = _forward(_sample_of(module, {}, small), x)
    if got is None:
        return None, "its forward cannot be run with layers of another size"
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        first = [_product(small[name], x) for name in names[:-1]]
        gate, up = first[0].chunk(2, -1) if wide != f else (first[0], first[-1])
        for activation in _ACTIVATIONS:
            inner = _activated(gate, activation)
            if _equal(got, _product(small[names[-1]], inner * up if gated else inner)):
                return activation, None
    form = "down(f(gate(x)) * up(x))" if gated else f"{names[1]}(f({names[0]}(x)))"
    return None, f"its forward is not {form} with f of {', '.join(_ACTIVATIONS)}, or it has dropout"


# ---- Attention


def _configs(model: torch.nn.Module) -> Iterator[Any]:
    seen: set[int] = set()
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None and hasattr(config, "_attn_implementation_internal") and id(config) not in seen:
            seen.add(id(config))
            yield config


# What configurations call the dropout of attention.
_DROPOUTS = ("attention_dropout", "attn_pdrop", "attention_probs_dropout_prob")


def _attention(name: str, model: Any, report: Report) -> None:
    """The attention of a model of transformers."""
    import kaio.torch

    old = getattr(model.config, "_attn_implementation", None)
    if old == "kaio":
        return
    dropout = next((n for n in _DROPOUTS for c in _configs(model) if (getattr(c, n, None) or 0) > 0), None)
    if dropout is not None and model.training:
        report.left.append(Row(name, _kind(model), f"attention: it is training, and its {dropout} is not 0; kaio has no dropout"))
        return
    register: Any = getattr(kaio.torch, "register_transformers", None)
    setter: Any = getattr(model, "set_attn_implementation", None)
    why = _unfit(*(p for p in model.parameters() if p.is_floating_point()))
    if why and "several types" not in why:
        report.left.append(Row(name, _kind(model), f"attention: {why}"))
    elif register is None:
        report.left.append(Row(name, _kind(model), "attention: kaio.torch.register_transformers is missing"))
    elif setter is None:
        report.left.append(Row(name, _kind(model), "attention: this transformers has no set_attn_implementation"))
    else:
        before = [(config, config._attn_implementation_internal) for config in _configs(model)]

        def undo() -> None:
            for config, implementation in before:
                config._attn_implementation_internal = implementation

        try:
            register()
            setter("kaio")
        except (ImportError, ValueError) as error:
            undo()
            report.left.append(Row(name, _kind(model), f"attention: {error}"))
            return
        if model.config._attn_implementation != "kaio":
            undo()
            report.left.append(Row(name, _kind(model), f"attention: the model keeps '{old}'"))
            return
        report._undo.append(undo)
        report.replaced.append(Row(name, _kind(model), f"attention: kaio in place of {old}"))


def _is_transformer(module: torch.nn.Module) -> bool:
    """Whether it is a model of transformers."""
    return hasattr(getattr(module, "config", None), "_attn_implementation") and hasattr(module, "get_input_embeddings")


def _calls_sdpa(module: torch.nn.Module) -> bool:
    try:
        return "scaled_dot_product_attention" in inspect.getsource(type(module).forward)
    except (OSError, TypeError):
        return False


# ---- patch


def _precision(weight: torch.Tensor, precision: str | None) -> str:
    """The precision of products with a weight."""
    if weight.dtype != torch.float32:
        return "ieee"
    if precision is not None:
        return precision
    return "tf32" if weight.is_cuda and torch.get_float32_matmul_precision() != "highest" else "ieee"


def patch(
    model: torch.nn.Module, *, linear: bool = True, norm: bool = True, attention: bool = True, mlp: bool = True,
    precision: str | None = None,
) -> Report:  # fmt: skip
    """Lets kaio run the modules of a model that it can run, in place; for inference and training, before torch.compile.

    linear: torch.nn.Linear, and transformers' Conv1D
    norm: RMS norms, with a weight or with 1 + weight, as Gemma's
    attention: that of a model of transformers, by its config
    mlp: feed-forward blocks, with a gate (Llama, Mistral, Qwen, Gemma, Phi-3) and without (Phi, GPT-NeoX, GPT-2)
    precision: of products of f32: "ieee", "tf32", "tf32x3"; None: on a GPU as torch.get_float32_matmul_precision() says now
    Returns a Report: what was replaced, what is left and why, and unpatch().
    Raises TypeError if the model is no torch.nn.Module, ValueError if torch.compile has made it, or for another precision.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"kaio: patch: argument model is a {type(model).__name__}; it has to be a torch.nn.Module")
    if hasattr(model, "_orig_mod"):
        raise ValueError("kaio: patch: argument model comes from torch.compile; patch the model before it is compiled")
    if precision not in (None, "ieee", "tf32", "tf32x3"):
        raise ValueError(f"kaio: patch: argument precision is {precision!r}; it has to be None, 'ieee', 'tf32' or 'tf32x3'")
    report = Report()
    fused: set[int] = set()  # layers that a feed-forward block multiplies itself
    inside: list[str] = []  # prefixes of modules whose children are left with them
    transformers: list[str] = []  # prefixes of models of transformers

    def replace(name: str, module: torch.nn.Module, mixin: type, text: str, values: Any = None) -> None:
        base = type(module)
        report.replaced.append(Row(name, _kind(module), text))
        module.__class__ = _class_of(mixin, base)
        if values is not None:
            module.__dict__["_kaio"] = values

        def undo() -> None:
            module.__class__ = base
            module.__dict__.pop("_kaio", None)

        report._undo.append(undo)

    def leave(name: str, module: torch.nn.Module, why: str) -> None:
        report.left.append(Row(name, _kind(module), why))

    for name, module in list(model.named_modules()):
        if any(name.startswith(prefix) for prefix in inside):
            continue
        prefix = f"{name}." if name else ""
        in_transformers = any(name.startswith(p) for p in transformers)
        if not in_transformers and _is_transformer(module):
            transformers.append(prefix)
            if attention:
                _attention(name, module, report)
            in_transformers = True
        if _is_replaced(module):
            if isinstance(module, (_OfGatedMlp, _OfMlp)):
                fused.update(id(getattr(module, n)) for n in module.__dict__["_kaio"][0][:-1])
            continue
        block = _mlp(module) if mlp else None
        if isinstance(module, torch.nn.MultiheadAttention):
            inside.append(prefix)
            leave(name, module, "torch's function for it takes the weights, not the layers")
        elif block is not None:
            names, gated = block
            activation, why = _activation_of(module, names, gated)
            if activation is None:
                leave(name, module, str(why))
                continue
            what = f"gated block, {activation}" if gated else f"feed-forward block, {activation}"
            kinds = tuple(type(getattr(module, n)) for n in names[:-1])
            replace(name, module, _OfGatedMlp if gated else _OfMlp, what,
                    (names, activation, _precision(getattr(module, names[0]).weight, precision), kinds))  # fmt: skip
            fused.update(id(getattr(module, n)) for n in names[:-1])
        elif _is_norm(module):
            if norm:
                found, why = _norm(module)
                if found is None:
                    leave(name, module, str(why))
                else:
                    replace(name, module, _OfNorm, "rms_norm" if found[1] == 0 else "rms_norm, 1 + weight", found)
        elif isinstance(module, torch.nn.LayerNorm):
            if norm:
                leave(name, module, "layer norms stay with torch")
        elif isinstance(module, torch.nn.Linear) or _is_conv1d(module):
            if not linear or id(module) in fused:
                continue
            why = _untouchable(module) or _unfit(module.weight, module.bias)
            if isinstance(module, torch.nn.Linear) and type(module).forward is not torch.nn.Linear.forward:
                why = "its class has a forward of its own"
            if why:
                leave(name, module, why)
            else:
                kind = _precision(module.weight, precision)
                text = "linear" if kind == "ieee" else f"linear, {kind}"
                replace(name, module, _OfConv1D if _is_conv1d(module) else _OfLinear, text, kind)
        elif mlp and _kind(module).endswith("Experts") and any(p is not None and p.dim() == 3 for p in module._parameters.values()):
            leave(name, module, "its experts are one parameter; kaio has no grouped product yet")
        elif linear and "linear" in _kind(module).lower() and not list(module.children()):
            leave(name, module, "it is no torch.nn.Linear")
        elif attention and not in_transformers and _calls_sdpa(module):
            leave(name, module, "its forward calls scaled_dot_product_attention itself; call kaio.torch.attention there")
    return report
