#!/usr/bin/env python3
"""Compiles the C++ examples of the documents.

- A block with a main() is a program: CMake builds and runs it.
- A block that includes something is a file that must compile.
- Any other block is the body of a kernel over `thread t, in<f32> x, inout<f32> y, val<u32> n`, and must compile as one.

If a block also shows a wrong way, KAIO_FIXED selects the right one.

    docs.py compile FOLDER -- COMPILER [FLAG...]     compiles the blocks that are not programs, in FOLDER
    docs.py programs FOLDER                          writes the programs to FOLDER, and prints their names
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
documents = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def examples(document):
    """(line, text) of each block"""
    text = document.read_text()
    for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start()) + 2, block.group(1)


def is_program(block):
    return re.search(r"^int main\(", block, re.MULTILINE) is not None


def sources_of(document):
    """(name, text) of each file to compile: one for each block that includes something, and one with all bodies of
    kernels."""
    bodies = []
    for number, (line, block) in enumerate(examples(document)):
        place = f'#line {line} "{document.relative_to(root)}"\n'
        if is_program(block):
            continue
        if "#include" in block:
            yield f"{document.stem.lower()}_{number}", place + block
        else:
            bodies.append(f'inline constexpr auto example_{number} = kernel<"example_{number}", 256>('
                          f"[](thread t, in<f32> x, inout<f32> y, val<u32> n) {{\n{place}{block}}});\n"
                          f"static_assert(example_{number}.ptx().size() > 0);\n")
    if bodies:
        yield f"{document.stem.lower()}_bodies", "#include <kaio/kaio.hpp>\nusing namespace kaio;\n" + "".join(bodies)


def write(file, text):
    """Writes a file if its text has changed."""
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def compile_all(folder, compiler):
    folder.mkdir(parents=True, exist_ok=True)
    command = [*compiler, "-DKAIO_FIXED", "-DKAIO_CHECK_KERNELS"]
    unused = ["-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-unused-but-set-variable"]  # only for bodies
    passed = failed = 0
    for document in documents:
        for name, source in sources_of(document):
            # ccache can find an object that is made from a file.
            write(folder / f"{name}.cpp", source)
            flags = unused if name.endswith("_bodies") else []
            run = subprocess.run([*command, *flags, "-c", folder / f"{name}.cpp", "-o", folder / f"{name}.o"], text=True,
                                 capture_output=True)
            if run.returncode == 0:
                passed += 1
            else:
                failed += 1
                print(f"{document.relative_to(root)}: an example does not compile\n{run.stderr[:4000]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def write_programs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for document in documents:
        for number, (line, block) in enumerate(examples(document)):
            if not is_program(block):
                continue
            name = f"{document.stem.lower()}_{number}"
            write(folder / f"{name}.cpp", f'#line {line} "{document.relative_to(root)}"\n' + block)
            print(name)
    return 0


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "compile" and sys.argv[3] == "--":
        return compile_all(pathlib.Path(sys.argv[2]), sys.argv[4:])
    if len(sys.argv) == 3 and sys.argv[1] == "programs":
        return write_programs(pathlib.Path(sys.argv[2]))
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
