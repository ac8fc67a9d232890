#!/usr/bin/env python3
"""Compiles every C++ example of the documents. A block that includes something is a whole file; any other is the body of a
kernel over `thread t, in<f32> x, inout<f32> y, val<u32> n`. Where a block shows a wrong way too, KAIO_FIXED selects the
right one.

    docs.py -- COMPILER [FLAG...]
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
documents = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def examples(document):
    text = document.read_text()
    for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start()) + 2, block.group(1)


def source_of(line, document, block):
    place = f'#line {line} "{document}"\n'
    if "#include" in block:
        return place + block
    return (
        "#include <kaio/kaio.hpp>\nusing namespace kaio;\n"
        'inline constexpr auto example = kernel<"example", 256>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {\n'
        f"{place}{block}}});\nstatic_assert(example.ptx().size() > 0);\n"
    )


def main():
    command = sys.argv[sys.argv.index("--") + 1 :] + ["-DKAIO_FIXED", "-fsyntax-only", "-Wno-unused-parameter", "-x", "c++", "-"]
    passed = failed = 0
    for document in documents:
        for line, block in examples(document):
            run = subprocess.run(command, input=source_of(line, document, block), text=True, capture_output=True)
            if run.returncode == 0:
                passed += 1
            else:
                failed += 1
                print(f"{document.relative_to(root)}:{line}: the example does not compile\n{run.stderr[:4000]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
