"""Each showcase in Python, in its size for the CPU, ends with "right"; and notices a wrong result."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")

import kaio  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "showcase" / "python"


def run(tmp_path, program, *words):
    folders = [str(pathlib.Path(kaio.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    python = os.pathsep.join(filter(None, folders))
    return subprocess.run([sys.executable, str(program), "--device", "cpu", *words], cwd=tmp_path, capture_output=True, text=True,
                          env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": python}, timeout=300)  # fmt: skip


@pytest.mark.parametrize("program", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_showcase(tmp_path, program):
    done = run(tmp_path, program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("right"), done.stdout


def test_train_gpt_draws_its_curves(tmp_path):
    done = run(tmp_path, FOLDER / "train_gpt.py", "--steps", "3", "--layers", "1", "--tokens", "32", "--png", "curves.png")
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
    text = (FOLDER / program).read_text()
    assert right in text
    (tmp_path / program).write_text(text.replace(right, wrong))
    done = run(tmp_path, tmp_path / program)
    assert done.returncode == 1 and done.stdout.rstrip().endswith("WRONG"), done.stdout + done.stderr
