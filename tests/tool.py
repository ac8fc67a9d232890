#!/usr/bin/env python3
"""kaio-kernels lists, prints and refuses as its help describes, and prints the recorded list of kernels. No family has more
instructions than its budget.
Usage: tool.py [--share K/N] KAIO_TOOL KAIO_DOCTOR [RECORDED_LIST]

--share prints every N-th kernel, starting from the K-th (counted from 0, modulo N); by default all."""

import argparse
import difflib
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools/registry"))
import budget  # noqa: E402

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--share", default="0/1")
arguments.add_argument("program")
arguments.add_argument("doctor")
arguments.add_argument("recorded", nargs="?")
options = arguments.parse_args()
program, doctor, recorded = options.program, options.doctor, options.recorded
share, shares = map(int, options.share.split("/"))
del sys.argv[1:]


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)


def kernels():
    return [line.split()[0] for line in run("list").stdout.splitlines()]


class tool(unittest.TestCase):
    def test_list_names_kernels_once(self):
        self.assertTrue(kernels())
        self.assertEqual(len(kernels()), len(set(kernels())))

    def test_ptx_prints_a_module_and_lines_keep_its_text_and_name_cpp_files(self):
        chosen = kernels()[share % shares::shares]
        self.assertTrue(chosen)
        for name in chosen:
            text = run("ptx", name).stdout
            self.assertTrue(text.startswith(".version "), name)
            self.assertIn(f".entry {name}(", text)
            plain = text.splitlines()
            listing = run("ptx", name, "--lines").stdout.splitlines()
            self.assertEqual(len(plain), len(listing))
            for line, listed in zip(plain, listing):
                self.assertTrue(listed.startswith(line), listed)
            self.assertRegex("\n".join(listing), r"// \S+\.[hc]pp:\d+")

    def test_unknown_kernel_is_an_error_that_says_what_to_do(self):
        done = run("ptx", "no_such_kernel")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kaio: there is no kernel 'no_such_kernel'", done.stderr)

    def test_dump_into_a_place_that_cannot_be_written_is_an_error(self):
        with tempfile.NamedTemporaryFile() as file:
            self.assertNotEqual(run("dump", file.name).returncode, 0)

    def test_what_cannot_be_written_leaves_the_old_file(self):
        with tempfile.TemporaryDirectory() as folder:
            manifest = pathlib.Path(folder) / "manifest.json"
            manifest.write_text("old")
            done = subprocess.run([program, "dump", folder], capture_output=True, text=True, timeout=60,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, -1)))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("cannot be written: File too large", done.stderr)
            self.assertEqual(manifest.read_text(), "old")
            self.assertFalse([file for file in pathlib.Path(folder).iterdir() if file.stat().st_size == 512])
        with open("/dev/full", "w") as full:
            done = subprocess.run([program, "list"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the standard output cannot be written", done.stderr)

    def test_recorded_list_is_what_the_kernels_are(self):
        if not recorded:
            self.skipTest("a build without the operations does not have all kernels")
        lines, printed = pathlib.Path(recorded).read_text().splitlines(), run("list").stdout.splitlines()
        changes = [line for line in difflib.unified_diff(lines, printed, n=0, lineterm="")][2:]
        self.assertFalse(changes, "\nkaio: `tools/kaio list --update` records these\n" + "\n".join(changes[:40]))

    def test_families_keep_to_their_budget(self):
        if not recorded:
            self.skipTest("a build without the operations does not have all kernels")
        problems = list(budget.problems_of(budget.sums_of(run("list").stdout), budget.read_budget()))
        self.assertFalse(problems, "\n" + "\n".join([*problems, budget.advice(problems)]))

    def test_help_is_printed(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("ptx NAME", done.stdout)

    def test_wrong_command_lines_are_refused(self):
        for words in ([], ["tell"], ["ptx"], ["ptx", "saxpy", "softmax"], ["list", "saxpy"], ["dump"], ["verify"]):
            done = run(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertTrue(done.stderr.startswith("kaio: "), done.stderr)

    def test_doctor_always_has_the_emulator(self):
        done = subprocess.run([doctor], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "KAIO_DEVICE": "emulator"})
        self.assertIn("emulator", done.stdout)
        self.assertIn("opened by default: emulator (sm_90a)", done.stdout)


if __name__ == "__main__":
    unittest.main()
