#!/usr/bin/env python3
"""The recorded measurements: a case has only its newest times, a sweep is a line, the page shows the data, and all files are
small."""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import measurements  # noqa: E402
import report  # noqa: E402


def row(contestant, us, date="2026-01-01", **fields):
    return {"benchmark": "matmul", "type": "f16", "m": 8, "n": 8, "k": 8, "batch": 1, "layout": "NT", "protocol": "cold",
            "contestant": contestant, "us": us, "tflops": 100 / us, "date": date, "commit": "c0ffee", **fields}


class Measurements(unittest.TestCase):
    def test_contestants_of_a_case_are_one_line(self):
        line, = measurements.merge([], [row("kaio", 2.0), row("cublaslt", 3.0)])
        self.assertEqual(line["us"], {"kaio": 2.0, "cublaslt": 3.0})
        self.assertEqual(line["tflops"], 50)
        self.assertEqual(line["measured"], "2026-01-01 c0ffee")

    def test_a_newer_time_replaces_an_older_one(self):
        old = measurements.merge([], [row("kaio", 2.0), row("cublaslt", 3.0)])
        line, = measurements.merge(old, [row("kaio", 1.0, "2026-02-02")])
        self.assertEqual(line["us"], {"kaio": 1.0, "cublaslt": 3.0})
        self.assertEqual(line["measured"], {"kaio": "2026-02-02 c0ffee", "cublaslt": "2026-01-01 c0ffee"})
        self.assertEqual(measurements.newest(line["measured"]), "2026-02-02 c0ffee")
        rates = {r["contestant"]: r["tflops"] for r in measurements.contestants(line)}
        self.assertAlmostEqual(rates["cublaslt"], 100 / 3)

    def test_cases_that_differ_in_one_field_are_two(self):
        self.assertEqual(len(measurements.merge([], [row("kaio", 2.0), row("kaio", 2.0, protocol="burst")])), 2)

    def test_a_sweep_is_one_line(self):
        rows = []
        for m, ratio in [(1, 0.5), (2, 2.0), (3, 1.0)]:
            rows += [row("kaio", 1.0, benchmark="matmul_random", m=m), row("cublaslt", ratio, benchmark="matmul_random", m=m)]
        line, = measurements.merge([], [{**r, "device": "H200"} for r in rows])
        self.assertEqual((line["problems"], line["ratio"], line["worst"], line["worst_case"]), (3, 1.0, 0.5, "1x1x8x8 NT"))

    def test_the_best_peer_is_not_kaio(self):
        self.assertEqual(measurements.best_peer({"kaio": 1.0, "three": 0.5, "torch": 3.0, "cublaslt": 2.0}), ("cublaslt", 2.0))
        self.assertIsNone(measurements.best_peer({"kaio": 1.0, "design": 0.5}))

    def test_the_page_is_rendered_from_the_data(self):
        self.assertEqual((measurements.RESULTS / "README.md").read_text(encoding="utf-8"), report.page(),
                         "run bench/report.py and commit its page")

    def test_readme_has_the_lines_of_the_operations(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        for line in report.operation_lines():
            self.assertIn("| " + " | ".join(map(str, line)) + " |", readme, "take the lines of bench/results/README.md")

    def test_the_data_have_no_case_twice(self):
        for file in measurements.RESULTS.glob("h200.jsonl"):
            keys = [measurements.key(line) for line in measurements.read(file)]
            self.assertEqual(len(keys), len(set(keys)), file)

    def test_the_data_stay_small(self):
        size = sum(file.stat().st_size for file in measurements.RESULTS.iterdir())
        self.assertLess(size, 1.5e6, "older rows belong to the history: see bench/measurements.py")
        self.assertLess((measurements.RESULTS / "h200.jsonl").stat().st_size, 1e6)
        for line in measurements.recorded():
            json.dumps(line, allow_nan=False)


if __name__ == "__main__":
    unittest.main()
