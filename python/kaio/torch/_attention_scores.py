"""Scores and masks by name: what users of FlexAttention write as functions, as the options of kaio's attention.

    attention(q, k, v, score="causal")
    attention(q, k, v, score={"alibi": True, "document": ids})

| name | value | FlexAttention |
| --- | --- | --- |
| none | | score |
| causal | True, "top_left", "bottom_right" | q_idx >= kv_idx |
| sliding_window | W, or (left, right) | q_idx - kv_idx < W, with causal |
| softcap | c | c * tanh(score / c) |
| alibi | slopes (H) or (B, H), or True | score - slope[h] * abs(q_idx - kv_idx) |
| bias | (B, H, Sq, Sk) or the last of these | score + bias[b, h, q_idx, kv_idx] |
| relative_bias | table (Sq + Sk - 1) or (H, Sq + Sk - 1) | score + table[h, kv_idx - q_idx + Sq - 1] |
| document | ids (S) or (B, S), or a pair for queries and keys | document[q_idx] == document[kv_idx] |
| prefix_lm | lengths (B), or a number | (kv_idx < prefix[b]) or (q_idx >= kv_idx) |
| keep | bool, as bias | mask[b, h, q_idx, kv_idx] |
| block_mask | kaio.BlockMask, or FlexAttention's | block_mask |

Scores are applied in the order softcap, alibi, bias, whatever the order of the names is. All masks must keep a key.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import torch

Tensor = torch.Tensor
Terms = dict[str, Any]


def alibi_slopes(heads: int, device: torch.device | str | None = None) -> Tensor:
    """The slopes of "Train Short, Test Long" (Press et al., 2022) for a number of heads: (heads), f32.

    2^(-8 h / heads), h from 1 on, if heads is a power of two. Else those of the next smaller power, and every second one of
    the next larger power after them.
    """
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
    slopes += [2.0 ** (-4.0 * h / power) for h in range(1, 2 * (heads - power), 2)]
    return torch.tensor(slopes, dtype=torch.float32, device=device)


def _refuse(name: str, what: str) -> ValueError:
    return ValueError(f"kaio: attention: score '{name}' {what}")


def _add(terms: Terms, name: str, bias: Tensor) -> None:
    terms["bias"] = bias if terms["bias"] is None else terms["bias"] + bias


def _mask(terms: Terms, keep: Tensor) -> None:
    terms["keep"] = keep if terms["keep"] is None else terms["keep"].bool() & keep


def _set(terms: Terms, name: str, value: Any, unset: Any) -> None:
    if value is not None and value is not True:
        terms[name] = value
    elif terms[name] is None or (unset is not None and terms[name] == unset):
        raise _refuse(name, f"has no value; write score={{'{name}': ...}}, or give {name} too")


def _causal(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    terms["causal"] = True if value is None else value


def _sliding_window(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    if value is None or value is True:
        raise _refuse("sliding_window", "has no value; it is the number of keys, a query's own one included, or (left, right)")
    terms["window"] = value if isinstance(value, (tuple, list)) else (value - 1, 0)


def _softcap(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    _set(terms, "softcap", value, 0.0)


def _alibi(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        terms["alibi"] = value
    elif terms["alibi"] is None:
        terms["alibi"] = alibi_slopes(q.shape[2], q.device)


def _bias(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        _add(terms, "bias", value)
    else:
        _set(terms, "bias", value, None)


def _relative_bias(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    queries, keys = q.shape[1], k.shape[1]
    if not isinstance(value, Tensor):
        raise _refuse("relative_bias", "has no table; it is a tensor of (Sq + Sk - 1), or (heads, Sq + Sk - 1)")
    if value.dim() not in (1, 2) or value.shape[-1] != queries + keys - 1:
        raise _refuse(
            "relative_bias", f"has a table of {tuple(value.shape)}; its last extent is {queries + keys - 1}, Sq + Sk - 1"
        )
    distance = torch.arange(keys, device=q.device)[None, :] - torch.arange(queries, device=q.device)[:, None] + (queries - 1)
    _add(terms, "relative_bias", value[..., distance])


def _document(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    pair = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    if not all(isinstance(ids, Tensor) and ids.dim() in (1, 2) for ids in pair):
        raise _refuse("document", "has no numbers; it is a tensor of (S) or (B, S), or a pair of these for queries and keys")
    for ids, of, what in ((pair[0], q, "queries"), (pair[1], k, "keys")):
        if ids.shape[-1] != of.shape[1]:
            raise _refuse("document", f"has {ids.shape[-1]} numbers, and there are {of.shape[1]} {what}")
    of_q, of_k = (ids if ids.dim() == 2 else ids[None] for ids in pair)
    _mask(terms, (of_q[:, None, :, None] == of_k[:, None, None, :]))


def _prefix_lm(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    if value is None or value is True:
        raise _refuse("prefix_lm", "has no value; it is the length of the prefix, a number or a tensor of (B)")
    key = torch.arange(k.shape[1], device=q.device)
    query = torch.arange(q.shape[1], device=q.device) + (k.shape[1] - q.shape[1])
    length = value[:, None, None, None] if isinstance(value, Tensor) and value.dim() == 1 else value
    _mask(terms, (key < length) | (key[None, :] <= query[:, None]))


def _keep(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        _mask(terms, value.bool())
    else:
        _set(terms, "keep", value, None)


def _block_mask(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    _set(terms, "block_mask", value, None)


def _none(terms: Terms, q: Tensor, k: Tensor, value: Any) -> None:
    pass


_SCORES: dict[str, Callable[[Terms, Tensor, Tensor, Any], None]] = {
    "alibi": _alibi, "bias": _bias, "block_mask": _block_mask, "causal": _causal, "document": _document, "keep": _keep,
    "none": _none, "prefix_lm": _prefix_lm, "relative_bias": _relative_bias, "sliding_window": _sliding_window,
    "softcap": _softcap,
}  # fmt: skip

# The names that `score` of attention takes. This module's text has their values.
SCORES = tuple(sorted(_SCORES))


def apply_scores(score: str | Sequence[str] | Mapping[str, Any], terms: Terms, q: Tensor, k: Tensor) -> tuple[Any, ...]:
    """The options of attention with the named scores: causal, window, softcap, alibi, bias, keep, block_mask."""
    if isinstance(score, str):
        score = (score,)
    if not isinstance(score, (Mapping, tuple, list)):
        raise TypeError(
            f"kaio: attention: argument score is a {type(score).__name__}; it is a name, several names, or a dict of names and "
            f"values. Functions cannot be traced here; the names are {', '.join(SCORES)}"
        )
    for name in score:
        if name not in _SCORES:
            raise ValueError(f"kaio: attention: argument score has the name {name!r}; known names are {', '.join(SCORES)}")
        _SCORES[name](terms, q, k, score[name] if isinstance(score, Mapping) else None)
    return tuple(terms[name] for name in ("causal", "window", "softcap", "alibi", "bias", "keep", "block_mask"))
