#!/usr/bin/env python3
"""Compares the stand-in with the sources of candle-core and cudarc. Ends with 'N passed, N failed'.

    signatures.py [--candle FOLDER] [--cudarc FOLDER]

FOLDER is a crate (with src/), a checkout of the repository, or a git directory, of which HEAD is read. Without it, the crates that
cargo has fetched are taken, candle-core of the minor version in Cargo.toml. Exits with 77 if there is neither.

Each public function of the stand-in, and each function of its public traits, has a function of that name and of the same types in
the sources. Each variant of an enum and each public field of a struct is there too; the enums that kaio-candle matches without a
default have no variant more.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMPLETE = {"CpuStorage", "CudaStorageSlice", "Storage", "DType", "Device", "DeviceLocation"}
MACROS = r"\b(?:unary_op|binary_op|broadcast_binary_op|extract_dims)!\s*\(\s*(\w+)"


def sources(given, crate, inner):
    """{path: text} of a crate's src, or None."""
    if given is None:
        version = re.search(r'^version = "(\d+\.\d+)', (HERE / "Cargo.toml").read_text(), re.MULTILINE)[1]
        wanted = f"{crate}-{version}.*" if crate == "candle-core" else f"{crate}-*"
        fetched = sorted((pathlib.Path.home() / ".cargo/registry/src").glob(f"*/{wanted}"))
        if not fetched:
            return None
        given = fetched[-1]
    given = pathlib.Path(given)
    for folder in (given / "src", given / inner / "src"):
        if folder.is_dir():
            return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*.rs"))}
    git = ["git", "--git-dir", str(given)]
    top = f"{inner}/src" if inner else "src"
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", "HEAD", "--", top], capture_output=True, text=True, check=True)
    return {name[len(top) + 1:]: subprocess.run([*git, "show", f"HEAD:{name}"], capture_output=True, text=True, check=True).stdout
            for name in names.stdout.split() if name.endswith(".rs")}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def end_of(text, start, opening="(", closing=")"):
    """The index after the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at + 1
    return len(text)


def split(text):
    """The parts between commas that are in no bracket."""
    parts, depth, part = [], 0, ""
    for at, letter in enumerate(text):
        arrow = letter == ">" and at and text[at - 1] == "-"
        depth += (letter in "(<[{") - (letter in ")>]}" and not arrow)
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [part.strip() for part in [*parts, part] if part.strip()]


def plain(text):
    """A type without spaces and paths, so that `crate::Result<X>` and `Result<X>` agree."""
    text = re.sub(r"\b(?:\w+::)+(?=\w)", "", text)
    return re.sub(r"\s+", "", re.sub(r",\s*(?=[)>])", "", text))


def functions(text, all_of=False):
    """{name: set of (generics, types of the arguments, result)} of public functions, and of those of public traits."""
    found = {}
    traits = []
    for start in re.finditer(r"\bpub trait \w+[^{;]*\{", text):
        traits.append((start.start(), end_of(text, start.end() - 1, "{", "}")))
    for start in re.finditer(r"(?P<public>\bpub\s+)?(?:\bunsafe\s+)?\bfn\s+(?P<name>\w+)", text):
        inside = any(first < start.start() < last for first, last in traits)
        if not (all_of or start["public"] or inside):
            continue
        at, generics = start.end(), ""
        if text[at] == "<":
            at = end_of_generics(text, at)
            generics = text[start.end():at]
        if text[at] != "(":
            continue
        close = end_of(text, at)
        arguments = [plain(part.split(":", 1)[1] if re.match(r"(mut )?\w+\s*:", part) else part) for part in split(text[at + 1:close - 1])]
        result = re.match(r"\s*(?:->\s*([^{;]*?))?\s*(?:where\b[^{;]*)?[{;]", text[close:])
        found.setdefault(start["name"], set()).add((plain(generics), tuple(arguments), plain((result and result[1]) or "")))
    return found


def end_of_generics(text, at):
    depth = 0
    while True:
        arrow = text[at] == ">" and text[at - 1] == "-"
        depth += (text[at] == "<") - (text[at] == ">" and not arrow)
        at += 1
        if depth == 0:
            return at


def members(text, kind):
    """{name: set of variants, or of public fields} of public enums or structs."""
    found = {}
    for start in re.finditer(rf"\bpub {kind} (\w+)(?:<[^>{{]*>)?\s*\{{", text):
        body = text[start.end():end_of(text, start.end() - 1, "{", "}") - 1]
        body = re.sub(r"#\[[^\]]*(?:\[[^\]]*\][^\]]*)*\]", "", body)
        pattern = r"(\w+)" if kind == "enum" else r"pub\s+(\w+)\s*:"
        names = {match[1] for part in split(body) if (match := re.match(pattern, part))}
        found.setdefault(start[1], set()).update(names)
    return found


def compare(own, theirs, complete):
    """The number of names that agree, and what does not."""
    passed, wrong = 0, []
    there, here = functions(theirs, all_of=True), functions(own)
    macros = set(re.findall(MACROS, theirs))
    for name, forms in sorted(here.items()):
        for form in forms:
            if form in there.get(name, set()):
                passed += 1
            else:
                wrong.append(f"fn {name}: the stand-in has {form}, and the sources {there.get(name, 'no such function')}")
    for name in sorted(set(re.findall(MACROS, own))):
        passed += name in macros
        if name not in macros:
            wrong.append(f"{name}: no macro of the sources makes it")
    for kind in ("enum", "struct"):
        theirs_of = members(theirs, kind)
        for name, names in sorted(members(own, kind).items()):
            known = theirs_of.get(name)
            if known is None:
                wrong.append(f"{kind} {name} is not in the sources")
            elif names - known or (name in complete and known - names):
                wrong.append(f"{kind} {name}: {sorted(names)}, and the sources have {sorted(known)}")
            else:
                passed += 1
    return passed, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candle")
    parser.add_argument("--cudarc")
    arguments = parser.parse_args()
    candle, cudarc = sources(arguments.candle, "candle-core", "candle-core"), sources(arguments.cudarc, "cudarc", "")
    if candle is None or cudarc is None:
        print("skipped: the sources of candle-core and cudarc are not there; name them with --candle and --cudarc")
        return 77
    passed, wrong = 0, []
    files = {str(file.relative_to(HERE / "src")): without_comments(file.read_text()).split("#[cfg(test)]\nmod tests")[0]
             for file in sorted((HERE / "src").rglob("*.rs"))}
    driver = [name for name in cudarc if name.startswith("driver/safe/core") or name.startswith("driver/result")]
    whole = "\n".join(without_comments(text) for name, text in candle.items())
    for name, text in files.items():
        if name.startswith("cudarc/"):
            theirs = "\n".join(without_comments(cudarc[file]) for file in driver)
            text = re.sub(r"\bpub mod sys \{.*?\n\}", "", text, flags=re.DOTALL) if "library" not in name else ""
        else:
            theirs = whole
        more = compare(text, theirs, COMPLETE)
        passed += more[0]
        wrong += [f"{name}: {what}" for what in more[1]]
    print("\n".join(wrong))
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
