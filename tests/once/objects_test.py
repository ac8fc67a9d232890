#!/usr/bin/env python3
"""objects.py finds an image that two objects have, and one that no object has. Usage: objects_test.py COMPILER FLAG..."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = sys.argv[1:]
SOURCE = """#include "tests/once/refused.hpp"
const kaio::ptx::kernel_image& {name}() {{ return kaio::tests::refused<kaio::{type}>.image(); }}
"""


class objects(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.objects = [self.compile(name, type) for name, type in (("a", "f32"), ("b", "f32"), ("c", "f64"))]

    def tearDown(self):
        self.folder.cleanup()

    def compile(self, name, type):
        source = pathlib.Path(self.folder.name) / f"{name}.cpp"
        source.write_text(SOURCE.format(name=name, type=type))
        made = source.with_suffix(".o")
        subprocess.run([*COMMAND, "-c", source, "-o", made], check=True)
        return made

    def check(self, rows, listed, library=None):
        listing, recorded = (pathlib.Path(self.folder.name) / name for name in ("objects.txt", "kernels.txt"))
        listing.write_text("".join(f"{family} {path}\n" for family, path in rows))
        recorded.write_text("".join(f"{name} {family} sm_70\n" for name, family in listed))
        done = subprocess.run([sys.executable, HERE / "objects.py", library or rows[0][1], listing, recorded],
                              capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_one_image_in_one_object_passes(self):
        code, said = self.check([("first", self.objects[0])], [("refused", "first"), ("other", "elsewhere")])
        self.assertEqual(code, 0, said)
        self.assertIn("1 images in 1 objects, 0 problems", said)

    def test_an_image_in_two_objects_fails_with_both(self):
        for second in self.objects[1:]:  # the same type, and another one with the same name
            code, said = self.check([("first", self.objects[0]), ("-", second)], [("refused", "first")])
            self.assertEqual(code, 1)
            self.assertIn(f"refused is compiled 2 times: {self.objects[0]}, {second}", said)

    def test_a_recorded_kernel_that_is_nowhere_fails(self):
        code, said = self.check([("first", self.objects[0])], [("refused", "first"), ("lost", "first")])
        self.assertEqual(code, 1)
        self.assertIn("lost, of the family first, is in none of the objects", said)

    def test_an_image_of_the_library_alone_fails(self):
        empty = pathlib.Path(self.folder.name) / "empty.cpp"
        empty.write_text("int nothing;\n")
        subprocess.run([*COMMAND, "-c", empty, "-o", empty.with_suffix(".o")], check=True)
        code, said = self.check([("first", empty.with_suffix(".o"))], [], library=self.objects[0])
        self.assertEqual(code, 1)
        self.assertIn("refused is in a.o, and in none of its objects", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
