#!/bin/sh
# A program without CMake:
#   CXX=g++ PKG_CONFIG_PATH=<prefix>/lib/pkgconfig build.sh OUTPUT [compiler flag...]
set -eu
output=$1
shift
# The words of pkg-config's answer are arguments each.
# shellcheck disable=SC2046
"${CXX:-c++}" -std=c++20 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror "$@" "$(dirname "$0")/../main.cpp" -o "$output" $(pkg-config --cflags --libs kaio)
