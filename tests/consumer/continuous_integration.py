#!/usr/bin/env python3
"""The project, the script and the jobs of docs/continuous_integration.md work as the page says. The files come from the page; only
the lines with apt-get are not run. Without a network, the script takes the ptxas of this machine, and says so.

    continuous_integration.py --work FOLDER [--compiler COMPILER]     FOLDER is emptied first
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "cmake"))
from ptxas import find_assemblers  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("--work", type=pathlib.Path, required=True)
arguments.add_argument("--compiler", default="g++")
options = arguments.parse_args()
del sys.argv[1:]
work = options.work.resolve()

# What a job may print if there is no network; pip prints it for each attempt.
offline = re.compile(r"Retrying \(|No route to host|Temporary failure")


def files_of_page():
    """The text of each file by its name, which is the first line of its block."""
    page = (root / "docs/continuous_integration.md").read_text()
    blocks = re.findall(r"^```\w+\n(?:#|//) (\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return {name: text for name, text in blocks}


files = files_of_page()
script = "ci/verify_kernels.sh"
environment = {**os.environ, "CXX": options.compiler, "PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "20"}


def run(*command, path=None):
    place = {"PATH": path} if path else {}
    return subprocess.run([str(word) for word in command], cwd=work, capture_output=True, text=True,
                          env={**environment, **place})


class continuous_integration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(work, ignore_errors=True)
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        (work / "kaio").symlink_to(root)
        done = run("sh", script)
        cls.online = not (done.returncode and offline.search(done.stderr))
        if not cls.online:
            print("skipped: there is no network for the packages of ptxas; this machine's are used", flush=True)
            lines = [line for line in files[script].splitlines() if not re.match("python3 -m pip|export KAIO_PTXAS", line)]
            (work / script).write_text("\n".join(lines) + "\n")
            done = run("sh", script)
        cls.done = done

    def test_both_jobs_run_the_script_and_install_what_it_needs(self):
        names = (root / "tools/requirements.sh").read_text()
        needed = {"libboost-dev", "libfmt-dev", "libspdlog-dev", "zlib1g-dev", "ninja-build", "g++", "cmake", "python3-pip"}
        self.assertFalse([one for one in needed - {"python3-pip"} if one not in names])
        for job in (".github/workflows/kernels.yml", ".gitlab-ci.yml"):
            commands = re.findall(r"^ +- (?:run: )?((?:sudo |apt-get|sh ).*)$", files[job], re.MULTILINE)
            self.assertEqual(commands[-1], f"sh {script}")
            installed = re.search(r"apt-get install --yes (.*)", "\n".join(commands))[1].split()
            self.assertEqual(set(installed), needed)

    def test_the_script_verifies_every_target(self):
        output = self.done.stdout + self.done.stderr
        verified = set(re.findall(r"^halve +(sm_\w+) ", self.done.stdout, re.MULTILINE))
        known = set().union(*(one.targets for one in find_assemblers())) if not self.online else {"sm_70"}
        claimed = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120"}
        if self.online or claimed <= known:
            self.assertEqual(self.done.returncode, 0, output)
            self.assertRegex(self.done.stdout, r"\n\d+ passed, 0 failed\n")
            self.assertLessEqual(claimed, verified)
        else:  # --require names each target that the ptxas of this machine does not know
            self.assertEqual(self.done.returncode, 1, output)
            for target in claimed - known:
                self.assertIn(f"not verified: {target}: ", self.done.stdout)
            self.assertEqual(claimed & known, claimed & verified)

    def test_the_help_of_each_command_is_that_of_the_program(self):
        for command, word in (("verify", "--require"), ("profile", "--grid"), ("check", "--grid"), ("list", "dump FOLDER")):
            done = run("build/kernels/app_kernels", command, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("usage: app_kernels "), done.stdout)
            self.assertIn(word, done.stdout)
            self.assertNotIn("verify.py", done.stdout)

    def test_profile_and_check_name_the_command_that_builds_kaio_or_find_it_in_path(self):
        program = work / "build/kernels/app_kernels"
        folder = work / "empty"
        folder.mkdir(exist_ok=True)
        for command in ("profile", "check"):
            done = run(program, command, "halve", path=folder)
            self.assertEqual(done.returncode, 127, done.stderr)
            self.assertIn(f"cmake '{work}/build/kernels' -DKAIO_BUILD_TOOLS=ON && cmake --build '{work}/build/kernels' "
                          "--target kaio_program app_kernels", done.stderr)
        kaio = work / "bin/kaio"
        kaio.parent.mkdir(exist_ok=True)
        kaio.write_text('#!/bin/sh\necho "$@"\n')
        kaio.chmod(0o755)
        for command, words in (("profile", "profile "), ("check", "emulate --sanitize all ")):
            done = run(program, command, "halve", "--block", "128", path=f"{kaio.parent}:{os.environ['PATH']}")
            self.assertRegex(done.stdout, rf"^{words}\S+/halve\.ptx --block 128\n$")


if __name__ == "__main__":
    unittest.main()
