#!/usr/bin/env python3
"""Renders what matmul_choice printed into bench/results/matmul_kernels.md: for each configuration of a kernel the share of
problems for which it is the best, how often the cost model takes it, and what would be lost without it; then which
configurations can go, the cheapest loss first.

    table.py --model model.jsonl --measured h200.jsonl [--to FILE]
    table.py --compare before.jsonl after.jsonl              # the same problems on two builds, to stderr and stdout

A configuration is a kernel in all of its operands' layouts. The cost of one is its lines of PTX, to which the time to
compile it is proportional.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import statistics

results = pathlib.Path(__file__).resolve().parent.parent / "results"
seconds_of_line = 0.0018  # to compile, g++ 13 at -O1


class Run:
    """The problems of one file: for each, the kernels that accept it, with their times, in the model's order."""

    def __init__(self, path):
        self.kernels, self.rows = [], []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("{") or not line.rstrip().endswith("}"):
                    continue  # a line that was cut off
                row = json.loads(line)
                if "kernels" in row:
                    self.kernels = row["kernels"]
                elif row["us"]:
                    self.rows.append(row)
        self.lines = {name: lines for name, lines, _ in self.kernels}
        for row in self.rows:
            row["order"] = [(self.kernels[kernel][0], us) for kernel, _, us, _ in row["us"]]
            row["best"] = {}
            for name, us in row["order"]:
                row["best"][name] = min(us, row["best"].get(name, math.inf))


def configuration(name):
    """The name without the layout of the operands: one letter each, n or t."""
    name = re.sub(r"_(nt|nn|tt|tn)_", "_", name, count=1)
    return re.sub(r"^matmul_skinny_[nt]_", "matmul_skinny_", name)


def family(name):
    kinds = [("matmul_sm90_split", "sm_90a, a tile for several blocks"), ("matmul_sm90_", "sm_90a, persistent"),
             ("matmul_simt_tensor", "multiply-adds, sm_90"), ("matmul_simt_", "multiply-adds"),
             ("matmul_skinny_", "multiply-adds, few rows"), ("matmul_mma_", "mma.sync")]
    return next(text for start, text in kinds if name.startswith(start))


def by_configuration(row):
    times = {}
    for name, us in row["best"].items():
        key = configuration(name)
        times[key] = min(us, times.get(key, math.inf))
    return times


def statistics_of(run):
    """{configuration: (problems it accepts, share best, share chosen, mean gain, largest gain)}; a gain is how much longer
    the next best takes."""
    found = collections.defaultdict(lambda: {"accepts": 0, "best": 0, "chosen": 0, "gains": [], "only": 0})
    for row in run.rows:
        times = by_configuration(row)
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
    """Takes configurations away, in each step the one whose loss for its lines of PTX is the least."""

    def __init__(self, run, lines, keep):
        self.lines, self.keep = lines, keep
        self.problems = [(by_configuration(row), [configuration(name) for name, _ in row["order"]],
                          {}) for row in run.rows]
        for (times, _, chosen), row in zip(self.problems, run.rows):
            for name, us in row["order"]:
                chosen.setdefault(configuration(name), us)  # the model's choice among its rows
        self.bests = [min(times.values()) for times, _, _ in self.problems]
        self.removed = []
        self.users = collections.defaultdict(set)
        for i, (times, _, _) in enumerate(self.problems):
            for key in times:
                self.users[key].add(i)
        self.current = list(self.bests)

    def without(self, key):
        """What removing `key` makes of the problems whose best it is: {problem: time}, None if one is left without."""
        changed = {}
        for i in self.users[key]:
            times = self.problems[i][0]
            if times[key] > self.current[i]:
                if len([k for k in times if k not in self.removed]) == 1:
                    return None
                continue
            rest = [us for k, us in times.items() if k != key and k not in self.removed]
            if not rest:
                return None
            changed[i] = min(rest)
        return changed

    def steps(self, mean, worst):
        keys = set(self.lines) - self.keep
        while True:
            options = []
            for key in keys:
                changed = self.without(key)
                if changed is None:
                    continue
                if any(us / self.bests[i] - 1 > worst for i, us in changed.items()):
                    continue
                loss = sum((us - self.current[i]) / self.bests[i] for i, us in changed.items())
                options.append((loss / self.lines[key], loss, key, changed))
            if not options:
                return
            _, loss, key, changed = min(options, key=lambda item: item[:3])
            total = sum(now / best - 1 for now, best in zip(self.current, self.bests)) + loss
            if total / len(self.bests) > mean:
                return
            for i, us in changed.items():
                self.current[i] = us
            self.removed.append(key)
            keys.discard(key)
            yield key, total / len(self.bests), max(n / b - 1 for n, b in zip(self.current, self.bests))

    def regret(self):
        """How much longer the model's choice takes than the best of all kernels, as a mean, with what is left."""
        ratios = []
        for (_, order, chosen), best in zip(self.problems, self.bests):
            left = next((key for key in order if key not in self.removed), None)
            if left is not None:
                ratios.append(chosen[left] / best)
        return statistics.fmean(ratios) - 1


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
    lines, counts = collections.Counter(), collections.Counter()
    for name, size, _ in (measured or model).kernels:
        lines[configuration(name)] += size
        counts[configuration(name)] += 1
    text = ["# The kernels of matmul", "",
            "Rendered by `bench/matmul_choice/table.py`; what is said is of random products, `bench/matmul_choice/random_problem.hpp`.",
            f"{sum(counts.values())} kernels in {len(counts)} configurations, {sum(lines.values())} lines of PTX, about "
            f"{sum(lines.values()) * seconds_of_line:.0f} s to compile.", ""]
    by_device = collections.defaultdict(list)
    for row in model.rows if model else []:
        by_device[row["device"]].append(row)
    chosen = {}
    for device, rows in by_device.items():
        part = Run.__new__(Run)
        part.rows = rows
        chosen[device] = (statistics_of(part), len(rows))
    real = (statistics_of(measured), len(measured.rows)) if measured else None

    text += ["best: of the measured problems, the share for which it is the fastest. gain: how much longer the next best",
             "configuration takes for these, on average and at most. taken: the share of problems for which the cost model",
             "chooses it. alone: there are problems that nothing else accepts. -: it is not made for the device.", ""]
    head = ["configuration", "kernels", "s to compile"]
    if real:
        head += [f"best of {real[1]}, %", "gain, %", "most", "taken, %"]
    head += [f"{device}, %" for device in chosen] + (["gain, %", "most"] if chosen else [])
    for kind in dict.fromkeys(family(key) for key in lines):
        body = []
        for key in lines:
            if family(key) != kind:
                continue
            line = [f"`{key.removeprefix('matmul_')}`", counts[key], f"{lines[key] * seconds_of_line:.1f}"]
            if real:
                found, total = real[0][key], real[1]
                line += [percent(found["best"] / total), *gains([found]), percent(found["chosen"] / total)]
            for stats, total in chosen.values():
                line.append(percent(stats[key]["chosen"] / total) if stats[key]["accepts"] else "-")
            if chosen:
                line += gains([stats[key] for stats, _ in chosen.values()])
            body.append(line)
        text += [f"## {kind}", "", table(head, body)]

    never = [key for key in lines if chosen and not any(stats[key]["chosen"] for stats, _ in chosen.values())]
    text += ["## Never taken by the model, on no device", ""] + [f"* `{key}`: {counts[key]} kernels" for key in never] + [""]

    if measured:
        keep = {key for stats, _ in chosen.values() for key in stats if stats[key]["only"]}
        for mean, worst in ((0.001, 0.03), (0.005, 0.10), (0.01, 0.30)):
            gone = Elimination(measured, lines, keep)
            before, body, saved, kernels = gone.regret(), [], 0, 0
            for key, now, most in gone.steps(mean, worst):
                saved += lines[key]
                kernels += counts[key]
                body.append([f"`{key.removeprefix('matmul_')}`", counts[key], kernels, f"{saved * seconds_of_line:.0f}",
                             percent(now, 3), percent(most)])
            text += [f"## What can go for at most {100 * mean:g} % on average and {100 * worst:g} % at worst", "",
                     f"The model's choice takes {percent(before, 2)} % longer than the best kernel with all, "
                     f"{percent(gone.regret(), 2)} % with what is left.", "",
                     table(["configuration", "kernels", "together", "s saved", "mean loss, %", "worst, %"], body)]
    return "\n".join(text)


def compare(before, after):
    """The time of the best kernel and of the model's choice for the problems that both runs have."""
    known = {row["seed"]: row for row in before.rows}
    ratios = collections.defaultdict(list)
    for row in after.rows:
        if row["seed"] not in known:
            continue
        old = known[row["seed"]]
        best = min(row["best"].values()) / min(old["best"].values())
        taken = row["order"][0][1] / old["order"][0][1]
        for key in ("all", row["class"], f"{row['operand']} into {row['output']}, {row['precision']}",
                    "with terms" if row["terms"] else "without terms"):
            ratios[key].append((best, taken, row["seed"]))
    body = []
    for key, values in ratios.items():
        bests, taken = sorted(v[0] for v in values), sorted(v[1] for v in values)
        at = lambda x, q: f"{x[min(len(x) - 1, int(q * len(x)))]:.3f}"
        mean = lambda x: f"{math.exp(statistics.fmean(map(math.log, x))):.4f}"
        body.append([key, len(values), mean(bests), at(bests, 0.5), at(bests, 0.99), f"{bests[-1]:.3f}",
                     max(values)[2], mean(taken), at(taken, 0.99), f"{taken[-1]:.3f}"])
    return table(["problems", "number", "best, after to before", "median", "99 %", "most", "of seed", "choice", "99 %", "most"], body)


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
    pathlib.Path(words.to).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
