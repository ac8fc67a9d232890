"""kaio as an attention implementation of Hugging Face transformers.

kaio.torch.register_transformers()
model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="kaio")
"""

from __future__ import annotations

from typing import Any

import torch

from ._attention import attention
from ._matmul import autocast

Tensor = torch.Tensor


def attention_forward(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Any, scaling: float | None = None,
    dropout: float = 0.0, sliding_window: int | None = None, softcap: float | None = None, s_aux: Tensor | None = None,
    is_causal: bool | None = None, position_bias: Tensor | None = None, **others: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """An attention function of transformers: query (B, Hq, Sq, D), key and value (B, Hkv, Sk, D).

    attention_mask: None: causal if the module is, with its sliding window; bool of (B, 1, Sq, Sk): True keeps a key; a float
        mask is added; (B, Sk): the padding of the keys, next to the causal mask. Masks of four dimensions hold all there is:
        the causal mask and the sliding window are then not applied.
    dropout: has to be 0
    s_aux: sinks, (Hq)

    Returns (out, None): out is (B, Sq, Hq, D).
    """
    if dropout:
        raise NotImplementedError(
            f"kaio: transformers: argument dropout is not 0 but {dropout}; kaio has no dropout in attention. Make the model with "
            "attention_dropout=0 (attn_pdrop, attention_probs_dropout_prob) in its configuration, or call model.eval()"
        )
    if others.get("output_attentions"):
        raise NotImplementedError("kaio: transformers: output_attentions needs attn_implementation='eager'")
    query, key, value = autocast(query, key, value)
    queries, keys = query.shape[2], key.shape[2]
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    bias = keep = None
    band: dict[str, Any] = {}
    if attention_mask is not None and attention_mask.dim() == 4:
        mask = attention_mask[..., :keys]
        if mask.is_floating_point():
            bias = mask
        else:
            keep = mask.bool()
    else:
        if attention_mask is not None:
            keep = attention_mask[:, None, None, :keys].bool()
        if causal:
            band = {"causal": "bottom_right", "window": (-1 if sliding_window is None else sliding_window - 1, 0)}
            if queries > 1 and keys > queries and attention_mask is None:
                # torch's rule for a mask that is left out: an empty static cache, whose later keys do not count yet.
                key, value = key[:, :, :queries], value[:, :, :queries]
        elif sliding_window is not None:
            band = {"window": (sliding_window - 1, sliding_window - 1)}
    if position_bias is not None:
        position_bias = position_bias[..., : key.shape[2]]
        bias = position_bias if bias is None else bias + position_bias
    if bias is not None and bias.dtype not in (torch.float32, query.dtype):
        bias = bias.to(query.dtype)
    sinks = None if s_aux is None else s_aux.reshape(-1)
    out = attention(
        query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), scale=scaling, softcap=softcap or 0.0, bias=bias,
        keep=keep, sinks=sinks, **band,
    )  # fmt: skip
    return out, None


def register_transformers(name: str = "kaio") -> None:
    """Makes attn_implementation="kaio" known to transformers: masks, GQA, sliding windows, soft caps and sinks of its models.

    Masks are those of "sdpa": none where a causal mask suffices, else bool.
    Raises ImportError if transformers is not installed or has no AttentionInterface (4.48 and later have).
    """
    from transformers import AttentionInterface

    AttentionInterface.register(name, attention_forward)
    try:
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, AttentionMaskInterface
    except ImportError:  # older versions choose masks by the names of their own implementations
        return
    AttentionMaskInterface.register(name, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
