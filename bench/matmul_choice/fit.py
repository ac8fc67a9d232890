#!/usr/bin/env python3
"""Fits the constants of matmul's cost model (src/ops/matmul/choice) to measured times, and writes them to fitted.hpp.

    matmul_choice --measure --seconds 400 --most-us 700 --first 100001 > measured.jsonl     # on an H200 or H100
    matmul_choice --work --first 100001 --problems 8400 > work.jsonl
    fit.py --work work.jsonl [--measured measured.jsonl ...] [--new] [--write]

With --new only kernels without a row in fitted.hpp are fitted, and all other constants stay: few measured problems are enough.

Without --measured the script takes the recorded times, which bench/measurements.py reads from the history.
matmul_choice_h200.jsonl.xz has

- seeds from 2800001 and 2700001 (all types), 2100001 (all types), 2200001, 2500001 (without terms), 2600001, 2900001 (16 bits)
  and 2300001 on (products with few rows or columns, --few 64);
- times from before epilogues worked on strips of C, of kernels that did not change: f32, and products of aligned 16 and 8 bits
  without further terms, seeds from 100001, 300001, 500001, 700001, 810001, 910001, 920001, 950001, 970001, 1100001, 1200001 and
  1300001 on.

Seeds below 2800001 have no times of f32 as tf32, nor of results of 16 bits in rows that begin anywhere: other kernels took them
then. matmul_choice_h100.jsonl.xz has seeds from 2400001 on; nothing is fitted to it. The works of all seeds go into one file:
append the lines of further ranges. Problems without a line there are left out.

The constants are fitted to problems with even seeds. Those with odd seeds, and all of an H100, are held out. For both the script
reports how much longer the model's choice takes than the best kernel. The constants that are written are fitted to all problems
of an H200.

The fit minimises that loss and the error of the predicted times. The choice is made soft so that the loss has a derivative. The
error first has a large weight and then a small one; times of kernels that are far from the best count little. Long plain products
of 16 bits count four times, because programs spend most of their time in them.

seconds() is seconds_of() of cost.cpp: the script stops if the two disagree on a time. matmul_int8 and matmul_fp8 share all
constants except those of their kernels; fit these again afterwards (bench/quantised_choice/fit.py). The script needs numpy,
scipy and jax.
"""

import argparse
import json
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import measurements  # noqa: E402
from cost import seconds  # noqa: E402
from names import of_today  # noqa: E402

jax.config.update("jax_enable_x64", True)

root = pathlib.Path(__file__).resolve().parents[2]
fitted = root / "src/ops/matmul/choice/fitted.hpp"
recorded = [f"matmul_choice_{name}.jsonl.xz" for name in ("h200", "h100")]
dram = 2 * 3201e6 * 6144 / 8  # of the H200
dram_of_h100 = 2 * 2619e6 * 5120 / 8

families = ["sm90", "sm90_split", "mma_sync", "simt", "few rows"]
family_fields = ["start_clocks", "rate", "step_clocks", "restart", "store_bytes", "general_clocks", "outside", "bias_clocks",
                 "addend_clocks", "gelu_clocks", "gelu_tanh_clocks", "silu_clocks", "terms_share", "not_hidden",
                 "later_not_hidden", "last_wave", "half_wave"]
device_fields = ["l2_of_one", "l2_of_all", "crossing_clocks", "crossing_l2_clocks", "short_line_clocks", "shared",
                 "dram_share", "launch_seconds", "second_kernel_seconds", "sum_bytes", "cluster_clocks",
                 "contention_clocks", "exchange_clocks", "exchange_bytes", "copy_clocks", "odd_clocks",
                 "outside_clocks"]
work_fields = ["start_clocks", "rate", "step_clocks", "blocks", "at_once", "steps", "clusters", "exchanges", "halves",
               "cluster_splits", "operations", "operations_in_clock", "shared_bytes", "loaded_bytes", "copied",
               "crossing_bytes", "short_lines", "odd_vectors", "outside_vectors", "results", "outside", "result_bytes",
               "bias", "addends", "activation", "read_and_written", "sums", "seconds"]
enumerators = [["sm90", "sm90_split", "mma_sync", "simt"], ["ieee", "tf32", "tf32x3"]]

# The search begins here. Each row has the constants of the families in the order of `families`.
first_family = np.array([[1500, 2400, 4500, 4000, 1500], [1, 1, .3, .7, .1], [100, 300, 400, 300, 15], [1, 1, .6, .3, .5],
                         [60, 60, 60, 50, 45], [5, 2, 1, 1, 2], [.5, .1, .1, .1, .1], [20] * 5, [35] * 5, [35] * 5,
                         [30] * 5, [30] * 5, [.2] * 5, [.9, .4, .4, .4, .2], [.5, .2, .2, .2, .2],
                         [.7, .5, .4, .3, .4], [.7] * 5])
first_device = np.array([200, 64, .5, 1.5, 3, 200, 1, .9e-6, 1.2e-6, 10, 450, 600, 130, 130, .06, .3, .8])


def kernel_of_today(number, name):
    """(number of a measured kernel, its splits if an old name gave them: -2 for a pair of blocks, 8, or None)."""
    now = of_today(number, name)
    parts = -2 if "_c2x1_" in name and "_cnx1_" in now else 8 if "_split8_" in name and "_splitn_" in now else None
    return number.get(now), parts


class Problems:
    """The rows of both files for the problems that `take` accepts, one row for each variant that the library has."""

    def __init__(self, kernels, work, measured, take):
        rows, us, count, long, bandwidth = [], [], [], [], []
        number = {name: i for i, name in enumerate(kernels)}
        for line in measured:
            if "kernels" in line:  # the kernels of the lines that follow
                measured_kernels = [kernel_of_today(number, name) for name, *_ in line["kernels"]]
                continue
            if not take(line["seed"], "H100" in line["device"]) or line["seed"] not in work:
                continue
            known = {(row[0], row[1]): row for row in work[line["seed"]]}
            times = [(known.get((measured_kernels[kernel][0], measured_kernels[kernel][1] or splits)), time, dropped)
                     for kernel, splits, time, dropped in line["us"]]
            times = [row for row in times if row[0] is not None]
            if not times:
                continue
            rows += [[*row[2:], dropped] for row, _, dropped in times]
            us += [time for _, time, _ in times]
            count.append(len(times))
            bandwidth.append(dram_of_h100 if "H100" in line["device"] else dram)
            least = min(time for _, time, _ in times)
            long.append(least > 15 and not line["terms"] and line["operand"] in ("f16", "bf16"))
        table = np.array(rows)
        for i, name in enumerate(["configuration", "few_rows", "is_general", *work_fields, "dropped"]):
            setattr(self, name, table[:, i])
        self.configuration = self.configuration.astype(int)
        self.us, self.count = np.array(us), np.array(count)
        self.problem = np.repeat(np.arange(len(count)), self.count)
        self.first = np.r_[0, np.cumsum(self.count)[:-1]]
        self.best = np.minimum.reduceat(self.us, self.first)
        self.long = np.array(long)
        self.dram = np.array(bandwidth)[self.problem]
        slower = np.minimum(self.us / self.best[self.problem] - 1, 8)
        self.weight = np.exp(-slower / .7)
        self.weight /= np.bincount(self.problem, self.weight)[self.problem]


class Constants:
    """The vector of logarithms that is fitted, and its parts by name."""

    def __init__(self, configurations):
        self.family_of = np.array([c[0] for c in configurations])
        # The loop along K does not depend on the epilogue (the last field). For multiply-adds it does not depend on the
        # number of blocks of a cluster that share a tile either (field 9).
        of_loop = [tuple(c[:9] + c[10:-1] if c[0] == 3 else c[:-1]) for c in configurations]
        loops = sorted(set(of_loop))
        self.loop_of = np.array([loops.index(loop) for loop in of_loop])
        self.shape = (len(family_fields), len(families))
        self.first = np.log(np.r_[first_family.ravel(), first_device, np.ones(len(configurations) + 2 * len(loops))])
        self.bounds = [(x - 5, x + 5) for x in self.first]

    def keep_known(self, w, head):
        """Keeps all constants, except those of configurations that have the constants of their family."""
        families_now = np.array(head["families"])
        n = self.shape[0] * self.shape[1]
        start, rate, step = (np.ones(count) for count in (len(self.family_of), *[self.loop_of.max() + 1] * 2))
        start[w.configuration] = w.start_clocks / families_now[w.kind, 0]
        rate[self.loop_of[w.configuration]] = w.rate / families_now[w.kind, 1]
        step[self.loop_of[w.configuration]] = w.step_clocks / families_now[w.kind, 2]
        self.first = np.log(np.r_[families_now.T.ravel(), head["device"], start, rate, step])
        fixed = np.r_[np.full(n + len(device_fields), True), start != 1, rate != 1, step != 1]
        self.bounds = [(x, x) if stays else (x - 2, x + 2) for x, stays in zip(self.first, fixed)]

    def read(self, vector, few_rows):
        """(constants of the family by field, of the device by field, start_clocks, rate and step_clocks of each configuration)"""
        x = jnp.exp(vector)
        n = self.shape[0] * self.shape[1]
        table = x[:n].reshape(self.shape)
        device = dict(zip(device_fields, x[n:n + len(device_fields)]))
        configurations, loops = len(self.family_of), self.loop_of.max() + 1
        start, rate, step = jnp.split(x[n + len(device_fields):], [configurations, configurations + loops])
        family = jnp.where(few_rows, 4, self.family_of)
        return (table, device, table[0][family] * start, table[1][family] * rate[self.loop_of],
                table[2][family] * step[self.loop_of])


def predict(constants, vector, w, few_rows):
    table, device, start, rate, step = constants.read(vector, few_rows)
    return 1e6 * seconds(jnp, w, {name: table[i][w.kind] for i, name in enumerate(family_fields)}, device,
                         start[w.configuration], rate[w.configuration], step[w.configuration], w.dram)


def difference(w, head):
    """The largest relative difference between seconds() and the times of cost.cpp, both with its present constants."""
    families_now = np.array(head["families"])
    here = seconds(jnp, w, {name: families_now[w.kind, i] for i, name in enumerate(family_fields)},
                   dict(zip(device_fields, head["device"])), w.start_clocks, w.rate, w.step_clocks, dram)
    return np.abs(np.asarray(here) / w.seconds - 1).max()


def fit(constants, w, few_rows):
    problems = len(w.count)
    counts = np.where(w.long, 4, 1)
    loss_of = np.minimum(w.us / w.best[w.problem] - 1, 3)

    def loss(vector, error_weight, softness):
        log_us = jnp.log(predict(constants, vector, w, few_rows))
        error = jnp.abs(log_us - np.log(w.us))
        least = jax.ops.segment_min(log_us, w.problem, problems, indices_are_sorted=True)
        chance = jnp.exp((least[w.problem] - log_us) / softness)
        total = jax.ops.segment_sum(chance, w.problem, problems, indices_are_sorted=True)
        lost = jax.ops.segment_sum(chance * loss_of, w.problem, problems, indices_are_sorted=True) / total
        return (error_weight * (w.weight * jnp.minimum(error, 1) * error).sum() / problems
                + (counts * lost).sum() / counts.sum()
                + 3e-3 * jnp.mean((vector - constants.first) ** 2))

    vector = constants.first
    # A harder choice is closer to the real loss, but flatter.
    for error_weight, softness, steps in ((2, .15, 150), (1, .06, 120), (.4, .03, 120)):
        value = jax.jit(jax.value_and_grad(lambda x: loss(x, error_weight, softness)))
        vector = scipy.optimize.minimize(lambda x: [np.asarray(part, float) for part in value(x)], vector, jac=True,
                                         method="L-BFGS-B", bounds=constants.bounds, options={"maxiter": steps}).x
    return vector


def report(name, us, w):
    """Reports how much longer the choice takes than the best kernel."""
    order = np.lexsort((us, w.problem))
    lost = w.us[order[w.first]] / w.best - 1
    for device, bandwidth in (("H200", dram), ("H100", dram_of_h100)):
        of_device = w.dram[w.first] == bandwidth
        if of_device.any():
            report_losses(f"{name}, {device}", lost[of_device])
    if w.long.any():
        report_losses(f"{name}, long", lost[w.long])


def report_losses(name, lost):
    print(f"{name:18} {len(lost)} problems: mean {100 * lost.mean():.1f} %, "
          + ", ".join(f"{q} % of them {100 * np.quantile(lost, q / 100):.1f} %" for q in (50, 90, 95, 99))
          + f", worst {100 * lost.max():.0f} %")


def number(x):
    return f"{x:.4g}"


def braces(fields):
    return "{" + " ".join(f".{name} = {number(x)}," for name, x in fields) + "}"  # the last comma gives each field its line


def rows_of(text):
    """{the words of a configuration: all words of its row} in a text of fitted.hpp."""
    rows = re.findall(r"{(matmul_family::[^{}]*)}", text)
    split = [[word.strip() for word in row.split(",")] for row in rows]
    return {tuple(words[:-3]): words for words in split}


def text_of(constants, vector, configurations, few_rows, known):
    table, device, start, rate, step = (np.asarray(x) if not isinstance(x, dict) else x
                                  for x in constants.read(vector, few_rows))

    def family(i):
        return braces(zip(family_fields, (table[f][i] for f in range(len(family_fields)))))

    lines = ["#pragma once", "// Written by bench/matmul_choice/fit.py, from times measured on an H200.", "",
             '#include "ops/matmul/choice/cost.hpp"', "", "namespace kaio::ops {", "",
             f"inline constexpr device_costs fitted_device{braces(device.items())};", "",
             "// In the order of matmul_family.",
             "inline constexpr family_costs fitted_families[]{" + " ".join(family(i) + "," for i in range(4)) + "};",
             "// Kernels for few rows, a part of the family simt.",
             f"inline constexpr family_costs fitted_few_rows{family(4)};", "",
             "inline constexpr kernel_costs fitted_kernels[]{"]
    for i, c in enumerate(configurations):
        words = [f"matmul_family::{enumerators[0][c[0]]}", f"matmul_precision::{enumerators[1][c[1]]}",
                 *map(str, c[2:12]), *("true" if x else "false" for x in c[12:]), number(start[i]), number(rate[i]),
                 number(step[i])]
        lines.append("    {" + ", ".join(known.get(tuple(words[:-3]), words)) + "},")
    return "\n".join([*lines, "};", "", "}  // namespace kaio::ops", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True)
    parser.add_argument("--measured", type=pathlib.Path, nargs="+", default=[])
    parser.add_argument("--new", action="store_true", help="fit only kernels that have no constants of their own")
    parser.add_argument("--write", action="store_true", help=f"write {fitted.name}")
    words = parser.parse_args()
    with open(words.work, encoding="utf-8") as file:
        head = json.loads(next(file))
        configurations = head["configurations"]
        work = {line["seed"]: line["work"] for line in map(json.loads, file) if "seed" in line}
    measured = [line for path in words.measured for line in measurements.parsed(path.read_bytes(), path)] or \
        [line for name in recorded for line in measurements.archived(name)]
    fitted_part = Problems(head["kernels"], work, measured, lambda seed, h100: seed % 2 == 0 and not h100)
    held_out = Problems(head["kernels"], work, measured, lambda seed, h100: seed % 2 == 1 or h100)
    everything = Problems(head["kernels"], work, measured, lambda seed, h100: not h100)
    constants = Constants(configurations)
    few_rows = np.zeros(len(configurations), bool)
    for w in (fitted_part, held_out, everything):
        w.kind = np.where(w.few_rows == 1, 4, constants.family_of[w.configuration])
        w.persistent = w.kind == 0
        few_rows[w.configuration[w.few_rows == 1]] = True
        if difference(w, head) > 1e-9:
            print("seconds() is not what cost.cpp computes: make them equal first", file=sys.stderr)
            return 1
        if w is not everything:
            report("as it is", 1e6 * w.seconds, w)
    if words.new:
        constants.keep_known(everything, head)
    vector = fit(constants, fitted_part, few_rows)
    for name, w in (("fitted", fitted_part), ("held out", held_out)):
        report(name, np.asarray(predict(constants, vector, w, few_rows)), w)
    if words.write:
        vector = fit(constants, everything, few_rows)
        report("all", np.asarray(predict(constants, vector, everything, few_rows)), everything)
        known = rows_of(fitted.read_text(encoding="utf-8")) if words.new else {}
        fitted.write_text(text_of(constants, vector, configurations, few_rows, known), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
