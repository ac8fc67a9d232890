"""Times the Python peers of a benchmark. A benchmark's peers.py lists them, and prints a line for each case, contestant and
protocol: CASE NAME VERSION PROTOCOL MICROSECONDS. A peer that is not installed, or cannot compute a case, prints none.

The protocols are those of the programs (bench/matmul/timing.hpp):

    cold     before each run, reading other data displaces the L2 cache
    burst    a CUDA graph of runs back to back, which go through enough sets of operands that L2 does not hold them
"""

import argparse
import statistics
import sys


def median_us(torch, runs, seconds, flush):
    """(cold, burst): the medians of one product. runs: the product with each set of operands."""
    run = runs[0]
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        for each in runs:
            each()
    torch.cuda.synchronize()
    begin.record()
    run()
    end.record()
    end.synchronize()
    once = max(begin.elapsed_time(end) * 1e-3, 4e-5)
    count = int(min(max(seconds / once, 30), 300))
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for first, last in marks:
        flush()
        first.record()
        run()
        last.record()
    torch.cuda.synchronize()
    cold = statistics.median(first.elapsed_time(last) for first, last in marks) * 1e3

    length = -(-int(min(max(0.02 / once, 5), 20)) // len(runs)) * len(runs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(length):
            runs[i % len(runs)]()
    times = []
    for _ in range(11):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / length * 1e3)
    return cold, statistics.median(times[1:])


def displacing(torch):
    """(bytes of operands that L2 does not hold, a function that displaces L2's contents). The function reads enough bytes to
    keep the device busy until Python has called the peer; otherwise the time would be that of the call."""
    cache = 2 * torch.cuda.get_device_properties(0).L2_cache_size
    displaced = torch.empty(max(cache, 512 << 20) // 4, device="cuda").zero_()
    return cache, lambda: displaced.sum()


def print_times(torch, case, name, make_runs, seconds, flush):
    """Prints a line for each protocol: CASE NAME VERSION PROTOCOL MICROSECONDS. make_runs() gives the runs for median_us, or
    nothing if the peer cannot compute the case. If the peer is not installed, or does not have the case, prints its error."""
    try:
        runs = make_runs()
        if not runs:
            return
        times = median_us(torch, runs, seconds, flush)
    except Exception as error:
        text = str(error).splitlines()[0] if str(error) else repr(error)
        print(f"peers.py: {name} {case}: {text}", file=sys.stderr)
        return
    for protocol, us in zip(("cold", "burst"), times):
        print(case, name, torch.__version__, protocol, f"{us:.4f}", flush=True)


def print_all(document, parse, contestants, flags=()):
    """The program of a peers.py. Its cases are the words of the command line; parse(word) makes a dict of a word, with the word
    as "text". contestants(torch, case, options, sets_of) gives {name: make_runs} for print_times. sets_of(size, most) is the
    number of sets of operands, of `size` bytes each, that L2 does not hold, but at most `most`."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5)
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    cache, flush = displacing(torch)

    def sets_of(size, most):
        return min(max(-(-cache // size), 1), most)

    for case in map(parse, options.cases):
        for name, make_runs in contestants(torch, case, options, sets_of).items():
            print_times(torch, case["text"], name, make_runs, options.seconds, flush)


def runs_of(peer, torch, case, inputs):
    """make_runs of print_times, for a peer that is called with torch, a case and a set of operands."""
    def make_runs():
        runs = [peer(torch, case, *one) for one in inputs]
        return None if None in runs else runs
    return make_runs
