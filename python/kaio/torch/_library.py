"""How kaio's operations become operators of torch.

An operator has a kernel that calls kaio.operations, and a fake that says what it returns. torch.compile sees one node, and
never looks inside. Gradients are autograd functions outside of operators: their forward and backward call operators.

    matmul_forward = define("matmul(Tensor a, Tensor b, *, float alpha) -> Tensor", kernel, fake)

An eager call without gradients takes no operator: `is_direct(a, b)` says whether it may call the kernel itself.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, TypeVar

import torch
from torch.autograd import forward_ad

from .. import _core

_Function = TypeVar("_Function", bound=Callable[..., Any])

library = torch.library.Library("kaio", "DEF")

_are_plain = _core.are_plain
is_compiling = torch.compiler.is_compiling
_is_grad_enabled = torch.is_grad_enabled
_set_grad_enabled = torch._C._set_grad_enabled
# The numbers of active modes, such as FakeTensorMode, and of transformations, such as vmap.
_dispatch_modes: Callable[[], int] = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
_functorch = getattr(torch._C, "_functorch", None)
_transformation: Callable[[], Any] = getattr(_functorch, "peek_interpreter_stack", lambda: None)
# What torch.jit.trace records, if it records.
_jit_trace: Callable[[], Any] = getattr(torch._C, "_get_tracing_state", lambda: None)


def define(schema: str, kernel: Callable[..., Any], fake: Callable[..., Any]) -> Callable[..., Any]:
    """Defines an operator of namespace kaio, for tensors of a GPU, and of the CPU on the emulator. Returns it."""
    name = schema.split("(", 1)[0]
    library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))

    def without_grad(*arguments: Any, **keywords: Any) -> Any:
        # Autograd is above an operator's kernel, but tensors still say that they require a gradient.
        if not _is_grad_enabled():
            return kernel(*arguments, **keywords)
        _set_grad_enabled(False)
        try:
            return kernel(*arguments, **keywords)
        finally:
            _set_grad_enabled(True)

    for key in ("CUDA", "CPU"):
        library.impl(name, without_grad, key)
    torch.library.register_fake(f"kaio::{name}", fake, lib=library)
    return getattr(torch.ops.kaio, name).default  # type: ignore[no-any-return]


def needs_gradient(*tensors: torch.Tensor | None) -> bool:
    """Whether autograd records this call."""
    if _is_grad_enabled():
        for t in tensors:  # not any(): a generator costs more than the question
            if t is not None and t.requires_grad:
                return True
    return False


def is_direct(*tensors: torch.Tensor | None) -> bool:
    """Whether a call may use the memory of these tensors itself: they are plain, and nothing traces or transforms it."""
    if is_compiling() or _dispatch_modes() != 0:
        return False
    if forward_ad._current_level >= 0:
        _refuse_tangents(*tensors)
    if _transformation() is not None or _jit_trace() is not None:
        return False
    return _are_plain(*tensors) and not tensors[0].is_meta  # type: ignore[union-attr]


def _refuse_tangents(*tensors: torch.Tensor | None) -> None:
    """Operators have no derivatives of forward mode, and torch would take them as zero."""
    for t in tensors:
        if t is not None and forward_ad.unpack_dual(t).tangent is not None:  # type: ignore[no-untyped-call]
            raise NotImplementedError("kaio.torch has no forward-mode derivatives (torch.func.jvp); use gradients of reverse mode")


def distinct(*tensors: Any) -> list[Any]:
    """The tensors, with a view in place of one that came before. Under torch.compile a function with gradients that takes a
    tensor twice would count one of its gradients alone."""
    found: list[Any] = []
    for t in tensors:
        repeated = t is not None and any(t is other for other in found)
        found.append(t.view_as(t) if repeated else t)
    return found


def refuse_vmap(name: str) -> None:
    """torch.vmap of an operator raises an error that names it."""

    def rule(info: Any, in_dims: Any, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"kaio.torch.{name} has no rule for torch.vmap; give it a batch of tensors instead")

    register = getattr(torch.library, "register_vmap", None)
    if register is not None:
        register(f"kaio::{name}", rule, lib=library)


def written(*tensors: torch.Tensor | None) -> None:
    """Notes that a direct call has written these tensors, so that autograd finds a saved one changed."""
    for t in tensors:
        if t is not None and not t.is_inference():
            torch.autograd.graph.increment_version(t)


def renamed(names: dict[str, str]) -> Callable[[_Function], _Function]:
    """A function whose errors name its own arguments in place of those of kaio's attention: `names`, by kaio's."""

    def name_of_argument(found: re.Match[str]) -> str:
        return names.get(found[1], names.get(found[2], found[2]))

    def wrap(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            if is_compiling():
                return function(*given, **named)
            try:
                return function(*given, **named)
            except (ValueError, TypeError) as error:
                text = re.sub(r"^kaio: attention\w*: ", f"kaio: {function.__name__}: ", str(error))
                text = re.sub(r"(?<=argument )((?:cache\.|rotary\.)?(\w+))", name_of_argument, text)
                if text == str(error):
                    raise
                raise type(error)(text) from None

        return call  # type: ignore[return-value]

    return wrap


# The element types of kaio by those of torch.
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}


def name_of(dtype: torch.dtype) -> str:
    """kaio's name of an element type of torch. Raises ValueError."""
    name = NAMES.get(dtype)
    if name is None:
        raise ValueError(f"kaio: argument dtype is {dtype}; it has to be one of {', '.join(str(d) for d in NAMES)}")
    return name
