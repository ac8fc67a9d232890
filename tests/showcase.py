#!/usr/bin/env python3
"""`tools/kaio showcase` shows first the programs that need least to build, runs each as soon as it is built, and continues after
a failure; a terminal and a log show its progress. `tools/kaio package` packs what an install has. Usage: showcase.py TOOLS_FOLDER

The tree is artificial: ninja builds it for real, but its compiler and its programs are shell scripts."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

tools = pathlib.Path(sys.argv.pop(1)).resolve()

# What cmake would write: the runtime has three objects, the operations one more, which is large.
manifest = """
rule compile
  command = sleep $seconds && touch $out $and
  description = Building CXX object $out
rule link
  command = cp ../../showcase/$name/program $out && chmod +x $out
  description = Linking CXX executable $out
build runtime/a.cpp.o: compile
  seconds = 0.3
build runtime/b.cpp.o: compile
  seconds = 0.3
build runtime/c.cpp.o: compile
  seconds = 0.3
build ops/CMakeFiles/kaio_kernels_large_objects.dir/large.cpp.o: compile
  seconds = SECONDS
build showcase/alpha.cpp.o: compile
  seconds = 0.1
build showcase/beta.cpp.o: compile
  seconds = 0.1
build showcase/gamma.cpp.o: compile
  seconds = 0.1
build showcase/delta.cpp.o: compile
  seconds = 0.1
  and = && BREAK
build showcase/alpha: link showcase/alpha.cpp.o ops/CMakeFiles/kaio_kernels_large_objects.dir/large.cpp.o | runtime/a.cpp.o
  name = alpha
build showcase/beta: link showcase/beta.cpp.o runtime/a.cpp.o runtime/b.cpp.o runtime/c.cpp.o
  name = beta
build showcase/gamma: link showcase/gamma.cpp.o runtime/a.cpp.o runtime/b.cpp.o runtime/c.cpp.o
  name = gamma
build showcase/delta: link showcase/delta.cpp.o runtime/a.cpp.o runtime/b.cpp.o runtime/c.cpp.o
  name = delta
build kaio_to_install: phony runtime/a.cpp.o
build showcase_alpha: phony showcase/alpha
build showcase_beta: phony showcase/beta
build showcase_gamma: phony showcase/gamma
build showcase_delta: phony showcase/delta
"""

cmake = """#!/bin/sh
[ "$1" != --version ] || { echo 'cmake version 3.25.1'; exit; }
if [ "$1" = --install ]; then mkdir -p "$4" && cp "$2/runtime/a.cpp.o" "$2/options" "$4"; exit; fi
words=$*
while [ "$1" != -B ]; do shift; done
mkdir -p "$2"
cp "$MANIFEST" "$2/build.ninja"
echo "$words" >"$2/options"
"""

report = """#!/bin/sh
echo '  device          emulator (sm_90a)'
echo '  largest error   ERROR (bound 1e-06)  PASS'
echo '  emulated in     12.5 ms'
echo "words: $*"
"""


class showcase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        shutil.copytree(tools, self.root / "tools", ignore=lambda folder, names: [
            name for name in names if name.endswith((".cpp", ".in", ".hpp"))])
        self.write("tools/registry/kernels.txt", "k large sm_90 PTX 8.0 500000 instructions\n")
        self.write("bin/cmake", cmake)
        self.environment = {**os.environ, "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "KAIO_JOBS": "2",
                            "MANIFEST": str(self.root / "manifest"), "CCACHE_DISABLE": "1"}
        for name, error in ("alpha", "1.00e-07"), ("beta", "2.00e-07"), ("gamma", "3.00e-07"), ("delta", "4e-7"):
            self.write(f"showcase/{name}/{name}.cpp", "")
            self.write(f"showcase/{name}/program", report.replace("ERROR", error))
        self.make()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def make(self, seconds="0.3", broken=False):
        self.write("manifest", manifest.replace("SECONDS", seconds).replace(
            "BREAK", "{ echo 'delta.cpp:1: error: no such name'; false; }" if broken else "true"))

    def run_command(self, *words):
        return subprocess.run([self.root / "tools/kaio", "showcase", *words], capture_output=True, text=True, timeout=60,
                              env=self.environment)

    def rows(self, done):
        table = done.stdout[done.stdout.index("\nprogram "):].splitlines()[1:]
        self.assertRegex(table[0], r"^program +verified +largest error +figure +built after, s +run, s$")
        return {line.split()[0]: re.split("  +", line)[1:] for line in table[1:-2]}

    def test_programs_that_need_little_are_shown_before_those_that_need_the_operations(self):
        done = self.run_command()
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = re.findall("^== (.*)$", done.stdout, re.MULTILINE)
        self.assertEqual(sorted(shown), ["alpha", "beta", "delta", "gamma"])
        self.assertEqual((shown[0], shown[-1]), ("beta", "alpha"))
        self.assertTrue(done.stdout.endswith("\n4 passed, 0 failed\n"), done.stdout)
        self.assertIn("The logs are in ", done.stderr)

    def test_the_first_program_is_shown_before_the_operations_are_begun(self):
        self.write("showcase/beta/program", '#!/bin/sh\nls "$(dirname "$0")"/../ops/CMakeFiles/*/large.cpp.o 2>&1; true\n')
        done = self.run_command()
        self.assertIn("No such file", done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_list_has_what_each_shows_and_the_programs_in_python(self):
        for name in ("alpha", "beta", "gamma", "delta"):
            self.write(f"showcase/{name}/README.md", f"# {name}\n\nThe letter {name}, in\none line. More.\n\nA command. Next.\n")
        self.write("showcase/python/serve.py", '#!/usr/bin/env python3\n"""Serves a model: slowly. More.\n\n"""\n')
        done = self.run_command("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["alpha                The letter alpha, in one line", "beta                 The letter beta, in one line"])
        self.environment["PYTHONPATH"] = str(self.root / "without")
        self.write("without/kaio.py", "raise ImportError\n")
        self.assertIn("tools/kaio wheel && pip install", self.run_command("--list").stdout)
        self.environment["PYTHONPATH"] = str(self.root / "with")
        self.write("with/kaio/__init__.py", "")
        self.write("with/kaio/torch.py", "")
        done = self.run_command("beta")
        self.assertTrue(done.stdout.endswith("\n1 passed, 0 failed\n"), done.stdout)
        self.assertNotIn("serve.py", done.stderr)
        done = self.run_command()
        self.assertRegex(done.stderr, r"In Python:\n  python3 showcase/python/serve.py +Serves a model\n")

    def test_one_table_has_what_the_programs_reported(self):
        done = self.run_command("beta", "gamma", "--", "one", "two")
        rows = self.rows(done)
        self.assertEqual(list(rows), ["beta", "gamma"])
        self.assertEqual(rows["beta"][:3], ["yes", "2.00e-07", "emulated in 12.5 ms"])
        for row in rows.values():
            self.assertGreater(float(row[3]), 0)
            self.assertGreaterEqual(float(row[4]), 0)
        self.assertEqual(done.stdout.count("words: one two"), 2)
        self.assertNotIn("GB/s", done.stdout)

    def test_package_builds_and_packs_what_an_install_has(self):
        self.write("CMakeLists.txt", "project(kaio\n  VERSION 0.1.0\n")
        def package(*words):
            return subprocess.run([self.root / "tools/kaio", "package", *words], capture_output=True, text=True, timeout=60,
                                  env=self.environment)
        self.assertIn("package does not know 'all'", package("all").stderr)
        done = package("-DKAIO_BUILD_OPS=OFF")
        self.assertEqual(done.returncode, 0, done.stderr)
        archive = pathlib.Path(done.stdout.strip())
        self.assertRegex(archive.name, r"^kaio-0\.1\.0-[a-z]+[0-9.]*-\w+\.tar\.gz$")
        with tarfile.open(archive) as packed:
            folder = archive.name.removesuffix(".tar.gz")
            self.assertEqual(sorted(packed.getnames()), [folder, f"{folder}/a.cpp.o", f"{folder}/options"])
            words = packed.extractfile(f"{folder}/options").read().decode().split()
        self.assertIn("-DKAIO_BUILD_OPS=OFF", words)
        self.assertEqual(words[:2], ["--preset", "package"])
        self.assertFalse((self.root / "build/package/runtime/b.cpp.o").exists(), "more is built than an install has")

    def test_a_program_that_does_not_build_is_reported_and_the_others_go_on(self):
        self.make(broken=True)
        done = self.run_command()
        self.assertEqual(done.returncode, 1)
        rows = self.rows(done)
        self.assertEqual(rows["delta"][0], "not built")
        self.assertEqual([rows[name][0] for name in ("alpha", "beta", "gamma")], ["yes"] * 3)
        self.assertIn("3 passed, 1 failed", done.stdout)
        self.assertIn("delta.cpp:1: error: no such name", done.stderr)
        log = re.search(r"kaio: not built: delta; the whole log is (\S+)", done.stderr)
        self.assertIn("FAILED: showcase/delta.cpp.o", pathlib.Path(log[1]).read_text())

    def test_a_program_that_fails_is_reported_and_the_others_go_on(self):
        self.write("showcase/beta/program", "#!/bin/sh\necho '  largest error   2.0e+00 (bound 1e-06)  FAIL'\nexit 1\n")
        self.write("showcase/gamma/program", "#!/bin/sh\necho '  skipped         needs a GPU'\n")
        done = self.run_command()
        self.assertEqual(done.returncode, 1)
        rows = self.rows(done)
        self.assertEqual(rows["beta"][:2], ["NO", "2.0e+00"])
        self.assertEqual(rows["gamma"][0], "skipped")
        self.assertIn("3 passed, 1 failed", done.stdout)

    def test_what_is_built_already_is_shown_again(self):
        self.run_command("beta")
        done = self.run_command("beta")
        self.assertEqual(self.rows(done)["beta"][0], "yes")
        self.assertIn("1 passed, 0 failed", done.stdout)

    def test_a_log_has_new_lines_of_how_many_of_how_many_and_how_long(self):
        self.make(seconds="4")
        self.environment["KAIO_PROGRESS_SECONDS"] = "1"
        done = self.run_command("beta", "alpha")
        lines = done.stderr.splitlines()
        self.assertNotIn("\r", done.stderr)
        self.assertTrue(any(re.match(r"\[2\] Building beta: 5 objects$", line) for line in lines), done.stderr)
        waiting = [line for line in lines if re.match(r"\[3\] Building alpha: [12] of 3 objects, \d+ s, about \d+ \w+ more", line)]
        self.assertGreaterEqual(len(waiting), 2, done.stderr)
        self.assertTrue(any(re.match(r"Left to build, about \d+ s: alpha$", line) for line in lines), done.stderr)

    def test_a_terminal_has_one_line_that_is_rewritten(self):
        mine, theirs = pty.openpty()
        done = subprocess.Popen([self.root / "tools/kaio", "showcase", "beta"], stdout=subprocess.DEVNULL, stderr=theirs,
                                env=self.environment)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(mine, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(mine)
        self.assertEqual(done.wait(), 0)
        self.assertRegex(text.decode(), r"\r\x1b\[K\[2\] Building beta: \d of 5 objects, \d+ s")

    def test_an_unknown_program_is_an_error_that_names_the_known_ones(self):
        done = self.run_command("omega")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kaio: there is no showcase 'omega'; there are: alpha beta delta gamma", done.stderr)


if __name__ == "__main__":
    unittest.main()
