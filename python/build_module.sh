#!/usr/bin/env bash
# Builds the native module for the tree: python/kaio/_core.abi3.so, with the nanobind of the given Python.
#   build_module.sh PYTHON LIBKAIO
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$1 library=$2
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
nanobind=$("$python" -c 'import nanobind; print(nanobind.include_dir())')
g++ -std=c++20 -O2 -DNDEBUG -fPIC -fvisibility=hidden -shared -Wall -Wextra -Werror -DNB_BACKEND_MODULE=nanobind_backend \
  -DNB_BACKEND_PYPI=nanobind-backend -DPy_LIMITED_API=0x030A0000 -isystem "$include" -isystem "$nanobind" \
  -I"$here/../include" -I"$here/native" "$here"/native/*.cpp "$here"/native/generated/*.cpp "$library" \
  -Wl,-rpath,'$ORIGIN/lib' -o "$here/kaio/_core.abi3.so"
