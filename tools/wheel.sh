# shellcheck shell=bash disable=SC2154
# `tools/kaio wheel`, for tools/kaio, which reads this file: the Python package. It uses functions and variables of tools/kaio.
#
# libkaio.so is linked of g++'s objects, which the tests run too, by the linker of zig, which knows the symbols of older C
# libraries (python/wheel/link.py). Kernels are not evaluated again: a build that is finished has their objects.

wheel_usage() {
  cat <<'END'
Usage: tools/kaio wheel [--windows] [--from FOLDER] [--kernels FOLDER]

Builds the Python package: build/kaio_gpu-VERSION-cp310-abi3-manylinux_2_28_x86_64.whl, and prints its path. It compiles the code
of the host, Release, in build/wheel, and takes the kernels of a finished build: build/package or build/ci. Without one it builds
the kernels too.

  --from FOLDER      links what this folder has built, such as build/ci, and compiles nothing but the module of Python
  --kernels FOLDER   takes the kernels of this build folder
  --windows          builds the package for Windows, kaio_gpu-VERSION-cp312-abi3-win_amd64.whl, with MinGW and zig; --from names a
                     build folder for Windows with kaio.dll. docs/windows.md has more
END
}

wheel_packages=(scikit-build-core==1.1.2 nanobind==3.1.0 ziglang==0.17.1 auditwheel==6.8.2 abi3audit==0.0.26 pyelftools==0.33)

# Sets `wheel_python` to a Python with these packages.
need_wheel_packages() {
  local folder=$build/wheel-python wanted="${wheel_packages[*]}"
  wheel_python=$folder/bin/python
  [[ $(cat "$folder/installed" 2>/dev/null) != "$wanted" ]] || return 0
  require_command python3 python3
  require_header "python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)/Python.h" python3-dev
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  install_missing
  rm -rf "$folder"
  step "Making a Python environment" python3 -m venv "$folder"
  try "Installing $wanted" "$wheel_python" -m pip install --quiet --retries 2 --timeout 30 "${wheel_packages[@]}" ||
    die "the Python packages that build a wheel could not be installed. Without a connection to the index, download them on" \
      "another machine with 'pip download -d FOLDER $wanted', and set PIP_NO_INDEX=1 and PIP_FIND_LINKS=FOLDER"
  printf '%s' "$wanted" >"$folder/installed"
}

# has_kernels FOLDER: whether all kernels there are built of these sources.
has_kernels() {
  local objects
  [[ -f $1/ops/kernels.txt && -f $1/build.ninja ]] || return 1
  mapfile -t objects < <(tr '|' '\n' <"$1/ops/kernels.txt" | awk -v folder="$1/" '
    index($0, folder) == 1 { gsub("/\\./", "/"); print substr($0, length(folder) + 1) }')
  ln -sf build.ninja "$1/kernels.ninja"
  ninja -C "$1" -f kernels.ninja -n "${objects[@]}" 2>/dev/null | grep -q 'no work to do'
}

cmd_wheel() {
  local from='' kernels='' windows='' folder begin=$SECONDS made wheel_python
  while [[ $# -gt 0 ]]; do
    case $1 in
      --help | -h)
        wheel_usage
        return
        ;;
      --windows) windows=yes ;;
      --from) from=${2:?kaio: --from needs a build folder} && shift ;;
      --kernels) kernels=${2:?kaio: --kernels needs a build folder} && shift ;;
      *) die "wheel does not know '$1'; 'tools/kaio wheel --help' shows what it takes" ;;
    esac
    shift
  done
  [[ $(uname -sm) == 'Linux x86_64' ]] || die "a wheel is built on Linux on x86-64 only; this is $(uname -sm)"
  need_build_packages
  need_wheel_packages
  install_missing
  check_compilers
  if [[ -n $from ]]; then
    from=$(cd "$start" && cd "$from" && pwd) || die "there is no folder $from"
  fi
  if [[ -n $windows ]]; then
    [[ -z $kernels ]] || die "a wheel for Windows takes the kernels of build/package or build/ci; --kernels is not for it"
    wheel_for_windows "$from"
    say "The wheel took $((SECONDS - begin)) s."
    printf '%s\n' "$made"
    return
  fi
  if [[ -z $from ]]; then
    if [[ -z $kernels ]]; then
      for folder in "$build"/package "$build"/ci; do
        if has_kernels "$folder"; then kernels=$folder && break; fi
      done
      [[ -n $kernels ]] || say "No build folder here has all kernels of these sources: they are built too, which takes longer."
    fi
    configure wheel release -DKAIO_WERROR=OFF -DKAIO_BUILD_TESTS=OFF -DKAIO_BUILD_SHOWCASE=OFF -DKAIO_BUILD_BENCH=OFF \
      -DKAIO_BUILD_TOOLS=OFF -DKAIO_INSTALL=OFF -DKAIO_PRECOMPILED_HEADERS=ON -DKAIO_KERNELS_FROM="$kernels" || exit 1
    compile wheel kaio_c || exit 1
    from=$build/wheel
  fi
  kernels=$(sed -n 's/^KAIO_PRECOMPILE_ARCHITECTURES:[A-Z]*=//p' "${kernels:-$from}/CMakeCache.txt")
  [[ $kernels == *80*90* || -z $kernels ]] ||
    say "The kernels there have machine code for sm_${kernels//;/ and sm_} only. For a wheel to give away, run tools/kaio package before."
  [[ -f $from/src/c/inside.txt ]] || die "$from is no build folder of kaio with the C interface"
  pack_wheel "$from"
  say "The wheel took $((SECONDS - begin)) s."
  printf '%s\n' "$made"
}

# pack_wheel FOLDER: links what the folder has built, packs it and checks the result; sets `made` to its path.
pack_wheel() {
  local work=$build/wheel-package tag=cp310-abi3-manylinux_2_28_x86_64
  reproducible_wheel
  mkdir -p "$work"
  rm -rf "$work/made"
  step "Linking libkaio.so.0 for glibc 2.28" "$wheel_python" python/wheel/link.py library "$1/src/c/inside.txt" \
    "$work/lib/libkaio.so.0" --exports src/c/generated/exports.map
  step "Building the module and packing it" "$wheel_python" -m pip wheel --no-index --no-deps --no-build-isolation \
    --wheel-dir "$work/made" ./python --config-settings=build-dir="$work/module" --config-settings=wheel.tags=$tag \
    --config-settings=cmake.define.KAIO_LIBRARY="$work/lib/libkaio.so.0" \
    --config-settings=cmake.define.CMAKE_CXX_COMPILER_LAUNCHER="$launcher" --config-settings=cmake.define.KAIO_OLD_GLIBC=ON
  checked_wheel "$work/made"
}

# reproducible_wheel: two builds of a commit give the same file.
reproducible_wheel() {
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || printf 1767225600)}
  export ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$build/wheel-python/zig}
}

# checked_wheel FOLDER: checks the wheel there, moves it into the build folder, and sets `made` to its path.
checked_wheel() {
  local name
  name=$(basename "$1"/*.whl)
  step "Checking $name" "$wheel_python" python/wheel/check.py "$1/$name"
  cat "$last_log" >&2
  made=$build/$name
  mv "$1/$name" "$made"
}
