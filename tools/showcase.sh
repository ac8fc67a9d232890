# shellcheck shell=bash disable=SC2154
# The commands showcase and bench of tools/kaio, which reads this file. Each folder has one program. A benchmark runs when all
# are built, so that nothing else uses the machine; a showcase runs as soon as it is built.

# names_in FOLDER: prints the names of its programs.
names_in() {
  local folder
  for folder in "$1"/*/; do
    if compgen -G "$folder*.cpp" >/dev/null; then basename "$folder"; fi
  done
}

# choose_programs FOLDER [NAME...] [-- ARGUMENT...]: sets `names` and `words`.
choose_programs() {
  local folder=$1 known
  shift
  names=()
  known=$(names_in "$folder")
  [[ -n $known ]] || die "there is nothing in $folder/ yet"
  while [[ $# -gt 0 && $1 != -- ]]; do
    grep -qxF -- "$1" <<<"$known" || die "there is no $folder '$1'; there are: ${known//$'\n'/ }"
    names+=("$1")
    shift
  done
  [[ $# -eq 0 ]] || shift
  words=("$@")
  [[ ${#names[@]} -gt 0 ]] || mapfile -t names <<<"$known"
}

bench_usage() {
  cat <<END
Usage: tools/kaio bench [NAME...] [-- ARGUMENT...]
       tools/kaio bench --html [FILE] [--results FILE...] [--compare OLD NEW] [--limit FACTOR]

The first form builds and runs the benchmarks: all, or the named ones. Words after -- go to the programs: --json prints lines
that bench/record.py records, --help prints what a program takes.

The second form builds nothing. It writes one HTML file, build/bench.html by default, with the results that bench/results or
other files have: ratios to peers, roofline, bandwidth, every case, and what became faster or slower between two runs. The file
needs no network. 'bench --html --help' explains its options.

Benchmarks:
  $(names_in bench | paste -sd ' ' | fold -s -w 118 | sed '2,$s/^/  /')
END
}

cmd_bench() {
  local names words name targets=() passed=0 failed=0 precompile=ON
  case ${1:-} in
    --help | -h)
      bench_usage
      return
      ;;
    --html)
      require_command python3 python3
      install_missing
      shift
      cd "$start" || exit 1
      python3 "$root/bench/html_report/main.py" "$@"
      return
      ;;
    --) ;;
    -*) die "bench does not know '$1'; 'tools/kaio bench --help' shows what it takes" ;;
  esac
  choose_programs bench "$@"
  need_build_packages
  need_tool_packages
  install_missing
  check_compilers
  has_gpu || precompile=OFF  # nothing here would run machine code
  configure bench release -DKAIO_WERROR=OFF -DKAIO_BUILD_TESTS=OFF -DKAIO_BUILD_TOOLS=OFF -DKAIO_BUILD_SHOWCASE=OFF \
    -DKAIO_BUILD_BENCH=ON -DKAIO_PRECOMPILE=$precompile || exit 1
  for name in "${names[@]}"; do targets+=("bench_$name"); done
  compile bench "${targets[@]}" || exit 1
  for name in "${names[@]}"; do
    printf '\n== %s\n' "$name"
    if "$build/bench/bench/$name" ${words[@]+"${words[@]}"}; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 ]]
}

# ---- showcase

# row_of: the rows of the table, by program. group: the programs that are built now.
declare -A row_of=()
group=()

# seconds_since EPOCH: prints the seconds, with tenths.
seconds_since() { awk -v since="$1" -v now="$EPOCHREALTIME" 'BEGIN { printf "%.1f", now - since }'; }

# figures_of LOG: prints "ERROR<tab>FIGURE": the largest of the errors that the program printed, and a figure of its speed.
figures_of() {
  awk '
    match($0, /largest error +[0-9.e+-]+/) {
      value = substr($0, RSTART + 13, RLENGTH - 13)
      gsub(/ /, "", value)
      if (error == "" || value + 0 > error + 0) error = value
    }
    /^  (throughput|bandwidth|emulated in|one graph) / && !($1 in figures) {
      figures[$1] = $0
      sub(/^  (throughput|bandwidth|one graph) +/, "", figures[$1])
      sub(/^ +/, "", figures[$1])
      gsub(/  +/, " ", figures[$1])
    }
    END {
      figure = "throughput" in figures ? figures["throughput"] : "one" in figures ? figures["one"] : figures["bandwidth"]
      if ("emulated" in figures) figure = figures["emulated"]
      printf "%s\t%s\n", error == "" ? "-" : error, figure == "" ? "-" : figure
    }' "$1"
}

# show_program NAME: runs it, prints its output, and notes its row.
show_program() {
  local name=$1 log=$logs/showcase-$1.log verified=yes begin=$EPOCHREALTIME built ran error figure
  built=$(seconds_since "$showcase_began")
  hide_progress
  printf '\n== %s\n' "$name"
  "$showcase_folder/showcase/$name" ${words[@]+"${words[@]}"} 2>&1 </dev/null | tee "$log" || verified=NO
  ran=$(seconds_since "$begin")
  if [[ $verified == yes ]] && grep -q '^  skipped ' "$log"; then verified=skipped; fi
  IFS=$'\t' read -r error figure <<<"$(figures_of "$log")"
  row_of[$name]="$verified"$'\t'"$error"$'\t'"$figure"$'\t'"$built"$'\t'"$ran"
  shown+=("$name")
  if [[ $verified == NO ]]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
}

# is_built NAME: whether the current build has linked it, or had nothing to do for it.
is_built() {
  local link="Linking CXX executable showcase/$1"
  if [[ -v to_link[$1] ]]; then
    grep -qF "] $link" "$last_log" && ! grep -qE "^FAILED: showcase/$1( |\$)" "$last_log"
  fi
}

# show_built: runs what has been built since the last call.
show_built() {
  local name
  for name in "${group[@]}"; do
    if [[ ! -v row_of[$name] ]] && is_built "$name"; then show_program "$name"; fi
  done
}

# Moves the next programs from `waiting` to `group`: at first only the program with the least to build, so that its result
# comes soon; later all programs with about the least to build.
next_group() {
  local name weight least='' most lightest=()
  declare -A weights=()
  for name in "${waiting[@]}"; do
    weights[$name]=$(work_of "$showcase_folder" "showcase_$name" | awk '{ sum += $1 } END { printf "%d", sum }')
    weight=${weights[$name]}
    if [[ -z $least || $weight -lt $least ]]; then least=$weight lightest=("$name"); fi
  done
  group=()
  if [[ ${#row_of[@]} -eq 0 && $least -gt 0 ]]; then
    group=("${lightest[@]}")
  else
    most=$((2 * least + 10))
    for name in "${waiting[@]}"; do
      if [[ ${weights[$name]} -le $most ]]; then group+=("$name"); fi
    done
  fi
  local rest=()
  for name in "${waiting[@]}"; do
    [[ " ${group[*]} " == *" $name "* ]] || rest+=("$name")
  done
  waiting=(${rest[@]+"${rest[@]}"})
}

# build_group: builds the programs of `group`, and runs each when it is built. The row of a program that fails to build says so.
build_group() {
  local name targets=() title="Building ${group[*]}"
  declare -A to_link=()
  [[ ${#group[@]} -le 3 ]] || title="Building ${#group[@]} programs: ${group[*]}"
  for name in "${group[@]}"; do
    targets+=("showcase_$name")
    if work_of "$showcase_folder" "showcase_$name" | grep -qF "Linking CXX executable showcase/$name"; then
      to_link[$name]=1
    fi
  done
  build_step "$title" "$showcase_folder" show_built "${targets[@]}" || true
  for name in "${group[@]}"; do
    if [[ ! -v row_of[$name] ]]; then
      unbuilt+=("$name")
      shown+=("$name")
      row_of[$name]=$'not built\t-\t-\t-\t-'
      failed=$((failed + 1))
    fi
  done
  if grep -q '^FAILED: ' "$last_log"; then
    show_failures "$last_log"
    say "kaio: not built: ${unbuilt[*]}; the whole log is $last_log"
  fi
  unbuilt=()
}

# Prints the table of all programs, in the order in which they were shown.
print_table() {
  local name
  {
    printf 'program\tverified\tlargest error\tfigure\tbuilt after, s\trun, s\n'
    for name in "${shown[@]}"; do printf '%s\t%s\n' "$name" "${row_of[$name]}"; done
  } | awk -F '\t' '
    {
      for (k = 1; k <= NF; ++k) {
        cell[NR, k] = $k
        if (length($k) > width[k]) width[k] = length($k)
      }
    }
    END {
      for (r = 1; r <= NR; ++r) {
        line = ""
        for (k = 1; k <= NF; ++k) line = line sprintf(k > 4 ? "%" width[k] "s  " : "%-" width[k] "s  ", cell[r, k])
        sub(/ +$/, "", line)
        print line
      }
    }'
}

# list_showcases: prints the name of each program and what it shows.
list_showcases() {
  local name
  while read -r name; do
    awk -v name="$name" '
      NR > 2 && $0 == "" { exit }
      NR > 2 { text = text (text == "" ? "" : " ") $0 }
      END { sub(/[.:;]( .*)?$/, "", text); printf "%-20s %s\n", name, text }' "showcase/$name/README.md"
  done < <(names_in showcase)
  list_python
}

# list_python: prints how to run the programs in Python, or how to get the package that they need.
list_python() {
  local file
  compgen -G "showcase/python/*.py" >/dev/null || return 0
  if python3 -c 'import kaio.torch' 2>/dev/null; then
    echo "In Python:"
    for file in showcase/python/*.py; do
      awk -v file="$file" 'sub(/^"""/, "") { sub(/[.:;]( .*)?$/, ""); printf "  python3 %-32s %s\n", file, $0; exit }' "$file"
    done
  else
    echo "The programs in showcase/python need PyTorch and the package kaio:"
    echo "  tools/kaio wheel && pip install build/kaio_gpu-*.whl"
  fi
}

cmd_showcase() {
  local names words waiting shown=() unbuilt=() passed=0 failed=0 showcase_folder=$build/tools showcase_began=$EPOCHREALTIME more
  if [[ ${1:-} == --list ]]; then
    list_showcases
    return
  fi
  choose_programs showcase "$@"
  configure_showcase
  waiting=("${names[@]}")
  while [[ ${#waiting[@]} -gt 0 ]]; do
    next_group
    build_group
    if [[ ${#waiting[@]} -gt 0 ]]; then
      more=$(more_seconds "$(work_of "$showcase_folder" "${waiting[@]/#/showcase_}" | awk '{ sum += $1 } END { print sum + 0 }')")
      [[ -z $more ]] || say "Left to build, $(in_words "$more"): ${waiting[*]}"
    fi
  done
  printf '\n'
  print_table
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  say "The logs are in $logs"
  [[ $# -gt 0 ]] || list_python >&2
  [[ $failed -eq 0 ]]
}

# configure_showcase: with a GPU, with all optimisation and machine code; otherwise like the other quick programs.
configure_showcase() {
  if ! has_gpu; then
    say "There is no GPU here: the programs run on the emulator, which verifies them and measures nothing."
    export KAIO_DEVICE=${KAIO_DEVICE:-emulator}
    configure_tools
    return
  fi
  showcase_folder=$build/showcase
  need_build_packages
  install_missing
  check_compilers
  configure showcase release -DKAIO_WERROR=OFF -DKAIO_BUILD_TESTS=OFF -DKAIO_BUILD_TOOLS=OFF -DKAIO_BUILD_SHOWCASE=ON \
    -DKAIO_BUILD_BENCH=OFF || exit 1
}
