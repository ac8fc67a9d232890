"""Attention as its formula says it, in f64, for tests: every option, differentiable by torch."""

from __future__ import annotations

import torch


def kept(queries, keys, causal=None, window=(-1, -1), device="cpu"):
    """The causal mask and the window: bool of (queries, keys)."""
    i = torch.arange(queries, device=device)[:, None]
    j = torch.arange(keys, device=device)[None, :]
    own = i if causal == "top_left" else i + keys - queries
    keep = torch.ones(queries, keys, dtype=torch.bool, device=device)
    if causal:
        keep &= j <= own
    if window[0] >= 0:
        keep &= j >= own - window[0]
    if window[1] >= 0:
        keep &= j <= own + window[1]
    return keep


def reference(q, k, v, causal=None, window=(-1, -1), softcap=0.0, scale=None, alibi=None, bias=None, keep=None, sinks=None,
              dtype=torch.float64, extra=None):  # fmt: skip
    """out (B, Sq, Hq, Dv) and lse (B, Hq, Sq) of q (B, Sq, Hq, D), k (B, Sk, Hkv, D), v (B, Sk, Hkv, Dv)."""
    causal = "bottom_right" if causal is True else causal
    queries, heads, keys = q.shape[1], q.shape[2], k.shape[1]
    group = heads // k.shape[2]
    qh = q.to(dtype).transpose(1, 2)
    kh = k.to(dtype).transpose(1, 2).repeat_interleave(group, 1)
    vh = v.to(dtype).transpose(1, 2).repeat_interleave(group, 1)
    x = qh @ kh.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if extra is not None:
        x = x + extra
    if softcap:
        x = softcap * torch.tanh(x / softcap)
    i = torch.arange(queries, device=q.device)[:, None]
    j = torch.arange(keys, device=q.device)[None, :]
    if alibi is not None:
        slopes = alibi.to(dtype).reshape(-1, heads)[:, :, None, None]
        x = x - slopes * (i + keys - queries - j).abs()
    if bias is not None:
        x = x + bias.to(dtype)
    mask = kept(queries, keys, causal, window, q.device)
    mask = mask.expand(x.shape) if keep is None else mask & keep.bool().expand(x.shape)
    x = torch.where(mask, x, float("-inf"))
    if sinks is not None:
        x = torch.cat([x, sinks.to(dtype).reshape(1, heads, 1, 1).expand(*x.shape[:3], 1)], -1)
    if x.shape[-1]:
        some = torch.isfinite(x).any(-1, keepdim=True)
        lse = torch.where(some, torch.logsumexp(torch.where(some, x, 0.0), -1, keepdim=True), float("-inf"))
    else:
        some = torch.zeros((*x.shape[:3], 1), dtype=torch.bool, device=q.device)
        lse = torch.full((*x.shape[:3], 1), float("-inf"), dtype=dtype, device=q.device)
    p = torch.where(some, torch.exp(x - torch.where(some, lse, 0.0)), 0.0)[..., :keys]
    # A masked key counts for nothing, whatever its value is.
    used = mask.any(-2)[..., None]
    out = torch.where(mask, p, 0.0) @ torch.where(used, vh, 0.0)
    return out.transpose(1, 2), lse[..., 0]


def close(got, want, tolerance, what=""):
    """Fails unless all numbers are within tolerance * (1 + abs(want)), with equal infinities."""
    assert got.shape == want.shape, f"{what}: shape {tuple(got.shape)} instead of {tuple(want.shape)}"
    got, want = got.double(), want.double()
    infinite = torch.isinf(want)
    assert torch.equal(torch.isinf(got), infinite) and torch.equal(got[infinite], want[infinite]), f"{what}: other infinities"
    assert not torch.isnan(got).any(), f"{what}: NaN"
    error = ((got - want).abs() / (1 + want.abs()))[~infinite]
    assert error.numel() == 0 or error.max() <= tolerance, f"{what}: error {error.max():.3g} above {tolerance:.3g}"


TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
GRADIENT_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 8e-2}
