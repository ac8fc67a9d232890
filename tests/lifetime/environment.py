#!/usr/bin/env python3
"""Checks what the environment of a program cannot do: put a library in the driver's place through an element of the search path
that is not absolute, or name files to a program that runs with more rights than its user.

environment.py LATE INTRUDER DRIVER    the programs and libraries of tests/lifetime, and libkaio_cuda_emulator.so
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

late, intruder, driver = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
failed = []


def run(program, folder, *arguments, **variables):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("KAIO_") and name != "LD_LIBRARY_PATH"}
    # Relative folders are below the current directory.
    return subprocess.run([program, *arguments], cwd=folder, env=kept | variables, text=True, capture_output=True, timeout=60)


def check_kept_out(what, result):
    if result.returncode == 66:
        failed.append(what)
        print(f"{what}: the intruder was loaded")


def can_elevate(folder):
    """Whether a set-uid program in the folder runs as its owner. Only root can make one of another user."""
    status = pathlib.Path("/proc/self/status").read_text()
    return os.geteuid() == 0 and "NoNewPrivs:\t1" not in status and not os.statvfs(folder).f_flag & os.ST_NOSUID


def check(what, result, passes=True, says=None, hides=None):
    output = result.stdout + result.stderr
    good = (result.returncode == 0) == passes and (says is None or says in output) and (hides is None or hides not in output)
    if not good:
        failed.append(what)
        print(f"{what}: exit code {result.returncode}\n{output}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    folder.chmod(0o755)
    # All places that a loader has ever searched below a folder of its path.
    below = [".", "glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v4", "tls", "x86_64", "haswell",
             "tls/haswell/x86_64", "lib/x86_64-linux-gnu", "sub", "only/glibc-hwcaps/x86-64-v2", "only/tls/x86_64", "only/x86_64"]
    for place in below:
        (folder / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(intruder, folder / place / "libcuda.so.1")
    taken = run(late, folder, LD_LIBRARY_PATH=str(folder))
    check("an absolute element is followed", taken, passes=False)
    if taken.returncode != 66:
        failed.append("the intruder is no danger")
    for path in ["", ":", ":/opt", "/opt:", "/opt::/srv", ".", "sub", "/opt;sub", "./sub:/opt", "only", "$LIB", "${LIB}"]:
        check_kept_out(f"LD_LIBRARY_PATH='{path}'", run(late, folder, LD_LIBRARY_PATH=path))
    check_kept_out("an empty element, and the file only in folders that a loader makes up",
                   run(late, folder / "only", LD_LIBRARY_PATH=":/opt"))
    without, empty = run(late, folder), run(late, folder, LD_LIBRARY_PATH="")
    if (without.returncode, without.stderr) != (empty.returncode, empty.stderr):
        failed.append("an empty LD_LIBRARY_PATH is as none")
    # A driver in an absolute element is found, with and without an accidental empty element next to it.
    place = folder / "driver"
    place.mkdir()
    (place / "libcuda.so.1").symlink_to(driver)
    for path in [f"{place}", f":{place}", f"{place}:", f"sub:{place}"]:
        check(f"a driver in '{path}'", run(late, folder, "too_late", LD_LIBRARY_PATH=path, KAIO_DEVICE="cuda:0"))

    # A program that does not run as the user who starts it.
    secret = folder / "secret"
    secret.write_text("what nobody may read\n")
    settings = {"KAIO_DEVICE": "emulator", "KAIO_SANITIZE": "all", "KAIO_SUPPRESSIONS": str(secret)}
    check("a file of suppressions is read", run(late, folder, **settings), passes=False, says="secret")
    if can_elevate(folder):
        elevated = folder / "elevated"
        shutil.copy(late, elevated)
        os.chown(elevated, 65534, 65534)
        elevated.chmod(0o4755)
        profile, trace = folder / "profile.txt", folder / "trace.json"
        folder.chmod(0o777)
        result = run(elevated, folder, **settings, KAIO_PROFILE=str(profile), KAIO_TRACE=str(trace),
                     KAIO_CUDA_LIBRARY=str(intruder))
        check("a set-uid program ignores what names a file", result, hides="what nobody may read")
        check_kept_out("a set-uid program loads no library that is named to it",
                       run(elevated, folder, KAIO_CUDA_LIBRARY=str(intruder)))
        if profile.exists() or trace.exists():
            failed.append("a set-uid program wrote a profile or a trace")

print(f"{len(failed)} failed")
sys.exit(bool(failed))
