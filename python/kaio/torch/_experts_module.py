"""The feed-forward block of a mixture of experts as a module of torch."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._activation import gated
from ._experts import RoutedTokens, combine_experts, gate_up_grouped, matmul_grouped, sort_by_expert, topk_router
from ._library import needs_gradient
from ._matmul import matmul
from ._projections import swiglu_mlp

# The activations of gated, and what gate_up_grouped calls those that it calls otherwise.
_ACTIVATIONS = ("silu", "gelu", "gelu_tanh", "gelu_sigmoid", "relu")
_WITH_ALPHA = {"gelu_sigmoid": ("silu", 1.702)}
# The options of Experts by model.
MODELS: dict[str, dict[str, Any]] = {
    "mixtral": {"renormalise": True},
    "qwen3_moe": {"renormalise": True},
    "deepseek_v3": {"score": "sigmoid", "choice_bias": True, "groups": 8, "kept_groups": 4, "renormalise": True, "factor": 2.5},
    "gpt_oss": {"renormalise": True, "router_bias": True, "bias": True, "interleaved": True, "activation": "gelu_sigmoid", "limit": 7.0,
                "up_offset": 1.0},
}  # fmt: skip


class Experts(torch.nn.Module):
    """A mixture of experts with gates: a router, its experts, and a shared expert. Nothing is read back to the host.

    block = kaio.torch.Experts.of_model("mixtral", 4096, 14336, experts=8, k=2, device="cuda", dtype=torch.bfloat16)
    y = block(x)                       # (..., size)

    | parameter | shape | |
    | --- | --- | --- |
    | router, router_bias | (experts, size), (experts) | logits = x * router^T + router_bias, f32 |
    | choice_bias | (experts), f32, a buffer | changes the choice alone: DeepSeek-V3's e_score_correction_bias |
    | gate_up, gate_up_bias | (experts, 2 * intermediate, size), (experts, 2 * intermediate) | the gate's rows first, or interleaved |
    | down, down_bias | (experts, size, intermediate), (experts, size) | |
    | shared_gate, shared_up, shared_down | (shared, size), (shared, size), (size, shared) | every token's expert |

    Parameters are f16 or bf16. A bias that is off is None.
    """

    router: torch.nn.Parameter
    router_bias: torch.nn.Parameter | None
    gate_up: torch.nn.Parameter
    gate_up_bias: torch.nn.Parameter | None
    down: torch.nn.Parameter
    down_bias: torch.nn.Parameter | None
    shared_gate: torch.nn.Parameter | None
    shared_up: torch.nn.Parameter | None
    shared_down: torch.nn.Parameter | None
    choice_bias: torch.Tensor | None

    def __init__(
        self, size: int, intermediate: int, *, experts: int, k: int, shared: int = 0, score: str = "softmax", choice_bias: bool = False,
        groups: int = 1, kept_groups: int = 1, group_by_best_two: bool = True, renormalise: bool = False, factor: float = 1.0,
        router_bias: bool = False, bias: bool = False, interleaved: bool = False, activation: str = "silu", limit: float = 0.0,
        up_offset: float = 0.0, device: torch.device | str | None = None, dtype: torch.dtype | None = torch.bfloat16,
    ) -> None:  # fmt: skip
        """size, intermediate: of a token, and between an expert's products
        k: experts of a token
        shared: the intermediate size of the shared expert, whose gate is SiLU; 0: none
        score, groups, kept_groups, group_by_best_two, renormalise, factor: as of topk_router
        bias: biases of the experts' products
        interleaved: rows 0, 2, 4, ... of gate_up are the gate's
        activation: "silu", "gelu", "gelu_tanh", "gelu_sigmoid" or "relu"
        limit, up_offset: as of gated
        """
        if activation not in _ACTIVATIONS:
            known = ", ".join(map(repr, _ACTIVATIONS))
            raise ValueError(f"kaio: Experts: argument activation is {activation!r}; it has to be one of {known}")
        super().__init__()
        self.size, self.intermediate, self.experts, self.k, self.interleaved = size, intermediate, experts, k, interleaved
        self.routing: dict[str, Any] = {"score": score, "groups": groups, "kept_groups": kept_groups, "group_by_best_two": group_by_best_two,
                                        "renormalise": renormalise, "factor": factor}  # fmt: skip
        self.activation, self.limits = activation, {"limit": limit, "up_offset": up_offset}

        def parameter(name: str, wanted: bool, *shape: int) -> None:
            empty = torch.empty(shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if empty is None else torch.nn.Parameter(empty))

        parameter("router", True, experts, size)
        parameter("router_bias", router_bias, experts)
        parameter("gate_up", True, experts, 2 * intermediate, size)
        parameter("gate_up_bias", bias, experts, 2 * intermediate)
        parameter("down", True, experts, size, intermediate)
        parameter("down_bias", bias, experts, size)
        parameter("shared_gate", shared > 0, shared, size)
        parameter("shared_up", shared > 0, shared, size)
        parameter("shared_down", shared > 0, size, shared)
        self.register_buffer("choice_bias", torch.zeros(experts, device=device, dtype=torch.float32) if choice_bias else None)
        self.reset_parameters()

    @classmethod
    def of_model(cls, model: str, size: int, intermediate: int, *, experts: int, k: int, **options: Any) -> Experts:
        """With the options of a model: "mixtral", "qwen3_moe", "deepseek_v3" or "gpt_oss". `options` come before them."""
        if model not in MODELS:
            raise ValueError(f"kaio: Experts: argument model is {model!r}; it has to be one of {', '.join(map(repr, MODELS))}")
        return cls(size, intermediate, experts=experts, k=k, **(MODELS[model] | options))

    def reset_parameters(self) -> None:
        """Weights as torch.nn.Linear's; biases are 0."""
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                torch.nn.init.zeros_(parameter)
            else:
                bound = 1 / math.sqrt(max(1, parameter.shape[-1]))
                torch.nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (..., size), elements of the parameters. Returns the same shape."""
        rows = x.reshape(-1, self.size)
        logits = matmul(rows, self.router.mT, bias=self.router_bias, dtype=torch.float32)
        indices, weights = topk_router(logits, self.k, bias=self.choice_bias, **self.routing)
        routed = sort_by_expert(indices, self.experts)
        y = self._outputs(self._hidden(rows, routed), routed)
        shared = None
        if self.shared_gate is not None and self.shared_up is not None and self.shared_down is not None:
            shared = swiglu_mlp(rows, self.shared_gate, self.shared_up, self.shared_down)
        return combine_experts(y, weights, routed.positions, residual=shared).reshape(x.shape)

    def _hidden(self, x: torch.Tensor, routed: RoutedTokens) -> torch.Tensor:
        """The gated products, (tokens * k, intermediate): one launch without gradients, two with them."""
        if needs_gradient(x, self.gate_up, self.gate_up_bias):
            both = matmul_grouped(x, self.gate_up.mT, routed.offsets, gather=routed, bias=self.gate_up_bias)
            gate, up = self._gate_and_up(both, 1)
            return gated(gate, up, self.activation, **self.limits)  # type: ignore[no-any-return]
        gate, up = self._gate_and_up(self.gate_up, 1)
        biases = (None, None) if self.gate_up_bias is None else self._gate_and_up(self.gate_up_bias, 1)
        return gate_up_grouped(x, gate.mT, up.mT, routed.offsets, gather=routed, gate_bias=biases[0], up_bias=biases[1],
                               **self._gate())  # fmt: skip

    def _outputs(self, h: torch.Tensor, routed: RoutedTokens) -> torch.Tensor:
        """The experts' outputs, (tokens * k, size)."""
        return matmul_grouped(h, self.down.mT, routed.offsets, bias=self.down_bias)

    def _gate(self) -> dict[str, Any]:
        """The gate as functions take it."""
        activation, alpha = _WITH_ALPHA.get(self.activation, (self.activation, 1.0))
        return {"activation": activation, "alpha": alpha, **self.limits}

    def _gate_and_up(self, t: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The views of a tensor that holds both along `dim`."""
        if self.interleaved:
            pairs = t.unflatten(dim, (self.intermediate, 2))
            return pairs.select(dim + 1, 0), pairs.select(dim + 1, 1)
        return t.narrow(dim, 0, self.intermediate), t.narrow(dim, self.intermediate, self.intermediate)

    def extra_repr(self) -> str:
        shared = f", shared={self.shared_gate.shape[0]}" if self.shared_gate is not None else ""
        return f"{self.size}, {self.intermediate}, experts={self.experts}, k={self.k}{shared}"
