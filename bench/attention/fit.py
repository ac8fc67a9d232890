#!/usr/bin/env python3
"""Fits the constants of attention's cost model (src/ops/attention/forward/choice) to measured times, and writes them to fitted.hpp.

    bench_attention --model > model.jsonl                                        # the problems of bench/results: no GPU
    bench_attention --variants --type bf16 --random 300 > measured.jsonl         # on an H200; also f16 and f32
    bench_attention --model --type bf16 --random 300 >> model.jsonl              # the same problems
    fit.py --model model.jsonl [--measured measured.jsonl]... [--folds N] [--write]

The present constants are fitted to attention_variants_h200.jsonl.xz of bench/results: 170 random problems of seed 20261127, and
others of 512 to 8192 rows. Without --measured the script takes only the recorded times of h200.jsonl, which bench/measurements.py
reads from the history: those of the last commit that measured a problem. fit.py --shapes prints their shapes as arguments for
--model. A recorded time is of the kernel that a call took, so no other kernel has any.

A spring holds each constant to the number that is written here. A constant that no time depends on keeps this number; a constant
that times hardly depend on nearly keeps it. If a kernel has no times, its rate moves with that of the kernel that it is compared
with here.

The fit minimises the squares of the errors of the logarithms and, with --measured, how much longer the model's choice takes than
the best kernel. The choice is made soft so that it has a derivative. seconds() is seconds_of() of cost.cpp: the script stops if
the two disagree on a time. It needs numpy and scipy.
"""

import argparse
import pathlib
import sys

import numpy as np
import scipy.optimize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import measurements  # noqa: E402

root = pathlib.Path(__file__).resolve().parents[2]
fitted = root / "src/ops/attention/forward/choice/fitted.hpp"
recorded = "h200.jsonl"
multiprocessors, clock, dram = 132, 1.98e9, 2 * 3201e6 * 6144 / 8  # of the H200
small_us, long_us = 3, 30

families = ["sm90", "mma_sync", "simt"]
device_fields = ["launch_seconds", "dram_share", "not_hidden", "exponentials", "score_clocks", "general_clocks", "softcap_clocks",
                 "alibi_clocks", "tensor_clocks", "copy_clocks", "padding", "l2_of_one", "l2_of_all"]
family_fields = ["start_clocks", "tile_clocks", "step_clocks", "alone", "last_wave", "rate"]
work_fields = ["family", "sm", "element_bytes", "depth_qk", "depth_v", "queries", "keys", "made_for", "plain", "tiles", "resident", "steps",
               "most_steps", "operations", "operations_in_clock", "padded", "scores", "loaded_bytes", "copied", "softcap", "alibi",
               "tensors", "results", "read_and_written", "seconds"]

# The search begins with these constants, and a constant without measurements keeps its number. Sources: the throughput of
# instructions (CUDA C++ Programming Guide: 16 exponentials in a clock, 128 other instructions of a lane; DeepGEMM's
# heuristics for L2), the instructions that a kernel has for a score, and matmul's constants for copies.
# padding: if kernels are equal otherwise, the one for the smaller head size is faster. Zeros cost an H200 nothing, measured
# with 8 x 2048 x 8 x 8 x D: D = 72, 80 and 96 take 0.92 to 0.94 of the time of D = 128; D = 136, 160 and 192 take 0.89 to 0.92
# of that of D = 256. But below .4 the model chooses slower kernels: for larger head sizes, and of mma_sync in place of sm90.
first_device = [1e-6, .87, .1707, 16, .04, .016, .08, .024, .125, .063, .6, 64, 46.6]
# sm90: rates of FlashAttention-3. mma_sync: 323 TFLOP/s on an H200 (D = 128), two blocks on a multiprocessor; a tile costs
# as much as one of sm90, whose cost was measured. simt: instructions, and reads of shared memory.
first_family = [[1960, 5703, 197.8, 1, .6052, .58], [1000, 6000, 200, 2, .7, .5], [1000, 6000, 2000, 1.2, .7, .3]]
# How far the logarithm of a constant may move, by family. --variants measures short runs, in which the clock has not yet fallen.
# Constants that set the times of long runs are therefore held: they were fitted to 16 problems of sustained runs
# (bench/results). All constants of the device and of simt are held.
family_room = {"sm90": {"start_clocks": .9, "tile_clocks": .9},
               "mma_sync": {"start_clocks": 1.2, "tile_clocks": 1.2, "step_clocks": 1.2, "alone": .2, "last_wave": .35}}
rate_room = {"sm90": .15, "mma_sync": .7}

# (family, sm, bytes, head sizes, queries, keys): the rate, or another kernel and the ratio to its rate; further clocks of a
# tile; the source of both.
sm90_64, sm90_128, sm90_256 = (0, 90, 2, 64, 64, 192, 128), (0, 90, 2, 128, 128, 128, 128), (0, 90, 2, 256, 256, 128, 80)
mma_128 = (1, 80, 2, 128, 128, 64, 64)
simt_64 = (2, 70, 4, 64, 64, 32, 128)
kernels = {
    sm90_64: (.4955, 0, "16 problems of sustained runs"),
    (0, 90, 2, 64, 64, 192, 112): ((sm90_64, .98), 0, "the one above, with a step that is an eighth shorter"),
    # With the rates of these three the kernels of 24 problems have the order of their times on an H100.
    (0, 90, 2, 64, 64, 128, 128): ((sm90_64, .9), 0, "the first one, with two consumers of three"),
    (0, 90, 2, 64, 64, 64, 128): ((sm90_64, .81), 0, "the first one, by 2048 rows on an H100"),
    sm90_128: (.626, 0, "16 problems of sustained runs"),
    # Fewer steps than the one above, but only half of the queries are loaded ahead.
    (0, 90, 2, 128, 128, 128, 176): ((sm90_128, 1.06), 2300, "the crossover between 2048 and 4096 keys"),
    (0, 90, 2, 128, 128, 64, 128): ((sm90_128, .64), 0, "the one of 128 queries, by 2048 rows on an H100"),
    (0, 90, 2, 192, 128, 128, 128): ((sm90_128, 1.0), 0, "D = 128"),
    sm90_256: (.7043, 1500, "16 problems of sustained runs; of the next queries half come ahead below"),
    (0, 90, 2, 256, 256, 128, 64): ((sm90_256, .98), 0, "the one above, with shorter steps"),
    (1, 80, 2, 64, 64, 64, 64): (.45, 0, "FlashAttention-2 on an H100, 282 to 324 TFLOP/s"),
    mma_128: (.5, 0, "323 TFLOP/s of a kernel of mma.sync on an H200"),
    (1, 80, 2, 192, 128, 64, 64): ((mma_128, 1.0), 0, "D = 128"),
    (1, 80, 2, 256, 256, 64, 32): ((mma_128, .8), 0, "Q is read again for every tile"),
    (1, 80, 2, 512, 512, 64, 32): ((mma_128, .7), 0, "the same, and sums that two warps exchange"),
    (1, 80, 2, 512, 512, 32, 16): ((mma_128, .5), 0, "the same with half the warps"),
    simt_64: (.435, 0, "4096 rows of 32 heads on an H200"),
    (2, 70, 4, 128, 128, 16, 128): (.36, 0, "4096 rows of 32 heads on an H200"),
    (2, 70, 4, 256, 256, 32, 128): (.315, 0, "2048 rows of 16 heads on an H200"),
    (2, 70, 4, 512, 512, 32, 64): (.23, 0, "1024 rows on an H200"),
    (2, 70, 4, 512, 512, 16, 128): (.2, 0, "the one above, with fewer queries"),
    (2, 80, 4, 64, 64, 64, 128): (.68, 0, "4096 rows of 32 heads on an H200"),
    (2, 80, 4, 128, 128, 64, 128): (.695, 0, "4096 rows of 32 heads on an H200"),
    (2, 80, 4, 256, 256, 64, 128): (.61, 0, "2048 rows of 16 heads on an H200"),
    (2, 70, 2, 64, 64, 32, 128): ((simt_64, .8), 0, "four fifths of f32, for its conversions"),
    (2, 70, 2, 128, 128, 16, 128): ((simt_64, .662), 0, "the same"),
    (2, 70, 2, 256, 256, 32, 128): ((simt_64, .579), 0, "the same"),
    (2, 70, 2, 512, 512, 32, 64): ((simt_64, .423), 0, "the same"),
    (2, 70, 2, 512, 512, 16, 128): ((simt_64, .368), 0, "the same"),
}
order = list(kernels)
# Kernels whose rates are held: they were fitted to sustained runs.
held = {sm90_64, (0, 90, 2, 64, 64, 192, 112), (0, 90, 2, 64, 64, 128, 128), sm90_128, (0, 90, 2, 128, 128, 128, 176), sm90_256}


class Constants:
    """The vector of logarithms that is fitted: the constants of the device and of the families, and for each kernel a factor of
    its rate and one of its further clocks."""

    def __init__(self):
        self.first = np.log(np.concatenate([first_device, np.ravel(first_family), np.ones(len(order)), np.ones(len(order))]))
        n, m = len(device_fields), len(families) * len(family_fields)
        self.cuts = [n, n + m, n + m + len(order)]
        room = np.full(len(self.first), 1e-9)
        for f, name in enumerate(families):
            for field, much in family_room.get(name, {}).items():
                room[n + f * len(family_fields) + family_fields.index(field)] = much
        for k, key in enumerate(order):
            if key not in held:
                room[self.cuts[1] + k] = rate_room.get(families[key[0]], 1e-9)
        self.bounds = [(x - r, x + r) for x, r in zip(self.first, room)]
        # For many keys tiles of 80 keys are at least as fast, and tiles of 64 slow down first in long runs: bounds their rate.
        at = self.cuts[1] + order.index((0, 90, 2, 256, 256, 128, 64))
        self.bounds[at] = (self.bounds[at][0], self.first[at] + .015)

    def read(self, vector):
        device, family, rates, clocks = np.split(np.exp(vector), self.cuts)
        return (dict(zip(device_fields, device)), family.reshape(len(families), -1),
                *np.transpose([self.kernel(key, dict(zip(order, rates)), dict(zip(order, clocks))) for key in order]))

    def kernel(self, key, rates, clocks):
        rate, further, _ = kernels[key]
        if isinstance(rate, tuple):
            rate = rate[1] * self.kernel(rate[0], rates, clocks)[0]
        return rate * rates[key], further * clocks[key]


class Rows:
    """The rows of the model that have times: one for each problem and kernel."""

    def __init__(self, model, times):
        rows, us, problem = [], [], []
        for number, (key, of_kernels) in enumerate(times.items()):
            for name, time in of_kernels.items():
                variants = model.get(key, {})
                if name is None and variants:  # calls took the first kernel of the table when this was recorded
                    name = self.recorded_choice(key, variants)
                if name in variants:
                    rows.append(variants[name])
                    us.append(time)
                    problem.append(number)
        for name, column in zip(work_fields, np.array(rows, float).T):
            setattr(self, name, column)
        self.us = np.array(us)
        _, self.problem, self.count = np.unique(problem, return_inverse=True, return_counts=True)
        keys = [tuple(map(int, row[:7])) for row in rows]
        self.kernel = np.array([order.index(k) if k in kernels else -1 for k in keys])
        self.family = self.family.astype(int)

    @staticmethod
    def recorded_choice(key, variants):
        """The kernel of tiles of 128 keys: the one of 176 was made after those times."""
        return next(name for name in variants if "x176_" not in name)


def seconds(w, device, family, rate, further):
    """seconds_of() of cost.cpp, for arrays."""
    f = dict(zip(family_fields, family[w.family].T))
    kernel_rate = np.where(w.kernel < 0, f["rate"], rate[w.kernel])
    at_once = w.resident * multiprocessors
    filled = w.tiles / at_once
    whole = np.ceil(filled)
    running = np.minimum(w.tiles, at_once)
    blocks = np.maximum(1, running / multiprocessors)
    sharing = np.maximum(blocks, np.minimum(f["alone"], w.made_for))
    waves = np.maximum(np.minimum(whole, 1), filled + f["last_wave"] * (whole - filled))
    tensor = w.operations / (w.operations_in_clock * kernel_rate) * sharing * (1 + w.padded * device["padding"])
    softmax = w.scores * (1 / device["exponentials"] + device["score_clocks"]) * sharing
    l2 = w.loaded_bytes / np.minimum(device["l2_of_one"] / blocks, device["l2_of_all"] * multiprocessors / running)
    terms = (np.where(w.plain == 1, 0, device["general_clocks"]) + w.softcap * device["softcap_clocks"]
             + w.alibi * device["alibi_clocks"] + w.tensors * device["tensor_clocks"])
    step = (np.maximum(np.maximum(tensor, softmax), l2) + w.copied * device["copy_clocks"] * blocks
            + w.scores * terms * sharing + f["step_clocks"])
    tile = f["tile_clocks"] * (1 + w.results / (128 * 128)) / 2 * blocks + np.where(w.kernel < 0, 0, further[w.kernel])
    average, longest = tile + w.steps * step, tile + w.most_steps * step
    clocks = f["start_clocks"] * np.where(w.family == 0, 1, waves) + np.maximum(waves * average, longest)
    computing = clocks / clock
    reading = w.read_and_written / (dram * device["dram_share"])
    return (device["launch_seconds"] + np.maximum(computing, reading)
            + device["not_hidden"] * np.minimum(computing, reading))


def difference(w, head):
    """The largest relative difference between seconds() and the times of cost.cpp, both with its present constants."""
    here = dict((tuple(map(int, row[:7])), row[7:]) for row in head["kernels"])
    rate = np.array([here.get(key, [0, 0])[0] for key in order])
    further = np.array([here.get(key, [0, 0])[1] for key in order])
    # A kernel that is not in fitted.hpp yet has its family's constants there.
    known = np.array([key in here for key in order])
    kernel, w.kernel = w.kernel, np.where((w.kernel >= 0) & known[w.kernel], w.kernel, -1)
    result = seconds(w, dict(zip(device_fields, head["device"])), np.array(head["families"]), rate, further)
    w.kernel = kernel
    return np.abs(result / w.seconds - 1).max()


def lost(us, w):
    """How much longer the model's choice takes than the best kernel, for problems with several kernels."""
    result = []
    for p in np.flatnonzero(w.count > 1):
        rows = np.flatnonzero(w.problem == p)
        result.append(w.us[rows[np.argmin(us[rows])]] / w.us[rows].min() - 1)
    return np.array(result)


def fit(constants, w):
    several = [np.flatnonzero(w.problem == p) for p in np.flatnonzero(w.count > 1)]
    # A problem counts with the share of its time that is not a launch; times count half as much as choices.
    best = np.array([w.us[w.problem == p].min() for p in range(len(w.count))])
    importance = best / (best + small_us)
    weight = .5 * np.sqrt((best / (best + long_us))[w.problem] / w.count[w.problem])

    def errors(vector):
        found = constants.read(vector)
        log_us = np.log(1e6 * seconds(w, *found))
        # No kernel reaches a device's peak.
        parts = [weight * (log_us - np.log(w.us)), .05 * (vector - constants.first), 10 * np.log(np.maximum(found[2] / .95, 1))]
        for rows in several:
            chance = np.exp(-(log_us[rows] - log_us[rows].min()) / .03)
            loss = (chance / chance.sum() * np.minimum(w.us[rows] / w.us[rows].min() - 1, 3)).sum()
            parts.append([importance[w.problem[rows[0]]] * loss])
        return np.concatenate(parts)

    return scipy.optimize.least_squares(errors, constants.first, bounds=np.transpose(constants.bounds), loss="soft_l1",
                                        f_scale=.1).x


def report(name, us, w):
    error = np.abs(np.log(us / w.us))
    print(f"{name:8} {len(us)} times: mean error {100 * error.mean():.1f} %, worst {100 * error.max():.1f} %")
    report_choices(lost(us, w))


def report_choices(loss):
    if len(loss):
        print(f"{'':8} {len(loss)} choices: {100 * loss.mean():.1f} % longer than the best on average, "
              f"95 % of them at most {100 * np.quantile(loss, .95):.1f} %, worst {100 * loss.max():.0f} %")


def held_out(constants, model, times, folds):
    """How much longer the choices take for problems that the constants were not fitted to. Each problem is in one of `folds`
    parts; for a part the constants are fitted to the other parts."""
    result = []
    for fold in range(folds):
        parts = [{key: of for i, (key, of) in enumerate(times.items()) if (i % folds == fold) == mine} for mine in (True, False)]
        mine, others = (Rows(model, part) for part in parts)
        result.append(lost(1e6 * seconds(mine, *constants.read(fit(constants, others))), mine))
    return np.concatenate(result)


def text_of(constants, vector, w):
    device, family, rate, further = constants.read(vector)
    times = np.bincount(w.kernel[w.kernel >= 0], minlength=len(order))

    def braces(fields):
        return "{" + " ".join(f".{name} = {x:.4g}," for name, x in fields) + "}"

    lines = ["#pragma once",
             "// Written by bench/attention/fit.py, which says where numbers are from that were not measured. The comments count",
             "// the times that a row was fitted to.", "", '#include "ops/attention/forward/choice/cost.hpp"', "",
             "namespace kaio::ops {", "",
             f"inline constexpr attention_device_costs fitted_attention_device{braces(device.items())};", "",
             "// In the order of attention_family.", "inline constexpr attention_family_costs fitted_attention_families[]{"]
    for f, name in enumerate(families):
        lines += [f"    // {name}: {(w.family == f).sum()}", "    " + braces(zip(family_fields, family[f])) + ","]
    lines += ["};", "", "inline constexpr attention_kernel_costs fitted_attention_kernels[]{"]
    for i, key in enumerate(order):
        source = f"{times[i]} times" if times[i] else f"not measured: {kernels[key][2]}"
        lines += [f"    // {source}", f"    {{attention_family::{families[key[0]]}, "
                  + ", ".join(map(str, key[1:])) + f", {rate[i]:.4g}, {further[i]:.4g}}},"]
    return "\n".join([*lines, "};", "", "}  // namespace kaio::ops", ""])


def recorded_times():
    """{(type, shape, work): {None: us}}, from the last commit that measured any; both protocols count."""
    result, commits = {}, []
    rows = [r for r in measurements.archived(recorded) if r.get("benchmark") == "attention" and r["contestant"] == "kaio"]
    for row in rows:
        commits.append(row["commit"])
        if row["work"] in ("full", "causal"):
            result.setdefault((row["type"], row["shape"], row["work"]), {}).setdefault(row["commit"], []).append(row["us"])
    return {key: {None: np.exp(np.mean(np.log(us)))} for key, by in result.items()
            for commit, us in by.items() if commit == commits[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--measured", action="append", default=[])
    parser.add_argument("--shapes", action="store_true", help="print the recorded shapes as arguments for --model")
    parser.add_argument("--folds", type=int, default=0, help="report the choices for held-out problems, with this number of parts")
    parser.add_argument("--write", action="store_true", help=f"write {fitted.name}")
    words = parser.parse_args()
    times = recorded_times() if words.shapes or not words.measured else {}
    if words.shapes:
        print(" ".join(f"--shape {shape}" for shape in dict.fromkeys(shape for _, shape, _ in times)))
        return 0
    lines = measurements.parsed(pathlib.Path(words.model).read_bytes(), words.model)
    head = lines[0]
    model = {(line["type"], line["shape"], line["work"]): line["variants"] for line in lines if "variants" in line}
    for name in words.measured:
        for line in measurements.parsed(pathlib.Path(name).read_bytes(), name):
            if line.get("benchmark") == "attention_variants":
                times.setdefault((line["type"], line["shape"], line["work"]), {}).update(line["us"])
    w = Rows(model, times)
    if difference(w, head) > 1e-9:
        print("seconds() is not what cost.cpp computes: make them equal first", file=sys.stderr)
        return 1
    constants = Constants()
    report("as it is", 1e6 * w.seconds, w)
    vector = fit(constants, w)
    report("fitted", 1e6 * seconds(w, *constants.read(vector)), w)
    if words.folds > 1:
        print(f"held out, {words.folds} parts")
        report_choices(held_out(constants, model, times, words.folds))
    if words.write:
        fitted.write_text(text_of(constants, vector, w), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
