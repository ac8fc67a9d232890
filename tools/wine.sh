#!/usr/bin/env bash
# Runs a program for Windows under Wine, without a display and with a prefix of its own (build/wine, or WINEPREFIX). It is
# CMake's CMAKE_CROSSCOMPILING_EMULATOR in cmake/mingw-w64.cmake.
#
#   tools/wine.sh PROGRAM.exe [ARGUMENT...]
#   tools/wine.sh --end        ends the processes that Wine keeps for the prefix

set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
export WINEPREFIX=${WINEPREFIX:-$root/build/wine}
export WINEARCH=win64 WINEDEBUG=${WINEDEBUG:--all}
# No downloads, no dialogs; the emulator's nvcuda.dll in place of Wine's own, which Debian does not have.
export WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-"mscoree,mshtml=;nvcuda=n"}
unset DISPLAY WAYLAND_DISPLAY

wine=
for name in /usr/lib/wine/wine64 wine64 wine64-stable wine; do
  if wine=$(command -v "$name"); then break; fi
done
if [[ -z $wine ]]; then
  echo "kaio: there is no Wine here; install it (Debian: apt-get install wine64)" >&2
  exit 127
fi
server=
for name in /usr/lib/wine/wineserver64 /usr/lib/wine/wineserver wineserver; do
  if server=$(command -v "$name"); then break; fi
done
export WINESERVER=$server

if [[ ${1:-} == --end ]]; then
  [[ ! -d $WINEPREFIX ]] || "$server" -k || true
  exit 0
fi

# Programs that start at once wait for the one that makes the prefix.
if [[ ! -f $WINEPREFIX/made ]]; then
  mkdir -p "$WINEPREFIX"
  (
    flock 9
    if [[ ! -f $WINEPREFIX/made ]]; then
      "$wine" wineboot --init >"$WINEPREFIX/making.log" 2>&1 || true
      "$server" -w || true
      touch "$WINEPREFIX/made"
    fi
  ) 9>"$WINEPREFIX/making.lock"
fi
exec "$wine" "$@"
