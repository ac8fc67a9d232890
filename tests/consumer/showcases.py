#!/usr/bin/env python3
"""A folder of showcase/ can be copied out of the tree: alone in a folder of its own it builds against an installed kaio, by its own
CMakeLists.txt, and its program is right on the emulator. It notices a wrong result too: a second copy, with a fault in its kernel or
in what it gives to an operation, has to end with 1 and to print FAIL.

    showcases.py --prefix INSTALLED --work FOLDER [--turn N] [--all] [NAME...]

A copy sees the installed headers, and no file of the tree. Its files compile without a warning. --turn N: one showcase. One that
needs a part which the install lacks is left out.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
warnings = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"

# The fault of each showcase: the file, the right text, the wrong text.
faults = {
    "attention": ("attention.hpp", ".causal = causal_alignment::bottom_right", ""),
    "decoder_layer": ("layer.hpp", ".epsilon = epsilon", ".epsilon = epsilon + 1.0f"),
    "fused_silu_gate": ("fused_silu_gate.hpp", "1.0f + exp(-xs[k])", "1.0001f + exp(-xs[k])"),
    "gelu_comparison": ("gelu_comparison.hpp", "0.044715f", "0.0448f"),
    "generation": ("kernels.hpp", "static_cast<f32>(hidden) + epsilon", "static_cast<f32>(hidden) * 1.2f + epsilon"),
    "histogram": ("histogram.hpp", "n / 16 * 16 + cast<u64>(t.grid_rank())", "n / 16 * 16 + 1 + cast<u64>(t.grid_rank())"),
    "int4_matmul": ("int4_matmul.cpp", "nibble << (4 * (i % 8))", "nibble << (4 * ((i + 1) % 8))"),
    "int8_dequant": ("int8_dequant.hpp", "number(0), number(1)", "number(1), number(0)"),
    "int8_matmul": ("int8_matmul.cpp", ".alpha = qa.scale * qw.scale", ".alpha = qa.scale * qw.scale * 1.0001f"),
    "layer_norm": ("layer_norm.hpp", "rsqrt(variance + epsilon)", "rsqrt(variance * 1.001f + epsilon)"),
    "llama": ("generator.hpp", "{.epsilon = shape.epsilon, .residual", "{.epsilon = shape.epsilon + 1.0f, .residual"),
    "quantised_linear": ("files.hpp", "(static_cast<u32>(zeros[f]) - 1) & 15u", "static_cast<u32>(zeros[f]) & 15u"),
    "quantized_attention": ("quantized_attention.cpp", "weights{w4_weights{shape, packed[0]}", "weights{w4_weights{shape, packed[1]}"),
    "reduction": ("reduction.hpp", "val of_block =", "mine += select(t.grid_rank() == 0, 1.0f, 0.0f);\n      val of_block ="),
    "ring_attention": ("ring_attention.cpp", "= context_rows_of(context_layout::zigzag,", "= context_rows_of(context_layout::contiguous,"),
    "rms_norm": ("rms_norm.hpp", "+ epsilon)", "* 1.0001f + epsilon)"),
    "row_attention": ("row_attention.hpp", "sum / softmax.sum()", "sum / (softmax.sum() * 1.001f)"),
    "saxpy": ("saxpy.hpp", "+= a * x[i]", "+= a * x[i] * 1.00001f"),
    "softmax": ("softmax.hpp", "sum += exp(x[row + cast<u64>(c)] - m)", "sum += 0.999f * exp(x[row + cast<u64>(c)] - m)"),
    "statistics": ("statistics.hpp", "distance * distance * a.count * share", "distance * distance * a.count"),
    "transpose": ("transpose.hpp", "tile[lane][first + k];", "tile[lane][(first + k) ^ 1u];"),
}


def names():
    return sorted(file.parent.name for file in (root / "showcase").glob("*/CMakeLists.txt"))


def lacks(name, prefix):
    """The parts of kaio that a showcase asks for and an install does not have."""
    found = re.search(r"find_package\(kaio [\d.]+ REQUIRED(?: COMPONENTS ([a-z ]+))?\)", (root / "showcase" / name / "CMakeLists.txt").read_text())
    return [part for part in (found[1] or "").split() if not list(prefix.rglob(f"libkaio_{part}.*"))]


def run(*command, **more):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], **more)


def build(copy, arguments):
    """Whether a copy is built; its program is build/NAME."""
    configured = run(arguments.cmake, "-S", copy, "-B", copy / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                     f"-DCMAKE_CXX_COMPILER={arguments.compiler}", f"-DCMAKE_CXX_FLAGS={arguments.flags} {warnings}",
                     f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}", f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
    return configured.returncode == 0 and run(arguments.cmake, "--build", copy / "build").returncode == 0


def program(copy, name):
    done = run(copy / "build" / name, cwd=copy, capture_output=True, text=True, env={**os.environ, "KAIO_DEVICE": "emulator"})
    print(done.stdout + done.stderr, flush=True)
    return done


def problem_of(name, arguments):
    """What is wrong with a showcase; nothing if all is well."""
    copy = arguments.work / name
    shutil.copytree(root / "showcase" / name, copy)
    if not build(copy, arguments):
        return "a copy does not build"
    done = program(copy, name)
    if done.returncode != 0:
        return f"a copy ends with {done.returncode}"
    heading = f"GPU: emulator\nCompute capability: sm_90\n=== {name} ===\n"
    if not done.stdout.startswith(heading):
        return "a copy does not begin with the device and its name"
    if not (copy / "README.md").read_text().startswith(f"# {name}\n") or f"build/{name} " not in (copy / "README.md").read_text():
        return "README.md has no command"
    file, right, wrong = faults[name]
    text = (copy / file).read_text()
    if right not in text:
        return f"{file} has no '{right}' to replace; name another fault in {pathlib.Path(__file__).name}"
    (copy / file).write_text(text.replace(right, wrong))
    if not build(copy, arguments):
        return "a copy with a fault does not build"
    done = program(copy, name)
    if done.returncode != 1 or "FAIL" not in done.stdout:
        return f"a copy with a fault ends with {done.returncode} and must end with 1"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these showcases; all, if there is none")
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where kaio is installed")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="the build folder; it is emptied first")
    parser.add_argument("--turn", type=int)
    parser.add_argument("--all", action="store_true", help="all showcases, as without --turn")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="")
    parser.add_argument("--launcher", default="", help="ccache, or nothing")
    arguments = parser.parse_args()
    arguments.prefix, arguments.work = arguments.prefix.resolve(), arguments.work.resolve()
    if set(faults) != set(names()):
        sys.exit(f"failed: not every showcase has one fault here: {' '.join(sorted(set(faults) ^ set(names())))}")
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        sys.exit(f"kaio: there is no showcase '{unknown[0]}'; there are: {' '.join(names())}")
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    chosen = arguments.names or names()
    if arguments.turn is not None and not arguments.all:
        chosen = [chosen[arguments.turn % len(chosen)]]
    right, failed = [], []
    for name in chosen:
        missing = lacks(name, arguments.prefix)
        if missing:
            print(f"{name}: left out, since {arguments.prefix} has no {' and no '.join(missing)}")
            continue
        problem = problem_of(name, arguments)
        (failed if problem else right).append(name)
        if problem:
            print(f"{name}: {problem}", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    print(f"right: {', '.join(right)}" if right else "skipped: the install lacks what these showcases need")
    return 0 if right else 77


if __name__ == "__main__":
    sys.exit(main())
