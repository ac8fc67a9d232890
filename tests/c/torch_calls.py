#!/usr/bin/env python3
"""kaio as a guest of PyTorch, through ctypes: torch_calls.py LIBRARY [--figures].

PyTorch's tensors are passed as DLTensors on PyTorch's current stream: the default stream, a side stream, and the stream
that torch.cuda.graph captures. Skipped where there is no PyTorch or no GPU. --figures measures what a call costs.
"""

import ctypes
import sys
import time

import by_ctypes
import generate

SKIPPED = 77


def dltensor(torch, t):
    """The memory of a tensor; it is used while the tensor lives."""
    codes = {torch.float32: (2, 32), torch.float16: (2, 16), torch.bfloat16: (4, 16), torch.int8: (0, 8), torch.uint8: (1, 8)}
    code, bits = codes[t.dtype]
    shape, strides = (ctypes.c_int64 * t.ndim)(*t.shape), (ctypes.c_int64 * t.ndim)(*t.stride())
    return by_ctypes.Tensor(t.data_ptr(), by_ctypes.Device(2, t.device.index), t.ndim, code, bits, 1, shape, strides, 0)


class guest:
    def __init__(self, torch, path):
        self.torch, self.functions = torch, ctypes.CDLL(path)
        self.functions.kaio_last_error.restype = ctypes.c_char_p
        structs = generate.descriptions().structs
        self.matmul_options = by_ctypes.struct_of(structs["matmul_options"])
        self.rms_norm_options = by_ctypes.struct_of(structs["rms_norm_options"])

    def call(self, name, *arguments):
        if getattr(self.functions, f"kaio_{name}")(*arguments) != 0:
            raise RuntimeError(self.functions.kaio_last_error().decode())

    def stream(self):
        return ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)

    def matmul(self, a, b, c):
        a, b, c = (dltensor(self.torch, t) for t in (a, b, c))
        self.call("matmul", self.stream(), ctypes.byref(a), ctypes.byref(b), ctypes.byref(c), None)

    def matmul_warmup(self, a, b, c):
        a, b, c = (dltensor(self.torch, t) for t in (a, b, c))
        self.call("matmul_warmup", ctypes.byref(a), ctypes.byref(b), ctypes.byref(c), None)


def close_to(torch, got, expected):
    return torch.allclose(got.float(), expected.float(), rtol=1e-2, atol=1e-1)


def check(torch, kaio):
    torch.manual_seed(1)
    a = torch.randn(300, 512, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(512, 384, device="cuda", dtype=torch.bfloat16)
    weights = torch.randn(384, 512, device="cuda", dtype=torch.bfloat16)
    expected = a.float() @ b.float()

    c = torch.full((300, 384), float("nan"), device="cuda", dtype=torch.bfloat16)
    kaio.matmul(a, b, c)  # the default stream: handle 0
    assert close_to(torch, c, expected), "on the default stream"

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        late = torch.randn(300, 512, device="cuda", dtype=torch.bfloat16)
        for _ in range(20):
            late = late * 1.0  # work that the call has to come after
        kaio.matmul(late, weights.t(), c)
    torch.cuda.current_stream().wait_stream(side)
    assert close_to(torch, c, late.float() @ weights.t().float()), "on a side stream, with B transposed"

    # Within torch.cuda.graph: replayed with other contents of the same memory.
    kaio.matmul_warmup(a, b, c)
    before = torch.cuda.memory_reserved()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kaio.matmul(a, b, c)
        d = torch.relu(c)
    for seed in range(3):
        torch.manual_seed(seed)
        a.copy_(torch.randn_like(a))
        graph.replay()
        assert close_to(torch, d, torch.relu(a.float() @ b.float())), "a replay of torch.cuda.graph"
    torch.cuda.synchronize()

    # A first use in a capture is a typed error, and the capture of PyTorch goes on.
    odd = torch.randn(77, 64, device="cuda", dtype=torch.float32)
    out = torch.empty(77, 77, device="cuda", dtype=torch.float32)
    graph, message = torch.cuda.CUDAGraph(), ""
    with torch.cuda.graph(graph):
        try:
            kaio.matmul(odd, odd.t(), out)
        except RuntimeError as error:
            message = str(error)
        e = odd + 1
    graph.replay()
    assert "warmup" in message, message
    assert torch.equal(e, odd + 1)
    kaio.matmul(odd, odd.t(), out)
    assert torch.allclose(out, odd @ odd.t(), rtol=1e-3, atol=1e-2)

    # The current context and device stay those of PyTorch.
    assert torch.cuda.current_device() == a.device.index
    print(f"right; {(torch.cuda.memory_reserved() - before) / 2**20:.0f} MiB taken by PyTorch meanwhile")


def microseconds(torch, run, repetitions=2000):
    """The host's time of a call, least of 7 loops."""
    best = float("inf")
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repetitions):
            run()
        best = min(best, time.perf_counter() - start)
    torch.cuda.synchronize()
    return best / repetitions * 1e6


def figures(torch, kaio):
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
    c = torch.empty(512, 512, device="cuda", dtype=torch.float16)
    tensors = [dltensor(torch, t) for t in (a, b, c)]
    at = [ctypes.byref(t) for t in tensors]
    stream, function = kaio.stream(), kaio.functions.kaio_matmul
    rows = {
        "kaio_matmul by ctypes, tensors described before": lambda: function(stream, at[0], at[1], at[2], None),
        "kaio_matmul by ctypes, tensors described anew": lambda: kaio.matmul(a, b, c),
        "torch.mm(out=)": lambda: torch.mm(a, b, out=c),
    }
    for name, run in rows.items():
        print(f"{name:50} {microseconds(torch, run):6.2f} us a call")


def main():
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print("skipped: there is no PyTorch with a GPU")
        sys.exit(SKIPPED)
    kaio = guest(torch, sys.argv[1])
    check(torch, kaio)
    if "--figures" in sys.argv:
        figures(torch, kaio)


if __name__ == "__main__":
    main()
