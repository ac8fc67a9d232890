// How long ops::matmul_int8 takes, next to torch._int_mm (cuBLASLt's product of i8), on random numbers.
//
//   matmul_int8 [--json] [--seconds S] [--shape MxNxK]... [--work i32|bf16|f32]... [--variants]
//               [--no-peers]
//
// C = A * W^T. The works are the outputs: i32 the sums, f32 by one scale, bf16 by scales of rows and columns; torch has
// the sums alone, and for bf16 its two kernels more. The rate is 2 M N K over time. Sampled elements are compared with
// double precision. The protocols, cold and burst, are those of bench/matmul/timing.hpp.

#include "bench/attention/report.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul_int8/measure.hpp"

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

std::optional<int8_problem> problem_of(const std::string& text) {
  int8_problem p{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%ux%u%c", &p.m, &p.n, &p.k, &rest) != 3) return std::nullopt;
  if (p.m == 0 || p.n == 0 || p.k == 0) return std::nullopt;
  return p;
}

std::vector<measured> measure(matmul_int8_bench& each, const int8_problem& p, const std::string& work,
                              bool of_each) {
  if (work == "i32") return each.measure<i32>(p, of_each);
  return work == "f32" ? each.measure<f32>(p, of_each) : each.measure<bf16>(p, of_each);
}

}  // namespace

int main(int count, char** words) {
  bool json = false, no_peers = false, variants = false;
  double seconds = 0.5;
  std::vector<std::string> shapes, works;
  CLI::App arguments("Times of products of 8-bit integers, and of their peers.");
  arguments.add_flag("--json", json, "a JSON object for each line");
  arguments.add_flag("--no-peers", no_peers, "kaio alone");
  arguments.add_flag("--variants", variants, "every kernel for sm_90a, not the chosen one alone");
  arguments.add_option("--seconds", seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--shape", shapes, "MxNxK")->check([](const std::string& text) {
    return problem_of(text) ? std::string() : text + " is not MxNxK";
  });
  arguments.add_option("--work", works, "the output")->check(CLI::IsMember({"i32", "bf16", "f32"}));
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (shapes.empty() && gpu.is_emulator()) shapes = {"130x264x208", "8x256x304"};
    if (shapes.empty())
      shapes = {"8192x8192x8192", "4096x4096x4096", "2048x4096x7168", "1024x1024x1024", "64x8192x8192",
                "16x8192x8192",   "1x8192x8192",    "64x4096x4096",   "16x4096x4096",   "1x4096x4096"};
    if (works.empty()) works = {"i32", "bf16", "f32"};
    report to{.benchmark = "matmul_int8", .device = gpu.properties().name, .type = "i8", .json = json};
    to.amount = [](const std::string& shape, const std::string&) -> std::optional<double> {
      const std::optional<int8_problem> p = problem_of(shape);
      if (!p) return std::nullopt;
      return p->operations();
    };
    clock_sampler clock(bus_id(gpu));
    matmul_int8_bench each(gpu, clock, seconds);
    bool right = true;
    std::vector<std::string> cases;
    for (const std::string& shape : shapes)
      for (const std::string& work : works) {
        cases.push_back(shape + ":" + work);
        bool is_best = true;
        for (const measured& m : measure(each, problem_of(shape).value(), work, variants)) {
          const char* const who = is_best ? "kaio" : m.kernel.c_str();
          to.add(shape, work, who, m.kernel, "cold", m.cold_us, m.error, m.cold_mhz);
          to.add(shape, work, who, m.kernel, "burst", m.burst_us, m.error, m.burst_mhz);
          is_best = false;
          if (m.error <= (work == "i32" ? 0 : work == "f32" ? 1e-7 : 4e-3)) continue;
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
