#!/usr/bin/env python3
"""verify.py takes every target that some ptxas knows, and says which it could not take. Each ptxas here is a script that knows
some targets, so this test needs none."""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

here = pathlib.Path(__file__).resolve().parent
described = importlib.util.spec_from_file_location("verify", here / "verify.py")
verify = importlib.util.module_from_spec(described)
described.loader.exec_module(verify)
from ptxas import assembler  # noqa: E402

kernels = [{"name": "old", "file": "old.ptx", "target": "sm_70", "targets": ["sm_70", "sm_90"]},
           {"name": "own", "file": "own.ptx", "target": "sm_90a", "targets": ["sm_90a"]}]


class verification(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = pathlib.Path(work.name)
        (self.folder / "manifest.json").write_text(json.dumps({"kernels": kernels}))

    def ptxas(self, release, *targets, says=""):
        """A ptxas that accepts everything, and notes its command lines."""
        path = self.folder / f"ptxas{release}"
        known = ", ".join(f"'{target}'" for target in targets)
        path.write_text(f"#!/bin/sh\ncase $1 in --version) echo 'release {release}, V';; --help) echo \"{known}\";;\n"
                        f"*) echo \"$*\" >>'{self.folder}/calls'; echo '{says}';; esac\n")
        path.chmod(0o755)
        return assembler(str(path))

    def run_with(self, assemblers, *words):
        """(exit code, standard output, standard error, set of (kernel, target))"""
        calls = self.folder / "calls"
        calls.write_text("")
        output, errors = io.StringIO(), io.StringIO()
        found, verify.find_assemblers = verify.find_assemblers, lambda: assemblers
        before, sys.argv = sys.argv, ["verify.py", str(self.folder), *words]
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                try:
                    code = verify.main()
                except SystemExit as left:
                    code = left.code
        finally:
            verify.find_assemblers, sys.argv = found, before
        done = {(pathlib.Path(words[3]).stem, words[1].removeprefix("-arch="))
                for words in map(str.split, calls.read_text().splitlines())}
        return code, output.getvalue(), errors.getvalue(), done

    def test_every_plain_target_that_a_ptxas_knows_is_verified_and_arch_specific_code_only_on_its_own(self):
        new = self.ptxas("15.1", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_140")
        old = self.ptxas("12.9", "sm_60", "sm_70", "sm_90")
        code, output, _, done = self.run_with([new, old], "--require")
        self.assertEqual(done, {("old", "sm_70"), ("old", "sm_90"), ("old", "sm_100"), ("old", "sm_140"), ("own", "sm_90a")})
        self.assertEqual(code, 0, output)
        self.assertTrue(output.endswith("10 passed, 0 failed\n"), output)

    def test_a_target_that_no_ptxas_knows_is_named_with_the_reason_and_fails_if_required(self):
        one = self.ptxas("13.0", "sm_90", "sm_90a")
        code, output, _, _ = self.run_with([one])
        self.assertEqual(code, 0, output)
        self.assertIn("not verified: sm_70: ptxas 13.0 does not know it (1 kernel: old)", output)
        self.assertTrue(output.endswith("4 passed, 0 failed, 2 not verified\n"), output)
        code, _, errors, _ = self.run_with([one], "--require")
        self.assertEqual(code, 1)
        self.assertIn("KAIO_PTXAS", errors)

    def test_without_a_ptxas_the_run_is_skipped_and_fails_if_required(self):
        code, output, _, _ = self.run_with([])
        self.assertEqual(code, 77)
        for target in ("sm_70", "sm_90", "sm_90a"):
            self.assertIn(f"not verified: {target}: there is no ptxas here", output)
        self.assertIn("0 passed, 0 failed, 6 not verified", output)
        self.assertEqual(self.run_with([], "--require")[0], 1)

    def test_chosen_targets_are_the_required_ones(self):
        one = self.ptxas("13.0", "sm_90", "sm_90a", "sm_100")
        code, output, _, done = self.run_with([one], "--require", "--target", "sm_90", "--target", "sm_90a")
        self.assertEqual((code, done), (0, {("old", "sm_90"), ("old", "sm_90a"), ("own", "sm_90a")}), output)
        code, output, _, _ = self.run_with([one], "--require", "--target", "sm_90")
        self.assertEqual(code, 1)
        self.assertIn("not verified: sm_90a: --target names none that runs it (1 kernel: own)", output)

    def test_a_target_that_runs_no_kernel_or_is_none_is_an_error(self):
        one = self.ptxas("13.0", "sm_60", "sm_90")
        self.assertIn("no kernel here runs on it", self.run_with([one], "--target", "sm_60")[0])
        code, _, errors, _ = self.run_with([one], "--target", "90")
        self.assertEqual(code, 2)
        self.assertIn("'90' is no target", errors)

    def test_claimed_takes_the_manifest_alone_and_a_turn_takes_sm_90_and_one_other(self):
        one = self.ptxas("13.0", "sm_70", "sm_80", "sm_90", "sm_90a", "sm_100")
        self.assertEqual(self.run_with([one], "--claimed")[3], {("old", "sm_70"), ("old", "sm_90"), ("own", "sm_90a")})
        others = set()
        for turn in range(3):
            done = self.run_with([one], "--turn", str(turn))[3]
            self.assertEqual(len(done), 3)
            others |= done
        self.assertEqual(others, {("old", "sm_70"), ("old", "sm_80"), ("old", "sm_90"), ("old", "sm_100"), ("own", "sm_90a")})

    def test_a_kernel_that_spills_fails_unless_its_bytes_are_recorded_for_the_target(self):
        one = self.ptxas("13.0", "sm_70", "sm_90", "sm_100", says="8 bytes spill stores, 4 bytes spill loads")
        record = self.folder / "spills.txt"
        for row, failed in (("", 3), ("old sm_90 12", 1), ("old sm_90 11", 3), ("old sm_60 12", 0), ("own sm_60 12", 3)):
            record.write_text(f"# a comment\n{row}\n")
            code, output, _, _ = self.run_with([one], "--spills", str(record), "--level=-O3")
            self.assertEqual(code, 1 if failed else 0, output)
            self.assertIn(f"{3 - failed} passed, {failed} failed, 1 not verified\n", output)

    def test_help_of_a_program_is_about_that_program(self):
        code, output, _, _ = self.run_with([], "--program", "app_kernels verify", "--help")
        self.assertEqual(code, 0)
        self.assertTrue(output.startswith("usage: app_kernels verify "), output)
        self.assertIn("--require", output)
        for word in ("verify.py", "kaio-kernels", "folder", "--turn", "--kept"):
            self.assertNotIn(word, output)


if __name__ == "__main__":
    unittest.main()
