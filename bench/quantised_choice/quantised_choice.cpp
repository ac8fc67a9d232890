// The time of every kernel of matmul_fp8 and matmul_int8 for random products, next to what the cost model
// sees of it: what fit.py fits the constants of src/ops/matmul_8bit/common/fitted.hpp to.
//
//   quantised_choice [--seconds S] [--first SEED] [--problems N] [--most-us U]       > quantised_h200.jsonl
//
// The first line has the names of a kernel's fields; each further one a problem, with its kernels, the
// model's choice first: {"seed": ..., "operation": ..., "m": ..., "kernels": [["name", model_us, us, dropped,
// the fields of kernel_work], ...]}. It ends after S seconds, 50 by default, or N problems, and reports how
// much longer the model's choice took than the best kernel. Problems are functions of their seeds; those that
// the model sees above U microseconds are left out. On the emulator all kernels run small problems once,
// without times.

#include "bench/matmul_choice/work_numbers.hpp"
#include "bench/quantised_choice/measure.hpp"

#include <kaio/kaio.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

void print(const quantised_problem& p, const std::vector<timed_kernel>& all) {
  std::printf("{%s, \"kernels\": [", p.text().c_str());
  const char* separator = "";
  for (const timed_kernel& one : all) {
    std::printf("%s[\"%s\", %.4g, %.4g, %d", separator, one.variant->name().c_str(), one.model_us, one.us,
                one.dropped ? 1 : 0);
    separator = ", ";
    for (const double x : work_numbers(*one.variant, one.work)) std::printf(", %.6g", x);
    std::printf("]");
  }
  std::printf("]}\n");
}

// How much longer the first kernel took than the best one, over the problems of an operation.
void report(const char* name, std::vector<double> lost) {
  if (lost.empty()) return;
  std::sort(lost.begin(), lost.end());
  double sum = 0;
  for (const double x : lost) sum += x;
  std::fprintf(
      stderr,
      "%s: %zu problems, the choice takes %.1f %% longer than the best; 90 %% of them %.1f %%, worst %.0f %%\n",
      name, lost.size(), 100 * sum / static_cast<double>(lost.size()), 100 * lost[lost.size() * 9 / 10],
      100 * lost.back());
}

}  // namespace

int main(int count, char** words) {
  double seconds = 50, most_us = 700;
  std::uint64_t first = 1, problems = 0;
  bool json = false;
  CLI::App arguments("Times of every kernel of matmul_fp8 and matmul_int8 for random products.");
  arguments.add_option("--seconds", seconds, "of wall clock")->check(CLI::PositiveNumber);
  arguments.add_option("--first", first, "the first seed");
  arguments.add_option("--problems", problems, "how many, at most; 0: as many as there is time for");
  arguments.add_option("--most-us", most_us, "of a problem, as the model sees it")
      ->check(CLI::PositiveNumber);
  arguments.add_flag("--json", json, "of other benchmarks; this one prints JSON alone");
  CLI11_PARSE(arguments, count, words);
  try {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const device gpu = device::open();
    quantised_measurement measure(gpu);
    const bool is_emulator = gpu.is_emulator();
    if (is_emulator && problems == 0) problems = 3;
    std::printf(
        "{\"device\": \"%s\", \"fields\": [\"name\", \"model_us\", \"us\", \"dropped\", \"start_clocks\", \"rate\", "
        "\"step_clocks\", \"blocks\", \"at_once\", \"steps\", \"clusters\", \"exchanges\", \"halves\", \"cluster_splits\", "
        "\"operations\", \"operations_in_clock\", \"shared_bytes\", \"loaded_bytes\", \"copied\", "
        "\"crossing_bytes\", \"short_lines\", \"odd_vectors\", \"outside_vectors\", \"results\", \"outside\", "
        "\"result_bytes\", \"bias\", \"addends\", \"activation\", \"read_and_written\", \"sums\"]}\n",
        std::string(gpu.description()).c_str());
    std::vector<double> lost[2];
    std::uint64_t done = 0;
    for (std::uint64_t seed = first; problems == 0 || done < problems; ++seed) {
      if (std::chrono::duration<double>(clock::now() - begin).count() > seconds) break;
      const quantised_problem p = quantised_problem::draw(seed);
      if (is_emulator && p.m * p.n * p.k > std::int64_t{1} << 23) continue;
      if (!measure.fits(p) || measure.model_us(p) > most_us) continue;
      const std::vector<timed_kernel> all = measure.time(p);
      print(p, all);
      std::fflush(stdout);
      double best = all.front().us;
      for (const timed_kernel& one : all) best = std::min(best, one.us);
      if (best > 0) lost[p.is_fp8 ? 0 : 1].push_back(all.front().us / best - 1);
      ++done;
    }
    if (!is_emulator) {
      report("matmul_fp8", lost[0]);
      report("matmul_int8", lost[1]);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
