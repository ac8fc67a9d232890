#!/usr/bin/env python3
"""Compares the library's attention kernels (tools/registry/kernels.txt) with the table of what each is for
(bench/results/attention_kernels.md). Each kernel must be in the table, with a device and calls that take it, and the table must
have no other kernels. A kernel that serves several element types, with and without lists of blocks, has a row for each."""

import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def variants_of(kernel):
    for mark, types in (("attention_mma_16bit_", ("f16", "bf16")), ("attention_simt_any_", ("f32", "f16"))):
        if kernel.startswith(mark):
            begin, end = mark.rsplit("_", 2)[0], kernel.removeprefix(mark)
            names = [f"{begin}_{t}_{end}" for t in types]
            blocks = [name.replace("_biased_band", "_general_blocks_band") for name in names]
            # Among the kernels of multiply-adds, only f32 has lists.
            return names + (blocks if "mma" in mark else blocks[:1])
    return [kernel]


def main():
    index = (root / "tools/registry/kernels.txt").read_text(encoding="utf-8").splitlines()
    families = ("attention_sm90_", "attention_mma_", "attention_simt_")
    found = [line.split()[0] for line in index if len(line.split()) > 1 and line.split()[1].startswith(families)]
    kernels = {variant for kernel in found for variant in variants_of(kernel)}
    rows = {}
    for line in (root / "bench/results/attention_kernels.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`"):
            rows[cells[0].strip("`")] = cells[1:]
    wrong = [f"{name}: not in the table; print it again: bench_attention --kernels" for name in sorted(kernels - set(rows))]
    wrong += [f"{name}: no kernel of the library" for name in sorted(set(rows) - kernels)]
    wrong += [f"{name}: taken by no call" for name, cells in sorted(rows.items()) if not all(cells)]
    print("\n".join([*wrong, f"{len(kernels)} kernels, {len(wrong)} wrong"]))
    return bool(wrong) or not kernels


if __name__ == "__main__":
    sys.exit(main())
