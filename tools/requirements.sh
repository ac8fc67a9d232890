# shellcheck shell=bash disable=SC2154
# The requirements of tools/kaio, which reads this file: checks for them, and installs what is missing: packages with apt-get,
# and ptxas. It uses run_step, say and die, the folder $build and the log $last_log of tools/kaio.

# ---- Packages

have() { command -v "$1" >/dev/null 2>&1; }

have_header() {
  have g++ || return
  printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | g++ -E -x c++ -std=c++20 - >/dev/null 2>&1
}

missing=()
require_command() { have "$1" || missing+=("$2"); }
require_header() { have_header "$1" || missing+=("$2"); }

as_root() {
  if [[ $EUID -eq 0 ]]; then
    printf 'env'
  elif have sudo; then
    printf 'sudo'
  else
    return 1
  fi
}

# Whether the package lists exist and are less than a day old.
lists_are_fresh() {
  local lists=/var/lib/apt/lists
  compgen -G "$lists/*_Packages*" >/dev/null && [[ -n $(find "$lists" -maxdepth 0 -mtime -1) ]]
}

update_lists() {
  local root_command
  root_command=$(as_root)
  run_step "Reading the package lists" "$root_command" apt-get -q -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=600 update ||
    say "kaio: the package lists could not be read; continuing with the old ones"
}

apt_install() {
  local root_command
  root_command=$(as_root)
  run_step "Installing $*" "$root_command" DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 install "$@"
}

# Installs the packages that the require_* calls found missing.
install_missing() {
  [[ ${#missing[@]} -eq 0 ]] && return
  have apt-get || die "these packages are missing: ${missing[*]}; install them (Debian names) and try again"
  as_root >/dev/null ||
    die "these packages are missing: ${missing[*]}; run 'apt-get install ${missing[*]}' as root and try again"
  [[ $EUID -eq 0 ]] || sudo -v || die "these packages are missing: ${missing[*]}; sudo was refused"
  lists_are_fresh || update_lists
  if ! apt_install "${missing[@]}"; then
    update_lists
    apt_install "${missing[@]}" || {
      tail -n 20 "$last_log" >&2
      die "apt-get could not install: ${missing[*]}; the whole log is $last_log"
    }
  fi
  missing=()
}

# Installs the missing packages that apt has; steps that need the others are skipped.
install_offered() {
  local offered=() package
  if [[ ${#missing[@]} -gt 0 ]] && have apt-get && as_root >/dev/null; then
    lists_are_fresh || update_lists
    for package in "${missing[@]}"; do
      if apt-cache show "$package" >/dev/null 2>&1; then offered+=("$package"); fi
    done
    [[ ${#offered[@]} -eq 0 ]] || apt_install "${offered[@]}" ||
      say "kaio: some of these could not be installed; steps that need them are skipped: ${offered[*]}"
  fi
  missing=()
}

need_build_packages() {
  require_command g++ g++
  require_command cmake cmake
  require_command ninja ninja-build
  require_header boost/hana/tuple.hpp libboost-dev
  require_header fmt/format.h libfmt-dev
  require_header spdlog/spdlog.h libspdlog-dev
  require_header zlib.h zlib1g-dev
  require_header nlohmann/json.hpp nlohmann-json3-dev
}

need_tool_packages() {
  require_header CLI/CLI.hpp libcli11-dev
}

need_test_packages() {
  have_header catch2/catch_all.hpp || require_header catch2/catch.hpp catch2
  require_command python3 python3
}

version_at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

check_compilers() {
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  version_at_least "$version" 3.22 || die "cmake is $version; kaio needs 3.22 or newer"
  version=$(g++ -dumpfullversion)
  version_at_least "$version" 12 || [[ -n ${CXX:-} ]] ||
    die "g++ is $version; kaio needs 12 or newer: install one and name it, as in CXX=g++-12 tools/kaio ..."
}

# ---- ptxas

# Uses a ptxas that is installed. If there is none, or it does not know a target (13 no longer knows sm_70), ptxas comes from
# NVIDIA's Python packages. Sets KAIO_PTXAS.
find_ptxas() {
  [[ -z ${KAIO_PTXAS:-} ]] || return 0
  local found=() path wanted=() knows_oldest=false
  for path in "$(command -v ptxas || true)" /usr/local/cuda*/bin/ptxas; do
    if [[ -n $path && -x $path ]]; then found+=("$path"); fi
  done
  for path in ${found[@]+"${found[@]}"}; do
    if [[ $("$path" --help 2>&1) == *"'sm_70'"* ]]; then knows_oldest=true; fi
  done
  local packages=$build/ptxas/packages
  [[ ${#found[@]} -gt 0 || -x $packages/nvidia/cu13/bin/ptxas ]] || wanted+=(nvidia-cuda-nvcc==13.0.88)
  $knows_oldest || [[ -x $packages/nvidia/cuda_nvcc/bin/ptxas ]] || wanted+=(nvidia-cuda-nvcc-cu12==12.9.86)
  if [[ ${#wanted[@]} -gt 0 ]]; then
    local python=$build/ptxas/python
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    install_offered
    [[ -x $python/bin/pip ]] || run_step "Making a Python environment" python3 -m venv "$python" || true
    run_step "Installing ${wanted[*]}" "$python/bin/pip" install --quiet --no-deps --retries 2 --timeout 20 \
      --upgrade --target "$packages" "${wanted[@]}" ||
      say "kaio: ptxas could not be installed; kernels that only it can assemble are skipped"
  fi
  for path in "$packages"/nvidia/*/bin/ptxas; do
    if [[ -x $path ]]; then found+=("$path"); fi
  done
  local IFS=:
  export KAIO_PTXAS="${found[*]-}"
}
