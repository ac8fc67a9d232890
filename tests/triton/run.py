#!/usr/bin/env python3
"""PTX that Triton made runs on the emulator: right results, and no report of the sanitizer.

    run.py KAIO FOLDER      KAIO is the program, FOLDER what make.py has written
    run.py KAIO --made      what the Triton of this Python makes now; exits with 77 if there is none
"""

import importlib.util
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import arrays



def made_now():
    if importlib.util.find_spec("triton") is None:
        print("skipped: this Python has no Triton")
        sys.exit(77)
    work = tempfile.TemporaryDirectory()
    subprocess.run([sys.executable, pathlib.Path(__file__).with_name("make.py"), work.name], check=True)
    return work


kaio = pathlib.Path(sys.argv.pop(1)).resolve()
given = sys.argv.pop(1)
made = made_now() if given == "--made" else None  # removed at the end
folder = pathlib.Path(made.name if made else given).resolve()
launches = json.loads((folder / "launch.json").read_text())["launches"]


def random_values(count, seed, kind="f32", low=-1.0, high=1.0):
    source = random.Random(seed)
    return arrays.rounded(kind, [source.uniform(low, high) for _ in range(count)])


def random_integers(count, seed, limit):
    source = random.Random(seed)
    return [source.randrange(limit) for _ in range(count)]


class Out:
    """A parameter that the kernel writes: its type, and its number of elements or the values that it begins with."""

    def __init__(self, kind, begin):
        self.kind, self.begin = kind, begin


def philox(seed, offset):
    """The first word of Philox4x32-10. Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011)."""
    mask = 2**32 - 1
    counter, keys = [offset, 0, 0, 0], [seed & mask, seed >> 32]
    for _ in range(10):
        left, right = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [right >> 32 ^ counter[1] ^ keys[0], right & mask, left >> 32 ^ counter[3] ^ keys[1], left & mask]
        keys = [keys[0] + 0x9E3779B9 & mask, keys[1] + 0xBB67AE85 & mask]
    return counter[0]


def uniform(word):
    signed = word - 2**32 if word >= 2**31 else word
    return (-signed - 1 if signed < 0 else signed) * 4.6566127342e-10


class EveryKernel(unittest.TestCase):
    def run_kernel(self, name, grid, parameters, sanitize="all"):
        """The arrays that the kernel wrote, for each architecture that it was compiled for."""
        for text in sorted(folder.glob(f"{name}.sm_*.ptx")):
            launch = launches[text.stem]
            with self.subTest(text.stem), tempfile.TemporaryDirectory() as work:
                work = pathlib.Path(work)
                words, results = [], []
                for at, parameter in enumerate(parameters):
                    file = work / f"{at}.npy"
                    if isinstance(parameter, Out):
                        results.append((file, parameter.kind))
                        if isinstance(parameter.begin, int):
                            words += ["--arg", f"out:{file}:{parameter.kind}:{parameter.begin}"]
                        else:
                            arrays.write(file, parameter.kind, parameter.begin)
                            words += ["--arg", f"inout:{file}"]
                    elif isinstance(parameter, tuple):
                        arrays.write(file, *parameter)
                        words += ["--arg", f"in:{file}"]
                    else:
                        words += ["--arg", f"{parameter}:{'f32' if isinstance(parameter, float) else 's32'}"]
                blocks = math.prod(grid)
                scratch = launch["scratch"] * blocks
                words += ["--arg", f"zeros:u8:{scratch}" if scratch else "null", "--arg", "null"]
                done = subprocess.run(
                    [kaio, "emulate", text, "--grid", ",".join(map(str, grid)), "--block", str(launch["threads"]),
                     "--shared", str(launch["shared"]), "--sanitize", sanitize, *words], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                yield [arrays.read(*result) for result in results]

    def assertNear(self, values, wanted, relative, absolute=0.0):
        self.assertEqual(len(values), len(wanted))
        for at, (value, want) in enumerate(zip(values, wanted)):
            if not abs(value - want) <= absolute + relative * abs(want):
                self.fail(f"element {at}: {value}, not {want}")

    def test_scale_add(self):
        x, y = random_values(1000, 1), random_values(1000, 2)
        for out, in self.run_kernel("scale_add", (4,), [("f32", x), ("f32", y), Out("f32", 1000), 1000, 2.5]):
            self.assertNear(out, [2.5 * a + b for a, b in zip(x, y)], 1e-6, 1e-6)

    def test_softmax_rows(self):
        rows, columns = 3, 781
        x = random_values(rows * columns, 3, "f16", -4, 4)
        want = []
        for row in range(rows):
            powers = [math.exp(value) for value in x[row * columns:(row + 1) * columns]]
            want += [power / sum(powers) for power in powers]
        for out, in self.run_kernel("softmax_rows", (rows,), [("f16", x), Out("f16", rows * columns), columns, columns]):
            self.assertNear(out, want, 2e-3, 1e-6)

    def test_layer_norm_rows(self):
        rows, columns = 2, 700
        x = random_values(rows * columns, 4, "f16")
        weight, bias = random_values(columns, 5), random_values(columns, 6)
        want = []
        for row in range(rows):
            values = x[row * columns:(row + 1) * columns]
            mean = sum(values) / columns
            rstd = 1 / math.sqrt(sum((value - mean)**2 for value in values) / columns + 1e-5)
            want += [(value - mean) * rstd * w + b for value, w, b in zip(values, weight, bias)]
        given = [("f16", x), ("f32", weight), ("f32", bias), Out("f16", rows * columns), columns, 1e-5]
        for out, in self.run_kernel("layer_norm_rows", (rows,), given):
            self.assertNear(out, want, 1e-3, 1e-3)

    def products(self, name, m, n, k, transposed, kind):
        a, b = random_values(m * k, 7, "f16"), random_values(k * n, 8, "f16")
        step_k, step_n = (1, k) if transposed else (n, 1)
        columns = [[b[i * step_k + column * step_n] for i in range(k)] for column in range(n)]
        want = [sum(map(lambda p, q: p * q, a[row * k:(row + 1) * k], column)) for row in range(m) for column in columns]
        grid = (-(-m // 64), -(-n // 64))
        for out, in self.run_kernel(name, grid, [("f16", a), ("f16", b), Out(kind, m * n), m, n, k]):
            self.assertNear(out, want, 2e-3, 5e-3 if kind == "f16" else 1e-4)

    def test_product(self):
        self.products("product", 70, 65, 50, False, "f32")

    def test_described_product(self):
        self.products("described_product", 72, 72, 136, True, "f16")

    def test_attention_rows(self):
        heads, rows, d = 2, 80, 64
        q, k, v = (random_values(heads * rows * d, seed, "f16") for seed in (9, 10, 11))
        want = []
        for head in range(heads):
            part = [[values[(head * rows + row) * d:(head * rows + row + 1) * d] for row in range(rows)] for values in (q, k, v)]
            for row in range(rows):
                scores = [math.exp2(sum(map(lambda a, b: a * b, part[0][row], key)) * 0.18) for key in part[1][:row + 1]]
                want += [sum(score * value[lane] for score, value in zip(scores, part[2])) / sum(scores) for lane in range(d)]
        given = [("f16", q), ("f16", k), ("f16", v), Out("f16", heads * rows * d), rows, rows, 0.18]
        for out, in self.run_kernel("attention_rows", (2, heads), given):
            self.assertNear(out, want, 4e-3, 2e-3)

    def test_dropped(self):
        x = random_values(600, 12)
        want = [value / (1 - 0.3) if uniform(philox(2026, at)) > 0.3 else 0.0 for at, value in enumerate(x)]
        for out, in self.run_kernel("dropped", (3,), [("f32", x), Out("f32", 600), 600, 0.3, 2026]):
            self.assertNear(out, want, 1e-6)

    def test_running_sums(self):
        x = random_integers(2 * 500, 13, 1000)
        want = [sum(x[row * 500:row * 500 + column + 1]) for row in range(2) for column in range(500)]
        for out, in self.run_kernel("running_sums", (2,), [("s32", x), Out("s32", 1000), 500]):
            self.assertEqual(out, want)

    def test_sorted_rows(self):
        x = random_values(256, 14)
        want = sorted(x[:128]) + sorted(x[128:])
        least = [row.index(min(row)) for row in (x[:128], x[128:])]
        for out, at in self.run_kernel("sorted_rows", (2,), [("f32", x), Out("f32", 256), Out("s32", 2)]):
            self.assertEqual(out, want)
            self.assertEqual(at, least)

    def test_counted(self):
        x = random_integers(700, 15, 10000)
        want = [sum(value % 16 == b for value in x) for b in range(16)]
        for counts, total in self.run_kernel("counted", (3,), [("s32", x), Out("s32", [0] * 16), Out("s32", [0]), 700]):
            self.assertEqual(counts, want)
            self.assertEqual(total, [max(x)])

    def test_converted(self):
        x = [value for value in random_values(300, 16, "f32", -8, 8) if abs(value) > 0.02]

        def e4m3(value):
            exponent = max(math.floor(math.log2(abs(value))), -6)
            return round(value / 2.0**(exponent - 3)) * 2.0**(exponent - 3)

        want = [e4m3(value) + math.erf(value) + math.sin(value) for value in x]
        for narrow, back in self.run_kernel("converted", (2,), [("f32", x), Out("bf16", len(x)), Out("f32", len(x)), len(x)]):
            self.assertNear(narrow, x, 2**-8)
            self.assertNear(back, want, 1e-5, 1e-5)

    def test_one_after_the_other(self):
        x = random_integers(5 * 128, 17, 100)
        want = [sum(x[block * 128 + at] for block in range(5)) for at in range(128)]
        given = [Out("s32", [0]), Out("f32", [0.0] * 128), ("f32", [float(value) for value in x])]
        for lock, total in self.run_kernel("one_after_the_other", (5,), given):
            self.assertEqual((lock, total), ([0], [float(value) for value in want]))

    def test_every_text_has_a_test(self):
        tested = {name.removeprefix("test_") for name in dir(self) if name.startswith("test_")}
        self.assertEqual({text.stem.partition(".")[0] for text in folder.glob("*.ptx")} - tested, set())
        self.assertEqual({text.stem for text in folder.glob("*.ptx")}, set(launches))


if __name__ == "__main__":
    unittest.main()
