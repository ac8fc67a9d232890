// Times ops::attention_decode next to torch's scaled_dot_product_attention, by cuDNN and by FlashAttention,
// and next to FlashInfer if it is installed, on random numbers.
//
//   attention_decode [--json] [--seconds S] [--type f16|bf16|f32] [--cache e4m3|e5m2|i8 [--scales-by-key]]
//                    [--shape BxSxHxHkvxD]... [--work NAME]...
//                    [--random COUNT [--seed N]] [--no-peers] [--forms] [--constants]
//
// S is the number of keys of a sequence. Without --shape the shapes are those of the table of figures.
// problem.hpp lists the works; without --work they are contiguous and pages_16. The rate is bytes of K, V, Q
// and O over time. Sampled elements are compared with double precision. bench/matmul/timing.hpp defines the
// protocols, cold and burst.
//
//   --random     other shapes and works; prints the geometric mean and the worst of the ratios to the best
//                peer
//   --cache      a cache of 8 bits, without peers
//   --forms      each problem in all forms, in one run: keys added up by a second kernel, in one split, and
//                in clusters of 2 to 16 blocks
//   --constants  only measures the constants of the forms' cost model
//                (src/ops/attention/decode/choice/forms.hpp)

#include "bench/attention/report.hpp"
#include "bench/attention_decode/measure.hpp"
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
  bool json = false, no_peers = false, by_key = false, forms = false, constants = false;
  double seconds = 0.5;
  u32 random = 0, seed = 1;
  std::string type = "bf16", cache;
  std::vector<std::string> shapes, works;
};

report report_of(const settings& how, const device& gpu) {
  report result{.benchmark = "attention_decode",
                .device = gpu.properties().name,
                .type = how.type + (how.cache.empty() ? "" : " " + how.cache) + (how.by_key ? " by key" : ""),
                .json = how.json,
                .seed = how.seed,
                .rate = "tbs"};
  const double of_element = how.type == "f32" ? 4.0 : 2.0;
  result.amount = [of_element, of_cached = how.cache.empty() ? of_element : 1.0](
                      const std::string& shape, const std::string& name) -> std::optional<double> {
    std::optional<decode_problem> p = decode_problem_of(shape.c_str());
    const std::optional<decode_work> what = decode_work_of(name);
    if (!p || !what) return std::nullopt;
    p->what = *what;
    return p->bytes(of_element, of_cached);
  };
  return result;
}

std::vector<decode_problem> problems_of(const settings& how, bool emulated) {
  if (how.random != 0) return random_decode_problems(how.random, how.seed);
  std::vector<std::string> shapes = how.shapes, works = how.works;
  if (shapes.empty() && emulated) shapes = {"2x200x4x2x64", "1x300x2x1x128"};
  if (shapes.empty())
    shapes = {"16x8192x32x8x128", "64x4096x32x8x128", "1x8192x32x8x128",
              "1x1024x32x8x128",  "4x512x32x8x128",   "8x32768x32x8x128"};
  if (works.empty()) works = {"contiguous", "pages_16"};
  std::vector<decode_problem> result;
  for (const std::string& shape : shapes)
    for (const std::string& name : works) {
      result.push_back(decode_problem_of(shape.c_str()).value());
      result.back().what = decode_work_of(name).value();
    }
  return result;
}

template <class T, class C = T>
bool run(device& gpu, const settings& how, const std::vector<decode_problem>& problems, report& to) {
  clock_sampler clock(bus_id(gpu));
  attention_decode_bench<T, C> each(gpu, clock, how.seconds, how.by_key);
  bool right = true;
  for (const decode_problem& p : problems) {
    for (const auto& [form, m] : each.measure(p, how.forms)) {
      const std::string name = form.name + (how.forms && form.name == "kaio" ? "=" + m.kernel : "");
      to.add(p.shape(), p.work_name(), how.json ? form.name : name, m.kernel, "cold", m.cold_us, m.error,
             m.cold_mhz);
      to.add(p.shape(), p.work_name(), how.json ? form.name : name, m.kernel, "burst", m.burst_us, m.error,
             m.burst_mhz);
      if (m.error < (sizeof(T) == 4 ? 1e-4 : std::is_same_v<T, f16> ? 5e-3 : 4e-2)) continue;
      std::fprintf(stderr, "%s %s:%s %s: WRONG\n", how.type.c_str(), p.shape().c_str(), p.work_name().c_str(),
                   form.name.c_str());
      right = false;
    }
  }
  return right;
}

// Measures the model's constants: each from bursts that differ in little else, over sequences with 8 heads of keys.
template <class T, class C = T>
bool print_constants(device& gpu, const settings& how) {
  clock_sampler clock(bus_id(gpu));
  attention_decode_bench<T, C> each(gpu, clock, how.seconds);
  using enum ops::attention_combining;
  const auto us = [&](u32 batches, u32 keys, u32 parts, ops::attention_combining combining) {
    return each
        .measure({.batches = batches, .keys = keys, .heads = 32, .key_heads = 8, .size = 128},
                 {.splits = parts, .combining = combining})
        .burst_us;
  };
  constexpr u32 tile = 64;  // keys, of the kernels for head size 128
  const double one = us(1, tile, 1, second_kernel), long_one = us(1, 17 * tile, 1, second_kernel);
  const double of_tile = (long_one - one) / 16;
  const double second_2 = us(1, 2 * tile, 2, second_kernel), second_32 = us(1, 32 * tile, 32, second_kernel);
  const double of_part = (second_32 - second_2) / 30;
  std::printf("%s: start %.2f tile %.2f second_kernel %.2f of_part %.3f", how.type.c_str(), one - of_tile,
              of_tile, second_2 - one - 2 * of_part, of_part);
  try {
    const double cluster_2 = us(1, 2 * tile, 2, cluster), cluster_16 = us(1, 16 * tile, 16, cluster);
    const double of_block = (cluster_16 - cluster_2) / 14;
    std::printf(" cluster %.2f of_block %.3f", cluster_2 - one - 2 * of_block, of_block);
  } catch (const unsupported_device&) {
    std::printf(" (no clusters)");
  }
  const u32 batches = gpu.is_emulator() ? 1 : 16, keys = gpu.is_emulator() ? 128 : 8192;
  const double all =
      decode_problem{.batches = batches, .keys = keys, .heads = 32, .key_heads = 8, .size = 128}.bytes(
          sizeof(T), sizeof(C));
  std::printf(" rate %.3g\n", all / (us(batches, keys, 0, automatic) - (one - of_tile)));
  return true;
}

template <class T>
bool run_with_cache(device& gpu, const settings& how, const std::vector<decode_problem>& problems,
                    report& to) {
  return how.cache == "e4m3"   ? run<T, e4m3>(gpu, how, problems, to)
         : how.cache == "e5m2" ? run<T, e5m2>(gpu, how, problems, to)
         : how.cache == "i8"   ? run<T, i8>(gpu, how, problems, to)
                               : run<T>(gpu, how, problems, to);
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of attention over caches, and of its peers.");
  arguments.add_flag("--json", how.json, "a JSON object for each line");
  arguments.add_flag("--no-peers", how.no_peers, "kaio alone");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--type", how.type, "of the tensors")->check(CLI::IsMember({"f16", "bf16", "f32"}));
  arguments.add_option("--cache", how.cache, "of the cache where it is of 8 bits")
      ->check(CLI::IsMember({"e4m3", "e5m2", "i8"}));
  arguments.add_flag("--forms", how.forms, "each problem in all forms that its kernels have");
  arguments.add_flag("--constants", how.constants, "the constants of the model of the forms' times, alone");
  arguments.add_flag("--scales-by-key", how.by_key, "of a cache of 8 bits: one for each key of a head");
  arguments.add_option("--shape", how.shapes, "BxSxHxHkvxD")->check([](const std::string& text) {
    return decode_problem_of(text.c_str()) ? std::string()
                                           : text + " is not BxSxHxHkvxD, H a multiple of Hkv";
  });
  arguments.add_option("--work", how.works, "contiguous, pages_16, ...: bench/attention_decode/problem.hpp")
      ->check([](const std::string& text) {
        return decode_work_of(text) ? std::string() : "there is no " + text;
      });
  arguments.add_option("--random", how.random, "how many random problems in place of shapes and works");
  arguments.add_option("--seed", how.seed, "of the random problems");
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (how.constants)
      return (how.type == "f16"    ? print_constants<f16>(gpu, how)
              : how.type == "bf16" ? print_constants<bf16>(gpu, how)
                                   : print_constants<f32>(gpu, how))
                 ? 0
                 : 1;
    const std::vector<decode_problem> problems = problems_of(how, gpu.is_emulator());
    report to = report_of(how, gpu);
    const bool right = how.type == "f16"    ? run_with_cache<f16>(gpu, how, problems, to)
                       : how.type == "bf16" ? run_with_cache<bf16>(gpu, how, problems, to)
                                            : run_with_cache<f32>(gpu, how, problems, to);
    if (!how.no_peers && how.cache.empty() && !gpu.is_emulator()) {  // peers have none of the late works
      std::vector<std::string> cases;
      for (const decode_problem& p : problems)
        if (!p.is_late()) cases.push_back(p.shape() + ":" + p.work_name());
      to.run_peers(std::filesystem::path(__FILE__).parent_path() / "peers.py",
                   "--seconds " + std::to_string(how.seconds), cases);
    }
    if (how.random != 0) to.print_summary();
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
