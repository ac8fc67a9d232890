"""Compiles a text of kernels with the C++ compiler of this machine, and keeps the result."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from .errors import CompileError

COMPILERS = ("g++", "c++", "clang++", *(f"g++-{n}" for n in range(16, 11, -1)), *(f"clang++-{n}" for n in range(22, 15, -1)))
LEAST = {"g++": 12, "clang": 16}
FLAGS = ["-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-fdata-sections", "-ffunction-sections",
         "-Wl,--gc-sections", "-fdiagnostics-color=never"]  # fmt: skip
FLAGS_OF = {"g++": ["-fconstexpr-ops-limit=1000000000"], "clang": ["-fconstexpr-steps=16777216"]}
LIBRARY = "#include <kaio/tool/kernel_library.hpp>\n"
PROLOGUE = "#include <kaio/dsl/dsl.hpp>\nusing namespace kaio;\n"
KERNEL = re.compile(r"\bconstexpr\s+auto\s+(\w+)\s*=\s*(?:kaio::)?(?:dsl::)?kernel\s*<")
TEMPLATE = re.compile(r"\btemplate\s*<[^;{]*$")
MOST_LINES = 30
MOST_CHARACTERS = 300  # of the compiler, in a message

_kinds: dict[tuple[str, int, int], tuple[str, int]] = {}


def headers() -> pathlib.Path:
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here / "include", here.parent.parent / "include"):
        if (folder / "kaio/dsl/dsl.hpp").is_file():
            return folder
    raise CompileError(f"kaio: the C++ headers are missing: {here / 'include'} has no kaio/dsl/dsl.hpp; install the package again")


def cache_folder() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = pathlib.Path(base) if os.path.isabs(base) else pathlib.Path.home() / ".cache"
    return folder / "kaio" / "kernels"


def kind_of(compiler: str) -> tuple[str, int]:
    """("g++" or "clang", its major version); ("", 0) of another program."""
    state = os.stat(compiler)
    key = (compiler, state.st_mtime_ns, state.st_size)
    if key not in _kinds:
        macros = subprocess.run([compiler, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True).stdout
        found = dict(re.findall(r"#define (__clang_major__|__GNUC__) (\d+)", macros))
        if "__clang_major__" in found:
            _kinds[key] = ("clang", int(found["__clang_major__"]))
        else:
            _kinds[key] = ("g++", int(found["__GNUC__"])) if "__GNUC__" in found else ("", 0)
    return _kinds[key]


def is_new_enough(compiler: str) -> bool:
    kind, version = kind_of(compiler)
    return kind != "" and version >= LEAST[kind]


def find_compiler(given: str | None) -> str:
    """The path of the compiler: the given one, that of CXX, or the first of COMPILERS that is new enough."""
    named = given or os.environ.get("CXX", "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise CompileError(f"kaio: the compiler '{named}' is not there; name another, or install g++ 12 or newer")
        if not is_new_enough(found):
            kind, version = kind_of(found)
            raise CompileError(f"kaio: '{named}' is {kind or 'no C++ compiler'} {version or ''}; kernels need g++ 12 or clang 16, or newer")
        return found
    old = []
    for name in COMPILERS:
        found = shutil.which(name)
        if found is not None and is_new_enough(found):
            return found
        if found is not None:
            old.append(f"{name} ({' '.join(map(str, kind_of(found)))})")
    raise CompileError("kaio: kernels are compiled by g++ 12 or clang 16, or newer, and there is "
                       + (f"only {', '.join(old)}" if old else "none") + "; install one (Debian: apt install g++)")  # fmt: skip


def state_of_headers(folder: pathlib.Path) -> str:
    """A number that changes with kaio's headers."""
    digest = hashlib.sha256()
    for wing in ("kaio/ptx", "kaio/dsl"):
        for root, folders, files in os.walk(folder / wing):
            folders.sort()
            for file in sorted(files):
                state = os.stat(os.path.join(root, file))
                digest.update(f"{root}/{file} {state.st_mtime_ns} {state.st_size}\n".encode())
    return digest.hexdigest()


def kernels_of(text: str) -> list[str]:
    """The kernels that are objects of a text: templates have to be named with their arguments."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    return [found[1] for found in KERNEL.finditer(code) if not TEMPLATE.search(code[: found.start()])]


def whole_text(text: str, kernels: list[str] | tuple[str, ...] | None, name: str) -> str:
    """The text to compile. Lines are numbered as they are in the given text."""
    named = "KAIO_KERNEL_LIBRARY" in text
    if named and kernels is not None:
        raise CompileError("kaio: the text names its kernels in KAIO_KERNEL_LIBRARY; leave `kernels` out")
    if kernels is None and not named:
        kernels = kernels_of(text)
        if not kernels:
            raise CompileError(
                'kaio: the text has no kernel; write inline constexpr auto name = kernel<"name", 256>([](thread t, ...) {...}); '
                'a template is named by kernels=["name<f32>"], or in KAIO_KERNEL_LIBRARY(name<f32>)'
            )
    first = LIBRARY + ("" if re.search(r"#\s*include\s*<kaio/", text) else PROLOGUE)
    last = f"\nKAIO_KERNEL_LIBRARY({', '.join(kernels)});\n" if kernels is not None else "\n"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{first}#line 1 "{quoted}"\n{text}{last}'


def digest_of(paths: list[str]) -> str:
    """Of the contents of the headers that a text includes. A missing one has none."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            content = pathlib.Path(path).read_bytes()
        except OSError:
            return ""
        digest.update(f"{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def listed_headers(file: pathlib.Path) -> list[str]:
    """The headers of a file of make's rules apart from the source itself, which is the first."""
    words = re.sub(r"\\\n", " ", file.read_text()).partition(": ")[2]
    return [word.replace("\\ ", " ") for word in re.findall(r"(?:\\ |\S)+", words)][1:]


def mistakes_of(log: str, shown: str, text: str) -> list[str]:
    """The lines of the text that the compiler refuses, each with kaio's rule or the compiler's words."""
    found: dict[str, None] = {}

    def add(line: str, what: str) -> None:
        lines = text.splitlines()
        at = f"  {shown}:{line}: {what.removeprefix('kaio: ')}"
        quoted = lines[int(line) - 1].strip() if int(line) <= len(lines) else ""
        found[at + (f"\n      {quoted}" if quoted else "")] = None

    broken = re.findall(r'kernel_without_fault<[^"\n]*"[^"\n]*?:(\d+)"[^"\n]*"(kaio: [^"\n]+)"\}>\' evaluated', log)
    broken = broken or re.findall(r'sizeof\S* to incomplete type [^"\n]*kernel_breaks_rule<[^"\n]*"[^"\n]*?:(\d+)"[^"\n]*"(kaio: [^"\n]+)"', log)
    for line, rule in broken:
        add(line, rule)
    place = re.compile(rf"{re.escape(shown)}:(\d+):")
    for rule in re.finditer(r"error: static assertion failed(?: due to requirement [^\n]*)?: (kaio: [^\n]+)", log):
        if where := place.search(log, rule.end()):
            add(where[1], rule[1])
    if not found:
        for other in re.finditer(rf"^{re.escape(shown)}:(\d+):(?:\d+:)? (?:fatal )?error: (.+)$", log, re.MULTILINE):
            add(other[1], other[2])
    return [mistake for mistake in found if "the kernel breaks this rule, in this line" not in mistake]


def first_of(text: str) -> str:
    lines = [line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " ..." for line in text.strip().splitlines()]
    rest = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES]) + (f"\n... and {rest} lines more, in the error's log" if rest > 0 else "")


def build(source: str | os.PathLike[str], kernels: list[str] | tuple[str, ...] | None, include: list[str], flags: list[str],
          compiler: str | None) -> pathlib.Path:  # fmt: skip
    """The shared object of a text, compiled if there is none yet."""
    found = find_compiler(compiler)
    own = headers()
    if isinstance(source, str):
        text, place = source, ""
    else:
        file = pathlib.Path(source).resolve()
        text, place = file.read_text(), str(file)
        include = [str(file.parent), *include]
    include = [os.path.abspath(folder) for folder in include]
    state = os.stat(found)
    digest = hashlib.sha256()
    for part in (text, place, repr(kernels), repr(include), repr(flags), found, str(state.st_mtime_ns), str(state.st_size), str(own),
                 state_of_headers(own), " ".join(FLAGS)):  # fmt: skip
        digest.update(part.encode() + b"\0")
    entry = cache_folder() / digest.hexdigest()[:32]
    try:
        known = json.loads((entry / "known.json").read_text())
        ready = entry / str(known["file"])
        if ready.is_file() and digest_of(known["headers"]) == known["digest"]:
            return ready
    except (OSError, ValueError, KeyError):
        pass
    return compiled(entry, text, place, kernels, include, flags, found, own)


def compiled(entry: pathlib.Path, text: str, place: str, kernels: list[str] | tuple[str, ...] | None, include: list[str],
             flags: list[str], compiler: str, own: pathlib.Path) -> pathlib.Path:  # fmt: skip
    """Compiles into a folder next to the entry, and moves the files there when they are whole: others may do so meanwhile."""
    kind, _ = kind_of(compiler)
    try:
        entry.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompileError(f"kaio: the folder of compiled kernels cannot be made: {error}; name another in XDG_CACHE_HOME") from None
    shown = place or str(entry / "kernels.cpp")
    whole = whole_text(text, kernels, shown)
    with tempfile.TemporaryDirectory(dir=entry) as work:
        file = pathlib.Path(work) / "source.cpp"
        file.write_text(whole)
        object_file, rules = pathlib.Path(work) / "object.so", pathlib.Path(work) / "rules.d"
        command = [compiler, *FLAGS, *FLAGS_OF[kind], "-isystem", str(own), *(f"-I{folder}" for folder in include), *flags, "-MMD", "-MF",
                   str(rules), str(file), "-o", str(object_file)]  # fmt: skip
        if not place:
            write(entry / "kernels.cpp", text)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
        if done.returncode != 0:
            log = (done.stderr + done.stdout).replace(str(file), shown)
            mistakes = "".join(f"{mistake}\n" for mistake in mistakes_of(log, shown, text))
            name = os.path.basename(compiler)
            said = f"{name} refuses these lines:\n{mistakes}In its own words:" if mistakes else f"{name} refuses the kernels of {shown}:"
            raise CompileError(f"kaio: {said}\n{first_of(log)}", log)
        used = [os.path.abspath(header) for header in listed_headers(rules)]
        digest = digest_of(used)
        ready = entry / f"libkernels-{digest}.so"
        os.replace(object_file, ready)
        write(entry / "known.json", json.dumps({"file": ready.name, "headers": used, "digest": digest}))
    return ready


def write(file: pathlib.Path, text: str) -> None:
    """Writes a file whole: another process reads the old one or the new one."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as new:
        new.write(text)
    os.replace(new.name, file)
