#!/usr/bin/env python3
"""Peers of the attention benchmark: torch's scaled_dot_product_attention by cuDNN, by FlashAttention-2 and by its
memory-efficient kernel; FlexAttention under torch.compile; varlen_attn; and FlashAttention-3 if it is installed.

    peers.py [--seconds S] [--backward] TYPE:BxSxHxHkvxD:WORK ...

--backward times the gradients (backward_peers.py). The works are those of problem.hpp. bench/peer_times.py describes what is
printed, and how it is measured.
"""

import inspect
import pathlib
import sys

from backward_peers import peers_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all  # noqa: E402

WINDOW, SOFTCAP = 1024, 20.0


def parse(word):
    kind, sizes, work = word.split(":")
    batches, length, heads, key_heads, size = (int(x) for x in sizes.split("x"))
    return {"text": word, "type": kind, "batches": batches, "length": length, "heads": heads, "key_heads": key_heads,
            "size": size, "work": work, "causal": work in ("causal", "window", "causal_alibi", "varlen_causal"),
            "packed": work.startswith("varlen"), "grouped": heads != key_heads}


def documents(case):
    """The lengths of the documents, as in problem.hpp."""
    state, left, lengths = 1, case["length"] * (case["batches"] if case["packed"] else 1), []
    while left > 0:
        state = (state * 1664525 + 1013904223) % 2**32
        lengths.append(min(1 + (state >> 16) % 2047, left))
        left -= lengths[-1]
    return lengths


def mask_of(torch, case):
    """attn_mask: a bias of (1, heads, queries, keys), the padding of problem.hpp, or None."""
    batches, length = case["batches"], case["length"]
    if case["work"] == "bias":
        generator = torch.Generator(device="cuda")
        bias = torch.randn((1, case["heads"], length, length), device="cuda", generator=generator,
                           dtype=getattr(torch, TYPES[case["type"]]))
        return bias.expand(batches, -1, -1, -1)
    if case["work"] == "padding":
        kept = [length - batch * 7919 % (length // 2 + 1) for batch in range(batches)]
        keys = torch.arange(length, device="cuda")
        return (keys < torch.tensor(kept, device="cuda")[:, None])[:, None, None, :].expand(-1, -1, length, -1)
    return None


# Each peer takes torch and a case. It returns None, or a function of (q, k, v), each (B, S, H, D) or packed (rows, H, D).


def by_backend(name):
    def peer(torch, case):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        in_memory = case["work"] in ("bias", "padding")
        of_type = in_memory or (name == "EFFICIENT_ATTENTION") == (case["type"] == "f32")
        if case["work"] not in ("full", "causal", "bias", "padding") or not of_type:
            return None
        mask = mask_of(torch, case)

        def run(q, k, v):
            with sdpa_kernel(getattr(SDPBackend, name)):
                return torch.nn.functional.scaled_dot_product_attention(
                    q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask, is_causal=case["causal"],
                    enable_gqa=case["grouped"])

        return run
    return peer


def flex(torch, case):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    if case["packed"]:
        return None
    torch._dynamo.reset()  # compiled anew for each case, for its own extents
    document = torch.repeat_interleave(torch.tensor(documents(case), device="cuda"))
    slopes = torch.tensor([2.0**(-8 * (h + 1) / case["heads"]) for h in range(case["heads"])], device="cuda")
    masks = {"causal": lambda b, h, q, k: q >= k, "causal_alibi": lambda b, h, q, k: q >= k,
             "window": lambda b, h, q, k: (q >= k) & (q - k < WINDOW),
             "documents": lambda b, h, q, k: document[q] == document[k]}
    scores = {"softcap": lambda x, b, h, q, k: SOFTCAP * torch.tanh(x / SOFTCAP)}
    mask = mask_of(torch, case)
    if case["work"] == "bias":
        scores["bias"] = lambda x, b, h, q, k: x + mask[0, h, q, k]
    if case["work"] == "padding":
        masks["padding"] = lambda b, h, q, k: mask[b, 0, q, k]
    scores["alibi"] = scores["causal_alibi"] = lambda x, b, h, q, k: x - slopes[h] * (q - k).abs()
    work, length = case["work"], case["length"]
    batches = case["batches"] if work == "padding" else None
    blocks = create_block_mask(masks[work], batches, None, length, length, device="cuda") if work in masks else None
    compiled = torch.compile(flex_attention, dynamic=False)
    return lambda q, k, v: compiled(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), score_mod=scores.get(work),
                                    block_mask=blocks, enable_gqa=case["grouped"])


def sequences(torch, case):
    lengths = documents(case)
    begins = torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)
    return begins, max(lengths)


def varlen(torch, case):
    from torch.nn.attention.varlen import varlen_attn
    if not case["packed"] or case["type"] == "f32":
        return None
    begins, longest = sequences(torch, case)
    takes = inspect.signature(varlen_attn).parameters
    options = {"enable_gqa": True} if case["grouped"] and "enable_gqa" in takes else {}
    if case["causal"]:
        options.update({"is_causal": True} if "is_causal" in takes else {"window_size": (-1, 0)})
    return lambda q, k, v: varlen_attn(q, k, v, begins, begins, longest, longest, **options)


def flash_3(torch, case):
    from flash_attn_interface import flash_attn_func, flash_attn_varlen_func
    if case["work"] not in ("full", "causal", "window", "softcap", "varlen", "varlen_causal") or case["type"] == "f32":
        return None
    options = {"causal": case["causal"]}
    if case["work"] == "window":
        options["window_size"] = (WINDOW - 1, 0)
    if case["work"] == "softcap":
        options["softcap"] = SOFTCAP
    if not case["packed"]:
        return lambda q, k, v: flash_attn_func(q, k, v, **options)
    begins, longest = sequences(torch, case)
    return lambda q, k, v: flash_attn_varlen_func(q, k, v, begins, begins, longest, longest, **options)


peers = {"cudnn": by_backend("CUDNN_ATTENTION"), "flash": by_backend("FLASH_ATTENTION"),
         "efficient": by_backend("EFFICIENT_ATTENTION"), "flex": flex, "varlen": varlen, "flash_3": flash_3}


TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


def contestants(torch, case, options, sets_of):
    # A generator of its own: a peer that fails while it is captured leaves torch's default generator unusable.
    generator = torch.Generator(device="cuda")

    def tensor(heads):
        rows = (case["batches"] * case["length"],) if case["packed"] else (case["batches"], case["length"])
        x = torch.randn((*rows, heads, case["size"]), device="cuda", generator=generator)
        return x.to(getattr(torch, TYPES[case["type"]]))

    one_set = sum(x.numel() * x.element_size() for x in (tensor(case["heads"]), tensor(case["key_heads"]))) * 2
    inputs = [(tensor(case["heads"]), tensor(case["key_heads"]), tensor(case["key_heads"]))
              for _ in range(sets_of(one_set, 16))]

    def runs(peer):
        def make_runs():
            run = peer(torch, case)
            if run is None:
                return None
            return [run(*one) if options.backward else lambda one=one: run(*one) for one in inputs]
        return make_runs

    return {name: runs(peer) for name, peer in (peers_of(peers) if options.backward else peers).items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants, ["--backward"])
