"""kaio.PeerWorkspace: ranks are threads, each with an emulator, that functions of Python connect."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest

np = pytest.importorskip("numpy")

import kaio  # noqa: E402


class Group:
    """Connects threads, and gives memory of their emulators."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.place = threading.Barrier(ranks)
        self.given: list[Any] = [None] * ranks
        self.released = 0
        self.broken: set[int] = set()

    def meet(self, rank: int, mine: Any) -> list[Any]:
        if rank in self.broken:
            raise threading.BrokenBarrierError
        self.given[rank] = mine
        self.place.wait(20)
        found = list(self.given)
        self.place.wait(20)
        return found

    def workspace(self, rank: int, **options: Any) -> kaio.PeerWorkspace:
        device = f"emulator:{rank}"

        def allocate(size: int) -> tuple[list[int], Any]:
            memory = kaio.zeros(size, "u8", device)
            return self.meet(rank, memory._address), memory

        def release(token: Any) -> None:
            assert token.device == device
            self.released += 1

        options = {"sum_bytes": 4096, "one_shot_bytes": 1024, "product_bytes": 16384, "blocks": 2, "time_limit": 20.0} | options
        return kaio.PeerWorkspace(device, self.ranks, rank, gather=lambda mine, limit: b"".join(self.meet(rank, mine)),
                                  allocate=allocate, release=release, **options)  # fmt: skip


def run(ranks: int, body: Callable[[Group, int], None]) -> Group:
    """Calls body(group, rank) in a thread for each rank, and raises what one of them raised."""
    group, raised = Group(ranks), []

    def guarded(rank: int) -> None:
        try:
            body(group, rank)
        except BaseException as error:
            group.place.abort()
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(r,)) for r in range(ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if raised:
        raise raised[0]
    return group


def of_rank(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def test_sums_and_products() -> None:
    """Small integers: all sums are exact, whatever their order."""
    ranks, m, k, n = 2, 8, 16, 8

    def body(group: Group, rank: int) -> None:
        device = f"emulator:{rank}"
        peers = group.workspace(rank)
        assert (peers.ranks, peers.rank) == (ranks, rank)
        for size in (10, 700, 3000):  # one step, two steps, through the staging memory
            xs = [of_rank(r, size) for r in range(ranks)]
            assert np.array_equal(kaio.all_reduce(peers, kaio.array(xs[rank], device)).numpy(), sum(xs))
        rows = [of_rank(10 + r, m, k) for r in range(ranks)]
        weight = np.ones(k, np.float32)
        out, h = kaio.all_reduce_rms_norm(peers, kaio.array(rows[rank], device), kaio.array(weight, device), epsilon=0.0,
                                          residual=kaio.array(rows[0], device), residual_out=True)  # fmt: skip
        want = sum(rows) + rows[0]
        assert np.array_equal(h.numpy(), want)
        np.testing.assert_allclose(out.numpy(), want / np.sqrt((want**2).mean(1, keepdims=True)), rtol=1e-5, atol=1e-6)

        x = kaio.array(rows[rank], device)
        codes, scales = kaio.all_reduce_rms_norm_codes(peers, x, kaio.array(weight, device), epsilon=0.0)
        assert np.array_equal(x.numpy(), sum(rows))  # it has the sum
        want = sum(rows) / np.sqrt((sum(rows) ** 2).mean(1, keepdims=True))
        np.testing.assert_allclose(codes.numpy() * scales.numpy()[:, None], want, atol=np.abs(want).max() / 200)

        columns = [of_rank(20 + r, k, n) for r in range(ranks)]
        got = kaio.all_gather_matmul(peers, kaio.array(rows[rank], device), kaio.array(columns[rank], device), activation="relu")
        assert np.array_equal(got.numpy(), np.maximum(np.concatenate(rows) @ columns[rank], 0))
        halves = [kaio.array(x.astype(np.float16), device) for x in (rows[rank], columns[rank])]
        got = kaio.all_gather_matmul(peers, *halves, schedule="one_launch")
        assert np.array_equal(got.numpy(), np.concatenate(rows) @ columns[rank])
        with pytest.raises(kaio.InvalidArgument, match="takes a, b and c of f16"):
            kaio.all_gather_matmul(peers, x, kaio.array(columns[rank], device), schedule="one_launch")
        whole = [of_rank(30 + r, ranks * m, k) for r in range(ranks)]
        total = sum(whole[r] @ columns[r] for r in range(ranks))
        arguments = kaio.array(whole[rank], device), kaio.array(columns[rank], device)
        assert np.array_equal(kaio.matmul_reduce_scatter(peers, *arguments).numpy(), total[rank * m : (rank + 1) * m])
        assert np.array_equal(kaio.matmul_all_reduce(peers, *arguments).numpy(), total)

    assert run(ranks, body).released >= ranks


def test_experts() -> None:
    """Rows go to the rank of their expert, and come back."""

    def body(group: Group, rank: int) -> None:
        device = f"emulator:{rank}"
        peers = group.workspace(rank)
        x = np.arange(6 * 16, dtype=np.float32).reshape(6, 16) + 1000 * rank
        offsets = kaio.array(np.array([0, 1, 3, 3, 6], np.int32), device)  # four experts, two on each rank
        received, returned = peers.buffer(12 * 16 * 4), peers.buffer(6 * 16 * 4)
        assert received.nbytes == 12 * 16 * 4
        local = kaio.send_to_experts(peers, kaio.array(x, device), offsets, received)
        assert list(local.numpy()) == ([0, 2, 6] if rank == 0 else [0, 0, 6])
        z = kaio.zeros((12, 16), "f32", device)  # what a product of this rank's experts would write
        kaio.return_from_experts(peers, z, offsets, returned)
        with pytest.raises(kaio.InvalidArgument, match="rank 5"):
            received.address(5)
        with pytest.raises(TypeError, match="PeerBuffer"):
            kaio.return_from_experts(peers, z, offsets, z)

    run(2, body)


def test_calls_that_differ_are_refused_on_all_ranks() -> None:
    def body(group: Group, rank: int) -> None:
        device = f"emulator:{rank}"
        peers = group.workspace(rank)
        x = kaio.array(np.ones(8 + rank, np.float32), device)
        with pytest.raises(kaio.InvalidArgument, match="rank 1"):
            kaio.all_reduce(peers, x)
        y = kaio.array(np.ones(8, np.float32), device)
        assert kaio.all_reduce(peers, y).numpy()[0] == 2
        with pytest.raises(TypeError, match="PeerWorkspace"):
            kaio.all_reduce(None, y)

    run(2, body)


def test_functions_that_fail_end_the_group() -> None:
    """What gather raises is the cause of the error; later calls raise it too."""

    def body(group: Group, rank: int) -> None:
        peers = group.workspace(rank, time_limit=5.0)
        x = kaio.array(np.ones(8, np.float32), f"emulator:{rank}")
        group.broken.add(rank)
        with pytest.raises(kaio.errors.CommunicationFailed, match="gather failed") as found:
            kaio.all_reduce(peers, x)
        assert isinstance(found.value.__cause__, threading.BrokenBarrierError)
        with pytest.raises(kaio.errors.CommunicationFailed):
            kaio.all_reduce(peers, x)

    run(2, body)

    def no_memory(size: int) -> Any:
        raise MemoryError("none left")

    def one_without(group: Group, rank: int) -> None:
        def allocate(size: int) -> Any:
            if rank == 1:
                raise MemoryError("none left")
            memory = kaio.zeros(size, "u8", "emulator:0")
            return [memory._address, memory._address], memory

        with pytest.raises(kaio.errors.CommunicationFailed, match="allocate failed" if rank == 1 else "rank 1 has no memory"):
            kaio.PeerWorkspace(f"emulator:{rank}", 2, rank, gather=lambda mine, limit: b"".join(group.meet(rank, mine)),
                               allocate=allocate, release=lambda token: None)  # fmt: skip

    run(2, one_without)

    for gather, allocate, cause in (
        (lambda mine, limit: mine + b"?", no_memory, TypeError),
        (lambda mine, limit: mine, no_memory, MemoryError),
        (lambda mine, limit: mine, lambda size: ([1, 2], None), TypeError),
    ):
        with pytest.raises(kaio.errors.CommunicationFailed) as found:
            kaio.PeerWorkspace("emulator", 1, 0, gather=gather, allocate=allocate, release=lambda token: None)
        assert isinstance(found.value.__cause__, cause)
    with pytest.raises(kaio.InvalidArgument, match="rank is 1 of 1"):
        kaio.PeerWorkspace("emulator", 1, 1, gather=lambda mine, limit: mine, allocate=no_memory, release=lambda token: None)


def test_one_rank_that_aborts() -> None:
    def body(group: Group, rank: int) -> None:
        peers = group.workspace(rank)
        if rank == 0:
            peers.abort("enough")
            with pytest.raises(kaio.errors.CommunicationFailed, match="enough"):
                kaio.all_reduce(peers, kaio.array(np.ones(8, np.float32), "emulator:0"))

    run(2, body)
