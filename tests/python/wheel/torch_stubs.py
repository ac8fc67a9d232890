#!/usr/bin/env python3
"""Makes the libraries of CUDA that a PyTorch without a GPU needs to be imported, and to compute on the CPU.

PyTorch's wheel for Linux comes with CUDA. Its libraries refer to those of NVIDIA, 3 GB that no test here calls: importing
torch only needs their symbols to exist. This makes a library of each name, whose functions return the error "no device", so
torch.cuda.is_available() is False. A library that is installed, such as the small libcudart, is not replaced.

    torch_stubs.py SITE_PACKAGES      the folder that has torch/; the libraries are put into torch/lib
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

NO_DEVICE = 100  # cudaErrorNoDevice and CUDA_ERROR_NO_DEVICE; for the others it is an error too
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|quadmath|z|util|cuda)|ld-linux-x86-64)\.so\.\d+")


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def needs(library):
    """(the libraries that it names, the symbols that it takes from each as pairs with a version, symbols without a version)"""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", library))
    file_of = {}
    for name, versions in re.findall(r"Version: 1  File: (\S+)  Cnt: \d+\n((?:  0x\w+:\s+Name: .*\n)*)",
                                     re.sub(r"  000000: ", "", run("readelf", "-VW", library))):
        for version in re.findall(r"Name: (\S+)", versions):
            file_of[version] = name
    versioned, free = collections.defaultdict(set), set()
    for symbol in re.findall(r"^\s+[Uw] (\S+)$", run("nm", "-D", "--undefined-only", library), re.MULTILINE):
        name, _, version = symbol.partition("@")
        if version:
            versioned[file_of.get(version.lstrip("@"), "")].add((name, version.lstrip("@")))
        else:
            free.add(name)
    return names, versioned, free


def defined(library):
    return {name.partition("@")[0] for name in
            re.findall(r"^\S+ \w (\S+)$", run("nm", "-D", "--defined-only", library), re.MULTILINE)}


def write_stub(name, symbols, folder):
    """A library whose functions all return the error. Those that return a text return an empty one."""
    lines = [".text"]
    versions = collections.defaultdict(list)
    for symbol, version in sorted(symbols):
        is_text = re.search(r"(String|Name)$", symbol) is not None
        lines += [f".globl {symbol}", f".type {symbol}, @function", f"{symbol}:",
                  "  lea empty(%rip), %rax" if is_text else f"  mov ${NO_DEVICE}, %eax", "  ret"]
        versions[version].append(symbol)
    lines += [".section .rodata", "empty:", '  .asciz ""', '.section .note.GNU-stack, "", @progbits', ""]
    script = "".join(f"{version} {{ global: {'; '.join(own)}; }};\n" for version, own in versions.items() if version)
    with tempfile.TemporaryDirectory() as work:
        source, map_file = pathlib.Path(work, "stub.s"), pathlib.Path(work, "stub.map")
        source.write_text("\n".join(lines))
        map_file.write_text(script)
        run("gcc", "-shared", "-nostdlib", "-o", str(folder / name), str(source), f"-Wl,-soname,{name}",
            *([f"-Wl,--version-script={map_file}"] if script else []))


def make(site_packages):
    """Returns the names of the libraries."""
    folder = pathlib.Path(site_packages) / "torch/lib"
    libraries = sorted(folder.glob("*.so*")) + sorted(folder.parent.glob("_C*.so"))
    present = {library.name for library in [*libraries, *pathlib.Path(site_packages).glob("nvidia/*/lib/*.so*")]}
    found = {library: needs(str(library)) for library in libraries}
    own = set().union(*(defined(str(library)) for library in libraries))
    stubs = collections.defaultdict(set)
    for names, versioned, free in found.values():
        absent = [name for name in names if name not in present and not SYSTEM.fullmatch(name)]
        for name in absent:
            stubs[name] |= versioned.get(name, set())
        # The dynamic linker looks up a symbol without a version in all libraries, so that any of them may have it.
        if absent:
            stubs[absent[0]] |= {(name, "") for name in free - own if not name.startswith(("Py", "_Py", "_Z", "_ITM", "__gmon"))}
    taken = set()
    for name in sorted(stubs):
        symbols = {pair for pair in stubs[name] if pair[1] or pair[0] not in taken}
        taken |= {symbol for symbol, _ in symbols}
        write_stub(name, symbols, folder)
    return sorted(stubs)


if __name__ == "__main__":
    print(" ".join(make(sys.argv[1])))
