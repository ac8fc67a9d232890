#!/usr/bin/env python3
"""Calls of operations in a trace: their names, their arguments with types and shapes, and the kernels that they launched.

usage: trace_ops_test.py OPS          the program of tests/ops
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# A case of tests/ops, and what each of its operations must have.
CASES = {
    "rms_norm: f16": ("rms_norm", {"x", "weight", "out"}),
    "matmul: the same bits in every run": ("matmul", {"a", "b", "c"}),
    "attention: the call that the next cases change is right": ("attention", {"q", "k", "v", "out"}),
}


def operations_of(program, case):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "trace.json")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("KAIO_")}
        subprocess.run([program, case], env=kept | {"KAIO_DEVICE": "emulator", "KAIO_TRACE": str(file)}, check=True, timeout=240,
                       stdout=subprocess.DEVNULL)
        slices = [e for e in json.loads(file.read_text())["traceEvents"] if e["ph"] == "X"]
    return [s for s in slices if s["cat"] == "operation"], {s["name"] for s in slices if s["pid"] != 1 and s["cat"] == "kernel"}


def main():
    failed = []
    for case, (name, arguments) in CASES.items():
        operations, kernels = operations_of(sys.argv[1], case)
        print(f"{case}: {len(operations)} operations, {len(kernels)} kernels")
        if not any(o["name"] == name for o in operations):
            failed.append(f"{case}: no {name}")
        for o in operations:
            if o["args"].get("failed"):
                continue
            given = {k: v for k, v in o["args"].items() if k not in ("kernels", "workspace bytes")}
            if o["name"] == name and not arguments <= given.keys():
                failed.append(f"{case}: {o}")
            if not all(re.fullmatch(r"([a-z0-9]+ )?\d+( x \d+)*", form) for form in given.values()):
                failed.append(f"{case}: an argument's form: {o}")
            if not set(o["args"]["kernels"]) <= kernels:
                failed.append(f"{case}: a kernel that ran nowhere: {o}")
            if o["name"] == name and not o["args"]["kernels"] and " 0 " not in str(given):
                failed.append(f"{case}: no kernel: {o}")
    print("\n".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
