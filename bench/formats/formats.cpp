// Times ops::dequantise and ops::quantise_weights next to a copy of equal size. The rate is bytes of codes, scales and
// matrix over time.
//
//   formats [--json] [--seconds S] [--type f16|bf16] [--shape NxK]... [--work FORMAT]...
//
// FORMAT is a name of GGUF, nf4, mx (MXFP4), nv (NVFP4) or fp8 (128 x 128), and of quantisers to:Q4_0, to:Q8_0, to:nf4,
// to:mx, to:nv, to:w4. Operands are random, and outputs are checked in double precision. The protocols, cold and burst, are
// those of bench/matmul/timing.hpp.

#include "bench/attention/report.hpp"
#include "bench/formats/measure.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"

#include <kaio/kaio.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct settings {
  bool json = false;
  double seconds = 0.1;
  std::string type = "bf16";
  std::vector<std::string> shapes, works;
};

template <class T>
bool run(device& gpu, const settings& how, report& to) {
  clock_sampler clock(bus_id(gpu));
  format_bench<T> each(gpu, clock, how.seconds);
  bool right = true;
  for (const std::string& shape : how.shapes)
    for (const std::string& work : how.works) {
      const format_problem p = format_problem::of(shape, work).value();
      const measured_format m = each.measure(p);
      to.add(shape, work, "kaio", "dequantise", "cold", m.own.cold_us, m.own.error, m.own.cold_mhz);
      to.add(shape, work, "copy", "driver", "cold", m.copy.cold_us, 0, m.copy.cold_mhz);
      to.add(shape, work, "kaio", "dequantise", "burst", m.own.burst_us, m.own.error, m.own.burst_mhz);
      to.add(shape, work, "copy", "driver", "burst", m.copy.burst_us, 0, m.copy.burst_mhz);
      // Decoded numbers are rounded once. Codes of four bits are off normal numbers by an eighth, of eight by a hundredth.
      if (m.own.error < (p.writes() ? 0.2 : std::is_same_v<T, f16> ? 1e-3 : 6e-3)) continue;
      std::fprintf(stderr, "%s:%s: WRONG, error %.2e\n", shape.c_str(), work.c_str(), m.own.error);
      right = false;
    }
  return right;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of weights in the formats of files as matrices, and of the way back.");
  arguments.add_flag("--json", how.json, "a JSON object for each line");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--type", how.type, "of the matrix")->check(CLI::IsMember({"f16", "bf16"}));
  arguments.add_option("--shape", how.shapes, "NxK")->check([](const std::string& text) {
    return format_problem::of(text, "Q4_0") ? std::string() : text + " is not NxK, K a multiple of 256";
  });
  arguments.add_option("--work", how.works, "Q4_K, nf4, to:Q4_0, ...")->check([](const std::string& text) {
    return format_problem::of("16x256", text) ? std::string() : text + " is no format of this benchmark";
  });
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (how.shapes.empty()) how.shapes = {gpu.is_emulator() ? "16x256" : "14336x4096"};
    if (how.works.empty())
      for (const format_case& c : format_cases()) how.works.push_back(c.work);
    report to{.benchmark = "formats",
              .device = gpu.properties().name,
              .type = how.type,
              .json = how.json,
              .rate = "tbs"};
    to.amount = [](const std::string& shape, const std::string& work) -> std::optional<double> {
      const auto p = format_problem::of(shape, work);
      return p ? std::optional(p->bytes(2)) : std::nullopt;
    };
    return (how.type == "f16" ? run<f16>(gpu, how, to) : run<bf16>(gpu, how, to)) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
