#!/usr/bin/env python3
"""`tools/kaio bench --html`: the report has every operation and every case of the results, with the numbers of bench/report.py;
two runs are compared; bad input is an error that names the file, the line and the fault."""

import html.parser
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/html_report")]
import cases  # noqa: E402
import comparison  # noqa: E402
import measurements  # noqa: E402
import report  # noqa: E402
import source  # noqa: E402
import work  # noqa: E402
from page import page  # noqa: E402

VOID = {"meta", "input", "br", "hr"}
H200 = "NVIDIA H200, sm_90, 132 SMs, driver 13.0 (580.1)"


class reader(html.parser.HTMLParser):
    """Checks that tags are closed in order; keeps the tables' rows, the ids, the places that load something, and the data."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.ids, self.loads, self.data, self.words = [], {}, [], [], "", []
        self.table = None
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.loads += [(tag, name) for name in ("src", "href", "xlink:href") if name in attrs]
        if tag == "table" and "id" in attrs:
            self.table = self.tables.setdefault(attrs["id"], [])
        if tag == "tr" and self.table is not None:
            self.table.append([])
        if tag == "td":
            self.table[-1].append("")
        if tag not in VOID:
            self.open.append((tag, attrs.get("id")))

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        opened = self.open.pop()[0]
        assert opened == tag, (opened, tag)
        if tag == "table":
            self.table = None

    def handle_data(self, text):
        tags = [tag for tag, _ in self.open]
        if self.open and self.open[-1] == ("script", "data"):
            self.data += text
        elif "script" not in tags and "style" not in tags:
            self.words.append(text)
            if "td" in tags and "small" not in tags:
                self.table[-1][-1] += text


def line(benchmark="matmul", us=None, measured="2026-01-01 c0ffee", **fields):
    case = {"device": H200, "type": "bf16", "shape": "64x128", "work": "plain", "protocol": "burst"}
    if benchmark == "matmul":
        case = {"device": H200, "type": "bf16", "m": 8, "n": 8, "k": 8, "batch": 1, "layout": "NT", "protocol": "burst"}
    return {"benchmark": benchmark, **case, "us": us or {"kaio": 1.0}, "measured": measured, **fields}


TINY = [line(us={"kaio": 2.0, "cublaslt": 1.0}, tflops=0.000512, tbs=0.0002), line(us={"kaio": 1.0, "cublaslt": 2.0}, m=64),
        line(us={"kaio": 4.0, "torch": 4.0}, protocol="cold"),
        line("rms_norm", {"kaio": 10.0, "torch": 20.0}, tbs=3.0), line("new_operation", {"kaio": 5.0, "copy": 4.0}, tbs=2.0,
                                                                      work="<b>&\"bold\"</b></script>")]


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = measurements.recorded()
        cls.text = page(cls.lines, ["h200.jsonl"], None)
        cls.read = reader(cls.text)

    def rows(self, name, read=None):
        return [row for row in (read or self.read).tables[name] if row]

    def test_the_page_is_one_file_that_loads_nothing(self):
        self.assertEqual(self.read.loads, [])
        self.assertNotIn("@import", self.text)
        self.assertNotIn("url(", self.text)
        self.assertNotRegex(self.text, r"https?://|fetch\(|XMLHttpRequest")
        self.assertEqual(len(self.read.ids), len(set(self.read.ids)))
        self.assertLess(len(self.text), 3e6)

    def test_every_operation_of_the_results_has_the_numbers_of_the_page_of_results(self):
        rows = {(row[0], row[1]): row for row in self.rows("ratios")}
        compared = report.compared("protocol", lines=self.lines)
        self.assertGreater(len(compared), 20)
        for (benchmark, protocol), (ratios, dates) in compared.items():
            total = measurements.summary(ratios)
            row = rows[report.COMPARED[benchmark][0], cases.PROTOCOLS[protocol]]
            self.assertEqual(row[2:6] + row[7:9], [str(total["problems"]), f"{total['ratio']:.2f}", f"{total['p5']:.2f}",
                                                   f"{total['worst']:.2f}", total["worst_case"], report.span(dates)])

    def test_every_table_of_the_page_of_results_is_there(self):
        cells = {tuple(row) for name in self.read.tables for row in self.rows(name)}
        plain = lambda row: tuple(str(text).replace("`", "") for text in row)
        for figure in (report.compared_figure(self.lines), report.swept_figure(self.lines)):
            at = figure[1].index("protocol")
            for row in figure[2]:
                self.assertIn(plain([*row[:at], cases.PROTOCOLS[row[at]], *row[at + 1:]]), cells)
        others = [row for row in self.lines if "copy_gbs" not in row and not isinstance(row.get("us"), dict)]
        for _, _, rows, *_ in report.figures(others):
            for row in rows:
                self.assertIn(plain(row), cells)
        copies = [row for row in self.lines if "copy_gbs" in row]
        self.assertEqual(len(self.rows("copies")), len(copies))

    def test_the_data_have_every_case(self):
        data = json.loads(self.read.data)
        timed = [row for row in self.lines if isinstance(row.get("us"), dict) and "kaio" in row["us"]]
        self.assertEqual(len(data["cases"]), len(timed))
        known = {row["benchmark"] for row in timed}
        self.assertEqual(set(data["operations"]), {cases.title_of(name) for name in known})
        devices = {data["texts"][entry[4]] for entry in data["cases"]}
        self.assertTrue(all("driver" in name for name in devices), devices)
        measured = {data["texts"][at] for entry in data["cases"] for _, _, at in entry[5]}
        for text in measured:
            self.assertRegex(text, r"^\d{4}-\d\d-\d\d [0-9a-f]{7,}")

    def test_the_ceilings_are_measured_ones(self):
        found = {row[0]: row[1] for row in self.rows("ceilings")}
        fastest = max(row["copy_gbs"] for row in self.lines if "copy_gbs" in row) / 1e3
        self.assertGreaterEqual(float(found["copy: device to device"].split()[0]), math.floor(100 * fastest) / 100)
        for row in self.lines:
            if "tflops" in row and row["type"] == "bf16":
                self.assertLessEqual(row["tflops"], float(found["products of 16 bits"].split()[0]) + 0.5)

    def test_formulas_count_what_the_benchmarks_count(self):
        counted = 0
        for row in self.lines:
            if row["benchmark"] in ("matmul", "matmul_epilogue", "matmul_fp8", "matmul_int8") and "kaio" in row["us"]:
                operations, moved = work.FORMULAS[row["benchmark"]](row)
                for rate, amount in (("tflops", operations), ("tbs", moved)):
                    if rate in row:
                        of_formula = amount / row["us"]["kaio"] / 1e6
                        self.assertLess(abs(of_formula - row[rate]), 0.02 * of_formula + 0.006, row)
                        counted += 1
        self.assertGreater(counted, 3000)

    def test_no_case_is_far_above_its_roof(self):
        found = cases.cases_of(self.lines)
        ceilings = cases.ceilings_of(found, self.lines, "NVIDIA H200")
        for case in found:
            if case.device == "NVIDIA H200" and ceilings.roof(case):
                self.assertLess(ceilings.roof(case) / case.kaio, 1.3, case)

    def test_a_tiny_result_has_known_numbers(self):
        text = page(TINY, ["tiny.jsonl"], None)
        rows = {(row[0], row[1]): row[2:6] for row in self.rows("ratios", reader(text))}
        self.assertEqual(rows["matmul", "repeated"], ["2", "1.00", "0.50", "0.50"])
        self.assertEqual(rows["matmul", "single"], ["1", "1.00", "1.00", "1.00"])
        self.assertEqual(rows["rms_norm", "repeated"], ["1", "2.00", "2.00", "2.00"])
        self.assertEqual(rows["new_operation", "repeated"], ["1", "0.80", "0.80", "0.80"])
        self.assertIn("their operations are not counted: new_operation", text)
        self.assertIn("copy 2.50 TB/s", text)
        self.assertNotIn("<b>&", text)

    def test_a_result_without_times_has_the_other_tables(self):
        lines = [row for row in self.lines if row["benchmark"] in ("emulator", "compile_time")]
        read = reader(page(lines, ["debian12.jsonl"], None))
        self.assertIn("t-emulator--one-core", read.tables)
        self.assertNotIn("ratios", read.tables)


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, lines):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return str(file)

    def found(self, old, new):
        return comparison.paired(cases.cases_of(source.side(old)), cases.cases_of(source.side(new)))

    def test_two_files(self):
        old = [line(us={"kaio": 2.0, "cublaslt": 3.0}, m=m) for m in range(1, 9)] + [line(us={"kaio": 1.0}, k=9)]
        new = [line(us={"kaio": 2.0 / factor, "cublaslt": 3.0}, m=m, measured="2026-02-02 beef")
               for m, factor in enumerate([0.5, 0.9, 0.96, 1.0, 1.04, 1.06, 2.0, 4.0], 1)]
        old, new = self.write("old.jsonl", old), self.write("new.jsonl", new)
        found = self.found(old, new)
        self.assertEqual((len(found.pairs), found.kept, found.only_old, found.only_new), (8, 0, 1, 0))
        text = page(source.side(new), ["new"], (source.side(old), source.side(new), ("old", "new"), 1.05))
        read = reader(text)
        row, = [row for row in read.tables["changes"] if row]
        mean = (0.5 * 0.9 * 0.96 * 1.04 * 1.06 * 2 * 4) ** 0.125
        self.assertEqual(row[:6], ["matmul", "repeated", "8", f"{mean:.2f}", "3", "2"])
        self.assertEqual(row[7], "1.00 (1.00 to 1.00)")  # the peers
        self.assertEqual([row[6] for row in read.tables["slower"] if row], ["0.50", "0.90"])
        self.assertEqual([row[6] for row in read.tables["faster"] if row], ["4.00", "2.00", "1.06"])

    def test_two_dates_and_two_commits_of_a_file(self):
        rows = [{"benchmark": "matmul", "type": "f16", "m": 8, "n": 8, "k": 8, "batch": 1, "layout": "NT", "protocol": "cold",
                 "contestant": "kaio", "us": us, "tflops": 1.0, "date": date, "commit": commit}
                for us, date, commit in ((3.0, "2026-01-02", "aaa1"), (4.0, "2026-01-01", "bbb2"), (2.0, "2026-01-03", "ccc3"))]
        file = self.write("runs.jsonl", rows)
        for old, new, speed in (("2026-01-01", "2026-01-02", 4 / 3), ("bbb2", "ccc3", 2.0), ("aaa", "2026-01-03", 1.5)):
            pair, = self.found(f"{file}@{old}", f"{file}@{new}").pairs
            self.assertAlmostEqual(pair.speed, speed)
        self.assertEqual(self.found(file, file).kept, 1)
        newest, = cases.cases_of(source.side(file))
        self.assertEqual((newest.kaio, newest.measured["kaio"]), (2.0, "2026-01-03 ccc3"))

    def test_what_a_benchmark_prints_is_a_run_and_repeated_lines_have_their_median(self):
        rows = [{"benchmark": "matmul", "type": "f16", "m": 8, "n": 8, "k": 8, "batch": 1, "layout": "NT", "protocol": "cold",
                 "contestant": "kaio", "us": us, "tflops": 1 / us} for us in (9.0, 2.0, 3.0)]
        file = self.root / "printed.jsonl"
        file.write_text("\n== matmul\n" + "".join(json.dumps(row) + "\n" for row in rows) + "\n1 passed, 0 failed\n")
        case, = cases.cases_of(source.side(str(file)))
        self.assertEqual((case.kaio, case.measured["kaio"]), (3.0, "undated -"))

    def test_a_run_with_another_driver_or_device_is_compared_with_a_warning(self):
        old = [line(device="NVIDIA H200, sm_90, driver 13.0 (570.1)")]
        for device, words in ((H200, "The drivers differ: 570.1 and 580.1"), ("NVIDIA A100", "The devices differ")):
            new = [line(device=device, us={"kaio": 2.0}, measured="2026-02-02 beef")]
            text = page(new, ["new"], (old, new, ("a", "b"), 1.05))
            self.assertIn(words, text)
            self.assertIn("1 cases were measured in both runs", text)

    def test_two_commits_of_the_repository(self):
        git = lambda *words: subprocess.run(["git", "-C", self.folder.name, "-c", "user.name=n", "-c", "user.email=e", *words],
                                            check=True, capture_output=True, text=True)
        git("init", "-q")
        for us, date in ((2.0, "2026-01-01"), (1.0, "2026-02-02")):
            self.write("bench/results/h200.jsonl", [line(us={"kaio": us}, measured=f"{date} c0ffee")])
            git("add", "-A")
            git("-c", "commit.gpgsign=false", "commit", "-q", "-m", date)
        self.addCleanup(setattr, source, "ROOT", source.ROOT)
        source.ROOT = self.root
        pair, = self.found("HEAD~1", "HEAD").pairs
        self.assertEqual(pair.speed, 2.0)
        with self.assertRaisesRegex(SystemExit, "is no file, and no commit or date of this repository"):
            source.side("1999-01-01")

    def test_nothing_in_common_is_said(self):
        text = page(TINY, ["t"], ([line(m=1)], [line(m=2)], ("a", "b"), 1.05))
        self.assertIn("So there is nothing to compare.", text)


class Command(unittest.TestCase):
    def run_command(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("bad.jsonl", json.dumps(TINY[0]) + "\n{oops\n"), ("text.jsonl", "hello\n"), ("empty.jsonl", "\n"),
                               ("tiny.jsonl", "".join(json.dumps(one) + "\n" for one in TINY))):
                pathlib.Path(folder, name).write_text(text)
            done = subprocess.run([ROOT / "tools/kaio", "bench", *words], cwd=folder, capture_output=True, text=True, timeout=60)
            return done, {file.name: file.read_text() for file in pathlib.Path(folder).glob("*.html")}

    def test_a_report_is_written_where_the_user_is(self):
        done, files = self.run_command("--html", "out.html", "--results", "tiny.jsonl", "--compare", "tiny.jsonl", "tiny.jsonl")
        self.assertEqual((done.returncode, done.stdout), (0, "out.html\n"), done.stderr)
        reader(files["out.html"])
        done, _ = self.run_command("--html", "-", "--results", "tiny.jsonl")
        reader(done.stdout)

    def test_help(self):
        done, _ = self.run_command("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--html", "--compare", "attention_decode", "rms_norm"):
            self.assertIn(word, done.stdout)
        done, _ = self.run_command("--html", "--help")
        self.assertIn("--limit FACTOR", done.stdout)

    def test_bad_input_is_an_error_that_says_where(self):
        for words, text in ((("--results", "none.jsonl"), "kaio: none.jsonl cannot be read: No such file"),
                            (("--results", "bad.jsonl"), "kaio: bad.jsonl:2: the line is no JSON"),
                            (("--results", "text.jsonl"), "kaio: text.jsonl:1: the line is no JSON"),
                            (("--results", "empty.jsonl"), "kaio: there are no measurements in empty.jsonl"),
                            (("--compare", "none.jsonl", "HEAD"), "kaio: 'none.jsonl' is no file"),
                            (("--compare", "tiny.jsonl@1999", "HEAD"), "kaio: tiny.jsonl has no times of '1999'"),
                            (("--limit", "0.9"), "kaio: --limit is 0.9")):
            done, files = self.run_command("--html", "out.html", *words)
            self.assertEqual((done.returncode, files), (1, {}), done.stderr)
            self.assertIn(text, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        done, _ = self.run_command("--html", "no/folder/out.html", "--results", "tiny.jsonl")
        self.assertIn("kaio: no/folder/out.html cannot be written", done.stderr)
        done, _ = self.run_command("--compare", "a", "b")
        self.assertIn("kaio: bench does not know '--compare'", done.stderr)

    def test_a_line_that_no_benchmark_wrote_is_refused(self):
        good = TINY[0]
        for bad, words in (([1], "no JSON object"), ({"kind": "matmul"}, "bench/compare.py"), ({"us": {}}, "no field 'benchmark'"),
                           ({**good, "us": {"kaio": 0}}, "the time of 'kaio' is 0"), ({**good, "us": {"kaio": "1"}}, "is \"1\""),
                           ({**good, "us": {"kaio": math.nan}}, "is NaN"), ({**good, "tflops": -1}, "'tflops' is -1"),
                           ({**good, "m": None, "batch": None}, "wrong type"), ({**good, "measured": {}}, "no field 'kaio'"),
                           ({key: good[key] for key in good if key != "k"}, "no field 'k'"),
                           ({"benchmark": "launch", "measured": "2026-01-01 a"}, "no field 'raw_ns'")):
            self.assertIn(words, source.fault_of(bad) or "", bad)
        self.assertIsNone(source.fault_of(good))


if __name__ == "__main__":
    unittest.main()
