#!/usr/bin/env python3
"""Selects tests: their names, and the targets to build for them.

    part.py BUILD                 lists the labels and the names
    part.py BUILD WORD...         prints two lines: the regular expression for `ctest -R`, and the targets

A word is a label, a test's name, or a regular expression that is searched in the names. The label `later` is not listed: it
marks tests whose turn comes with another commit (tests/CMakeLists.txt). A target is a path in a test's command line or
environment that the build makes.
"""

import pathlib
import re
import subprocess
import sys

token = re.compile(r'\[(=*)\[(.*?)\]\1\]|"((?:\\.|[^"\\])*)"|([^\s()"]+)', re.DOTALL)


def tokens(text):
    return [bracket or re.sub(r"\\(.)", r"\1", quoted) or bare
            for _, bracket, quoted, bare in token.findall(text)]


class test:
    def __init__(self, command):
        self.command = command
        self.properties = {}

    def words_of(self, name):
        return self.properties.get(name, "").split(";") if self.properties.get(name) else []


def read_tests(build):
    """The tests of a build folder by name."""
    found = {}
    files = [build / "CTestTestfile.cmake"]
    while files:
        file = files.pop()
        if not file.exists():
            continue
        for call, rest in re.findall(r"^(add_test|set_tests_properties|subdirs)\((.*)\)$", file.read_text(),
                                     re.MULTILINE):
            words = tokens(rest)
            if call == "subdirs":
                files.append(file.parent / words[0] / "CTestTestfile.cmake")
            elif call == "add_test":
                found[words[0]] = test(words[1:])
            elif words[0] in found:
                found[words[0]].properties.update(zip(words[2::2], words[3::2]))
    return found


def chosen(tests, words):
    names = set()
    for word in words:
        of_label = {name for name, one in tests.items() if word in one.words_of("LABELS")}
        exact = {word} & tests.keys()
        try:
            matching = of_label | exact or {name for name in tests if re.search(word, name)}
        except re.error as problem:
            sys.exit(f"kaio: '{word}' is no regular expression: {problem}")
        if not matching:
            sys.exit(f"kaio: no test has the label or the name '{word}'; `tools/kaio test --help` lists them")
        names |= matching
    return names


def with_fixtures(tests, names):
    """The chosen tests and the tests that set up their fixtures: ctest runs those too."""
    todo, done = set(names), set()
    while todo:
        name = todo.pop()
        done.add(name)
        for fixture in tests[name].words_of("FIXTURES_REQUIRED"):
            todo |= {other for other, one in tests.items()
                     if fixture in one.words_of("FIXTURES_SETUP") and other not in done}
    return done


def targets_of(build, tests, names):
    said = subprocess.run(["ninja", "-C", str(build), "-t", "targets", "all"], capture_output=True, text=True,
                          check=True).stdout
    made = {line.rsplit(": ", 1)[0] for line in said.splitlines()}
    targets = set()
    for name in names:
        if "--install" in tests[name].command:
            return ["all"]
        environment = [path for word in tests[name].words_of("ENVIRONMENT") for path in re.split("[=:]", word)]
        for word in tests[name].command + environment:
            if word.startswith(f"{build}/") and word[len(f"{build}/"):] in made:
                targets.add(word[len(f"{build}/"):])
    return sorted(targets)


def print_list(tests):
    labels = {}
    for name, one in sorted(tests.items()):
        for label in set(one.words_of("LABELS")) - {"later"} or [""]:
            labels.setdefault(label, []).append(name)
    for label, names in sorted(labels.items()):
        shown = ", ".join(names[:8]) + (f", ... ({len(names)})" if len(names) > 8 else "")
        print(f"  {label:12} {shown}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    tests = read_tests(build)
    if not sys.argv[2:]:
        print_list(tests)
        return
    names = chosen(tests, sys.argv[2:])
    print("^(" + "|".join(re.escape(name) for name in sorted(names)) + ")$")
    print(" ".join(targets_of(build, tests, with_fixtures(tests, names))))


if __name__ == "__main__":
    main()
