#!/usr/bin/env python3
"""Sentences that are read once: no comment and no paragraph of a document begins with "Of" or "The same", none has one of the
PHRASES, and no sentence has more than 40 words. Sentences are counted without code, tables, pictures and formulas. Prints a line
for each breach, then 'N passed, N failed' over the files.

    words.py [FILE...]      all files of the repository, or these
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_WORDS = 40
BEGINS = re.compile(r"(?:Of|The same)\b")
# Phrases that a reader has to take apart. A number or a condition says the same: "`count` rows", "except".
PHRASES = ["so many", "so few", "that which", "those that there", "but for", "of which there", "by which there", "as many as there"]
REFUSED = re.compile(r"\b(?:" + "|".join(phrase.replace(" ", r"\s+") for phrase in PHRASES) + r")\b", re.IGNORECASE)
# A line of a picture, a table, a formula, a list of words or a command: its text is no sentence.
NO_PROSE = re.compile(r"^\s{2,}\S|\||[-=+]{3,}|\s{3,}|^\s*$")
EMPTY = re.compile(r"^\s*$")
END = re.compile(r"(?<=[.!?])\s+|(?<=[:;])\s+(?=[A-Z`\"(])")
CODE = re.compile(r"`[^`]*`|\([^()]*\)|\[[^\[\]]*\]\([^()]*\)")
CODE_ONLY = re.compile(r"`[^`]*`")
EXPECTED = re.compile(r"\s*(?:EXPECT|LATE|HERE|NOLINT|clang-format|shellcheck|noqa)")  # what tools and tests read


def paragraphs_of_comments(text, mark, no_prose=NO_PROSE):
    """(line, text) of each block of comment lines, cut at lines that are no prose."""
    number, words = 0, []
    for i, line in enumerate(text.splitlines() + [""], 1):
        found = re.match(rf"\s*{mark}(?!!)(.*)$", line)
        body = found[1].removeprefix(" ") if found else ""
        if not found or no_prose.search(body) or EXPECTED.match(body):
            if words:
                yield number, " ".join(words)
            words = []
            continue
        if not words:
            number = i
        words.append(body.strip())


def docstrings(text):
    """(line, text) of each docstring."""
    for found in re.finditer(r'^[ \t]*"""(.*?)"""', text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, found.start()) + 1, found[1]


def trailing_comments(text, mark):
    """(line, text) of comments after code."""
    for i, line in enumerate(text.splitlines(), 1):
        found = re.match(rf"[^\"']*\S.*?[;,{{}})\]]\s+{mark} (.*)$", line)
        if found and not re.match(rf"\s*{mark}", line):
            yield i, found[1]


def paragraphs_of_document(text):
    """(line, text) of each paragraph and item of a list, without code blocks and tables."""
    inside, number, words = False, 0, []
    for i, line in enumerate(text.splitlines() + [""], 1):
        if line.startswith("```"):
            inside = not inside
        item = re.match(r"\s*(?:[-*]|\d+\.) (.*)$", line)
        ends = inside or line.startswith(("```", "|", "#", "<", "    ")) or not line.strip()
        if (ends or item) and words:
            yield number, " ".join(words)
            words = []
        if ends:
            continue
        if not words:
            number = i
        words.append((item[1] if item else line).strip())


def lines_of_tables(text):
    """(line, text) of each row of a table of a document."""
    for i, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            yield i, line


def problems_of(file):
    yield from problems_in(file.read_text(encoding="utf-8"), file.suffix)


def problems_in(text, suffix):
    """(line, problem) of a file with this text."""
    if suffix == ".md":
        prose = list(paragraphs_of_document(text))
        phrases = prose + list(lines_of_tables(text))
    else:
        mark = "//" if suffix in (".hpp", ".cpp") else "#"
        prose = list(paragraphs_of_comments(text, mark))
        trailing = list(trailing_comments(text, mark))
        phrases = list(paragraphs_of_comments(text, mark, EMPTY)) + trailing
        if suffix == ".py":
            phrases += docstrings(text)
        for line, comment in trailing:
            if BEGINS.match(comment):
                yield line, f"a comment begins with '{comment[:30]}'"
    for line, paragraph in phrases:
        for found in REFUSED.finditer(CODE_ONLY.sub("`", paragraph)):
            yield line, f"has '{' '.join(found[0].split())}': '{paragraph.strip()[:60]}...'"
    for line, paragraph in prose:
        if BEGINS.match(paragraph):
            yield line, f"begins with '{paragraph[:30]}'"
        for sentence in END.split(CODE.sub("`", paragraph)):
            count = sum(not word.startswith("`") for word in sentence.split())
            if count > MOST_WORDS:
                yield line, f"a sentence of {count} words: '{sentence[:60]}...'"


def files():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    for name in names.splitlines():
        file = ROOT / name
        if file.suffix in (".hpp", ".cpp", ".py", ".md") and file.is_file():
            yield file


def main():
    some = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or list(files())
    failed = 0
    for file in some:
        found = list(problems_of(file))
        failed += bool(found)
        for line, problem in found:
            print(f"{file.relative_to(ROOT)}:{line}: {problem}")
    print(f"{len(some) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
