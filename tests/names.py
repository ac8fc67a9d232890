#!/usr/bin/env python3
"""Checks that `using namespace kaio` brings exactly the names that docs/language/names.md lists. Every other function of the
language is found by its arguments, so that a kernel of that name may be declared next to the directive.

    names.py check FOLDER -- COMPILER [FLAG...]   compares the page with the headers; compiles a kernel of each such name
    names.py --fix                                writes the list of the page
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs/language/names.md"
begin, end = "<!-- names.py: list -->\n", "<!-- names.py: end -->\n"
# Functions of the C library: no variable at global scope can have their names.
of_the_c_library = set("""abs acos asin atan atan2 cbrt ceil copysign cos cosh div erf erfc exp exp10 exp2 expm1 fdim ffs floor
    fma fmod hypot index isfinite isinf isnan log log10 log1p log2 nearbyint pow rint round signbit sin sincos sinh sqrt tan tanh
    trunc remainder""".split())


def headers(*wings):
    for wing in wings:
        yield from sorted((root / "include/kaio" / wing).rglob("*.hpp"))


def members(header, namespace):
    """The text of a namespace in a header, without comments and without what is in inner braces."""
    text = re.sub(r"//.*", "", header.read_text())
    result = []
    for opening in re.finditer(rf"^namespace {namespace} {{", text, re.MULTILINE):
        depth = 0
        for character in text[opening.end():]:
            depth -= character == "}"
            if depth < 0:
                break
            if depth == 0:
                result.append(character)
            depth += character == "{"
    return "".join(result)


def brought():
    """The names in namespace kaio after kaio.hpp is included."""
    names = set()
    for header in headers("ptx", "dsl", "runtime"):
        names |= set(re.findall(r"^namespace kaio::(\w+)", header.read_text(), re.MULTILINE))
        text = members(header, "kaio")
        names |= set(re.findall(r"\busing (?:\w+::)+(\w+);", text))
        names |= set(re.findall(r"\b(?:using|namespace) (\w+) =", text))
        names |= set(re.findall(r"\b(?:struct|class|concept|namespace) (\w+) [:={]", text))
    return names


def functions():
    """The names of functions of kaio::dsl."""
    names, types = set(), set()
    for header in headers("dsl"):
        text = members(header, "kaio::dsl")
        names |= set(re.findall(r"^(?:constexpr|inline|template)[^=;()]*?\b(\w+)\(", text, re.MULTILINE))
        types |= set(re.findall(r"\b(?:struct|class|concept|enum) (\w+)", text))
    return names - types - {"operator", "requires"}


def listed(names):
    lines, line = [], ""
    for name in sorted(names):
        if len(line) + len(name) > 116:
            lines.append(line)
            line = ""
        line += f" `{name}`" if line else f"`{name}`"
    return "\n".join([*lines, line]) + "\n"


def main():
    text = page.read_text()
    names = brought()
    written = text[:text.index(begin)] + begin + listed(names) + text[text.index(end):]
    if sys.argv[1:] == ["--fix"]:
        page.write_text(written)
        return
    folder, compiler = pathlib.Path(sys.argv[2]), sys.argv[4:]
    if written != text:
        sys.exit(f"failed: {page.relative_to(root)} does not list the names of namespace kaio; write it with tests/names.py --fix")
    documents = "\n".join(document.read_text() for document in (root / "docs").rglob("*.md"))
    known = set(re.findall(r"\b(\w+)[(<]", documents))
    own = sorted((functions() & known) - names - of_the_c_library)
    if len(own) < 100 or not {"add", "clamp", "gelu", "load", "map"} <= set(own):
        sys.exit(f"failed: only {len(own)} functions were found in the headers")
    lines = ["#include <kaio/kaio.hpp>", "using namespace kaio;"]
    for name in own:
        lines.append(f'inline constexpr auto {name} = kernel<"{name}", 32>([](thread t, out<u32> x) {{ x[t.global_id()] = 1u; }});')
        lines.append(f'static_assert({name}.ptx().contains(".entry {name}("));')
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "names.cpp"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run([*compiler, "-fsyntax-only", str(source)], capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    print(f"{len(own)} kernels with the names of functions, {len(names)} names on the page")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
