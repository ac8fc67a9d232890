#!/usr/bin/env python3
"""Runs the test of a folder that its user may read and not write, as a user without rights.

    read_only.py PROGRAM

PROGRAM is the test program unit; one for Windows runs under Wine. The administrator may write everywhere, so that setpriv then changes
the user. Prints 'N passed, N failed'; exits with 77 if setpriv is needed and not installed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SKIPPED, NOBODY = 77, 65534


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    as_nobody = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            print("skipped: setpriv is not installed (Debian: util-linux)")
            return SKIPPED
        as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        root.chmod(0o755)
        # Copies: another user may not enter the folders that lead to the program.
        program = pathlib.Path(shutil.copy(sys.argv[1], root))
        command = [str(program)]
        if program.suffix == ".exe":
            (root / "tools").mkdir()
            command = [shutil.copy(ROOT / "tools/wine.sh", root / "tools"), *command]
        home, folder = root / "home", root / "folder"
        home.mkdir()
        folder.mkdir()
        (folder / "kept").write_text("kept")
        (folder / "kept").chmod(0o444)
        folder.chmod(0o555)
        if as_nobody:
            os.chown(home, NOBODY, NOBODY)
        environment = os.environ | {"HOME": str(home), "WINEPREFIX": str(home / "wine"), "KAIO_TEST_READ_ONLY": str(folder)}
        environment.pop("XDG_CACHE_HOME", None)
        words = [*as_nobody, *command, "[read_only]"]
        done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, errors="replace")
        if len(command) > 1:
            subprocess.run([*as_nobody, command[0], "--end"], cwd=root, env=environment, capture_output=True)
        passed = done.returncode == 0 and re.search(r"All tests passed \(\d+ assertions in 1 test case\)", done.stdout)
        left = sorted(path.name for path in folder.iterdir())
        folder.chmod(0o755)
    if not passed:
        print(done.stdout + done.stderr)
    if left != ["kept"]:
        print(f"the folder has {left}")
    failed = (not passed) + (left != ["kept"])
    print(f"{2 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
