#!/usr/bin/env python3
"""Links a shared library for systems with glibc 2.28, of objects that this machine's g++ compiled. The linker is zig's, from the
package `ziglang`: it brings the C library's symbols with the versions of each release. What that release lacks is in
glibc.c, unwinder.c and libstdcxx.c.

    link.py library LIST OUTPUT --exports MAP     libkaio.so.0 of the files that LIST names, a path a line: src/c/inside.txt of
                                                  a build folder
    link.py module OUTPUT FILE...                 the module of Python, of objects and libkaio.so.0

libkaio.so.0 has the C++ library inside: it exports C functions alone, which no exception leaves. The module shares
libstdc++.so.6 with nanobind's backend, because exceptions of the module are caught there: two unwinders in one stack abort.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GLIBC = os.environ.get("KAIO_GLIBC", "2.28")


def zig(*words):
    """Runs zig as a C compiler for that glibc; returns what it printed if it failed."""
    done = subprocess.run([sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{GLIBC}",
                           "-fno-sanitize=undefined", *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else None


def gcc_file(name):
    """A file of the g++ that compiled the objects."""
    compiler = os.environ.get("CXX", "g++")
    path = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        sys.exit(f"kaio: {compiler} has no {name}; install the package that has it (Debian: libstdc++-12-dev, libgcc-s1)")
    return os.path.realpath(path)


def compiled(source, folder, flags=()):
    out = folder / f"{source}.o"
    failed = zig("-O2", "-fPIC", "-fexceptions", "-ffunction-sections", *flags, "-c", HERE / source, "-o", out)
    if failed is not None:
        sys.exit(f"kaio: {source} does not compile:\n{failed}")
    return out


def undefined(library):
    """The symbols that no library was found to have. A weak one may be absent."""
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    return [name for kind, name in re.findall(r"^\s*(\w) ([^@\s]+)$", lines, re.MULTILINE) if kind == "U"]


def link(output, *words):
    fresh = output.with_name(output.name + ".new")
    failed = zig("-shared", "-o", fresh, *words, "-Wl,--gc-sections,-s", "-ldl", "-lpthread", "-lm")
    if failed is not None:
        sys.exit(f"kaio: {output.name} cannot be linked:\n{failed}")
    # Python and libkaio.so.0 give their symbols no version that the linker sees.
    lacking = [name for name in undefined(fresh) if not name.startswith(("Py", "_Py", "kaio_"))]
    if lacking:
        sys.exit(f"kaio: {output.name} needs what glibc {GLIBC} lacks: {', '.join(lacking)}; add it to "
                 f"{HERE / 'glibc.c'}, or do without it")
    os.replace(fresh, output)


def link_library(arguments):
    files = arguments.list.read_text().split()
    absent = [file for file in files if not os.path.exists(file)]
    if absent:
        sys.exit(f"kaio: {absent[0]} is not built; build the target kaio_c first")
    shared = [file for file in files if ".so" in os.path.basename(file)]
    if shared:
        sys.exit(f"kaio: {shared[0]} is shared; libkaio.so.0 is linked of static libraries")
    # The linker takes an object from an archive only if something refers to it.
    precompiled = any(b"kaio_precompiled_ops" in pathlib.Path(file).read_bytes() for file in files
                      if os.path.basename(file).startswith("libkaio_ops"))
    needed = ["-Wl,-u,kaio_precompiled_ops"] if precompiled else []
    old = ["-DKAIO_TEST_OLD_GLIBC"] if arguments.as_if_old else []
    folder = arguments.output.parent
    link(arguments.output, *files, compiled("glibc.c", folder), compiled("unwinder.c", folder, old),
         *map(gcc_file, ("libstdc++.a", "libgcc_eh.a", "libgcc.a")), *needed, "-Wl,-Bsymbolic",
         f"-Wl,-soname,{arguments.output.name}", f"-Wl,--version-script={arguments.exports}")


def link_module(arguments):
    folder = arguments.output.parent
    exports = folder / "module.map"
    exports.write_text(f"{{ global: PyInit_{arguments.output.name.split('.')[0]}; local: *; }};\n")
    link(arguments.output, *arguments.file, compiled("glibc.c", folder), compiled("libstdcxx.c", folder),
         *map(gcc_file, ("libstdc++.so.6", "libgcc_s.so.1", "libgcc.a")), "-Wl,-rpath,$ORIGIN/lib",
         f"-Wl,--version-script={exports}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True)
    library = kinds.add_parser("library")
    library.add_argument("list", type=pathlib.Path)
    library.add_argument("output", type=pathlib.Path)
    library.add_argument("--exports", type=pathlib.Path, required=True)
    library.add_argument("--as-if-old", action="store_true", help="never ask the C library for newer functions: for tests")
    library.set_defaults(run=link_library)
    module = kinds.add_parser("module")
    module.add_argument("output", type=pathlib.Path)
    module.add_argument("file", nargs="+")
    module.set_defaults(run=link_module)
    arguments = parser.parse_args()
    arguments.output = arguments.output.absolute()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.run(arguments)


if __name__ == "__main__":
    main()
