#!/usr/bin/env python3
"""Renders the output of matmul_choice into bench/results/matmul_kernels.md. For each configuration of a kernel the page has the
share of problems for which it is the best, how often the cost model takes it, and what would be lost without it. Then it lists
which configurations can go, the cheapest loss first.

    table.py --model model.jsonl --measured h200.jsonl [--to FILE]
    table.py --compare before.jsonl after.jsonl              # the same problems on two builds, to stdout

A configuration is a kernel in all layouts of its operands. Its cost is the length of its text: the time to compile it is
proportional to that, 23 ms per KiB on average.
"""

import argparse
import collections
import json
import lzma
import math
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from names import of_today  # noqa: E402
from replace_file import replace_file  # noqa: E402

results = pathlib.Path(__file__).resolve().parent.parent / "results"
seconds_of_byte = 0.023 / 1024  # to compile, g++ 12 at -O1


class Run:
    """The problems of one file: for each, the kernels that accept it, with their times, in the model's order."""

    def __init__(self, path):
        self.kernels, self.rows = [], []
        with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as file:
            for line in file:
                if not line.startswith("{") or not line.rstrip().endswith("}"):
                    continue  # a line that was cut off
                row = json.loads(line)
                if "kernels" in row:
                    self.kernels = row["kernels"]
                elif row["us"]:  # its kernels are numbers into the last list of kernels
                    row["order"] = [(self.kernels[kernel][0], us) for kernel, _, us, _ in row["us"]]
                    self.rows.append(row)
        self.find_best()

    def find_best(self):
        for row in self.rows:
            row["best"] = {}
            for name, us in row["order"]:
                row["best"][name] = min(us, row["best"].get(name, math.inf))

    def keep(self, kernels):
        """Forgets the times of kernels that are not among these."""
        names = {kernel[0] for kernel in kernels}
        for row in self.rows:
            order = [(of_today(names, name), us) for name, us in row["order"]]
            row["order"] = [(name, us) for name, us in order if name in names]
        self.rows = [row for row in self.rows if row["order"]]
        self.kernels = kernels
        self.find_best()


def configuration(name):
    """The name without the layout of the operands: one letter each, n or t."""
    name = re.sub(r"_(nt|nn|tt|tn)_", "_", name, count=1)
    return re.sub(r"^matmul_skinny_[nt]_", "matmul_skinny_", name)


def twin(name):
    """The configuration with f16 and bf16 as one type, and the two types of 8 bits as one: twins are kept or removed
    together."""
    return re.sub(r"_(e4m3|e5m2)(?=_)", "_f8", re.sub(r"_b?f16(?=_)", "_16", configuration(name)))


def family(name):
    kinds = [("matmul_sm90_split", "sm_90a, a tile for several blocks"), ("matmul_sm90_", "sm_90a, persistent"),
             ("matmul_simt_tensor", "multiply-adds, sm_90"), ("matmul_simt_", "multiply-adds"),
             ("matmul_skinny_", "multiply-adds, few rows"), ("matmul_mma_", "mma.sync")]
    return next(text for start, text in kinds if name.startswith(start))


def times_by(row, key_of):
    times = {}
    for name, us in row["best"].items():
        key = key_of(name)
        times[key] = min(us, times.get(key, math.inf))
    return times


def statistics_of(run):
    """{configuration: (problems it accepts, share best, share chosen, mean gain, largest gain)}; a gain is how much longer
    the next best takes."""
    found = collections.defaultdict(lambda: {"accepts": 0, "best": 0, "chosen": 0, "gains": [], "only": 0})
    for row in run.rows:
        times = times_by(row, configuration)
        for key in times:
            found[key]["accepts"] += 1
        found[configuration(row["order"][0][0])]["chosen"] += 1
        ranked = sorted(times.items(), key=lambda item: item[1])
        best = found[ranked[0][0]]
        best["best"] += 1
        if len(ranked) > 1:
            best["gains"].append(ranked[1][1] / ranked[0][1] - 1)
        else:
            best["only"] += 1
    return found


class Elimination:
    """Removes configurations, in each step the one with the least loss per byte of its text."""

    def __init__(self, run, sizes, keep):
        self.sizes, self.keep = sizes, keep
        self.problems = []
        for row in run.rows:
            order = {}
            for name, us in row["order"]:
                order.setdefault(twin(name), us)  # the model takes the first
            self.problems.append((times_by(row, twin), order))
        self.bests = [min(times.values()) for times, _ in self.problems]
        self.current = list(self.bests)
        self.removed = set()
        self.users = collections.defaultdict(set)
        for i, (times, _) in enumerate(self.problems):
            for key in times:
                self.users[key].add(i)

    def without(self, key):
        """{problem: its time without `key`} for problems on which `key` is the fastest; None if a problem has no other kernel."""
        changed = {}
        for i in self.users[key]:
            rest = [us for k, us in self.problems[i][0].items() if k != key and k not in self.removed]
            if not rest:
                return None
            if min(rest) > self.current[i]:
                changed[i] = min(rest)
        return changed

    def steps(self, mean, worst):
        """mean, worst: bounds of the loss, on average over a step's problems and for every problem. Yields for each step: the
        removed configuration, the number of problems on which it was the best, their mean loss, the mean and the largest
        loss of all problems."""
        keys = set(self.sizes) - self.keep
        while True:
            options = []
            for key in keys:
                changed = self.without(key)
                if changed is None:
                    continue
                losses = [us / self.bests[i] - 1 for i, us in changed.items()]
                if losses and (max(losses) > worst or statistics.fmean(losses) > mean):
                    continue
                added = sum((us - self.current[i]) / self.bests[i] for i, us in changed.items())
                options.append((added / self.sizes[key], key, changed, losses))
            if not options:
                return
            _, key, changed, losses = min(options, key=lambda item: item[:2])
            for i, us in changed.items():
                self.current[i] = us
            self.removed.add(key)
            keys.discard(key)
            all_losses = [now / best - 1 for now, best in zip(self.current, self.bests)]
            yield key, len(losses), statistics.fmean(losses) if losses else 0, statistics.fmean(all_losses), max(all_losses)

    def regret(self):
        """How much longer the model's choice among the rest takes than the best of all kernels, as a mean."""
        return statistics.fmean(next(us for key, us in order.items() if key not in self.removed) / best
                                for (_, order), best in zip(self.problems, self.bests)) - 1


def percent(x, digits=1):
    return "" if x is None else f"{100 * x:.{digits}f}"


def gains(found):
    """The mean and the largest gain of a configuration, on all devices together."""
    if any(one["only"] for one in found):
        return ["alone", ""]
    values = [gain for one in found for gain in one["gains"]]
    return [percent(statistics.fmean(values)), percent(max(values), 0)] if values else ["", ""]


def table(head, lines):
    return "\n".join("| " + " | ".join(str(x) for x in line) + " |" for line in [head, ["---"] * len(head), *lines]) + "\n"


def report(model, measured):
    if model and measured:
        measured.keep(model.kernels)
    sizes, counts = collections.Counter(), collections.Counter()
    for name, size, _ in (measured or model).kernels:
        sizes[configuration(name)] += size
        counts[configuration(name)] += 1
    text = ["# The kernels of matmul", "",
            "Rendered by `bench/matmul_choice/table.py` for the random products of `bench/matmul_choice/random_problem.hpp`.",
            f"{sum(counts.values())} kernels in {len(counts)} configurations, {sum(sizes.values()) // 1024} KiB of PTX, about "
            f"{sum(sizes.values()) * seconds_of_byte:.0f} s to compile.", ""]
    by_device = collections.defaultdict(list)
    for row in model.rows if model else []:
        by_device[row["device"]].append(row)
    chosen = {}
    for device, rows in by_device.items():
        part = Run.__new__(Run)
        part.rows = rows
        chosen[device] = (statistics_of(part), len(rows))
    real = (statistics_of(measured), len(measured.rows)) if measured else None

    text += ["- best: the share of the measured problems for which the configuration is the fastest.",
             "- gain: how much longer the next best configuration takes for these problems, on average and at most.",
             "- taken: the share of problems for which the cost model chooses the configuration.",
             "- alone: the configuration is the only one that accepts some problems.",
             "- `-`: the configuration is not made for the device.", ""]
    head = ["configuration", "kernels", "s to compile"]
    if real:
        head += [f"best of {real[1]}, %", "gain, %", "most", "taken, %"]
    head += [f"{device}, %" for device in chosen] + (["gain, %", "most"] if chosen else [])
    for kind in dict.fromkeys(family(key) for key in sizes):
        body = []
        for key in sizes:
            if family(key) != kind:
                continue
            line = [f"`{key.removeprefix('matmul_')}`", counts[key], f"{sizes[key] * seconds_of_byte:.1f}"]
            if real:
                found, total = real[0][key], real[1]
                line += [percent(found["best"] / total), *gains([found]), percent(found["chosen"] / total)]
            for stats, total in chosen.values():
                line.append(percent(stats[key]["chosen"] / total) if stats[key]["accepts"] else "-")
            if chosen:
                line += gains([stats[key] for stats, _ in chosen.values()])
            body.append(line)
        text += [f"## {kind}", "", table(head, body)]

    never = [key for key in sizes if chosen and not any(stats[key]["chosen"] for stats, _ in chosen.values())]
    text += ["## Never taken by the model on any device", ""] + [f"* `{key}`: {counts[key]} kernels" for key in never] + [""]

    if measured:
        # Configurations that other architectures need are kept in any case.
        architectures = {kernel[0]: kernel[2] for kernel in measured.kernels}
        keep = {twin(key) for device, (stats, _) in chosen.items() if device not in ("H100", "H200")
                for key, found in stats.items() if found["only"] or max(found["gains"], default=0) > 0.05}
        keep |= {twin(name) for name, sm in architectures.items() if sm < 80}
        paired, pairs = collections.Counter(), collections.Counter()
        for key in sizes:
            paired[twin(key)] += sizes[key]
            pairs[twin(key)] += counts[key]
        text += ["## What can go", "",
                 "Each step removes the configuration, for both types of 16 bits or of 8, with the least loss for its compile time.",
                 "Kept are all that the model takes on a device before sm_90 with a gain of more than 5 %, and those for devices",
                 "before sm_80.", ""]
        for mean, worst in ((0.01, 0.05), (0.02, 0.10), (0.03, 0.20)):
            gone = Elimination(measured, paired, keep)
            before, body, saved, kernels = gone.regret(), [], 0, 0
            for key, problems, loss, now, most in gone.steps(mean, worst):
                saved += paired[key]
                kernels += pairs[key]
                body.append([f"`{key.removeprefix('matmul_')}`", pairs[key], kernels, f"{saved * seconds_of_byte:.0f}", problems,
                             percent(loss), percent(now, 3), percent(most)])
            text += [f"### A loss of at most {100 * mean:g} % on average of a step's problems, and {100 * worst:g} % of any", "",
                     f"The model's choice takes {percent(before, 2)} % longer than the best kernel with all, "
                     f"{percent(gone.regret(), 2)} % with what is left.", "",
                     table(["configuration", "kernels", "together", "s saved", "best of problems", "their mean loss, %",
                            "mean loss of all, %", "worst, %"], body)]
    return "\n".join(text)


def compare(before, after):
    """Compares the times of the best kernel and of the model's choice, for the problems that both runs have."""
    known = {row["seed"]: row for row in before.rows}
    ratios = collections.defaultdict(list)
    for row in after.rows:
        if row["seed"] not in known:
            continue
        old = known[row["seed"]]
        best = min(row["best"].values()) / min(old["best"].values())
        taken = row["order"][0][1] / old["order"][0][1]
        for key in ("all", row["class"], f"{row['operand']} into {row['output']}, {row['precision']}",
                    "with terms" if row["terms"] else "without terms",
                    f"activation {['none', 'relu', 'gelu', 'gelu_tanh', 'silu'][row['activation']]}"):
            ratios[key].append((best, taken, row["seed"]))
    body = []
    for key, values in ratios.items():
        bests, taken = sorted(v[0] for v in values), sorted(v[1] for v in values)
        at = lambda x, q: f"{x[min(len(x) - 1, int(q * len(x)))]:.3f}"
        mean = lambda x: f"{math.exp(statistics.fmean(map(math.log, x))):.4f}"
        body.append([key, len(values), mean(bests), at(bests, 0.5), at(bests, 0.99), f"{bests[-1]:.3f}",
                     max(values)[2], mean(taken), at(taken, 0.99), f"{taken[-1]:.3f}"])
    return table(["problems", "number", "best, after to before", "median", "99 %", "most", "of seed", "choice", "99 %",
                  "most"], body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--measured")
    parser.add_argument("--compare", nargs=2)
    parser.add_argument("--to", default=results / "matmul_kernels.md")
    words = parser.parse_args()
    if words.compare:
        print(compare(Run(words.compare[0]), Run(words.compare[1])))
        return
    if not words.model and not words.measured:
        parser.error("give --model, --measured or --compare")
    text = report(Run(words.model) if words.model else None, Run(words.measured) if words.measured else None)
    replace_file(words.to, text)


if __name__ == "__main__":
    main()
