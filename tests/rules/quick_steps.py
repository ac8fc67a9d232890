#!/usr/bin/env python3
"""`tools/kaio emulate` builds only what it runs: the emulator, the runtime and the program's own files.

    quick_steps.py BUILD      a configured build with KAIO_QUICK_TOOLS
"""

import re
import subprocess
import sys

most = 60  # steps, from nothing to the first result
allowed = r"src/(emulator|runtime)/|tools/CMakeFiles/kaio_emulate\.dir/"


def main():
    commands = subprocess.run(["ninja", "-C", sys.argv[1], "-t", "commands", "kaio_emulate"], capture_output=True, text=True,
                              check=True).stdout.splitlines()
    objects = re.findall(r" -o (\S+) -c ", "\n".join(commands))
    foreign = [name for name in objects if not re.match(allowed, name)]
    for name in foreign:
        print(f"emulate does not run it: {name}")
    print(f"{len(commands)} steps, at most {most}; {len(objects)} objects")
    return 1 if foreign or len(commands) > most or len(objects) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
