#!/usr/bin/env python3
"""Each kernel of attention that the library has (tools/registry/kernels.txt) is in the table of what it is for
(bench/results/attention_kernels.md), with a device and calls that take it, and no other is."""

import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def main():
    index = (root / "tools/registry/kernels.txt").read_text(encoding="utf-8").splitlines()
    families = ("attention_sm90_", "attention_mma_", "attention_simt_")
    kernels = {line.split()[0] for line in index if len(line.split()) > 1 and line.split()[1].startswith(families)}
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
