"""The ptxas of this machine: those that KAIO_PTXAS names (several paths may be joined with ':'), of PATH, and of CUDA
toolkits. ptxas 13 no longer knows sm_70, ptxas 12 does, so there may be use for several."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys


class assembler:
    """One ptxas: its release and the targets that it knows."""

    def __init__(self, path):
        self.path = path
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        self.release = tuple(int(part) for part in re.search(r"release (\d+)\.(\d+)", said).groups())
        said = subprocess.run([path, "--help"], capture_output=True, text=True).stdout
        self.targets = set(re.findall(r"'(sm_\w+)'", said))


def name_of_code(ptxas, target, text):
    """The name under which machine code of a file is kept, at -O3: the same where ptxas, target and text are."""
    return hashlib.sha256(f"{ptxas.release} {target}\n".encode() + text.read_bytes()).hexdigest()


def find_assemblers():
    """The newest first."""
    paths = [path for path in os.environ.get("KAIO_PTXAS", "").split(":") if path]
    for path in paths:
        if not os.access(path, os.X_OK):
            sys.exit(f"kaio: KAIO_PTXAS names {path}, which is not a program; give the path of ptxas")
    paths += [shutil.which("ptxas") or "", *sorted(glob.glob("/usr/local/cuda*/bin/ptxas"))]
    unique = {os.path.realpath(path) for path in paths if path and os.access(path, os.X_OK)}
    return sorted((assembler(path) for path in unique), key=lambda one: one.release, reverse=True)
