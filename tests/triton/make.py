#!/usr/bin/env python3
"""Compiles the kernels of kernels.py with the Triton of this Python, without a GPU.

    make.py FOLDER    it gets NAME.sm_ARCH.ptx, and launch.json with what a launch needs
"""

import argparse
import inspect
import json
import pathlib
import re

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels


BOTH = {"product", "attention_rows"}  # sm_80 has other instructions for them


def compiled(row, arch):
    function, types, constants, warps, stages = row
    names = list(inspect.signature(function.fn).parameters)
    signature = dict(zip(names, types)) | {name: "constexpr" for name in constants}
    constant = {(names.index(name),): value for name, value in constants.items()}
    # The addresses of arrays are multiples of 16 bytes, as an allocator gives them.
    aligned = {(at,): [["tt.divisibility", 16]] for at, kind in enumerate(types) if kind.startswith("*")}
    source = ASTSource(function, signature=signature, constexprs=constant, attrs=aligned)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=dict(num_warps=warps, num_stages=stages))


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", type=pathlib.Path)
    given = words.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    launches = {}
    for row in kernels.KERNELS:
        name = row[0].__name__
        for arch in [80, 90] if name in BOTH else [90]:
            made = compiled(row, arch)
            # The text names the source by its folder on this machine.
            text = made.asm["ptx"].replace(f"{pathlib.Path(kernels.__file__).parent}/", "")
            text = re.sub(r'\"/[^"]*/', '"', text)
            (given.folder / f"{name}.sm_{arch}.ptx").write_text(text)
            launches[f"{name}.sm_{arch}"] = dict(
                threads=32 * made.metadata.num_warps, shared=made.metadata.shared,
                scratch=made.metadata.global_scratch_size, scratch_align=made.metadata.global_scratch_align)
    text = json.dumps(dict(triton=triton.__version__, launches=launches), indent=1, sort_keys=True)
    (given.folder / "launch.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
