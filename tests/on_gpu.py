#!/usr/bin/env python3
"""Runs a command if the CUDA driver finds a GPU; otherwise exits with 77, which ctest takes as skipped."""

import ctypes
import os
import sys


def gpu_count():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


if gpu_count() == 0:
    print("skipped: no GPU here")
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
