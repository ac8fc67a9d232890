"""kaio.torch.distributed: ranks are processes that gloo connects; they compute on the emulator. Memory of all ranks is shared memory
of the host. Where there is a GPU, sums and products of two ranks are also computed on it: both ranks have the same GPU, whose
symmetric memory they share."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import sys
import time
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch")
import torch.distributed as dist  # noqa: E402

if not (dist.is_available() and dist.is_gloo_available()):
    pytest.skip("PyTorch without gloo", allow_module_level=True)

import kaio.torch  # noqa: E402
from kaio.torch import distributed as kd  # noqa: E402


DEVICE = os.environ.get("KAIO_TEST_RANKS_ON", "cpu")  # of a rank's tensors


def _whole(seed: int, *shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator("cpu").manual_seed(seed), device="cpu").to(DEVICE)


def attends(world: int, rank: int) -> None:
    """Outputs and gradients are those of one rank."""
    for layout, head_ranks, heads, options in (
        ("zigzag", 1, 1, {"causal": True}),
        ("contiguous", 1, 2, {"causal": True, "window": (5, 0)}),
        ("zigzag", 2, 2, {"softcap": 3.0}),
        ("zigzag", 2, 2, {"causal": True, "sinks": torch.tensor([0.5, -1.0, 0.1, 0.2])}),
    ):
        if world % head_ranks:
            continue
        q, k, v, dout = (_whole(i, 2, 21, h, 8) for i, h in ((1, 2 * heads), (2, heads), (3, heads), (4, 2 * heads)))
        sinks = options.pop("sinks", None)
        results = []
        for divided in (True, False):
            leaves = [t.clone().requires_grad_() for t in (q, k, v)]
            own_sinks = None if sinks is None else sinks.clone().requires_grad_()
            inputs = [kd.shard(t, layout) for t in leaves] if divided else leaves
            if divided:
                out = kd.context_attention(*inputs, layout=layout, head_ranks=head_ranks, sinks=own_sinks, **options)
                assert out.shape[1] == len(kd.positions(21, layout))
                (out * kd.shard(dout, layout)).sum().backward()
                out = kd.unshard(out.detach(), layout)
            else:
                out = kaio.torch.attention(*inputs, sinks=own_sinks, **options)
                (out * dout).sum().backward()
            grads = [t.grad for t in leaves] + ([] if own_sinks is None else [own_sinks.grad])
            if divided:
                for g in grads:  # each rank has its part
                    dist.all_reduce(g)
            results.append([out, *grads])
        for a, b in zip(*results):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def _lengths(seed: int, sequences: int, most: int) -> list[int]:
    """Lengths of sequences with 0 and 1 among them."""
    random = torch.randint(most + 1, (sequences,), generator=torch.Generator().manual_seed(seed)).tolist()
    return [*random[:2], 0, *random[2:], 1, most]


def _alone(q: Any, k: Any, v: Any, lengths: list[int], **options: Any) -> Any:
    """Packed attention of one rank: (1, rows, heads, size)."""
    begins = torch.tensor([sum(lengths[:i]) for i in range(len(lengths) + 1)], dtype=torch.int32)
    most = max(lengths)
    found = kaio.torch.attention_varlen(
        q[0], k[0], v[0], cu_seqlens_q=begins, cu_seqlens_k=begins, max_seqlen_q=most, max_seqlen_k=most, **options
    )
    return tuple(t[None] for t in found) if options.get("return_lse") else found[None]


def packs(world: int, rank: int) -> None:
    """Outputs and gradients of packed sequences are those of one rank."""
    sinks_of_heads = torch.tensor([0.5, -1.0, 0.1, 0.2])
    for seed, (layout, head_ranks, heads, most, options) in enumerate((
        ("zigzag", 1, 1, 13, {"causal": True}),
        ("zigzag", 1, 2, 11, {"causal": True, "window": (3, 0), "sinks": sinks_of_heads}),
        ("zigzag", 1, 1, 9, {"window": (2, 4), "softcap": 3.0}),
        ("zigzag", 1, 1, 2, {}),
        ("contiguous", 1, 1, 13, {"causal": True}),
        ("contiguous", 1, 1, 13, {"window": (4, 1)}),
        ("zigzag", 2, 2, 13, {"causal": True, "sinks": sinks_of_heads}),
        ("zigzag", 2, 2, 11, {"window": (5, 2)}),
        ("contiguous", 2, 2, 11, {"causal": True, "window": (6, 0)}),
        ("zigzag", 1, 1, 12, {"causal": True, "window": (1, 0)}),  # 30 sequences: more runs of keys than transfers
    )):  # fmt: skip
        if world % head_ranks:
            continue
        lengths = _lengths(seed, 30 if most == 12 else 4, most)
        rows = sum(lengths)
        q, k, v, dout = (_whole(10 * seed + i, 1, rows, h, 8) for i, h in enumerate((2 * heads, heads, heads, 2 * heads)))
        sinks = options.pop("sinks", None)
        results = []
        for divided in (True, False):
            leaves = [t.clone().requires_grad_() for t in (q, k, v)]
            own_sinks = None if sinks is None else sinks.clone().requires_grad_()
            if divided:
                inputs = [kd.shard(t, layout, lengths=lengths) for t in leaves]
                out = kd.context_attention(
                    *inputs, layout=layout, head_ranks=head_ranks, sinks=own_sinks, lengths=lengths, **options
                )
                (out * kd.shard(dout, layout, lengths=lengths)).sum().backward()
                out = kd.unshard(out.detach(), layout, lengths=lengths)
            else:
                out = _alone(*leaves, lengths, sinks=own_sinks, **options)
                (out * dout).sum().backward()
            grads = [t.grad for t in leaves] + ([] if own_sinks is None else [own_sinks.grad])
            if divided:
                for g in grads:  # each rank has its part
                    dist.all_reduce(g)
            results.append([out, *grads])
        for a, b in zip(*results):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def packs_half(world: int, rank: int) -> None:
    """Packed f16: ranks without rows, a sequence on all ranks, a log-sum-exp, and places; nothing at all."""
    counts = [13, 0, 6, 9][:world]
    rows, begin = sum(counts), sum(counts[:rank])
    lengths = [2, 0, 1, rows - 7, 4]
    q = _whole(5, 1, rows, 2, 16).half()
    want, want_lse = _alone(q, q, q, lengths, causal=True, return_lse=True)
    for layout in ("contiguous", "zigzag"):
        mine = torch.arange(begin, begin + counts[rank])
        if layout == "zigzag":
            mine = kd.shard(torch.arange(rows), layout, dim=0, lengths=lengths)
            places = torch.cat([torch.arange(n) for n in lengths])
            assert torch.equal(kd.positions(rows, layout, lengths=lengths), places[mine])
        x = q[:, mine].contiguous()
        out, lse = kd.context_attention(x, x, x, causal=True, layout=layout, lengths=lengths, return_lse=True)
        torch.testing.assert_close(out, want[:, mine], rtol=2e-3, atol=2e-3)
        torch.testing.assert_close(lse, want_lse[:, :, mine], rtol=1e-4, atol=1e-4)
        for none in ([], [0, 0]):
            empty = kd.shard(q[:, :0], layout, lengths=none)
            assert kd.context_attention(empty, empty, empty, layout=layout, lengths=none).shape == empty.shape


def refuses_lengths(world: int, rank: int) -> None:
    """Ranks whose lengths differ or are none all raise ValueError, and go on."""
    lengths = [3, 4 * world - 3]
    x = kd.shard(torch.ones(1, 4 * world, 2, 8), lengths=lengths)
    for other in ([4 * world - 3, 3], [4 * world], [*lengths, 0], [3, -1], [1.5], None):
        for call in (kd.unshard, lambda t, **keywords: kd.context_attention(t, t, t, **keywords)):
            with pytest.raises(ValueError, match="lengths|rank 1"):
                call(x, lengths=other if rank == 1 else lengths)
    with pytest.raises(ValueError, match="rows"):
        kd.context_attention(x, x, x, lengths=[3, 4 * world])
    with pytest.raises(ValueError, match="batches"):
        y = x.expand(2, -1, -1, -1)
        kd.context_attention(y, y, y, lengths=lengths)
    for refused in (lambda: kd.shard(x, lengths=[1]), lambda: kd.positions(8, lengths=[9, -1])):
        with pytest.raises(ValueError, match="lengths"):
            refused()
    torch.testing.assert_close(kd.context_attention(x, x, x, lengths=lengths), x)


def half(world: int, rank: int) -> None:
    """f16, with contiguous rows of different numbers, and a log-sum-exp."""
    lengths = [13, 0, 6, 9][:world]
    begin = sum(lengths[:rank])
    q = _whole(5, 1, sum(lengths), 2, 16).half()
    mine = q[:, begin : begin + lengths[rank]].contiguous()
    out, lse = kd.context_attention(mine, mine, mine, causal=True, layout="contiguous", return_lse=True)
    want, want_lse = kaio.torch.attention(q, q, q, causal=True, return_lse=True)
    torch.testing.assert_close(out, want[:, begin : begin + lengths[rank]], rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(lse, want_lse[:, :, begin : begin + lengths[rank]], rtol=1e-4, atol=1e-4)


def refuses(world: int, rank: int) -> None:
    """Ranks whose calls differ all raise ValueError, and go on."""
    x = torch.ones(1, 4, 2, 8)
    for other in ({"causal": True}, {"layout": "contiguous"}, {"softcap": 1.0}, {"head_ranks": 3}):
        with pytest.raises(ValueError, match="rank|head_ranks"):
            kd.context_attention(x, x, x, **(other if rank == 1 else {}))
    with pytest.raises(ValueError, match="rank"):
        y = x if rank != 1 else x[..., :4]
        kd.context_attention(y, y, y)

    def attend(k: Any = x, **options: Any) -> Any:
        return kd.context_attention(x, k, k, **options)

    for own in (  # what rank 1 calls
        lambda: attend(window="all"),
        lambda: attend(window=(2, 1)),
        lambda: attend(causal="left"),
        lambda: attend(softcap=-1.0),
        lambda: attend(scale=float("nan")),
        lambda: attend(scale=8**-0.5 + 1e-9),
        lambda: attend(sinks=torch.ones(3)),
        lambda: attend(x.half()),
        lambda: attend(x[:, :, :0]),
        lambda: attend(x.clone().requires_grad_()),
        lambda: attend(None),
        lambda: kd.unshard(x),
    ):
        with pytest.raises((ValueError, TypeError, AttributeError)):
            own() if rank == 1 else attend()
        assert torch.equal(attend(), x)
    with pytest.raises(ValueError, match="f16"):  # nothing was sent before
        attend(x.half())
    assert torch.equal(attend(), x)

    wide = torch.ones(4, 4, 2, 8)
    for refused in (
        lambda: kd.unshard(wide.half()),
        lambda: kd.unshard(wide[..., :4]),
        lambda: kd.unshard(wide, "contiguous"),
        lambda: kd.unshard(wide, "other"),
        lambda: kd.unshard(wide, dim=0),
        lambda: kd.unshard(wide, dim=4),
    ):
        with pytest.raises(ValueError, match="rank 1|argument"):
            refused() if rank == 1 else kd.unshard(wide)
        assert kd.unshard(wide).shape == (4, 4 * world, 2, 8)


def trains(world: int, rank: int) -> None:
    """A step of a small GPT: losses and parameters after it are those of one rank."""

    class GPT(torch.nn.Module):
        def __init__(self, attend: Callable[..., Any]) -> None:
            super().__init__()
            self.attend = attend
            self.embed, self.places = torch.nn.Embedding(17, 16), torch.nn.Embedding(24, 16)
            self.qkv = torch.nn.ModuleList(torch.nn.Linear(16, 48) for _ in range(2))
            self.project = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(2))
            self.head = torch.nn.Linear(16, 17)

        def forward(self, tokens: Any, places: Any) -> Any:
            x = self.embed(tokens) + self.places(places)
            for qkv, project in zip(self.qkv, self.project):
                q, k, v = qkv(torch.nn.functional.layer_norm(x, (16,))).unflatten(-1, (6, 8)).split(2, 2)
                x = x + project(self.attend(q, k, v, causal=True).flatten(2))
            return self.head(x)

    tokens = torch.randint(17, (2, 25), generator=torch.Generator().manual_seed(3))
    states = []
    for divided in (True, False):
        torch.manual_seed(0)
        model = GPT(kd.context_attention if divided else kaio.torch.attention)
        places = kd.positions(24) if divided else torch.arange(24)
        logits = model(tokens[:, places], places)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, places + 1].flatten(), reduction="sum") / 48
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                if divided:
                    dist.all_reduce(p.grad)
                p -= 0.1 * p.grad
        if divided:
            dist.all_reduce(loss)
        states.append([loss.detach(), *(p.detach() for p in model.parameters())])
    for a, b in zip(*states):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def _workspaces() -> list[Any]:
    """With memory that the kernels of all ranks use, and without it."""
    options: dict[str, Any] = {"sum_bytes": 4096, "one_shot_bytes": 1024, "product_bytes": 1 << 16, "blocks": 2, "time_limit": 20,
                               "device": DEVICE}  # fmt: skip
    made = [kd.workspace(memory=memory, **options) for memory in (True, False)]
    assert [w.peers is not None for w in made] == [True, False]
    return made


def sums(world: int, rank: int) -> None:
    """Sums are f32, rank 0 first, rounded once, by memory of all ranks and by collectives."""
    by_memory, by_collectives = _workspaces()
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for size in (24, 960, 5000):  # one step, two steps, more than sum_bytes
            xs = [_whole(r, size).to(dtype) for r in range(world)]
            total = xs[0].float()
            for x in xs[1:]:
                total = total + x.float()
            leaf = xs[rank].clone().requires_grad_()
            for w in (by_memory, by_collectives):
                got = kd.all_reduce(w, leaf)
                assert torch.equal(got, total.to(dtype))
                (grad,) = torch.autograd.grad(got.sum(), leaf)
                assert torch.equal(grad, torch.ones_like(leaf))
    rows = [_whole(10 + r, 5, 64).half() for r in range(world)]
    weight, residual = _whole(30, 64).half(), _whole(31, 5, 64).half()
    results = [kd.all_reduce_rms_norm(w, rows[rank], weight, residual=residual) for w in (by_memory, by_collectives)]
    want = kaio.torch.rms_norm(kd.all_reduce(by_memory, rows[rank]), weight, residual=residual)
    for found in results:
        for a, b in zip(found, want):
            torch.testing.assert_close(a, b, rtol=2e-3, atol=2e-3)
    with pytest.raises(ValueError, match="no gradient"):
        kd.all_reduce_rms_norm(by_memory, rows[rank], weight.requires_grad_())


def products(world: int, rank: int) -> None:
    """A tensor-parallel layer and its gradients are those of one rank."""
    m, hidden, wide = 4, 16, 8
    x, dout = _whole(1, world * m, hidden), _whole(2, world * m, hidden)
    up, down = _whole(3, hidden, world * wide) / 4, _whole(4, world * wide, hidden) / 4
    bias = _whole(5, world * wide)
    rows, columns = slice(rank * m, (rank + 1) * m), slice(rank * wide, (rank + 1) * wide)

    leaves = [t.clone().requires_grad_() for t in (x, up, down, bias)]
    want = torch.nn.functional.silu(leaves[0] @ leaves[1] + leaves[3]) @ leaves[2]
    (want * dout).sum().backward()
    wanted = [leaves[0].grad[rows], leaves[1].grad[:, columns], leaves[2].grad[columns], leaves[3].grad[columns]]

    for w in _workspaces():
        mine = [t.clone().requires_grad_() for t in (x[rows], up[:, columns], down[columns], bias[columns])]
        h = kd.all_gather_matmul(w, mine[0], mine[1], bias=mine[3], activation="silu")
        y = kd.matmul_reduce_scatter(w, h, mine[2])
        torch.testing.assert_close(y, want[rows].detach(), rtol=1e-4, atol=1e-4)
        (y * dout[rows]).sum().backward()
        for t, g in zip(mine, wanted):
            torch.testing.assert_close(t.grad, g, rtol=1e-4, atol=1e-4)

        with torch.no_grad():  # the activation is part of the product
            assert torch.allclose(kd.all_gather_matmul(w, mine[0], mine[1], bias=mine[3], activation="silu"), h, atol=1e-5)
        h = h.detach().requires_grad_()
        mine[2].grad = None
        z = kd.matmul_all_reduce(w, h, mine[2])
        torch.testing.assert_close(z, want.detach(), rtol=1e-4, atol=1e-4)
        z.backward(dout)
        torch.testing.assert_close(h.grad, dout @ down[columns].T, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(mine[2].grad, wanted[2], rtol=1e-4, atol=1e-4)


def differ(world: int, rank: int) -> None:
    """Sums and products that differ among ranks raise ValueError on all, and the workspace goes on."""
    x = torch.ones(4, 8)
    for w in _workspaces():
        for bad in (
            lambda: kd.all_reduce(w, x if rank else x[:2]),
            lambda: kd.all_gather_matmul(w, x, torch.ones(8 if rank else 4, 4)),
            lambda: kd.matmul_reduce_scatter(w, x[: 4 if rank else 3], torch.ones(8, 4)),
            lambda: kd.matmul_all_reduce(w, x, torch.ones(8, 4 if rank else 8)),
            lambda: kd.all_gather_matmul(w, x, torch.ones(8, 4), bias=torch.ones(3 if rank else 4)),
        ):
            with pytest.raises(ValueError, match="rank|argument"):
                bad()
        assert torch.equal(kd.all_reduce(w, x), world * x)
        with pytest.raises(ValueError, match="f32, f16 or bf16"):
            kd.all_reduce(w, x.double())
        assert kd.all_reduce(w, x[:0]).shape == (0, 8)
        assert kd.matmul_reduce_scatter(w, x[:0], torch.ones(8, 4)).shape == (0, 4)
        assert kd.matmul_all_reduce(w, x, torch.ones(8, 0)).shape == (4, 0)
        assert kd.all_gather_matmul(w, x[:0], torch.ones(8, 4)).shape == (0, 4)
        bias = torch.full((4,), 2.0)
        assert torch.equal(kd.all_gather_matmul(w, x[:, :0], torch.ones(0, 4), bias=bias), bias.expand(4 * world, 4))
    half = torch.ones(8, 4, dtype=torch.float16)  # without memory, work comes before what is sent
    for product in (kd.all_gather_matmul, kd.matmul_reduce_scatter, kd.matmul_all_reduce):
        with pytest.raises(ValueError, match="rank 1|f16"):
            product(w, x, half if rank == 1 else half.float())
        assert torch.equal(kd.all_reduce(w, x), world * x)
    with pytest.raises(ValueError, match="rank 1"):
        kd.workspace(sum_bytes=4096 * (1 + rank), device=DEVICE)
    with pytest.raises(RuntimeError, match="memory"):
        kd.workspace(device="meta", memory=True)


def experts(world: int, rank: int) -> None:
    """Rows go to the ranks of their experts, and come back: four experts, of which each rank has two, that double rows or negate them."""
    w, without = _workspaces()
    x = _whole(rank, 6, 16)
    offsets = torch.tensor([0, 1, 3, 3, 6], dtype=torch.int32)
    received, rows = w.buffer(12, 16, torch.float32)
    returned, back = w.buffer(6, 16, torch.float32)
    local = kaio.send_to_experts(w.peers, x, offsets, received)
    assert local.tolist() == ([0, 2, 6] if rank == 0 else [0, 0, 6])
    assert torch.equal(rows[: 2 if rank == 0 else 6], torch.cat([_whole(r, 6, 16)[:1] if rank == 0 else _whole(r, 6, 16)[3:] for r in (0, 1)]))
    kaio.return_from_experts(w.peers, rows * (2 if rank == 0 else -1), offsets, returned)
    assert torch.equal(back, torch.cat([2 * x[:3], -x[3:]]))
    with pytest.raises(RuntimeError, match="memory"):
        without.buffer(6, 16, torch.float32)


def late(world: int, rank: int) -> None:
    """A rank that does not come is an error on the others when the workspace's time limit ends."""
    w = kd.workspace(sum_bytes=4096, one_shot_bytes=1024, product_bytes=0, blocks=2, time_limit=2, device=DEVICE)
    kd.all_reduce(w, torch.ones(8))
    begin = time.monotonic()
    if rank == 0:
        with pytest.raises(kaio.errors.CommunicationFailed):
            kd.all_reduce(w, torch.ones(9))
        assert 1.5 < time.monotonic() - begin < 15
    else:
        time.sleep(6)
    os._exit(0)


def loses(world: int, rank: int) -> None:
    """A rank that is gone is an error on the others, whose cause is that of gloo."""
    by_memory, _ = _workspaces()
    kd.all_reduce(by_memory, torch.ones(8))
    if rank == 1:
        os._exit(0)
    with pytest.raises(kaio.errors.CommunicationFailed) as found:
        kd.all_reduce(by_memory, torch.ones(9))
    assert isinstance(found.value.__cause__, RuntimeError)
    os._exit(0)


def dies(world: int, rank: int) -> None:
    """A rank that is gone is an error on the others."""
    x = torch.ones(1, 4, 1, 8)
    kd.context_attention(x, x, x)
    if rank == 1:
        os._exit(0)
    with pytest.raises((RuntimeError, ValueError)):
        for _ in range(3):
            kd.context_attention(x, x, x)
    os._exit(0)


def _run(world: int, *parts: str, **variables: str) -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    ranks = [
        subprocess.Popen([sys.executable, str(pathlib.Path(__file__).resolve()), *parts], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True,
                         env=os.environ | {"RANK": str(r), "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1",
                                           "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1", "KAIO_DEVICE": "emulator"}
                         | variables)
        for r in range(world)
    ]  # fmt: skip
    texts = [r.communicate(timeout=240)[0] for r in ranks]
    for r, text in zip(ranks, texts):
        assert r.returncode == 0, text


def test_two_ranks() -> None:
    _run(2, "attends", "half", "refuses", "trains", "dies")


def test_four_ranks() -> None:
    _run(4, "attends", "half")


@pytest.mark.parametrize("world", [1, 2, 4])
def test_packed_sequences(world: int) -> None:
    _run(world, "packs", "packs_half", *(["refuses_lengths"] if world > 1 else []))


def test_sums_and_products_of_two_ranks() -> None:
    _run(2, "sums", "products", "differ", "experts", "loses")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("parts", [["sums"], ["products"], ["experts"], ["differ", "loses"], ["late"]])
def test_two_ranks_of_one_gpu(parts: list[str]) -> None:
    _run(2, *parts, KAIO_TEST_RANKS_ON="cuda", KAIO_DEVICE="cuda:0", TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES="1")


def test_a_rank_that_is_late() -> None:
    _run(2, "late")


def test_sums_and_products_of_three_ranks() -> None:
    _run(3, "sums", "products")


def test_rows_have_one_rank_each() -> None:
    for layout in ("zigzag", "contiguous"):
        for ranks in (1, 2, 5):
            for rows in (0, 7, 40):
                places = [i for r in range(ranks) for b, n in kd.context_rows(layout, rows, ranks, r) for i in range(b, b + n)]
                assert sorted(places) == list(range(rows))
    for ranks in (1, 2, 3, 5):
        for lengths in ([], [0], [1, 1, 1], [5, 7], _lengths(ranks, 20, 40)):
            by_rank = [kd.context_rows("zigzag", sum(lengths), ranks, r, lengths=lengths) for r in range(ranks)]
            counts = [sum(n for _, n in own) for own in by_rank]
            assert max(counts) - min(counts) <= 1
            assert sorted(i for own in by_rank for b, n in own for i in range(b, b + n)) == list(range(sum(lengths)))
    assert kd.context_rows("zigzag", 12, 2, 0, lengths=[5, 7]) == [(0, 2), (4, 1), (5, 1), (10, 2)]
    with pytest.raises(ValueError, match="lengths"):
        kd.context_rows("contiguous", 8, 2, 0, lengths=[4, 5])
    with pytest.raises(ValueError, match="layout"):
        kd.context_rows("striped", 8, 2, 0)
    with pytest.raises(ValueError, match="rank"):
        kd.context_rows("zigzag", 8, 2, 2)


if __name__ == "__main__":
    import datetime

    torch.set_default_device(DEVICE)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    for part in sys.argv[1:]:
        globals()[part](dist.get_world_size(), dist.get_rank())
    dist.destroy_process_group()
