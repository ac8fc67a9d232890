#!/usr/bin/env python3
"""Which file may include which: ptx <- dsl <- ops -> runtime -> ptx.

Public headers are light, because every user's file pays for them: the language includes only the standard
headers listed here and single headers of Boost.Hana; no header includes a logger, a formatter or a stream.
Prints one line for each include that breaks the rule, then 'N passed, N failed' over the files.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
include = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

core = {"array", "bit", "compare", "concepts", "cstddef", "cstdint", "initializer_list", "limits",
        "string_view", "type_traits", "utility", "vector"}
runtime = {"array", "cstddef", "cstdint", "exception", "string_view", "type_traits", "utility", "vector"}
heavy = {"format", "fstream", "functional", "iomanip", "iostream", "istream", "memory", "ostream", "regex",
         "sstream", "stdexcept"}
hana = re.compile(r"boost/hana/.+\.hpp")

# Folder under include/kaio: the folders of kaio it may include, the standard headers, other headers.
public_rules = {
    "ptx": ({"ptx"}, core, None),
    "dsl": ({"ptx", "dsl"}, core, hana),
    "runtime": ({"ptx", "runtime"}, runtime, None),
    "ops": ({"ptx", "dsl", "runtime", "ops"}, None, hana),
    "tool": ({"ptx", "tool"}, core, None),
    "": ({"", "ptx", "dsl", "runtime", "ops"}, core, None),
}
# Folder under src: the folders of kaio it may not include.
private_rules = {"runtime": {"", "dsl", "ops"}, "cuda_emulator": {"", "dsl", "ops"}, "ops": set(),
                 "tool": {"", "dsl", "runtime", "ops"}}


def folder_of(header):
    """'ptx' for kaio/ptx/type.hpp, '' for kaio/kaio.hpp."""
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def problems_of_header(file, folder):
    kaio, standard, other = public_rules[folder]
    for quote, name in include.findall(file.read_text()):
        if quote == '"':
            yield f'"{name}": a public header writes <kaio/...>'
        elif name.startswith("kaio/"):
            if folder_of(name) not in kaio:
                allowed = ", ".join(filter(None, sorted(kaio)))
                yield f"<{name}>: {folder or 'this file'} may include only {allowed}"
        elif "/" in name or name.endswith((".h", ".hpp")):
            if not (other and other.fullmatch(name)):
                yield f"<{name}>: not a header that {folder or 'this file'} may include"
        elif name in heavy or (standard is not None and name not in standard):
            yield f"<{name}>: too heavy for a public header"


def problems_of_source(file, folder):
    for _, name in include.findall(file.read_text()):
        if name.startswith("kaio/") and folder_of(name) in private_rules[folder]:
            yield f"<{name}>: {folder} must not know it"


def main():
    files = failed = 0
    for base, rules, check in ((root / "include/kaio", public_rules, problems_of_header),
                               (root / "src", private_rules, problems_of_source)):
        for file in sorted(base.rglob("*.[hc]pp")):
            parts = file.relative_to(base).parts
            folder = parts[0] if len(parts) > 1 else ""
            files += 1
            if folder not in rules:
                found = [f"the folder {folder or 'src'} has no rule in tests/include_rule.py"]
            else:
                found = list(check(file, folder))
            failed += bool(found)
            for problem in found:
                print(f"{file.relative_to(root)}: {problem}")
    print(f"{files - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
