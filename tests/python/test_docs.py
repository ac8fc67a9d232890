"""Every block of Python in the documents runs: README.md, docs/python.md and docs/python/*.md.

The blocks of a page run in order, in one namespace and in an empty folder. A block that begins with "# needs a GPU" runs only if
there is one; its syntax is always checked.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    """(line, text) of each block of Python."""
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start()) + 2, block.group(1)


PAGES = [page for page in (ROOT / "README.md", ROOT / "docs" / "python.md", *sorted((ROOT / "docs" / "python").glob("*.md")))
         if page.exists() and any(blocks(page))]  # fmt: skip


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for line, block in blocks(page):
        for package in sorted({name for name in ("torch", "numpy", "transformers") if re.search(rf"\b{name}\b", block)}):
            pytest.importorskip(package)
        code = compile("\n" * (line - 1) + block, str(page), "exec")
        if not block.startswith("# needs a GPU") or has_gpu():
            exec(code, names)


def test_there_are_examples():
    assert ROOT / "docs" / "python" / "torch.md" in PAGES and sum(1 for page in PAGES for _ in blocks(page)) >= 10
