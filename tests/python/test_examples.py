"""Every block of Python in the documents runs (README.md, docs/python.md, docs/python/*.md), and every showcase in Python.

The blocks of a page run in order, in one namespace and in an empty folder. A block that begins with "# needs a GPU" runs only if
there is one; its syntax is always checked. A showcase ends with "right" in its size for the CPU, and notices a wrong result.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWCASES = ROOT / "showcase" / "python"


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


def run(tmp_path, program, *words):
    pytest.importorskip("torch")
    import kaio

    folders = [str(pathlib.Path(kaio.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    python = os.pathsep.join(filter(None, folders))
    return subprocess.run([sys.executable, str(program), "--device", "cpu", *words], cwd=tmp_path, capture_output=True, text=True,
                          env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": python}, timeout=300)  # fmt: skip


@pytest.mark.parametrize("program", sorted(SHOWCASES.glob("*.py")), ids=lambda path: path.stem)
def test_showcase(tmp_path, program):
    done = run(tmp_path, program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("right"), done.stdout


def test_train_gpt_draws_its_curves(tmp_path):
    done = run(tmp_path, SHOWCASES / "train_gpt.py", "--steps", "3", "--layers", "1", "--tokens", "32", "--png", "curves.png")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    "program, right, wrong",
    [
        ("serve.py", 'causal="bottom_right"', 'causal="bottom_right", window_left=4'),
        ("train_gpt.py", "kaio.torch.attention(q, k, v, causal=True)", "kaio.torch.attention(q, v, k, causal=True) * 3"),
        ("quantise.py", "{name}.qzeros\": qzeros.view(np.int32)", "{name}.qzeros\": (qzeros + 0x11111111).view(np.int32)"),
    ],
)
def test_a_wrong_result_is_noticed(tmp_path, program, right, wrong):
    text = (SHOWCASES / program).read_text()
    assert right in text
    (tmp_path / program).write_text(text.replace(right, wrong))
    done = run(tmp_path, tmp_path / program)
    assert done.returncode == 1 and done.stdout.rstrip().endswith("WRONG"), done.stdout + done.stderr
