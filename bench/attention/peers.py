#!/usr/bin/env python3
"""The peers of the benchmark of attention: torch's scaled_dot_product_attention by cuDNN and by FlashAttention. Prints a
line for each case, contestant and protocol: CASE NAME VERSION PROTOCOL MICROSECONDS. A peer that is not installed, or
cannot compute a case, prints none.

    peers.py [--seconds S] TYPE:BxSxHxHkvxD:causal|full ...

The protocols are those of the benchmark of matmul, whose measurement this uses.
"""

import argparse
import importlib.util
import pathlib
import sys

matmul = pathlib.Path(__file__).resolve().parent.parent / "matmul" / "peers.py"
specification = importlib.util.spec_from_file_location("matmul_peers", matmul)
matmul_peers = importlib.util.module_from_spec(specification)
specification.loader.exec_module(matmul_peers)


def parse(word):
    kind, sizes, mask = word.split(":")
    batches, length, heads, key_heads, size = (int(x) for x in sizes.split("x"))
    return {"text": word, "type": kind, "batches": batches, "length": length, "heads": heads, "key_heads": key_heads,
            "size": size, "causal": mask == "causal"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    try:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    backends = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
                "efficient": SDPBackend.EFFICIENT_ATTENTION}
    types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
    cache = 2 * torch.cuda.get_device_properties(0).L2_cache_size
    displaced = torch.empty(max(cache, 128 << 20) // 4, device="cuda").zero_()
    flush = lambda: displaced.sum()
    for case in map(parse, options.cases):
        def tensor(heads):
            shape = (case["batches"], case["length"], heads, case["size"])
            return torch.randn(shape, device="cuda").to(types[case["type"]]).transpose(1, 2)
        one_set = sum(x.numel() * x.element_size() for x in (tensor(case["heads"]), tensor(case["key_heads"]))) * 2
        sets = min(max(-(-cache // one_set), 1), 16)
        inputs = [(tensor(case["heads"]), tensor(case["key_heads"]), tensor(case["key_heads"])) for _ in range(sets)]
        for name, backend in backends.items():
            if name == "efficient" and case["type"] != "f32":
                continue
            try:
                def run_of(q, k, v):
                    return lambda: torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=case["causal"], enable_gqa=case["heads"] != case["key_heads"])
                with sdpa_kernel(backend):
                    times = matmul_peers.median_us(torch, [run_of(*one) for one in inputs], options.seconds, flush)
            except Exception as error:  # a case that the peer does not have
                text = str(error).splitlines()[0] if str(error) else repr(error)
                print(f"peers.py: {name} {case['text']}: {text}", file=sys.stderr)
                continue
            for protocol, us in zip(("cold", "burst"), times):
                print(case["text"], name, torch.__version__, protocol, f"{us:.4f}", flush=True)


if __name__ == "__main__":
    main()
