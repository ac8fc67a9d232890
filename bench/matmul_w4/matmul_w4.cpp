// How long ops::matmul_w4 and matmul_w8 take, on random numbers, next to torch's kernel for int4 (tinygemm),
// bitsandbytes' for nf4 and fp4, torch's for int8, and its matmul of weights that are not quantised.
//
//   matmul_w4 [--json] [--seconds S] [--type f16|bf16] [--shape NxKxGROUP]... [--work mM]... [--variant NAME]
//             [--codes int4|nf4|fp4|mxfp4|nvfp4|q4_1|int8|e4m3|q5_1] [--parts P] [--no-peers] [--matmul]
//
// With --matmul kaio's product with weights of 16 bits is timed too. Groups are those of --shape, except for mxfp4,
// q4_1, q5_1 (32) and nvfp4 (16). M is the rows of x. Without --shape those of the table of figures, without --work
// m1, m16 and m64. The rate is bytes of codes, scales, x and y over time. Sampled elements are compared with double
// precision. The protocols, cold and burst, are those of bench/matmul/timing.hpp.

#include "bench/attention/report.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul_w4/measure.hpp"

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
  bool json = false, no_peers = false, matmul = false;
  double seconds = 0.5;
  std::string type = "bf16", variant, codes = "int4";
  std::uint32_t splits = 0;
  std::vector<std::string> shapes, works;
};

template <class T>
bool run(device& gpu, const settings& how, const std::vector<w4_bench_problem>& problems, report& to) {
  clock_sampler clock(bus_id(gpu));
  matmul_w4_bench<T> each(gpu, clock, how.seconds);
  bool right = true;
  for (const w4_bench_problem& p : problems) {
    const measured m = each.measure(p, codes_of(how.codes), how.variant, how.splits);
    to.add(p.shape(), p.work(), "kaio", m.kernel, "cold", m.cold_us, m.error, m.cold_mhz);
    to.add(p.shape(), p.work(), "kaio", m.kernel, "burst", m.burst_us, m.error, m.burst_mhz);
    if (how.matmul) {
      const measured of_matrix = each.measure_matrix(p);
      to.add(p.shape(), p.work(), "kaio_matmul", of_matrix.kernel, "cold", of_matrix.cold_us, 0,
             of_matrix.cold_mhz);
      to.add(p.shape(), p.work(), "kaio_matmul", of_matrix.kernel, "burst", of_matrix.burst_us, 0,
             of_matrix.burst_mhz);
    }
    if (m.error < (std::is_same_v<T, f16> ? 1e-3 : 6e-3)) continue;
    std::fprintf(stderr, "%s %s:%s: WRONG\n", how.type.c_str(), p.shape().c_str(), p.work().c_str());
    right = false;
  }
  return right;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of products with weights of four or eight bits, and of their peers.");
  arguments.add_flag("--json", how.json, "a JSON object for each line");
  arguments.add_flag("--no-peers", how.no_peers, "kaio alone");
  arguments.add_flag("--matmul", how.matmul, "also a product with weights of 16 bits");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--type", how.type, "of the activations")->check(CLI::IsMember({"f16", "bf16"}));
  arguments.add_option("--variant", how.variant, "the kernel that runs, as matmul_w4_choice names it");
  arguments.add_option("--codes", how.codes, "of the weights")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(names_of_codes), std::end(names_of_codes))));
  arguments.add_option("--splits", how.splits, "into how many K is divided; 0: as matmul_w4_choice has it")
      ->check(CLI::NonNegativeNumber);
  arguments.add_option("--shape", how.shapes, "NxKxGROUP")->check([](const std::string& text) {
    return w4_bench_problem::of(text, "m1") ? std::string()
                                            : text + " is not NxKxGROUP, K a multiple of GROUP";
  });
  arguments.add_option("--work", how.works, "m1, m16, ...: rows of x")->check([](const std::string& text) {
    return w4_bench_problem::of("16x16x16", text) ? std::string() : text + " is not m1, m2, ...";
  });
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (how.shapes.empty() && gpu.is_emulator()) how.shapes = {"64x256x128"};
    if (how.shapes.empty()) how.shapes = {"4096x4096x128", "8192x8192x128", "14336x4096x128"};
    if (how.works.empty()) how.works = {"m1", "m16", "m64"};
    std::vector<w4_bench_problem> problems;
    for (const std::string& shape : how.shapes)
      for (const std::string& work : how.works) problems.push_back(w4_bench_problem::of(shape, work).value());
    report to{.benchmark = "matmul_w4",
              .device = gpu.properties().name,
              .type = how.codes == "int4" ? how.type : how.type + " " + how.codes,
              .json = how.json,
              .rate = "tbs"};
    to.amount = [codes = codes_of(how.codes)](const std::string& shape,
                                              const std::string& work) -> std::optional<double> {
      const auto p = w4_bench_problem::of(shape, work);
      return p ? std::optional(p->bytes(codes)) : std::nullopt;
    };
    const bool right =
        how.type == "f16" ? run<f16>(gpu, how, problems, to) : run<bf16>(gpu, how, problems, to);
    if (!how.no_peers && !gpu.is_emulator()) {
      std::vector<std::string> cases;
      for (const w4_bench_problem& p : problems) cases.push_back(p.shape() + ":" + p.work());
      to.run_peers(std::filesystem::path(__FILE__).parent_path() / "peers.py",
                   "--seconds " + std::to_string(how.seconds), cases);
    }
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
