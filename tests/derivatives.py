#!/usr/bin/env python3
"""Every function of the language on floats has a case in the tests of derivative(), which compare its derivative with finite
differences: tests/kernels/derivative/derivative_cases.hpp. Prints 'N passed, N failed'."""

import pathlib
import re
import sys

from names import members

root = pathlib.Path(__file__).resolve().parent.parent
dsl = root / "include/kaio/dsl"
conditions = {"isfinite", "isinf", "isnan", "signbit"}


def functions_of(file):
    """The functions of namespace kaio::dsl in a header."""
    return set(re.findall(r"^constexpr (?:\S+ )+?(\w+)\(", members(dsl / file, "kaio::dsl"), re.MULTILINE))


def defined(file):
    """The functions of namespace fast or fast::ftz in a header."""
    text = (dsl / file).read_text()
    return set(re.findall(r"^constexpr auto (\w+)\(", text[re.search(r"^namespace .*\bfast", text, re.MULTILINE).end():],
                          re.MULTILINE))


def main():
    cases = (root / "tests/kernels/derivative/derivative_cases.hpp").read_text()
    expressions = "\n".join(re.findall(r"^KAIO_FUNCTION\(\w+, \S+ \S+ (.*)\)$",
                                       re.sub(r",\n +", ", ", cases), re.MULTILINE))
    parts = re.findall(r"^#include <kaio/dsl/(math/(?!fast).*)>", (dsl / "math.hpp").read_text(), re.MULTILINE)
    functions = set().union(*map(functions_of, [*parts, "integer/rounding.hpp"])) - conditions
    # One macro makes a case of fast:: and one of fast::ftz::.
    fast = defined("math/fast.hpp") | defined("math/fast_unit.hpp") | defined("math/fast_ftz.hpp")
    missing = [name for name in sorted(functions) if not re.search(rf"(?<![\w:]){name}\(", expressions)]
    missing += [f"fast::{name}" for name in sorted(fast)
                if not re.search(rf"^KAIO_FAST\({name},|fast::{name}\(", cases, re.MULTILINE)]
    for name in missing:
        print(f"{name}: no case in tests/kernels/derivative/derivative_cases.hpp")
    count = len(functions) + len(fast)
    print(f"{count - len(missing)} passed, {len(missing)} failed")
    return 1 if missing or not functions or not fast else 0


if __name__ == "__main__":
    sys.exit(main())
