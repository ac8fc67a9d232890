# shellcheck shell=bash disable=SC2154
# The progress of a build, for tools/kaio, which reads this file: the objects that are built and the number of all, the seconds
# so far, and the time that may be left. It uses say, jobs and the variables of tools/kaio.

# weigh: turns steps as ninja prints them, `[1/9] TEXT`, into lines `WEIGHT TEXT`. The weight is about the CPU seconds of the
# step: a file of kernels takes them for the instructions that tools/registry/kernels.txt counts, other files for headers.
weigh() {
  awk 'FNR == NR { instructions[$2] += $6; next }
    !/^\[[0-9]+\/[0-9]+\] / { next }
    {
      sub(/^\[[0-9]+\/[0-9]+\] /, "")
      weight = /cmake_pch/ ? 4 : /\/joined\// ? 3 : /[\/ ](arithmetic|matrix|showcase)\// ? 1.5 : /^Building / ? 0.7 : 0.2
      # Kernels of tools/registry are constants. Kernels of the operations are traced by programs, in other objects than the
      # objects that launch them.
      if (match($0, /\/kaio_(ops|family|kernels)_[a-z0-9_]+\.dir\//)) {
        family = substr($0, RSTART, RLENGTH)
        kind = family ~ /^\/kaio_family/ ? "constants" : family ~ /_objects\.dir/ ? "traced" : "linked"
        gsub(/^\/kaio_(ops|family|kernels)_|(_objects)?\.dir\/$/, "", family)
        if (family in instructions)
          weight = kind == "constants" ? 1 + instructions[family] / 2200 : kind == "traced" ? 3 + instructions[family] / 12000 : 2
        if (/\/images\//) weight = 0.5
      }
      if (/^Assembling/) weight = 5
      print weight, $0
    }' "$root/tools/registry/kernels.txt" -
}

# work_of FOLDER TARGET...: prints the steps that are left to build, weighed.
work_of() {
  local folder=$1
  shift
  # ninja lists nothing if its manifest may have to be made anew. Under another name it never has to be.
  ln -sf build.ninja "$folder/work.ninja"
  ninja -C "$folder" -f work.ninja -n "$@" 2>/dev/null | weigh
}

# Seconds and weight of what this run of tools/kaio has built: the speed of this machine.
seconds_built=0
weight_built=0

# more_seconds WEIGHT: prints the seconds that it takes here; nothing if the speed is not known yet.
more_seconds() {
  awk -v left="$1" -v weight="$weight_built" -v seconds="$seconds_built" 'BEGIN {
    if (weight > 0 && seconds > 0) printf "%.0f", left * seconds / weight
  }'
}

# in_words SECONDS: prints "about 40 s" or "about 3 min".
in_words() { if [[ $1 -lt 100 ]]; then printf 'about %d s' "$1"; else printf 'about %d min' $((($1 + 30) / 60)); fi; }

# progress_of WORK LOG: prints "DONE_WEIGHT WEIGHT DONE OBJECTS LAST"; LAST is the file that was made last.
progress_of() {
  awk '
    part == "work" {
      weight = $1
      sub(/^[^ ]+ /, "")
      weights[$0] = weight
      total += weight
      ++count
      next
    }
    !/^\[[0-9]+\/[0-9]+\] / { next }
    {
      sub(/^\[[0-9]+\/[0-9]+\] /, "")
      if (!($0 in weights) || ($0 in seen)) next
      seen[$0] = 1
      ++done
      sum += weights[$0]
      last = $0
    }
    END {
      sub(/.*\//, "", last)
      sub(/\.cpp\.o$/, "", last)
      printf "%.1f %.1f %d %d %s\n", sum, total, done, count, last
    }' part=work "$1" part=log "$2"
}

# expected WEIGHT DONE_WEIGHT SINCE: prints the seconds that the rest of this weight takes, at the speed up to the last object,
# which was made SINCE seconds ago; nothing if too little is done. It reads `seconds` of the caller.
expected() {
  awk -v total="$1" -v sum="$2" -v since="$3" -v seconds="$seconds" -v before="$seconds_built" -v weight="$weight_built" '
    BEGIN {
      sum_of_all = sum + weight
      if (sum_of_all < total / 20 || sum_of_all <= 0) exit
      more = (total - sum) * (seconds - since + before) / sum_of_all - since
      printf "%d", more < 1 ? 1 : more
    }'
}

# show_progress TITLE WORK LOG SECONDS: on a terminal, rewrites a line in place; elsewhere, as in the log of a CI, prints a
# new line every KAIO_PROGRESS_SECONDS, by default 15.
shown_at=0
made=0     # number of objects, and when the last one was made
made_at=0
show_progress() {
  local seconds=$4 sum total finished count last line more
  read -r sum total finished count last <<<"$(progress_of "$2" "$3")"
  if [[ $finished -ne $made ]]; then made=$finished made_at=$seconds; fi
  if [[ ! -t 2 && $seconds -lt $((shown_at + ${KAIO_PROGRESS_SECONDS:-15})) ]]; then return; fi
  shown_at=$seconds
  line="[$step_number] $1: $finished of $count objects, $seconds s"
  more=$(expected "$total" "$sum" $((seconds - made_at)))
  [[ -z $more ]] || line+=", $(in_words "$more") more"
  [[ -z $last ]] || line+=" ($last)"
  if [[ -t 2 ]]; then printf '\r\033[K%s' "$line" >&2; else say "$line"; fi
}
hide_progress() { if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi; }

# build_step TITLE FOLDER TICK TARGET...: builds the targets, with progress; the log is in $last_log. TICK is called often during
# the build, and once at its end. If TICK is not `:`, a failure does not stop the rest. Returns the code of ninja.
build_step() {
  local title=$1 folder=$2 tick=$3 work code=0 begin=$SECONDS weight rest failures=0
  shift 3
  [[ $tick != : ]] || failures=1
  step_number=$((step_number + 1))
  mkdir -p "$logs"
  last_log=$logs/$(printf '%02d' "$step_number")-$(printf '%s' "$title" | tr -cs 'A-Za-z0-9.+\n-' '_').log
  work=$last_log.work
  work_of "$folder" "$@" >"$work"
  : >"$last_log"
  shown_at=0 made=0 made_at=0
  if [[ ! -t 2 ]]; then say "[$step_number] $title: $(wc -l <"$work") objects"; fi
  # Programs that run meanwhile, and people who work here, have priority.
  NINJA_STATUS='[%f/%t] ' nice -n 5 ninja -C "$folder" -j "$(jobs)" -k "$failures" "$@" >"$last_log" 2>&1 </dev/null &
  child=$!
  while kill -0 "$child" 2>/dev/null; do
    show_progress "$title" "$work" "$last_log" $((SECONDS - begin))
    $tick
    sleep 0.5
  done
  wait "$child" || code=$?
  child=
  hide_progress
  read -r weight rest <<<"$(progress_of "$work" "$last_log")"
  seconds_built=$((seconds_built + SECONDS - begin))
  weight_built=$(awk -v a="$weight_built" -v b="$weight" 'BEGIN { print a + b }')
  rest=$(wc -l <"$work")
  if [[ $code -eq 0 ]]; then
    say "[$step_number] $title: $rest objects in $((SECONDS - begin)) s"
  else
    say "[$step_number] $title: FAILED after $((SECONDS - begin)) s"
  fi
  $tick
  rm -f "$work"
  return "$code"
}

# show_failures LOG: prints the first three failures, each with the first lines of the compiler.
show_failures() {
  awk '/^FAILED: / { ++failures; lines = 0 }
    failures >= 1 && failures <= 3 && !/^\[[0-9]+\/[0-9]+\] / && lines < 15 { print substr($0, 1, 300); ++lines }
    END { if (failures > 3) printf "... and %d more\n", failures - 3 }' "$1" >&2
}
