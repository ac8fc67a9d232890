// How long ops::matmul_fp8 takes, next to torch._scaled_mm (cuBLASLt and CUTLASS), on random numbers of e4m3.
//
//   matmul_fp8 [--json] [--seconds S] [--shape MxNxK]... [--work tensor|rows|blocks]... [--variants] [--no-peers]
//
// C = A * W^T in bf16. The works are the scales: one for A and one for W; of rows and of columns; of 1 x 128 of A and
// 128 x 128 of W. The rate is 2 M N K over time. Sampled elements are compared with double precision. The protocols, cold
// and burst, are those of bench/matmul/timing.hpp.

#include "bench/attention/report.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul_fp8/measure.hpp"

#include <kaio/kaio.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

std::optional<fp8_problem> problem_of(const std::string& text) {
  fp8_problem p{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%ux%u%c", &p.m, &p.n, &p.k, &rest) != 3) return std::nullopt;
  if (p.m == 0 || p.n == 0 || p.k == 0) return std::nullopt;
  return p;
}

}  // namespace

int main(int count, char** words) {
  bool json = false, no_peers = false, variants = false;
  double seconds = 0.4;
  std::vector<std::string> shapes, works;
  CLI::App arguments("Times of products of 8-bit floats with scales, and of their peers.");
  arguments.add_flag("--json", json, "a JSON object for each line");
  arguments.add_flag("--no-peers", no_peers, "kaio alone");
  arguments.add_flag("--variants", variants, "every kernel for sm_90a, not the chosen one alone");
  arguments.add_option("--seconds", seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--shape", shapes, "MxNxK")->check([](const std::string& text) {
    return problem_of(text) ? std::string() : text + " is not MxNxK";
  });
  arguments.add_option("--work", works, "the scales")->check(CLI::IsMember({"tensor", "rows", "blocks"}));
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (shapes.empty() && gpu.is_emulator()) shapes = {"130x264x208", "8x256x304"};
    if (shapes.empty())
      shapes = {"8192x8192x8192", "4096x4096x4096", "4096x7168x2048", "4096x7168x16384", "4096x4096x7168",
                "1024x1024x1024", "128x7168x2048",  "64x7168x16384",  "16x8192x8192",    "1x8192x8192"};
    if (works.empty()) works = {"tensor", "rows", "blocks"};
    report to{.benchmark = "matmul_fp8", .device = gpu.properties().name, .type = "e4m3", .json = json};
    to.amount = [](const std::string& shape, const std::string&) -> std::optional<double> {
      const std::optional<fp8_problem> p = problem_of(shape);
      if (!p) return std::nullopt;
      return p->operations();
    };
    clock_sampler clock(bus_id(gpu));
    matmul_fp8_bench each(gpu, clock, seconds);
    bool right = true;
    std::vector<std::string> cases;
    for (const std::string& shape : shapes)
      for (const std::string& work : works) {
        cases.push_back(shape + ":" + work);
        bool is_best = true;
        for (const measured& m : each.measure(problem_of(shape).value(), work, variants)) {
          const char* const who = is_best ? "kaio" : m.kernel.c_str();
          to.add(shape, work, who, m.kernel, "cold", m.cold_us, m.error, m.cold_mhz);
          to.add(shape, work, who, m.kernel, "burst", m.burst_us, m.error, m.burst_mhz);
          is_best = false;
          // C is rounded to bf16; on sm_90a, sums over all of K are rounded to about 14 bits.
          if (m.error <= (work == "blocks" ? 4e-3 : 2e-2)) continue;
          std::fprintf(stderr, "%s:%s: WRONG by %s\n", shape.c_str(), work.c_str(), m.kernel.c_str());
          right = false;
        }
      }
    if (!no_peers && !gpu.is_emulator())
      to.run_peers(std::filesystem::path(__FILE__).parent_path() / "peers.py",
                   "--seconds " + std::to_string(seconds), cases);
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
