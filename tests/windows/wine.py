"""Programs for Windows in tests that run on this machine."""

import pathlib

WINE = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/wine.sh"


def command_of(program):
    """The words that start a program: Wine's first, if it is for Windows."""
    return [str(WINE), str(program)] if str(program).endswith(".exe") else [str(program)]
