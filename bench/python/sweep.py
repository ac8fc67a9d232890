#!/usr/bin/env python3
"""Random problems through the package, each checked, and timed next to torch's own operations in one process, or next to
torch.compile of the formula if torch has no such operation (row_problems.py).

    sweep.py [--seed N] [--problems N] [--kinds matmul,attention,...] [--seconds N] [--lines FILE] [--no-tables] [--workers N]
             [--tune]

Problems are drawn from a seed, which is printed. A result is compared with the same formula in f32. Times are those of a CUDA graph
whose calls go through more operands than L2 holds, if 64 sets of them suffice (repeated), and of single calls after a write that
displaces L2 (single). Kaio and its peers take turns. Of several peers the fastest counts. The ratio is the peer's time divided by
kaio's: above 1, kaio is faster. Prints a table with geometric mean, 5th percentile and worst, and one for each kind of problem,
such as the rows of a product. A problem that raises an error counts as wrong. Workers are processes that share the problems: while
one measures, others wait for cuDNN's compiler. Needs a GPU and torch.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator

import attention_problems
import experts_problems
import kaio
import product_problems
import row_problems
import torch
from problem import arena, problem

L2_BYTES = 64 << 20
KINDS: dict[str, Callable[[random.Random], problem]] = {
    **product_problems.KINDS, **experts_problems.KINDS, **attention_problems.KINDS, **row_problems.KINDS,
}  # fmt: skip
Row = dict[str, Any]


class Timer:
    """Times of calls on a stream of its own. Graphs share one pool of memory, so that a capture allocates nothing."""

    def __init__(self) -> None:
        self.stream = torch.cuda.Stream()
        self.pool = torch.cuda.graph_pool_handle()
        self.displaced = torch.empty(4 * L2_BYTES, dtype=torch.uint8, device="cuda")
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(64)]
        self.kept = self.graph(lambda x: x + 1, [(torch.empty(1 << 26, device="cuda"),)])  # keeps the pool

    def graph(self, run: Callable[..., Any], sets: list[tuple[Any, ...]]) -> torch.cuda.CUDAGraph:
        """A graph of a call for each set of operands. torch.cuda.graph would collect garbage and empty caches each time."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.stream(self.stream):
            graph.capture_begin(pool=self.pool)
            try:
                for operands in sets:
                    run(*operands)
            finally:
                graph.capture_end()
        return graph

    def repeated(self, ways: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]]) -> dict[str, float]:
        """Seconds of a call by way."""
        times: dict[str, float] = {}
        torch.cuda.synchronize()  # operands are made on the default stream
        with torch.cuda.stream(self.stream):
            graphs = {}
            for who, (run, sets) in ways.items():
                run(*sets[0])  # loads what the first call loads, also on this stream
                graphs[who] = self.graph(run, sets)
            took = [0.0]
            for who, graph in graphs.items():
                self.events[0].record()
                graph.replay()
                self.events[1].record()
                self.events[1].synchronize()
                took.append(self.events[0].elapsed_time(self.events[1]))
            rounds = max(3, min(9, int(30 / max(sum(took), 0.1))))
            pairs = iter(zip(self.events[::2], self.events[1::2]))
            measured: dict[str, list[Any]] = {who: [] for who in graphs}
            for _ in range(min(rounds, len(self.events) // 2 // len(graphs))):
                for who, graph in graphs.items():
                    begin, end = next(pairs)
                    begin.record()
                    graph.replay()
                    end.record()
                    measured[who].append((begin, end))
            self.stream.synchronize()
            for who, events in measured.items():
                times[who] = statistics.median(a.elapsed_time(b) for a, b in events) / len(ways[who][1]) * 1e-3
        return times

    def single(self, ways: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]], rounds: int) -> dict[str, float]:
        measured: dict[str, list[float]] = {who: [] for who in ways}
        with torch.cuda.stream(self.stream):
            for _ in range(rounds):
                for who, (run, sets) in ways.items():
                    begin, end = self.events[:2]
                    self.displaced.zero_()
                    torch.cuda._sleep(400_000)  # the host is ahead: its time does not count
                    begin.record()
                    run(*sets[0])
                    end.record()
                    end.synchronize()
                    measured[who].append(begin.elapsed_time(end))
        return {who: statistics.median(times) * 1e-3 for who, times in measured.items()}


@contextlib.contextmanager
def locked(file: Any) -> Iterator[None]:
    """The GPU for this process alone, of those with the same file."""
    if file is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if file is not None:
            torch.cuda.synchronize()
            fcntl.flock(file, fcntl.LOCK_UN)


def kernel_of(one: problem, operands: tuple[Any, ...], tune: bool) -> Row:
    """The kernel that the call runs; nothing, if its operation has no choice of kernels. tune: after all of them have been measured."""
    try:
        if tune:
            report = kaio.tune(one.ours, *operands, use_files=False)
            return {"variant": report.variant, "tuned_us": report.seconds * 1e6, "variant_before": report.variant_before,
                    "before_us": report.seconds_before * 1e6}  # fmt: skip
        return {"variant": kaio.choice(one.ours, *operands).name}
    except (RuntimeError, ValueError, TypeError):
        return {}


def measured(one: problem, timer: Timer, lock: Any, tune: bool) -> Row:
    """Errors and times of a problem."""
    begin = time.time()
    sets = [one.make()]
    one.load(sets[0])
    loaded = time.time()
    with locked(lock):
        error, of_peer, peers = one.errors(sets[0])
        row: Row = {"name": one.name, "kinds": one.kinds, "error": error, "error_of_peer": of_peer, "tolerance": one.tolerance}
        row |= kernel_of(one, sets[0], tune)
        ways = {}
        for who, run in (("ours", one.ours), *((who, one.peers[who]) for who in peers)):
            wanted = min(64, max(4, 1 + 2 * L2_BYTES // max(1, one.bytes_of(who, sets[0]))))
            while len(sets) < wanted:
                sets.append(one.make())
            ways[who] = run, sets[:wanted]
        repeated = timer.repeated(ways)
        single = timer.single(ways, 7 if repeated["ours"] < 1e-3 else 3)
    for how, times in (("repeated", repeated), ("single", single)):
        row[f"{how}_us"] = times.pop("ours") * 1e6
        if times:
            best = min(times, key=lambda who: times[who])
            row |= {f"{how}_peer_us": times[best] * 1e6, f"{how}_peer": best}
    return row | {"load_s": loaded - begin, "measure_s": time.time() - loaded}


def ratio(row: Row, how: str) -> float:
    return row[f"{how}_peer_us"] / row[f"{how}_us"]  # type: ignore[no-any-return]


def summary(rows: list[Row], how: str) -> str:
    ordered = sorted(ratio(row, how) for row in rows)
    mean = math.exp(sum(map(math.log, ordered)) / len(ordered))
    return f"{mean:6.3f} {ordered[int(0.05 * len(ordered))]:6.3f} {ordered[0]:6.3f}"


def report(kind: str, rows: list[Row], seconds: float, tables: bool) -> None:
    with_peer = [row for row in rows if "repeated_peer_us" in row]
    print(f"\n{kind}: {len(rows)} problems in {seconds:.0f} s, {len(rows) - len(with_peer)} of them without a peer")
    if not with_peer:
        return
    head = "repeated: mean, 5th percentile, worst"
    print(f"  {'':44} {'':4}  {head:40} single: the same")
    print(f"  {'all':44} {len(with_peer):4}  {summary(with_peer, 'repeated'):40} {summary(with_peer, 'single')}")
    for what in with_peer[0]["kinds"] if tables else ():
        for value in sorted({row["kinds"][what] for row in with_peer}):
            some = [row for row in with_peer if row["kinds"][what] == value]
            if value:
                name = f"{what}: {value.strip()}"
                print(f"  {name:44} {len(some):4}  {summary(some, 'repeated'):40} {summary(some, 'single')}")
    for row in sorted(with_peer, key=lambda row: ratio(row, "repeated"))[: 5 if tables else 1]:
        print(f"  {ratio(row, 'repeated'):5.2f}: {row['name']}: {row['repeated_us']:.1f} us, {row['repeated_peer']} "
              f"{row['repeated_peer_us']:.1f}", flush=True)  # fmt: skip


def problems_of(kind: str, arguments: argparse.Namespace, timer: Timer) -> Iterator[Row]:
    """A row for each problem of this process: measured, or with the text of an exception."""
    draw = random.Random(f"{kind} {arguments.seed}")
    torch.manual_seed(arguments.seed)
    lock = open(arguments.lock, "w") if arguments.lock else None
    begin = time.time()
    for number in range(arguments.problems):
        one = KINDS[kind](random.Random(draw.random()))
        if number % arguments.workers != arguments.worker:
            continue
        if time.time() - begin > arguments.seconds:
            return
        try:
            yield {"kind": kind, "number": number, **measured(one, timer, lock, arguments.tune)}
        except Exception as error:
            yield {"kind": kind, "number": number, "name": one.name, "exception": f"{type(error).__name__}: {error}"}


def rows_of_workers(kind: str, arguments: argparse.Namespace) -> Iterator[Row]:
    """The rows of all workers, which are processes with the arguments of this one."""
    with tempfile.TemporaryDirectory() as folder:
        lock = os.path.join(folder, "lock")
        given = [sys.executable, __file__, "--seed", str(arguments.seed), "--problems", str(arguments.problems), "--kinds", kind,
                 "--seconds", str(arguments.seconds), "--workers", str(arguments.workers), "--lock", lock,
                 *(["--tune"] if arguments.tune else [])]  # fmt: skip
        files = [pathlib.Path(folder, str(number)) for number in range(arguments.workers)]
        running = [subprocess.Popen([*given, "--worker", str(number), "--lines", str(file)], stdout=subprocess.DEVNULL)
                   for number, file in enumerate(files)]  # fmt: skip
        for process in running:
            process.wait()
        rows = [json.loads(line) for file in files if file.exists() for line in file.read_text().splitlines()]
    yield from sorted(rows, key=lambda row: row["number"])


def is_wrong(row: Row) -> bool:
    """Prints what is wrong with a result."""
    if "exception" in row:
        print(f"WRONG {row['kind']} {row['name']}: {row['exception']}")
        return True
    if not row["error"] <= max(row["tolerance"], 3 * row["error_of_peer"]):
        print(f"WRONG {row['kind']} {row['name']}: error {row['error']:.2e}, the peer's {row['error_of_peer']:.2e}")
        return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--problems", type=int, default=40, help="of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=1e9, help="for each kind")
    parser.add_argument("--lines", help="a file for a line of JSON of each problem")
    parser.add_argument("--no-tables", action="store_true", help="one line for each operation")
    parser.add_argument("--workers", type=int, default=1, help="processes; 12 suit attention, whose peers compile")
    parser.add_argument("--tune", action="store_true", help="measures the kernels of each problem first, and takes the fastest")
    parser.add_argument("--worker", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--lock", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, torch {torch.__version__}, kaio {kaio.__version__}, {torch.cuda.get_device_name()}", flush=True)
    of_workers = arguments.workers > 1 and arguments.worker < 0
    arguments.worker = max(0, arguments.worker)
    timer = None if of_workers else Timer()
    lines = open(arguments.lines, "w") if arguments.lines else None
    wrong = 0
    for kind in arguments.kinds.split(","):
        begin = time.time()
        rows: list[Row] = []
        for row in rows_of_workers(kind, arguments) if timer is None else problems_of(kind, arguments, timer):
            if lines:
                print(json.dumps(row), file=lines, flush=True)
            wrong += is_wrong(row)
            if "exception" not in row:
                rows.append(row)
        report(kind, rows, time.time() - begin, not arguments.no_tables)
    print(f"\n{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
