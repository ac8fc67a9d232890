#!/usr/bin/env python3
"""Checks that static objects of kaio have no destructors: the destructor of a program's static object may still launch, and must
find what it needs. `allowed` lists the few files that register a destructor, with the reason.

destructors.py NM LIBRARY...    static libraries
"""

import re
import subprocess
import sys

allowed = {
    "lasting.cpp.o": "sees that the process ends",
    "execute_mma.cpp.o": "frees a thread's scratch memory; later launches make another",
}
found = set()
for library in sys.argv[2:]:
    member = ""
    listing = subprocess.run([sys.argv[1], "--undefined-only", library], check=True, text=True, capture_output=True).stdout
    for line in listing.splitlines():
        if line.endswith(".o:"):
            member = line[:-1]
        elif re.search(r"\b__cxa_(thread_)?atexit(_impl)?$", line):
            found.add(member)
for member in sorted(found - allowed.keys()):
    print(f"{member}: a static object with a destructor; write static T& t = *host::make_lasting<T>()")
for member in sorted(allowed.keys() - found):
    print(f"{member}: listed, but registers no destructor")
wrong = found ^ allowed.keys()
print(f"{len(wrong)} failed")
sys.exit(bool(wrong))
