#!/usr/bin/env python3
"""Assembles every dumped kernel with ptxas, for every target that it claims, at -O0 and at -O3.

    kaio-kernels dump DIR && verify.py DIR

Prints registers, spills and shared memory, then 'N passed, N failed'. At -O3 a kernel fails if it spills, or if ptxas
reports that its wgmma must be serialized or waited for.
ptxas comes from KAIO_PTXAS (several paths may be joined with ':'), from CUDA toolkits and from PATH. The newest that
knows a target assembles for it: ptxas 13 no longer knows sm_70, ptxas 12 does. Exits with 77 if there is none.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "cmake")]  # installed, and in the repository
from ptxas import find_assemblers, name_of_code  # noqa: E402

levels = ["-O0", "-O3"]


def assemble(ptxas, file, target, level, kept):
    """(exit code, output of ptxas). If cmake/precompile.py has assembled the kernel, returns the output that it kept."""
    if kept and level == "-O3":
        said = kept / f"{name_of_code(ptxas, target, file)}.txt"
        if said.exists():
            return 0, said.read_text()
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        done = subprocess.run([ptxas.path, "-v", f"-arch={target}", level, str(file), "-o", cubin.name],
                              capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def of_turn(targets, turn):
    if turn is None or len(targets) < 3:
        return targets
    return [targets[turn % (len(targets) - 1)], targets[-1]]


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what `kaio-kernels dump` wrote")
    parser.add_argument("--target", action="append", help="instead of the targets that each kernel claims")
    parser.add_argument("--level", action="append", help="instead of -O0 and -O3")
    parser.add_argument("--turn", type=int, help="for each kernel, only its last target and one other that this "
                        "number chooses; -O0 only for the last target of a third of the kernels")
    parser.add_argument("--kept", type=pathlib.Path, help="the folder cubin of cmake/precompile.py; code that it has is not "
                        "assembled again")
    parser.add_argument("--may-spill", action="store_true", help="do not fail if a kernel spills")
    parser.add_argument("--brief", action="store_true", help="print failures only")
    arguments = parser.parse_args()
    manifest = json.loads((arguments.folder / "manifest.json").read_text())
    assemblers = find_assemblers()
    if not assemblers:
        print("skipped: no ptxas here; set KAIO_PTXAS, or install a CUDA toolkit")
        return 77

    cases, unknown = [], set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for index, kernel in enumerate(manifest["kernels"]):
            targets = arguments.target or of_turn(kernel["targets"], arguments.turn)
            for target in targets:
                ptxas = next((one for one in assemblers if target in one.targets), None)
                if ptxas is None:
                    unknown.add(target)
                    continue
                for level in arguments.level or levels:
                    if arguments.turn is not None and level == "-O0" and (target != targets[-1]
                                                                         or (arguments.turn + index) % 3):
                        continue
                    job = pool.submit(assemble, ptxas, arguments.folder / kernel["file"], target, level,
                                      arguments.kept)
                    cases.append((kernel["name"], target, level, ptxas, job))

        failed = 0
        print(f"{'kernel':32} {'target':8} {'level':5} {'ptxas':6}"
              f" {'registers':>9} {'spill B':>8} {'shared B':>9}")
        for name, target, level, ptxas, result in cases:
            code, said = result.result()
            row = f"{name:32} {target:8} {level:5} {ptxas.release[0]}.{ptxas.release[1]:<3}"
            registers = number(r"Used (\d+) registers", said)
            spilled = number(r"(\d+) bytes spill stores", said) + number(r"(\d+) bytes spill loads", said)
            shared = number(r"(\d+) bytes smem", said)
            problem = ""
            if code != 0:
                problem = "FAIL\n    " + said.strip().replace("\n", "\n    ")
            elif spilled and level == "-O3" and not arguments.may_spill:
                problem = "FAIL: a kernel must not spill"
            elif level == "-O3" and re.search(r"\(C75(10|14|17)\)", said):
                problem = "FAIL: ptxas makes wgmma wait\n    " + said.strip().replace("\n", "\n    ")
            failed += bool(problem)
            if problem or not arguments.brief:
                print(f"{row} {registers:9} {spilled:8} {shared:9} {problem}".rstrip())
    for target in sorted(unknown):
        print(f"skipped: {target}: no ptxas here knows it")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
