#!/usr/bin/env python3
"""Peers of the benchmark of attention over caches: for caches without pages torch's scaled_dot_product_attention by cuDNN, by
FlashAttention-2 and by its memory-efficient kernel; and FlashInfer if it is installed.

    peers.py [--seconds S] TYPE:BxSxHxHkvxD:WORK ...

The works are those of problem.hpp. bench/peer_times.py describes what is printed, and how it is measured. The plan that a peer
makes on the host before it runs is not timed.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all, runs_of  # noqa: E402


def parse(word):
    kind, sizes, work = word.split(":")
    batches, keys, heads, key_heads, size = (int(x) for x in sizes.split("x"))
    page = {"pages_16": 16, "pages_1": 1}.get(work, keys)
    return {"text": word, "type": kind, "batches": batches, "keys": keys, "heads": heads, "key_heads": key_heads,
            "size": size, "work": work, "page": page, "pages": -(-keys // page), "queries": 4 if work == "four" else 1}


def lengths(case):
    """The lengths of the sequences, as in problem.hpp."""
    state, result = 1, []
    for _ in range(case["batches"]):
        state = (state * 1664525 + 1013904223) % 2**32
        result.append(1 + (state * case["keys"] >> 32) if case["work"] == "lengths" else case["keys"])
    return result


# Each peer takes torch, a case and operands: q of (B, Sq, H, D), k and v of (pages or B, rows, heads, D). It returns the
# function that computes, or None.


def by_backend(name):
    def peer(torch, case, q, k, v):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.attention.bias import causal_lower_right
        if case["work"] not in ("contiguous", "four"):
            return None
        mask = causal_lower_right(4, case["keys"]) if case["work"] == "four" else None
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))

        def run():
            with sdpa_kernel(getattr(SDPBackend, name)):
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, attn_mask=mask, enable_gqa=case["heads"] != case["key_heads"])

        return run
    return peer


def flashinfer(torch, case, q, k, v):
    import flashinfer
    if case["type"] == "f32" or case["queries"] > 1:
        return None
    device, page = "cuda", 16 if case["page"] == case["keys"] else case["page"]
    if case["page"] == case["keys"]:  # as consecutive pages of 16
        if case["keys"] % page:
            return None
        k, v = (x.reshape(-1, page, *x.shape[2:]) for x in (k, v))
    pages = [-(-n // page) for n in lengths(case)]
    most = -(-case["keys"] // page)
    order = torch.arange(case["batches"] * most, dtype=torch.int32)
    if case["page"] != case["keys"]:
        order = order[torch.randperm(len(order))]
    indices = torch.cat([order[b * most:b * most + n] for b, n in enumerate(pages)]).to(device)
    indptr = torch.tensor([0, *pages], dtype=torch.int32).cumsum(0).to(torch.int32).to(device)
    last = torch.tensor([(n - 1) % page + 1 for n in lengths(case)], dtype=torch.int32, device=device)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(torch.empty(256 << 20, dtype=torch.uint8, device=device), "NHD")
    wrapper.plan(indptr, indices, last, case["heads"], case["key_heads"], case["size"], page, q_data_type=q.dtype,
                 kv_data_type=k.dtype)
    return lambda: wrapper.run(q[:, 0], (k, v))


peers = {"cudnn": by_backend("CUDNN_ATTENTION"), "flash": by_backend("FLASH_ATTENTION"),
         "efficient": by_backend("EFFICIENT_ATTENTION"), "flashinfer": flashinfer}


TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


def contestants(torch, case, options, sets_of):
    def tensor(*shape):
        return torch.randn((*shape, case["size"]), device="cuda", dtype=getattr(torch, TYPES[case["type"]]))

    places = case["batches"] * case["pages"]
    one_set = 2 * places * case["page"] * case["key_heads"] * case["size"] * (4 if case["type"] == "f32" else 2)
    inputs = [(tensor(case["batches"], case["queries"], case["heads"]), tensor(places, case["page"], case["key_heads"]),
               tensor(places, case["page"], case["key_heads"])) for _ in range(sets_of(one_set, 16))]
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
