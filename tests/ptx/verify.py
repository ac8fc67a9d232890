#!/usr/bin/env python3
"""Assembles every dumped kernel with ptxas at -O0 and at -O3, for each target that it runs on.

    kaio-kernels dump DIR && verify.py DIR

The targets are those that the manifest claims, and every newer one that a ptxas here knows. Prints registers, spills and shared
memory. At -O3 a kernel fails if it spills, or if ptxas reports that its wgmma must be serialized or waited for.
Then prints what was not verified, with the reason, and 'N passed, N failed, N not verified'. --require fails on the last.
ptxas comes from KAIO_PTXAS (several paths may be joined with ':'), from CUDA toolkits and from PATH. The newest that knows a
target assembles for it: ptxas 13 no longer knows sm_70, ptxas 12 does. Exits with 77 if nothing can be verified here.
"""

import argparse
import collections
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

help_of_program = """Assembles every kernel of the program with ptxas at -O0 and at -O3, for each target that it runs on: those
that kaio claims, and every newer one that a ptxas here knows. A kernel fails if ptxas refuses it, if it spills, or if its wgmma
must wait. The last line is 'N passed, N failed, N not verified'."""
epilog_of_program = """ptxas comes from KAIO_PTXAS (several paths may be joined with ':'), from CUDA toolkits and from PATH.
Exit codes: 0 all passed; 1 a failure, or with --require a case that is not verified; 77 nothing can be verified here."""


def architecture(target):
    """(sm, suffix) of a target."""
    sm, suffix = re.fullmatch(r"sm_(\d+)([af]?)", target).groups()
    return int(sm), suffix


def target_name(text):
    if not re.fullmatch(r"sm_\d+[af]?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no target; write one such as sm_90 or sm_90a")
    return text


def runs_on(kernel, target):
    """Whether a target executes the kernel. Code for an arch-specific target (sm_90a) runs on that alone."""
    sm, suffix = architecture(kernel["target"])
    if suffix:
        return target == kernel["target"]
    return architecture(target)[0] >= sm


def all_targets(kernel, assemblers):
    """The targets that the manifest claims, and plain newer ones that a ptxas here knows."""
    known = {target for one in assemblers for target in one.targets if re.fullmatch(r"sm_\d+", target)}
    return sorted({*kernel["targets"], *(target for target in known if runs_on(kernel, target))}, key=architecture)


def reason_of(target, assemblers):
    if not assemblers:
        return "there is no ptxas here; set KAIO_PTXAS, or install a CUDA toolkit"
    releases = ", ".join("{}.{}".format(*one.release) for one in assemblers)
    return f"ptxas {releases} does not know it"


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
    """sm_90, whose code cmake/precompile.py keeps, and one other target."""
    if turn is None or len(targets) < 3:
        return targets
    always = "sm_90" if "sm_90" in targets else targets[-1]
    others = [target for target in targets if target != always]
    return [others[turn % len(others)], always]


def read_spills(file):
    """(first target, bytes) of each kernel that may spill: lines 'KERNEL TARGET BYTES', and comments. *: any kernel."""
    rows = [line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")] if file else []
    return {name: (target, int(size)) for name, target, size in rows}


def may_spill(accepted, name, target):
    rows = [accepted[of] for of in (name, "*") if of in accepted]
    return max((size for first, size in rows if architecture(target) >= architecture(first)), default=0)


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def read_arguments():
    # A program of kaio_add_ptx_tool passes its own name: its help shows that, and no folder.
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--program")
    program = first.parse_known_args()[0].program
    inside = argparse.SUPPRESS if program else None
    parser = argparse.ArgumentParser(prog=program, description=help_of_program if program else __doc__,
                                     epilog=epilog_of_program if program else None,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help=inside or "what `kaio-kernels dump` wrote")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--require", action="store_true", help="fail if anything is not verified")
    parser.add_argument("--target", action="append", type=target_name, metavar="sm_NN",
                        help="instead of all targets; may be repeated. Kernels for newer ones are not verified")
    parser.add_argument("--level", action="append", metavar="-ON",
                        help="instead of -O0 and -O3; may be repeated: --level=-O3")
    parser.add_argument("--claimed", action="store_true", help=inside or "only the targets of the manifest")
    parser.add_argument("--turn", type=int, help=inside or "for each kernel, only sm_90 and one other target that this number "
                        "chooses; -O0 only for sm_90 and a third of the kernels")
    parser.add_argument("--kept", type=pathlib.Path, help=inside or "the folder cubin of cmake/precompile.py; code that it has "
                        "is not assembled again")
    parser.add_argument("--may-spill", action="store_true", help="do not fail if a kernel spills")
    parser.add_argument("--spills", type=pathlib.Path, metavar="FILE",
                        help="lines 'KERNEL TARGET BYTES': what a kernel may spill for this target and newer ones")
    parser.add_argument("--brief", action="store_true", help="print failures only")
    return parser.parse_args()


def targets_of(kernel, assemblers, arguments):
    if arguments.target:
        return [target for target in arguments.target if runs_on(kernel, target)]
    return of_turn(kernel["targets"] if arguments.claimed else all_targets(kernel, assemblers), arguments.turn)


def print_missing(missing):
    """What was not verified: a line for each target and reason, with some of its kernels."""
    for (target, reason), kernels in sorted(missing.items()):
        names = sorted(set(kernels))
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        print(f"not verified: {target}: {reason} ({len(names)} kernel{'s' * (len(names) > 1)}: {shown})")


def main():
    arguments = read_arguments()
    manifest = json.loads((arguments.folder / "manifest.json").read_text())
    assemblers = find_assemblers()
    accepted = read_spills(arguments.spills)
    for target in arguments.target or []:
        if not any(runs_on(kernel, target) for kernel in manifest["kernels"]):
            sys.exit(f"kaio: --target {target}: no kernel here runs on it")

    cases, missing = [], collections.defaultdict(list)  # (target, reason) -> a kernel's name for each case
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for index, kernel in enumerate(manifest["kernels"]):
            targets = targets_of(kernel, assemblers, arguments)
            if not targets:
                missing[kernel["target"], "--target names none that runs it"].append(kernel["name"])
            for target in targets:
                ptxas = next((one for one in assemblers if target in one.targets), None)
                for level in arguments.level or levels:
                    if arguments.turn is not None and level == "-O0" and (target != targets[-1]
                                                                         or (arguments.turn + index) % 3):
                        continue
                    if ptxas is None:
                        missing[target, reason_of(target, assemblers)].append(kernel["name"])
                        continue
                    job = pool.submit(assemble, ptxas, arguments.folder / kernel["file"], target, level,
                                      arguments.kept)
                    cases.append((kernel["name"], target, level, ptxas, job))

        failed = 0
        if cases:
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
            elif spilled > may_spill(accepted, name, target) and level == "-O3" and not arguments.may_spill:
                problem = "FAIL: a kernel must not spill"
            elif level == "-O3" and re.search(r"\(C75(10|14|17)\)", said):
                problem = "FAIL: ptxas makes wgmma wait\n    " + said.strip().replace("\n", "\n    ")
            failed += bool(problem)
            if problem or not arguments.brief:
                print(f"{row} {registers:9} {spilled:8} {shared:9} {problem}".rstrip())
    print_missing(missing)
    left = sum(map(len, missing.values()))
    print(f"{len(cases) - failed} passed, {failed} failed" + (f", {left} not verified" if left else ""))
    if left and arguments.require:
        print("kaio: --require: all of these have to be verified; name in KAIO_PTXAS a ptxas that knows the targets (several "
              "paths are joined with ':'), or choose targets with --target", file=sys.stderr)
    if failed or (left and arguments.require):
        return 1
    if not cases and left:
        print("skipped: nothing can be verified here")
        return 77
    return 0 if cases else 1


if __name__ == "__main__":
    sys.exit(main())
