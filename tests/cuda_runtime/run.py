#!/usr/bin/env python3
"""Ordinary programs of the CUDA runtime, as nvcc builds them, run on the emulator with 'kaio check --cuda' and nothing else.
Usage: run.py PATH_OF_KAIO EMULATOR FOLDER LIBRARIES
FOLDER has the programs (tests/cuda_runtime), LIBRARIES the libcudart.so of the toolkit."""

import os
import subprocess
import sys
import unittest

kaio, emulator, folder, libraries = (os.path.abspath(path) for path in sys.argv[1:5])
del sys.argv[1:5]

FINE, FAULT = 0, 3


def check(name, *arguments):
    environment = dict(os.environ, LD_LIBRARY_PATH=libraries)
    for variable in ("KAIO_SANITIZE", "KAIO_CUDA_FAIL", "LD_PRELOAD"):
        environment.pop(variable, None)
    command = [kaio, "check", "--cuda", "--library", emulator, "--", os.path.join(folder, name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    return done.returncode, done.stdout, done.stdout + done.stderr


class Programs(unittest.TestCase):
    def fine(self, name, *arguments):
        code, out, everything = check(name, *arguments)
        self.assertEqual(code, FINE, everything)
        self.assertIn(f"{name.split('_')[0]}: fine\n", out)
        return out

    def test_memory(self):
        self.fine("memory")

    def test_variables(self):
        self.fine("variables")

    def test_launches(self):
        self.assertIn("hello from thread 1 of a kernel\n", self.fine("launches"))

    def test_streams_with_either_library(self):
        self.fine("streams")
        self.fine("streams_shared")

    def test_separate_compilation(self):
        self.fine("separate")

    @unittest.skipUnless(os.path.exists(os.path.join(folder, "nvrtc")), "the toolkit has no NVRTC")
    def test_compilation_as_the_program_runs(self):
        self.fine("nvrtc")

    def test_mistakes(self):
        self.fine("errors")
        code, out, everything = check("errors", "address")
        self.assertEqual(code, FAULT, everything)
        self.assertIn("errors: fine\n", out)
        self.assertIn("a thread writes out of bounds", everything)
        code, out, everything = check("errors", "assert")
        self.assertEqual(code, FAULT, everything)
        self.assertIn("errors: fine\n", out)
        self.assertIn("assertion 'value == 3' failed", everything)

    def test_machine_code_alone_is_refused(self):
        code, _, everything = check("machine_code")
        self.assertEqual(code, 1, everything)
        self.assertIn("kaio: '_Z3addPii' cannot be run by the emulator: it holds machine code of a GPU and no PTX for this device",
                      everything)


if __name__ == "__main__":
    unittest.main()
