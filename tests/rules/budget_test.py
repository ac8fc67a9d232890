#!/usr/bin/env python3
"""tools/registry/budget.py refuses a family that has grown, and its message has both numbers."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/registry"))
import budget  # noqa: E402

LINE = "{0:46} {1:20} sm_70  PTX 6.0  {2:4} instructions  block 256x1x1   shared      0 B\n"
LIST = LINE.format("one", "first", 900) + LINE.format("two", "first", 100) + LINE.format("three", "second", 50)


class budgets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def problems(self, first, second=(50, None)):
        return list(budget.problems_of(budget.sums_of(LIST), {"first": (first, None), "second": second}))

    def test_instructions_are_summed_by_family(self):
        self.assertEqual(budget.sums_of(LIST), {"first": 1000, "second": 50})

    def test_two_percent_more_pass_and_three_fail_with_both_numbers(self):
        self.assertEqual(self.problems(1000), [])
        self.assertEqual(self.problems(981), [])
        self.assertEqual(self.problems(970), ["first has 1000 instructions, its budget is 970 (+3.1 %)"])

    def test_a_budget_far_above_the_family_fails(self):
        self.assertEqual(self.problems(1100), [])
        self.assertEqual(self.problems(1200), ["first has 1000 instructions, its budget is 1200 (-16.7 %): lower it"])

    def test_a_family_without_a_line_and_a_line_without_a_family_fail(self):
        said = list(budget.problems_of(budget.sums_of(LIST), {"first": (1000, None), "third": (7, None)}))
        self.assertEqual(said, ["second has 50 instructions and no line", "third has a line and no kernel"])
        self.assertIn("write second third`", budget.advice(said))

    def test_a_budget_is_read_as_it_was_written(self):
        lines = {"first": (1000, 3.5), "second": (50, None)}
        budget.write_budget(lines, self.build / "budget.txt")
        self.assertEqual(budget.read_budget(self.build / "budget.txt"), lines)

    def test_changes_have_both_sums(self):
        said = list(budget.changes_of({"first": 1000, "second": 50}, {"first": 500, "second": 50}))
        self.assertEqual([line.split() for line in said],
                         [["first", "1000", "->", "500", "-50.0", "%"], ["all", "1050", "->", "550", "-47.6", "%"]])

    def log(self, common, families):
        lines = ["# ninja log v5"]
        outputs = [(f"CMakeFiles/kaio_ops_common.dir/{i}.cpp.o", seconds) for i, seconds in enumerate(common)]
        outputs += [(f"CMakeFiles/kaio_ops_{name}.dir/x.cpp.o", seconds) for name, seconds in families.items()]
        lines += [f"10\t{10 + int(1000 * seconds)}\t0\t{output}\tabc" for output, seconds in outputs]
        (self.build / ".ninja_log").write_text("\n".join(lines) + "\n")

    def test_times_are_compared_with_the_median_of_files_without_kernels(self):
        self.log([2.0] * 20 + [9.0, 9.0], {"first": 8.0, "second": 0.1})
        self.assertEqual(budget.seconds_of(self.build), ({"first": 8.0}, 2.0))

    def test_a_build_of_few_files_is_not_compared(self):
        self.log([2.0] * 19, {"first": 8.0})
        self.assertEqual(budget.seconds_of(self.build), ({"first": 8.0}, None))

    def test_the_list_of_the_repository_keeps_to_its_budget(self):
        done = subprocess.run([sys.executable, ROOT / "tools/registry/budget.py", "check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
