// How long ops::gate_up_project takes with one weight of both projections ("kaio"), and with two ("two"), next
// to torch's product of both alone (a floor for its users) and to its compiled steps, on random numbers.
//
//   gate_up [--json] [--seconds S] [--type f16|bf16] [--shape KxF]... [--work mM|mMw4|mMw8|mMi8|mMfp8]...
//       [--variant NAME] [--no-peers]
//
// M is the rows. w4, w8: packed weights; i8, fp8: such weights and hidden states. The rate is bytes of weights,
// x and out over time. Outputs hold NaN before the first call; sampled elements are compared with double
// precision. The protocols, cold and burst, are those of bench/matmul/timing.hpp.

#include "bench/attention/report.hpp"
#include "bench/gate_up/measure.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"

#include <kaio/kaio.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct settings {
  bool json = false, no_peers = false;
  double seconds = 0.3;
  std::string type = "bf16", variant;
  std::vector<std::string> shapes, works;
};

template <class T>
bool run(device& gpu, const settings& how, const std::vector<gate_up_bench_problem>& problems, report& to) {
  clock_sampler clock(bus_id(gpu));
  gate_up_bench<T> each(gpu, clock, how.seconds);
  bool right = true;
  for (const gate_up_bench_problem& p : problems)
    for (const auto& [contestant, m] : each.measure(p, how.variant)) {
      to.add(p.shape(), p.work(), contestant, m.kernel, "cold", m.cold_us, m.error, m.cold_mhz);
      to.add(p.shape(), p.work(), contestant, m.kernel, "burst", m.burst_us, m.error, m.burst_mhz);
      if (m.error < (std::is_same_v<T, f16> ? 3e-3 : 2e-2)) continue;
      std::fprintf(stderr, "%s %s:%s %s: WRONG\n", how.type.c_str(), p.shape().c_str(), p.work().c_str(),
                   contestant.c_str());
      right = false;
    }
  return right;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of gate_up_project, and of its peers.");
  arguments.add_flag("--json", how.json, "a JSON object for each line");
  arguments.add_flag("--no-peers", how.no_peers, "kaio alone");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--type", how.type, "of hidden states")->check(CLI::IsMember({"f16", "bf16"}));
  arguments.add_option("--variant", how.variant, "the kernel that runs, as gate_up_project_choice names it");
  arguments.add_option("--shape", how.shapes, "KxF")->check([](const std::string& text) {
    return gate_up_bench_problem::of(text, "m1") ? std::string() : text + " is not KxF";
  });
  arguments.add_option("--work", how.works, "m1, m16w4, m512fp8, ...: rows, and weights")
      ->check([](const std::string& text) {
        return gate_up_bench_problem::of("128x128", text) ? std::string()
                                                          : text + " is not m1, m1w4, m1w8, m1i8, m1fp8, ...";
      });
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (how.shapes.empty()) how.shapes = {gpu.is_emulator() ? "128x96" : "4096x14336"};
    if (how.works.empty())
      how.works = gpu.is_emulator()
                      ? std::vector<std::string>{"m1", "m3w4", "m2w8", "m2i8", "m2fp8"}
                      : std::vector<std::string>{"m1",   "m16",   "m64",   "m512",    "m2048", "m1w4",
                                                 "m1w8", "m16w4", "m1fp8", "m512fp8", "m512i8"};
    std::vector<gate_up_bench_problem> problems;
    for (const std::string& shape : how.shapes)
      for (const std::string& work : how.works)
        problems.push_back(gate_up_bench_problem::of(shape, work).value());
    report to{.benchmark = "gate_up",
              .device = gpu.properties().name,
              .type = how.type,
              .json = how.json,
              .rate = "tbs"};
    to.amount = [](const std::string& shape, const std::string& work) -> std::optional<double> {
      const auto p = gate_up_bench_problem::of(shape, work);
      return p ? std::optional(p->bytes()) : std::nullopt;
    };
    const bool right =
        how.type == "f16" ? run<f16>(gpu, how, problems, to) : run<bf16>(gpu, how, problems, to);
    if (!how.no_peers && !gpu.is_emulator()) {
      std::vector<std::string> cases;
      for (const gate_up_bench_problem& p : problems)
        if (p.weights.empty()) cases.push_back(p.shape() + ":" + p.work());
      to.run_peers(std::filesystem::path(__FILE__).parent_path() / "peers.py",
                   "--seconds " + std::to_string(how.seconds), cases);
    }
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
