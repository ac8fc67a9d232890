#!/usr/bin/env python3
"""A showcase that draws writes an SVG with what it computed, and refuses what it cannot draw. Usage: showcase_plot.py PROGRAM"""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

program = pathlib.Path(sys.argv[1]).resolve()
svg = "{http://www.w3.org/2000/svg}"


def run(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60)


def height_of(part):
    """The space that a curve or a bar takes from top to bottom."""
    if part.tag == f"{svg}rect":
        return float(part.get("height"))
    rows = [float(point.split(",")[1]) for point in part.get("points").split()]
    return max(rows) - min(rows)


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "picture.svg")
        done = run("--plot", str(file))
        assert done.returncode == 0, done.stdout + done.stderr
        root = xml.parse(file).getroot()
        assert root.tag == f"{svg}svg", root.tag
        width, height = (float(word) for word in root.get("viewBox").split()[2:])
        assert width > 300 and height > 200, (width, height)
        drawn = root.findall(f"{svg}polyline") + root.findall(f"{svg}rect")[1:]  # the first rectangle is the background
        heights = [height_of(part) for part in drawn]
        assert len(drawn) in (3, 256), len(drawn)
        assert max(heights) > 0.5 * height and all(0 <= one <= height for one in heights), heights
        assert root.findall(f"{svg}text"), "no axis has numbers"
        for words, text in (["--plot", f"{folder}/no/folder.svg"], "cannot be written"), (["--plto", str(file)], "takes --plot FILE.svg"):
            done = run(*words)
            assert done.returncode == 1 and text in done.stderr, (words, done)
    print("1 passed, 0 failed")


main()
