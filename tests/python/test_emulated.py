"""PyTorch's build for CUDA on the emulator: its operations are computed on the CPU, kernels of programs are emulated."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")
PROGRAM, EMULATOR = os.environ.get("KAIO_PROGRAM", ""), os.environ.get("KAIO_CUDA_EMULATOR", "")
under_check = pytest.mark.skipif(not PROGRAM or not EMULATOR, reason="KAIO_PROGRAM or KAIO_CUDA_EMULATOR is not set")

SCALE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 n) {
  .reg .pred %out; .reg .b32 %i, %n; .reg .b64 %x, %o; .reg .f32 %v, %f;
  ld.param.u64 %x, [x];
  ld.param.f32 %f, [factor];
  ld.param.u32 %n, [n];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %out, %i, %n;
  @%out bra end;
  mul.wide.u32 %o, %i, 4;
  add.u64 %x, %x, %o;
  ld.global.f32 %v, [%x];
  mul.f32 %v, %v, %f;
  st.global.f32 [%x], %v;
end:
  ret;
}
"""
LAUNCH = f'''
import ctypes, torch
cuda = ctypes.CDLL("libcuda.so.1")
module, function = ctypes.c_void_p(), ctypes.c_void_p()
torch.cuda.current_stream()
assert cuda.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p({SCALE.encode()!r})) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scale") == 0

def scale(x, factor, n):
    values = [ctypes.c_uint64(x.data_ptr()), ctypes.c_float(factor), ctypes.c_uint32(n)]
    pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return cuda.cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, pointers, None)
'''


def run(folder: pathlib.Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(LAUNCH + textwrap.dedent(text))
    environment = {name: value for name, value in os.environ.items() if name != "KAIO_DEVICE"}
    return subprocess.run([PROGRAM, "check", "--cuda", "--library", EMULATOR, *options, "--", sys.executable, "-m",
                           "kaio.torch.emulated", str(program), "word"], capture_output=True, text=True, env=environment, timeout=300)


def passes(folder: pathlib.Path, text: str) -> str:
    done = run(folder, text)
    if "libcudart" in done.stderr and "cannot open" in done.stderr:
        pytest.skip("PyTorch's build for CUDA is not here")
    assert done.returncode == 0, done.stderr
    return done.stdout


@under_check
def test_operations_of_pytorch_are_computed(tmp_path: pathlib.Path) -> None:
    passes(tmp_path, """
        import sys
        assert sys.argv[1:] == ["word"] and torch.cuda.is_available()
        torch.manual_seed(3)
        x = torch.randn(6, 5, device="cuda")
        torch.manual_seed(3)
        assert x.is_cuda and torch.equal(x.cpu(), torch.randn(6, 5))
        assert torch.allclose((2 * x + 1).cpu(), 2 * x.cpu() + 1)
        assert torch.allclose((x @ x.t()).cpu(), x.cpu() @ x.cpu().t())
        y = x.clone()
        y.t()[1:3] += 10  # a view that is not contiguous
        want = x.cpu()
        want[:, 1:3] += 10
        assert torch.equal(y.cpu(), want)
        out = torch.empty(5, device="cuda")
        assert torch.sum(x, 0, out=out) is out and torch.allclose(out.cpu(), x.cpu().sum(0))
        assert x[x > 0].device.type == "cuda" and x[x > 0].shape == x.cpu()[x.cpu() > 0].shape
        values, places = x.max(1)
        assert torch.equal(places.cpu(), x.cpu().max(1).indices) and x.sum().item() == x.cpu().sum().item()
        assert x.half().cpu().dtype == torch.float16 and "device='cuda:0'" in repr(x)
        big = torch.arange(8, device="cuda").view(2, 4)[:, ::2]
        assert big.to("cpu").tolist() == [[0, 2], [4, 6]]
    """)


@under_check
def test_training_steps(tmp_path: pathlib.Path) -> None:
    passes(tmp_path, """
        def trained(device):
            torch.manual_seed(1)
            model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 1)).to(device)
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
            x = torch.linspace(-1, 1, 12).view(3, 4).to(device)
            for _ in range(3):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
            return [parameter.detach().cpu() for parameter in model.parameters()]
        for left, right in zip(trained("cuda"), trained("cpu")):
            torch.testing.assert_close(left, right)
    """)


@under_check
def test_kernels_of_the_program_are_emulated(tmp_path: pathlib.Path) -> None:
    passes(tmp_path, """
        x = torch.arange(40, dtype=torch.float32, device="cuda")
        assert scale(x, 3.0, 40) == 0
        x += 1
        assert x.tolist() == [3.0 * i + 1 for i in range(40)]
    """)


@under_check
def test_a_kernel_that_leaves_its_memory_is_found(tmp_path: pathlib.Path) -> None:
    done = run(tmp_path, """
        x = torch.ones(60, device="cuda")
        scale(x, 3.0, 64)
        torch.cuda.synchronize()
    """)
    assert done.returncode == 3, done.stderr
    assert "kernel 'scale'" in done.stderr and "an illegal memory access was encountered" in done.stderr
    assert "block (0, 0, 0), thread (60, 0, 0)" in done.stderr


def test_without_a_device_it_says_what_to_do(tmp_path: pathlib.Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a device")
    done = subprocess.run([sys.executable, "-m", "kaio.torch.emulated", "x.py"], capture_output=True, text=True)
    assert done.returncode == 1 and "run it under `kaio check --cuda`" in done.stderr
