#!/usr/bin/env python3
"""How the house is built: ptx <- dsl <- ops -> runtime -> {ptx, emulator}, emulator -> ptx, and floors inside each wing.

- Every folder below include/kaio and src has a floor in the list of its wing. A file includes files of its own floor and of
  lower floors, so that no include goes up and no two folders include each other.
- A wing has two lists, one for its public headers and one for its sources: a source may include any header of its wing.
- Public headers are light, because every user's file pays for them. The language includes only the standard headers
  listed here and single headers of Boost.Hana. No header includes a logger, a formatter or a stream. A heavier header is
  listed (on_request), and no other header includes it.
- The first include of a public header leads to ptx/standard.hpp, so that a compiler in another mode ends after one sentence.
- A folder has at most 25 files. So have the folders of tests, tools, benchmarks, showcases, cmake and docs. Exceptions are
  tests/fail, include/kaio/ops and docs/ops with a header and a page for each operation, and docs/c and src/c/generated with a page and
  a file for each family of the C interface.
- Operations have floors too, for their public headers and sources together (operation_floors).
- Operations are written in the public language: none of their files names the tracer.
- A showcase can be copied into another project: it includes kaio's public headers, the standard library, and files of its own
  folder.
- dsl.hpp and kaio.hpp list every header of the language after the headers that it includes; --fix writes the list.

Prints a line for each breach, then 'N passed, N failed' over the files.
"""

import collections
import functools
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
include = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
most_files = 25

core = {"array", "bit", "compare", "concepts", "cstddef", "cstdint", "initializer_list", "limits",
        "string_view", "type_traits", "utility", "vector"}
runtime = {"array", "cstddef", "cstdint", "exception", "string_view", "type_traits", "utility", "vector"}
heavy = {"format", "fstream", "functional", "iomanip", "iostream", "istream", "memory", "ostream", "regex",
         "sstream", "stdexcept"}
# Headers that users include themselves if they need them, and the standard headers that these may include as well.
on_request = {"runtime/budget.hpp": {"chrono"}, "showcase.hpp": {"algorithm", "cmath", "cstdio", "random", "string"}}
hana = re.compile(r"boost/hana/.+\.hpp")

# Wing below include/kaio: the wings it may include, the standard headers, other headers.
public_wings = {
    "ptx": ({"ptx"}, core, None),
    "dsl": ({"ptx", "dsl"}, core, hana),
    "runtime": ({"ptx", "runtime"}, runtime, None),
    "ops": ({"ptx", "dsl", "runtime", "ops"}, None, hana),
    "tool": ({"ptx", "dsl", "tool"}, core, None),
    "weights": ({"ptx", "runtime", "weights"}, core | {"optional", "span", "string"}, None),
    "": ({"", "ptx", "dsl", "runtime", "ops"}, core, None),
}
# Wing below src: the public wings and the wings below src that it may include.
private_wings = {
    "host": (set(), {"host"}),
    "emulator": ({"ptx"}, {"emulator", "host"}),
    "driver_abi": (set(), {"driver_abi"}),
    "runtime": ({"ptx", "runtime"}, {"runtime", "driver_abi", "emulator", "host"}),
    "driver_emulator": ({"ptx", "runtime"}, {"driver_emulator", "driver_abi", "emulator", "runtime", "host"}),
    "ops": ({"ptx", "dsl", "runtime", "ops"}, {"ops", "runtime", "host"}),
    "tool": ({"ptx", "tool"}, {"tool", "host"}),
    "images": ({"ptx", "dsl", "tool"}, {"images", "host"}),
    "weights": ({"ptx", "dsl", "runtime", "weights"}, {"weights", "runtime", "host"}),
    "c": ({"ptx", "dsl", "runtime", "ops", "weights", "c"}, {"c", "runtime", "host"}),
    "cuda_libraries": ({"ptx", "dsl", "ops", "c"}, {"cuda_libraries", "driver_abi", "host"}),
}

# The floors of each wing, from the ground up; "." is the folder of the wing itself.
public_floors = {
    "ptx": [".", "analysis"],
    "dsl": ["number", "trace", "expression", "math", "derivative", "integer", "control", "memory", "tile", "warp", "async", "inline_ptx",
            "block", "cluster", "mma", "kernel", "."],
    "runtime": ["detail", "."],
    "ops": ["shared", "rows",
            "matmul/common", "matmul/call", "matmul/choice", "matmul/simt", "matmul/mma_sync", "matmul/sm90",
            "attention/common", "attention/forward/call", "attention/block_mask", "attention/forward/choice",
            "attention/forward/simt", "attention/forward/mma_sync", "attention/forward/sm90",
            "attention/backward/common", "attention/backward/call", "attention/backward/choice",
            "attention/backward/simt", "attention/backward/mma_sync", "attention/backward/sm90",
            "cache/common", "cache/rotary", "cache/append", "cache/copy", "cache/qk_norm",
            "attention/decode/common", "attention/decode/call", "attention/decode/choice", "attention/decode/simt",
            "attention/decode/mma_sync", "attention/decode/mma_sync_sm90", "attention/decode/mma_sync_8bit",
            "attention/decode/mla",
            "matmul_8bit/common", "matmul_8bit/int8", "matmul_8bit/fp8", "matmul_8bit",
            "norm/call", "norm/common", "norm/simt",
            "norm/backward", "softmax/common", "softmax/simt", "cross_entropy/common", "cross_entropy/simt",
            "elementwise/common", "elementwise/simt", "elementwise/call", "elementwise/copy", "elementwise/activation",
            "elementwise/int8_dequant",
            "reduce/common", "reduce/call", "reduce/simt", "scan/common", "scan/call", "scan/simt",
            "histogram/common", "histogram/simt", "embedding/common", "embedding/simt",
            "sampling/common", "sampling/simt", "experts/common", "experts/simt",
            "matmul_grouped/common", "matmul_grouped/simt", "matmul_grouped/mma_sync", "matmul_grouped/sm90",
            "weight_only/common", "weight_only/call", "weight_only/mma_sync", "weight_only/simt",
            "weight_only/skinny", "weight_only/gemv", "weight_only/sm90", "weight_only/choice",
            "weight_only/repack", "weight_only/formats", "weight_only",
            "matmul_8bit_grouped/call", "matmul_8bit_grouped/common", "matmul_8bit_grouped/simt",
            "matmul_8bit_grouped/mma_sync", "matmul_8bit_grouped/sm90",
            "weight_only_grouped/call", "weight_only_grouped/common", "weight_only_grouped/simt",
            "weight_only_grouped/mma_sync", "weight_only_grouped/skinny", "weight_only_grouped/sm90",
            "weight_only_grouped/choice",
            "qkv_project/common", "qkv_project/call", "qkv_project/heads", "qkv_project/mma_sync",
            "qkv_project/sm90", "qkv_project/skinny", "qkv_project/gemv",
            "gate_up_project/call", "gate_up_project/combine", "gate_up_project/skinny", "gate_up_project/gemv",
            "distributed", "distributed/simt", "distributed/peer",
            ".", "parity"],
    "tool": ["."],
    "weights": ["."],
    "": ["."],
}
private_floors = {
    "host": ["system", ".", "posix", "windows"],
    "emulator": ["program", "parse", "memory", "waiting", "machine", "barrier", "run", "decode", "instructions",
                 "instructions/arithmetic", "instructions/memory", "instructions/texture", "instructions/control",
                 "instructions/async", "instructions/matrix",
                 "sanitizer/report", "sanitizer/state", "sanitizer/checks", "sanitizer", "profile", "."],
    "driver_abi": ["."],
    "runtime": ["base", "cache", "trace", "driver", "emulator", "."],
    "driver_emulator": ["abi", "state", "module", "graph", "runtime_library", "api"],
    "ops": [".", "shared", "choice", "rows",
            "matmul/choice", "matmul/common", "matmul/simt", "matmul/mma_sync", "matmul/sm90", "matmul/call",
            "attention/common", "attention/forward/choice", "attention/forward/simt", "attention/forward/mma_sync",
            "attention/forward/sm90", "attention/forward/call", "attention/block_mask", "attention/backward/choice",
            "attention/backward/common", "attention/backward/simt", "attention/backward/mma_sync",
            "attention/backward/sm90", "attention/backward/call",
            "cache/common", "cache/rotary", "cache/append", "cache/copy", "cache/qk_norm",
            "attention/decode/choice", "attention/decode/simt", "attention/decode/mma_sync",
            "attention/decode/mma_sync_8bit", "attention/decode/mla", "attention/decode/call",
            "matmul_8bit/common", "matmul_8bit/int8", "matmul_8bit/fp8",
            "norm/simt", "norm/backward", "norm/call", "softmax/simt", "softmax/call", "cross_entropy/simt", "cross_entropy/call",
            "linear_cross_entropy/call",
            "elementwise/call", "elementwise/copy", "elementwise/activation", "elementwise/int8_dequant",
            "reduce/call", "reduce/simt", "scan/call", "scan/simt", "histogram", "embedding",
            "sampling/simt", "sampling/call", "experts/simt", "experts/call",
            "matmul_grouped/common", "matmul_grouped/simt", "matmul_grouped/mma_sync", "matmul_grouped/sm90",
            "matmul_grouped/call",
            "weight_only/common", "weight_only/simt", "weight_only/mma_sync", "weight_only/gemv",
            "weight_only/repack", "weight_only/choice", "weight_only/call", "weight_only/formats",
            "matmul_8bit_grouped/common", "matmul_8bit_grouped/simt", "matmul_8bit_grouped/mma_sync", "matmul_8bit_grouped/sm90",
            "matmul_8bit_grouped/call",
            "weight_only_grouped/simt", "weight_only_grouped/mma_sync", "weight_only_grouped/choice",
            "weight_only_grouped/call",
            "qkv_project/common", "qkv_project/choice", "qkv_project/heads", "qkv_project/mma_sync",
            "qkv_project/sm90", "qkv_project/skinny", "qkv_project/gemv", "qkv_project/call",
            "gate_up_project/common", "gate_up_project/choice", "gate_up_project/combine", "gate_up_project/skinny",
            "gate_up_project/call",
            "distributed/common", "distributed/process", "distributed/nccl", "distributed/launch", "distributed/simt", "distributed/peer", "distributed/program", "distributed", "distributed/attention"],
    "tool": ["."],
    "images": [".", "linked/kaio/dsl/kernel", "traced/kaio/dsl/kernel"],  # the last two replace include/kaio/dsl/kernel
    "weights": ["base", "format", "file", "scheme", "."],
    "c": ["call", "weights", "kernels", "generated", "."],
    "cuda_libraries": [".", "blas", "rand"],
}
# The floors of operations, from the ground up, on both sides. An operation includes others from lower floors only.
operation_floors = [
    {"shared"},
    {"choice"},
    {"rows"},
    {"matmul", "attention/common", "cache", "norm", "reduce", "sampling", "softmax", "cross_entropy"},
    {"matmul_8bit", "weight_only", "attention/block_mask", "attention/forward", "elementwise", "scan", "histogram",
     "linear_cross_entropy", "experts", "matmul_grouped"},
    {"attention/backward", "attention/decode", "qkv_project", "gate_up_project", "embedding",
     "matmul_8bit_grouped", "weight_only_grouped"},
    {"distributed"},
]
# A compiler that was not asked for C++20 stops at this include: the file does not exist.
not_there = "kaio/cannot_be_compiled"
standard_mode = "ptx/standard.hpp"
# Names that only the language itself may use.
inside_of_the_language = re.compile(r"\bdsl::(tracer|literal|lower)\b|\.trace\(\)")


class house:
    """The files of one tree: include/kaio or src."""

    def __init__(self, base, floors):
        self.base, self.floors = base, floors

    def place(self, path):
        """(wing, floor) of a path relative to the base: ('dsl', 'math') of dsl/math/fast.hpp."""
        parts = pathlib.PurePosixPath(path).parts
        wing = parts[0] if len(parts) > 1 else ""
        return wing, "/".join(parts[1:-1]) or "."

    def level(self, path):
        """The number of a file's floor within its wing; None if it has none."""
        wing, floor = self.place(path)
        floors = self.floors.get(wing, [])
        return floors.index(floor) if floor in floors else None

    def floor_problems(self, path, name):
        """Yields a text if an include within the tree and wing goes up."""
        if self.place(path)[0] != self.place(name)[0] or not (self.base / name).is_file():
            return
        here, there = self.level(path), self.level(name)
        if here is not None and there is not None and there > here:
            yield f"{name}: {self.place(name)[1]} is a floor above {self.place(path)[1]}"


public = house(root / "include/kaio", public_floors)
private = house(root / "src", private_floors)


def operation_floor(name):
    """The operation of a file of ops, and its floor: ('attention/decode', 4); None for the headers that users include."""
    parts = name.split("/")[1:-1]
    for length in (2, 1):
        operation = "/".join(parts[:length])
        for level, floor in enumerate(operation_floors):
            if operation in floor:
                return operation, level
    return None


def problems_of_operation(path, text):
    """Yields a text for each include of an operation that is not on a lower floor."""
    here = operation_floor(path)
    for _, name in include.findall(text):
        name = name.removeprefix("kaio/")
        there = operation_floor(name) if here and name.startswith("ops/") else None
        if there and there[0] != here[0] and there[1] >= here[1]:
            yield f"{name}: {there[0]} is not below {here[0]}"


@functools.cache
def begins_with_standard(path):
    """Whether the first include of a public header is ptx/standard.hpp, or a header that begins with it."""
    first = include.search((public.base / path).read_text())
    name = first[2].removeprefix("kaio/") if first else ""
    return standard_mode in (path, name) or (public.base / name).is_file() and begins_with_standard(name)


def problems_of_header(path, text):
    if path.endswith(".hpp") and not begins_with_standard(path):
        yield f"its first include does not lead to <kaio/{standard_mode}>"
    wing = public.place(path)[0]
    wings, standard, other = public_wings[wing]
    for quote, name in include.findall(text):
        if quote == '"':
            yield f'"{name}": a public header writes <kaio/...>'
        elif name == not_there:
            continue
        elif name.startswith("kaio/"):
            name = name.removeprefix("kaio/")
            if name in on_request:
                yield f"<kaio/{name}>: too heavy for other public headers; users include it by itself"
            if public.place(name)[0] not in wings:
                allowed = ", ".join(filter(None, sorted(wings)))
                yield f"<kaio/{name}>: {wing or 'this file'} may include only {allowed}"
            yield from public.floor_problems(path, name)
        elif "/" in name or name.endswith((".h", ".hpp")):
            if not (other and other.fullmatch(name)):
                yield f"<{name}>: not a header that {wing or 'this file'} may include"
        elif name in on_request.get(path, ()):
            continue
        elif name in heavy or (standard is not None and name not in standard):
            yield f"<{name}>: too heavy for a public header"


def problems_of_source(path, text):
    wing = private.place(path)[0]
    public_names, private_names = private_wings[wing]
    for _, name in include.findall(text):
        if name.startswith("kaio/"):
            if public.place(name.removeprefix("kaio/"))[0] not in public_names:
                yield f"<{name}>: {wing} must not know it"
        elif (private.base / name).is_file():
            if private.place(name)[0] not in private_names:
                yield f'"{name}": {wing} must not know it'
            yield from private.floor_problems(path, name)


def problems_of_showcase(file, text):
    """Yields a text for each include that a copy of the showcase would not find."""
    for quote, name in include.findall(text):
        if quote == '"':
            found = ".." not in name and (file.parent / name).is_file()
        elif name.startswith("kaio/"):
            found = (root / "include" / name).is_file()
        else:
            found = "/" not in name and "." not in name
        if not found:
            yield f"{name}: a showcase includes kaio, the standard library, and files of its own folder"


def language_headers():
    """Every header of the language, after the headers that it includes."""
    order = {}

    def visit(name):
        if name in order or name == "kaio/dsl/dsl.hpp":
            return
        order[name] = None
        for _, inner in include.findall((root / "include" / name).read_text()):
            if inner.startswith("kaio/dsl/"):
                visit(inner)
        order[name] = order.pop(name)

    for floor in public_floors["dsl"]:
        for header in sorted((root / "include/kaio/dsl" / floor).glob("*.hpp")):
            visit(header.relative_to(root / "include").as_posix())
    return list(order)


def wrong_lists(fix):
    """The headers with an outdated list of the language's headers; `fix` writes the lists instead."""
    wanted = "".join(f"#include <{name}>\n" for name in language_headers())
    for file in (root / "include/kaio/dsl/dsl.hpp", root / "include/kaio/kaio.hpp"):
        text = file.read_text()
        begin = text.index("// clang-format off\n") + len("// clang-format off\n")
        end = text.index("// clang-format on\n")
        if text[begin:end] == wanted:
            continue
        if fix:
            file.write_text(text[:begin] + wanted + text[end:])
        else:
            yield file


def main():
    files = failed = 0
    folders = collections.Counter()
    for name in ("tests", "tools", "bench", "showcase", "cmake", "docs"):
        folders.update(file.parent for file in (root / name).rglob("*") if file.is_file())
    folders[root / "tests/fail"] = folders[root / "docs/ops"] = 0
    folders[root / "docs/c"] = 0
    for tree, wings, check in ((public, public_wings, problems_of_header),
                               (private, private_wings, problems_of_source)):
        for file in sorted(tree.base.rglob("*")):
            path = file.relative_to(tree.base).as_posix()
            if not file.is_file() or file.suffix not in {".hpp", ".cpp", ".def", ".in"}:
                continue
            folders[file.parent] += file.parent not in (root / "include/kaio/ops", root / "src/c/generated")
            files += 1
            text = file.read_text()
            wing, floor = tree.place(path)
            if wing not in wings or tree.level(path) is None:
                found = [f"the folder {file.parent.relative_to(root)} has no floor in tests/include_rule.py"]
            else:
                found = list(check(path, text))
            if wing == "ops":
                found += problems_of_operation(path, text)
            if wing == "ops" and (inside := inside_of_the_language.search(text)):
                found.append(f"{inside[0]}: an operation is written in the public language alone")
            failed += bool(found)
            for problem in found:
                print(f"{file.relative_to(root)}: {problem}")
    for file in sorted((root / "showcase").rglob("*.[ch]pp")):
        files += 1
        found = list(problems_of_showcase(file, file.read_text()))
        failed += bool(found)
        for problem in found:
            print(f"{file.relative_to(root)}: {problem}")
    for folder, count in folders.items():
        if count > most_files and "__pycache__" not in folder.parts:
            files += 1
            failed += 1
            print(f"{folder.relative_to(root)}: {count} files, but a folder may have {most_files}")
    for file in wrong_lists("--fix" in sys.argv[1:]):
        failed += 1
        print(f"{file.relative_to(root)}: its list of headers is not up to date; run tests/include_rule.py --fix")
    print(f"{files - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
