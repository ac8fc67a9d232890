#!/usr/bin/env python3
"""kaio layout draws every layout that it lists: the picture is well-formed, has each element of the matrix once,
and describes it as the layout's definition does. Usage: layout.py PATH_OF_KAIO"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from windows.wine import command_of

program = os.path.abspath(sys.argv.pop(1))
SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1, "f32": 4}


def run(*arguments):
    return subprocess.run([*command_of(program), "layout", *arguments], capture_output=True, text=True, timeout=120)


def names():
    return [line.split()[0] for line in run().stdout.splitlines()]


def picture(name):
    """(rows, columns, {(row, column): facts}) of the picture; an element that occurs twice is an error"""
    root = xml.etree.ElementTree.fromstring(run(name).stdout)
    assert root.tag == SVG + "svg", root.tag
    cells = {}
    for group in root.iter(SVG + "g"):
        facts = {key.removeprefix("data-"): int(value) for key, value in group.attrib.items()}
        place = facts.pop("row"), facts.pop("column")
        assert place not in cells, (name, place)
        assert group.find(SVG + "rect") is not None and group.find(SVG + "text").text, (name, place)
        cells[place] = facts
    return int(root.attrib["data-rows"]), int(root.attrib["data-columns"]), cells


def offset_in_tile(layout, size, rows, columns, row, column):
    """Bytes from the beginning of the tile, as docs/language/tiles.md defines the layouts."""
    if layout == "row_major":
        return (row * columns + column) * size
    if layout == "column_major":
        return (column * rows + row) * size
    if layout == "padded":
        return row * (columns * size + 16) + column * size
    width = int(layout.removeprefix("swizzled_"))
    panel, across = divmod(column * size, width)
    plain = panel * rows * width + row * width + across
    return plain ^ (plain >> 7 & width // 16 - 1) << 4


class layouts(unittest.TestCase):
    def test_names_are_listed_once_with_a_description(self):
        self.assertEqual(len(names()), len(set(names())))
        for line in run().stdout.splitlines():
            self.assertRegex(line, r"^\w+ +\S.*")

    def test_all_tiles_are_there_and_lie_as_defined(self):
        kinds = ["row_major", "column_major", "padded", "swizzled_128", "swizzled_64", "swizzled_32"]
        self.assertEqual(sorted(n for n in names() if n.startswith("tile_")),
                         sorted(f"tile_{t}_{k}" for t in SIZES for k in kinds))
        for type, size in SIZES.items():
            for kind in kinds:
                rows, columns, cells = picture(f"tile_{type}_{kind}")
                self.assertEqual(set(cells), {(r, c) for r in range(rows) for c in range(columns)})
                for (row, column), facts in cells.items():
                    offset = offset_in_tile(kind, size, rows, columns, row, column)
                    self.assertEqual(facts, {"offset": offset, "bank": offset // 4 % 32}, (type, kind, row, column))

    def test_fragments_have_each_element_once_and_each_lane_as_many(self):
        fragments = [n for n in names() if not n.startswith("tile_")]
        # The fragments of wgmma differ only in width: a few are enough.
        skipped = [n for n in fragments if re.match(r"wgmma_n\d+", n) and n not in ("wgmma_n8", "wgmma_n24_f16", "wgmma_n256")]
        self.assertGreater(len(fragments) - len(skipped), 50)
        for name in set(fragments) - set(skipped):
            rows, columns, cells = picture(name)
            self.assertEqual(set(cells), {(r, c) for r in range(rows) for c in range(columns)}, name)
            held = sorted((facts["lane"], facts["element"]) for facts in cells.values())
            lanes = 128 if name.startswith("wgmma") else 32
            self.assertEqual(held, [(l, e) for l in range(lanes) for e in range(rows * columns // lanes)], name)

    def test_fragments_lie_as_defined(self):
        _, _, cells = picture("mma_m16n8k16_f16_a")
        for (row, column), facts in cells.items():
            self.assertEqual(facts["lane"], row % 8 * 4 + column % 8 // 2)
            self.assertEqual(facts["element"], column % 2 + row // 8 * 2 + column // 8 * 4)
            self.assertEqual(facts["register"], facts["element"] // 2)
        _, _, cells = picture("wgmma_n64")
        for (row, column), facts in cells.items():
            self.assertEqual(facts["lane"], row // 16 * 32 + row % 8 * 4 + column % 8 // 2)
            self.assertEqual(facts["element"], column // 8 * 4 + row % 16 // 8 * 2 + column % 2)

    def test_a_file_is_written_where_it_is_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "tile.svg"
            done = run("tile_f32_padded", "--output", str(file))
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertEqual(file.read_text(), run("tile_f32_padded").stdout)
            refused = run("tile_f32_padded", "--output", folder)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("cannot be written", refused.stderr)

    def test_an_unknown_name_is_an_error_that_says_what_to_do(self):
        done = run("no_such_layout")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kaio: there is no layout 'no_such_layout'; `kaio layout` lists them", done.stderr)


if __name__ == "__main__":
    unittest.main()
