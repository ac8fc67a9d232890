// Shows which kernels of matmul are worth their compile time. For thousands of random products it prints the
// time of every variant that accepts the product: by the cost model for absent GPUs, or measured on this one.
//
//   matmul_choice                                                          # a summary of --model
//   matmul_choice --model [--problems N] [--first SEED]                    > model.jsonl
//   matmul_choice --measure [--seconds S] [--most-us U] [--first SEED] [--problems N] [--taken NAME]
//                 [--bits N] [--few N]                                   > h200.jsonl
//   table.py --model model.jsonl --measured h200.jsonl                     # renders bench/results/matmul_kernels.md
//   matmul_choice --work --first SEED --problems N                         > work.jsonl
//   fit.py --work work.jsonl --measured h200.jsonl --write                 # the constants of the cost model
//
// Problems are functions of their seeds, which count from SEED on. The first line of output holds the
// kernels. Each further line is a problem, with the model's choice first, and is written as soon as it is
// known.
//
//   --model    each problem for every device of paper_devices.hpp; needs no GPU
//   --work     what the model sees of the same problems on an H200
//   --measure  until S seconds (default 400) or N problems; takes a problem if the model's time of its best
//              variant is below U microseconds
//   --taken    only problems for which the model takes a kernel with NAME in its name
//   --bits     only operands with elements of N bits
//   --few      only products of at most N rows or columns

#include "bench/matmul_choice/choice.hpp"
#include "bench/matmul_choice/measure.hpp"
#include "bench/matmul_choice/paper_devices.hpp"
#include "bench/matmul_choice/random_problem.hpp"
#include "bench/matmul_choice/work.hpp"

#include <kaio/kaio.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <string_view>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct settings {
  bool rows = false, measure = false, work = false;
  std::uint64_t first = 1, problems = 0;
  std::string taken;
  std::uint64_t bits = 0;  // of an element of the operands; 0: any
  std::uint64_t few = 0;   // rows or columns at most; 0: any number
  measure_settings how;
};

bool parse(int count, char** words, settings& to) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const double value = i + 1 < count ? std::atof(words[i + 1]) : 0;
    if (word == "--json") continue;  // of other benchmarks; this one prints no figure
    if (word == "--model") {
      to.rows = true;
      continue;
    }
    if (word == "--work") {
      to.work = true;
      continue;
    }
    if (word == "--measure") {
      to.measure = true;
      continue;
    }
    if (word == "--taken" && i + 1 < count) {
      to.taken = words[++i];
      continue;
    }
    if (value <= 0) return false;
    ++i;
    if (word == "--first")
      to.first = static_cast<std::uint64_t>(value);
    else if (word == "--problems")
      to.problems = static_cast<std::uint64_t>(value);
    else if (word == "--bits")
      to.bits = static_cast<std::uint64_t>(value);
    else if (word == "--few")
      to.few = static_cast<std::uint64_t>(value);
    else if (word == "--seconds")
      to.how.seconds = value;
    else if (word == "--most-us")
      to.how.most_us = value;
    else
      return false;
  }
  return to.rows + to.measure + to.work <= 1;
}

void by_model(const settings& what) {
  const kernel_numbers numbers;
  if (what.rows) numbers.print();
  const std::uint64_t count = what.problems == 0 ? 4000 : what.problems;
  std::set<std::size_t> taken_anywhere;
  for (const device_properties& device : paper_devices()) {
    std::set<std::size_t> usable, taken;
    for (std::uint64_t seed = what.first; seed < what.first + count; ++seed) {
      const random_problem p = random_problem::draw(seed);
      const std::vector<timed_variant> all = accepting(p.call_of(p.on_paper()), device);
      if (all.empty()) continue;
      if (what.rows) print_row(device.name, p, numbers, all);
      for (const timed_variant& v : all) usable.insert(numbers.of(*v.variant));
      taken.insert(numbers.of(*all.front().variant));
    }
    taken_anywhere.insert(taken.begin(), taken.end());
    if (!what.rows)
      std::printf("%-9s %3zu kernels, of which the model takes %zu\n", device.name, usable.size(),
                  taken.size());
  }
  if (!what.rows)
    std::printf("together  %3zu kernels, of which the model takes %zu, for %llu problems from seed %llu on\n",
                numbers.images().size(), taken_anywhere.size(), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(what.first));
}

void print_works(const settings& what) {
  const std::vector<device_properties> devices = paper_devices();
  const device_properties& h200 = devices.back();
  const kernel_numbers numbers;
  const configurations known;
  known.print(numbers);
  const std::uint64_t count = what.problems == 0 ? 4000 : what.problems;
  for (std::uint64_t seed = what.first; seed < what.first + count; ++seed)
    print_work(random_problem::draw(seed), h200, numbers, known);
}

int by_measurement(const settings& what) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(clock::now() - begin).count(); };
  const device gpu = device::open();
  const kernel_numbers numbers;
  numbers.print();
  measurement measure(gpu, what.how);
  if (!gpu.is_emulator()) measure.load(numbers.images());
  std::fprintf(stderr, "%s: %zu kernels after %.1f s\n", std::string(gpu.description()).c_str(),
               numbers.images().size(), seconds());

  const std::uint64_t most = what.problems == 0 ? std::numeric_limits<std::uint64_t>::max() : what.problems;
  std::uint64_t done = 0;
  std::uint64_t seed = what.first;
  for (; done < most && seconds() < what.how.seconds; ++seed) {
    const random_problem p = random_problem::draw(seed);
    if (what.bits != 0 && 8 * ops::bytes_of(p.operand) != what.bits) continue;
    if (what.few != 0 && std::min(p.m, p.n) > static_cast<std::int64_t>(what.few)) continue;
    std::vector<timed_variant> all = accepting(p.call_of(p.on_paper()), gpu.properties());
    if (!measure.fits(p, all) || all.front().variant->name().find(what.taken) == std::string::npos) continue;
    try {
      measure.time(p, all);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
      return 1;
    }
    print_row(gpu.properties().name, p, numbers, all);
    ++done;
  }
  std::fprintf(stderr, "%llu problems, seeds %llu to %llu, %.0f s\n", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(what.first), static_cast<unsigned long long>(seed - 1),
               seconds());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  settings what;
  if (!parse(count, words, what)) {
    std::fprintf(
        stderr,
        "usage: matmul_choice [--model|--measure|--work] [--problems N] [--first SEED] [--seconds S] [--most-us U] [--taken NAME] [--bits N] [--few N]\n");
    return 2;
  }
  try {
    if (what.measure) return by_measurement(what);
    if (what.work) {
      print_works(what);
      return 0;
    }
    by_model(what);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
