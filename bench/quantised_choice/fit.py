#!/usr/bin/env python3
"""Fits start, rate and step of the kernels of matmul_fp8 and matmul_int8 to measured times, and writes them to fitted.hpp.

    quantised_choice --seconds 600 > measured.jsonl     # on an H200
    fit.py [--measured measured.jsonl] [--write]

Without --measured the script takes the recorded times, quantised_choice_h200.jsonl.xz, which bench/measurements.py reads from the
history. All else of the cost model is matmul's (src/ops/matmul/choice/fitted.hpp). A rate includes copies of single elements and
conversions, whose time is the same for every step of a kernel.

First each kernel is fitted to its own times: least squares of their logarithms, by a loss in which outliers count little. Then all
kernels are fitted to how much longer the choice takes than the best kernel, with the choice made soft so that it has a
derivative. Three folds of the problems are held out in turn and reported; the constants that are written are fitted to all
problems. seconds() is matmul's; matmul's fit.py compares it with cost.cpp. Kernels without recorded times keep their constants.
The script needs numpy and scipy.
"""

import argparse
import pathlib
import re
import sys

import numpy as np
import scipy.optimize

bench = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(bench), str(bench / "matmul_choice")]
import cost  # noqa: E402
import measurements  # noqa: E402

root = pathlib.Path(__file__).resolve().parents[2]
of_matmul = root / "src/ops/matmul/choice/fitted.hpp"
fitted = root / "src/ops/matmul_8bit/common/fitted.hpp"
recorded = "quantised_choice_h200.jsonl.xz"
dram = 2 * 3133e6 * 6144 / 8  # of the H200
families = ["sm90", "sm90_split", "mma_sync", "simt"]
folds = 3
parts = 3  # start_clocks, rate and step_clocks of a kernel


def configuration_of(name, has_groups):
    """(family, operand, groups, general, across, m, n, k, alignment) of a kernel: the fields that identify it in fitted.hpp."""
    operand = "i8" if re.search("_i8_|_s8_s8_", name) else "e4m3"
    general = re.sub(r"_cluster\d+$", "", name).endswith("general")
    if "_simt_" in name:
        return (3, operand, has_groups, general, False, 64, 64, 64 if operand == "i8" else 16, 1)
    m, n, k = map(int, re.search(r"_(\d+)x(\d+)x(\d+)_", name).groups())
    family = 2 if "_mma_" in name else 1 if "_split" in name else 0
    across = "_across_" in name or "_transposed_" in name
    copies = re.search(r"_c(\d)\d_", name) if family == 2 else None  # copy_form of A
    alignment = 8 if "_words_" in name else 16 if copies is None else {"0": 16, "1": 8 if "fp8x8" in name else 16, "2": 1, "4": 4}[copies[1]]
    return (family, operand, has_groups, general, across, m, n, k if family == 2 else 128 * k, alignment)


class Problems:
    """The measured kernels of the problems, a row each; the first row of a problem is the model's choice."""

    def __init__(self, fields, lines, configurations):
        number = {c: i for i, c in enumerate(configurations)}
        rows = [(i, number[configuration_of(kernel[0], line["scales"] == "groups")], *kernel[1:])
                for i, line in enumerate(lines) for kernel in line["kernels"]]
        table = np.array(rows)
        for i, name in enumerate(["problem", "configuration", *fields[1:]]):
            setattr(self, name, table[:, i])
        self.problem, self.configuration = self.problem.astype(int), self.configuration.astype(int)
        self.count = np.bincount(self.problem)
        self.first = np.r_[0, np.cumsum(self.count)[:-1]]
        self.best = np.minimum.reduceat(self.us, self.first)
        self.kind = np.array([c[0] for c in configurations])[self.configuration]
        self.persistent = self.kind == 0
        self.is_general = np.array([c[3] for c in configurations])[self.configuration]
        self.is_fp8 = np.array([line["operation"] == "matmul_fp8" for line in lines])
        # A time that was measured only once counts little.
        self.weight = np.where(self.dropped == 1, 0.2, 1.0)


def constants_of_matmul():
    """(constants of the device, of the families in the order of `families`), by field."""
    text = of_matmul.read_text(encoding="utf-8").split("fitted_few_rows")[0]
    found = re.findall(r"\.(\w+) = ([-+.e0-9]+)", text)
    values = {}
    for name, x in found:
        values.setdefault(name, []).append(float(x))
    return ({name: x[0] for name, x in values.items() if len(x) == 1},
            {name: np.array(x) for name, x in values.items() if len(x) == len(families)})


def seconds(w, device, families_now, start_clocks, rate, step_clocks):
    family = {name: x[w.kind] for name, x in families_now.items()}
    return cost.seconds(np, w, family, device, start_clocks, rate, step_clocks, dram)


class Fit:
    """Fits a vector of logarithms: start_clocks of the configurations, their rates, their step_clocks."""

    def __init__(self, count):
        self.count = count
        self.constants = constants_of_matmul()

    def log_us(self, vector, w):
        of_kernels = np.exp(vector).reshape(parts, self.count)
        return np.log(1e6 * seconds(w, *self.constants, *of_kernels[:, w.configuration]))

    def to_times(self, w, first):
        vector = first.copy()
        for i in range(self.count):
            rows = Rows(w, w.configuration == i)
            if len(rows.us) < 10:
                continue

            of_kernel = i + self.count * np.arange(parts)

            def error(x, rows=rows, of_kernel=of_kernel):
                vector[of_kernel] = x
                return np.r_[np.sqrt(rows.weight) * (self.log_us(vector, rows) - np.log(rows.us)),
                             .3 * (x - first[of_kernel])]

            vector[of_kernel] = scipy.optimize.least_squares(error, first[of_kernel], loss="soft_l1", f_scale=.1).x
        return vector

    def to_choice(self, w, vector):
        """Fits from `vector` on, also to what the choice loses."""
        problems, centre = len(w.count), vector.copy()
        loss_of = np.minimum(w.us / w.best[w.problem] - 1, 3)
        weight = w.weight / w.count[w.problem]

        def loss(x, error_weight, softness):
            log_us, h = self.log_us(x, w), 1e-6
            difference = log_us - np.log(w.us)
            error = np.abs(difference)
            chance = np.exp((np.minimum.reduceat(log_us, w.first)[w.problem] - log_us) / softness)
            chance /= np.bincount(w.problem, chance)[w.problem]
            lost = np.bincount(w.problem, chance * loss_of)
            value = (error_weight * (weight * np.minimum(error, 1) * error).sum() + lost.sum()) / problems
            slope = (error_weight * weight * np.sign(difference) * np.where(error < 1, 2 * error, 1)
                     - chance * (loss_of - lost[w.problem]) / softness) / problems
            gradient = 6e-3 / len(x) * (x - centre)
            for part in range(parts):
                moved = x.copy()
                moved[part * self.count:(part + 1) * self.count] += h
                by = np.bincount(w.configuration, slope * (self.log_us(moved, w) - log_us) / h, self.count)
                gradient[part * self.count:(part + 1) * self.count] += by
            return value + 3e-3 * ((x - centre) ** 2).mean(), gradient

        for error_weight, softness in ((.5, .1), (.2, .05), (.2, .03), (.1, .02)):
            vector = scipy.optimize.minimize(loss, vector, (error_weight, softness), jac=True, method="L-BFGS-B",
                                             options={"maxiter": 200}).x
        return vector


class Rows:
    """Some of the rows."""

    def __init__(self, w, take):
        for name, x in vars(w).items():
            if len(x) == len(take):
                setattr(self, name, x[take])


def losses(w, log_us):
    """How much longer the choice takes than the best kernel."""
    return w.us[np.lexsort((log_us, w.problem))[w.first]] / w.best - 1


def report(name, w, lost):
    for operation, take in (("fp8", w.is_fp8), ("int8", ~w.is_fp8)):
        x = lost[take]
        print(f"{name:16} {operation:4} {len(x)} problems: mean {100 * x.mean():.2f} %, "
              f"95 % of them {100 * np.quantile(x, .95):.1f} %, worst {100 * x.max():.0f} %")


def rows_of(text):
    """{the words of a configuration: those of its constants} in a text of fitted.hpp."""
    rows = [row.split(", ") for row in re.findall(r"{(matmul_family::[^{}]*)}", text)]
    return {tuple(words[:-parts]): words[-parts:] for words in rows}


def text_of(configurations, vector, rows):
    lines = ["#pragma once",
             "// Written by bench/quantised_choice/fit.py, from times measured on an H200; the two kernels of mma_sync that are not",
             "// general, from 305 products on an H100.", "",
             "#include <kaio/ops/matmul/choice/variant.hpp>", "", "#include <cstdint>", "", "namespace kaio::ops {", "",
             "// The configuration of a kernel of matmul_fp8 or matmul_int8, and what was measured of it.",
             "struct byte_kernel_costs {", "  matmul_family family;", "  bool is_int8, groups, general, across;",
             "  std::uint32_t m, n, k;", "  std::uint32_t alignment;  // of the lines of A, in bytes",
             "  double start_clocks, rate, step_clocks;", "};", "", "inline constexpr byte_kernel_costs fitted_byte_kernels[]{"]
    for c, constants in zip(configurations, np.exp(vector).reshape(parts, len(configurations)).T):
        flags = [str(x).lower() for x in (c[1] == "i8", *c[2:5])]
        rows[(f"matmul_family::{families[c[0]]}", *flags, *map(str, c[5:]))] = [f"{x:.4g}" for x in constants]
    lines += ["    {" + ", ".join([*words, *constants]) + "}," for words, constants in rows.items()]
    return "\n".join([*lines, "};", "", "}  // namespace kaio::ops", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help=f"write {fitted.name}")
    words = parser.parse_args()
    measured = measurements.parsed(words.measured.read_bytes(), words.measured) if words.measured else measurements.archived(recorded)
    fields = next(line["fields"] for line in measured if "fields" in line)
    lines = [line for line in measured if "seed" in line]
    configurations = sorted({configuration_of(kernel[0], line["scales"] == "groups")
                             for line in lines for kernel in line["kernels"]})
    everything = Problems(fields, lines, configurations)
    fit = Fit(len(configurations))
    report("as recorded", everything, losses(everything, np.log(everything.model_us)))
    first = np.zeros(parts * len(configurations))
    for i in range(len(configurations)):
        of = np.argmax(everything.configuration == i)
        step = fit.constants[1]["step_clocks"][everything.kind[of]]
        first[i::len(configurations)] = np.log([everything.start_clocks[of], everything.rate[of], step])
    held_out = {"to times": np.zeros(len(lines)), "to the choice": np.zeros(len(lines))}
    order = np.argsort(np.argsort([line["seed"] for line in lines])) % folds
    for fold in range(folds):
        part = Problems(fields, [line for line, at in zip(lines, order) if at != fold], configurations)
        rest = Problems(fields, [line for line, at in zip(lines, order) if at == fold], configurations)
        times = fit.to_times(part, first)
        for name, vector in (("to times", times), ("to the choice", fit.to_choice(part, times))):
            held_out[name][order == fold] = losses(rest, fit.log_us(vector, rest))
    for name, lost in held_out.items():
        report(f"{name}, out", everything, lost)
    times = fit.to_times(everything, first)
    vector = fit.to_choice(everything, times)
    report("to times", everything, losses(everything, fit.log_us(times, everything)))
    report("to the choice", everything, losses(everything, fit.log_us(vector, everything)))
    if words.write:
        fitted.write_text(text_of(configurations, vector, rows_of(fitted.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
