# shellcheck shell=bash disable=SC2154
# Windows, for tools/kaio, which reads this file: packages, and the tests that `tools/kaio test` runs under Wine. It uses functions and
# variables of tools/kaio.

windows_packages=(g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine64)

# need_windows: installs the packages; false, with a message, if that is not possible.
need_windows() {
  local wine
  have x86_64-w64-mingw32-g++-posix || missing+=(g++-mingw-w64-x86-64-posix)
  [[ -f /usr/x86_64-w64-mingw32/include/zlib.h ]] || missing+=(libz-mingw-w64-dev)
  wine=$(compgen -G '/usr/lib/wine/wine64' || command -v wine64 || command -v wine64-stable || true)
  [[ -n $wine ]] || missing+=(wine64)
  install_offered
  if ! have x86_64-w64-mingw32-g++-posix || [[ ! -f /usr/x86_64-w64-mingw32/include/zlib.h ]]; then
    say "skipped: Windows: MinGW is not installed; its packages are ${windows_packages[*]}"
    return 1
  fi
  compgen -G '/usr/lib/wine/wine64' >/dev/null || have wine64 || have wine64-stable || {
    say "skipped: Windows: Wine is not installed (wine64)"
    return 1
  }
}

# build_for_windows TARGET [-DNAME=VALUE...]: builds it in build/package-windows, Release. The texts of the kernels come from a build
# for this machine.
build_for_windows() {
  local images='' folder target=$1
  shift
  need_windows || exit 1
  for folder in "$build"/package "$build"/ci; do
    if [[ -z $images ]] && has_kernels "$folder"; then images=$folder; fi
  done
  [[ -n $images || $* == *KAIO_BUILD_OPS=OFF* || $* == *KAIO_IMAGES_FROM=* ]] ||
    die "no build folder here has all kernels of these sources; run 'tools/kaio package' before, or add -DKAIO_BUILD_OPS=OFF"
  rm -f "$build/package-windows/CMakeCache.txt"  # options of an earlier call
  configure package-windows windows -DCMAKE_BUILD_TYPE=Release -DKAIO_WERROR=OFF -DKAIO_BUILD_TESTS=OFF -DKAIO_BUILD_SHOWCASE=OFF \
    -DKAIO_IMAGES_FROM="$images" "$@" || exit 1
  compile package-windows "$target" || exit 1
}

# package_for_windows [-DNAME=VALUE...]: as cmd_package, with MinGW.
package_for_windows() {
  local word name packed=$build/package-windows/packed
  for word in "$@"; do
    [[ $word == -D?*=* ]] || die "package does not know '$word'; it takes options of CMake, as -DKAIO_BUILD_OPS=OFF"
  done
  need_build_packages
  need_tool_packages
  install_missing
  build_for_windows kaio_to_install "$@"
  name=kaio-$(sed -n 's/^  VERSION //p' CMakeLists.txt)-windows-x86_64
  rm -rf "$packed"
  step "Installing into build/package-windows/packed" cmake --install "$build/package-windows" --prefix "$packed/$name"
  step "Packing $name.zip" cmake -E chdir "$packed" cmake -E tar cf "$build/$name.zip" --format=zip "$name"
  printf '%s\n' "$build/$name.zip"
}

# wheel_for_windows [FOLDER]: the Python package with the kaio.dll of this build folder, else of one that it builds; sets `made` to its
# path. MinGW has linked the DLL, and zig links the module: C functions alone are between them.
wheel_for_windows() {
  local folder=${1:-} work=$build/wheel-windows tag=cp312-abi3-win_amd64
  need_windows || exit 1
  if [[ -z $folder ]]; then
    build_for_windows kaio_c
    folder=$build/package-windows
  fi
  [[ -f $folder/src/c/kaio.dll ]] || die "$folder is no build folder for Windows with the C interface"
  reproducible_wheel
  mkdir -p "$work"
  rm -rf "$work/made"
  step "Building the module with zig" "$wheel_python" python/wheel/windows.py "$work/_core.pyd"
  step "Stripping kaio.dll" x86_64-w64-mingw32-strip -o "$work/kaio.dll" "$folder/src/c/kaio.dll"
  step "Packing" "$wheel_python" -m pip wheel --no-index --no-deps --no-build-isolation --wheel-dir "$work/made" ./python \
    --config-settings=build-dir="$work/packing" --config-settings=wheel.tags=$tag \
    --config-settings=cmake.define.KAIO_LIBRARY="$work/kaio.dll" --config-settings=cmake.define.KAIO_MODULE="$work/_core.pyd"
  checked_wheel "$work/made"
}

# test_windows: builds for Windows and runs a part of the tests under Wine; seven turns have all parts. Parts 4 to 6 have the
# operations, with the texts of build/ci.
test_windows() {
  local part=$((turn / 8 % 7)) targets labels operations=OFF minutes=12
  [[ $turn != all ]] || part=all
  case $part in
    0)
      targets="kaio_test_unit kaio_test_weights kaio_program showcase_fused_silu_gate"
      labels="unit|weights|windows|windows_readme|windows_program"
      ;;
    1) targets="kaio_test_emulator kaio_test_driver_emulator kaio_windows_nvcuda" labels="emulator|driver_emulator|windows_nvcuda" ;;
    2) targets=kaio_test_driver labels=driver_runtime ;;
    3) targets="kaio_test_kernels kaio_cuda_emulator" labels=kernels ;;
    4) targets=kaio_windows_c labels=windows_c operations=ON ;;
    5) targets=kaio_windows_ops labels=windows_ops operations=ON ;;
    6) targets="kaio_kernels kaio_kernels_int8_column_sums" labels=windows_texts operations=ON ;;
    all)
      targets="kaio_test_unit kaio_test_emulator kaio_test_driver kaio_test_driver_emulator kaio_test_weights kaio_program kaio_windows_nvcuda"
      targets+=" kaio_windows_c kaio_windows_ops kaio_test_kernels kaio_kernels kaio_kernels_int8_column_sums showcase_fused_silu_gate"
      labels="unit|emulator|driver|weights|kernels|windows.*" operations=ON minutes=40
      ;;
  esac
  time_for "$minutes" "Windows" || return 0
  have_header catch2/catch.hpp || {
    say "skipped: Windows: its tests take Catch2 2, which is headers alone, from this machine"
    return 0
  }
  need_windows || return 0
  [[ $operations == OFF ]] || has_kernels "$build/ci" || {
    say "skipped: Windows: build/ci has not all kernels of these sources"
    return 0
  }
  test_with windows "^($labels)$" "$targets" -DKAIO_BUILD_OPS="$operations" -DKAIO_IMAGES_FROM="$([[ $operations == OFF ]] || printf '%s' "$build/ci")" \
    -DKAIO_INSTALL=OFF -DKAIO_PRECOMPILED_HEADERS=ON -DKAIO_TURN="$turn"
  tools/wine.sh --end
}
