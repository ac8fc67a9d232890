// Times ops::attention next to PyTorch on random numbers: scaled_dot_product_attention by cuDNN and by
// FlashAttention, FlexAttention under torch.compile, varlen_attn, and FlashAttention-3 if it is installed.
//
//   attention [--json] [--seconds S] [--type f16|bf16|f32] [--shape BxSxHxHkvxD]... [--work NAME]...
//             [--random COUNT [--seed N]] [--no-peers] [--backward | --variants | --model | --kernels]
//
// Without --shape: B * S = 16384, H * D = 2048, S from 512 to 16384, D 64, 128 and 256. problem.hpp lists the
// works; without --work they are full and causal. Sampled elements are compared with double precision.
// bench/matmul/timing.hpp defines the protocols, cold and burst; peers.py times the peers.
//
//   --random    other shapes, each full or causal; prints the geometric mean and the worst of the ratios to
//               the best peer
//   --variants  times every kernel that can run a problem, and prints lines of JSON for fit.py; --random then
//               draws other problems than above
//   --model     prints what the cost model sees of the same problems on an H200; needs no GPU
//   --kernels   prints bench/results/attention_kernels.md
//   --backward  times ops::attention_backward next to torch's gradients by cuDNN and by FlashAttention, each
//               as it is and with deterministic algorithms (backward_peers.py)

#include "bench/attention/backward.hpp"
#include "bench/attention/calls.hpp"
#include "bench/attention/measure.hpp"
#include "bench/attention/model.hpp"
#include "bench/attention/report.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"

#include <kaio/kaio.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct settings {
  bool json = false, no_peers = false, variants = false, model = false, kernels = false, backward = false;
  double seconds = 0.5;
  u32 random = 0, seed = 1;
  std::string type = "f16";
  std::string device;  // its name
  std::vector<std::string> shapes, works;
};

std::string key_of(const problem& p) { return p.shape() + ":" + std::string(p.work_name()); }

report report_of(const settings& how) {
  report result{.benchmark = how.backward ? "attention_backward" : "attention",
                .device = how.device,
                .type = how.type,
                .json = how.json,
                .seed = how.seed};
  // The backward has five products where the forward has two.
  result.amount = [factor = how.backward ? 2.5 : 1.0](const std::string& shape,
                                                      const std::string& name) -> std::optional<double> {
    std::optional<problem> p = problem_of(shape.c_str());
    const std::optional<work> what = work_of(name);
    if (!p || !what) return std::nullopt;
    p->what = *what;
    return factor * p->operations();
  };
  return result;
}

std::vector<problem> problems_of(const settings& how, bool emulated) {
  if (how.random != 0)
    return how.variants || how.model ? random_choices(how.random, how.seed)
                                     : random_problems(how.random, how.seed);
  std::vector<problem> shapes;
  for (const std::string& text : how.shapes) shapes.push_back(problem_of(text.c_str()).value());
  if (shapes.empty() && emulated)
    shapes = {{.length = 200, .heads = 2, .size = 64}, {.length = 200, .size = 128}};
  if (shapes.empty())
    for (const u32 size : {128u, 64u, 256u})
      for (u32 length = 512; length <= 16384; length *= 2)
        shapes.push_back({16384 / length, length, 2048 / size, 2048 / size, size});
  const std::vector<std::string> works =
      how.works.empty() ? std::vector<std::string>{"full", "causal"} : how.works;
  std::vector<problem> result;
  for (problem p : shapes)
    for (const std::string& name : works) {
      p.what = work_of(name).value();
      result.push_back(p);
    }
  return result;
}

template <class T>
bool is_right(const measured& m) {
  return m.error < (sizeof(T) == 4 ? 1e-4 : std::is_same_v<T, f16> ? 5e-3 : 4e-2);
}

// {"benchmark": "attention_variants", ..., "us": {"name": us of a burst, ...}}
template <class T>
bool run_variants(attention_bench<T>& each, const settings& how, const std::vector<problem>& problems) {
  bool right = true;
  for (const problem& p : problems) {
    if (p.has_documents()) continue;
    std::string times;
    for (const std::string& name : each.variants(p)) {
      const measured m = each.measure(p, name);
      char text[160];
      std::snprintf(text, sizeof text, "%s\"%s\": %.3f", times.empty() ? "" : ", ", name.c_str(), m.burst_us);
      times += text;
      if (is_right<T>(m)) continue;
      std::fprintf(stderr, "%s %s by %s: WRONG\n", how.type.c_str(), key_of(p).c_str(), name.c_str());
      right = false;
    }
    std::printf(
        "{\"benchmark\": \"attention_variants\", \"device\": \"%s\", \"type\": \"%s\", \"shape\": \"%s\", "
        "\"work\": \"%s\", \"us\": {%s}}\n",
        how.device.c_str(), how.type.c_str(), p.shape().c_str(), std::string(p.work_name()).c_str(),
        times.c_str());
    std::fflush(stdout);
  }
  return right;
}

template <class T>
bool run(device& gpu, const settings& how, const std::vector<problem>& problems, report& to) {
  clock_sampler clock(bus_id(gpu));
  attention_bench<T> each(gpu, clock, how.seconds);
  attention_backward_bench<T> gradients(gpu, clock, how.seconds);
  if (how.variants) return run_variants(each, how, problems);
  bool right = true;
  for (const problem& p : problems) {
    if (how.backward ? !can_measure_backward(p) : !can_measure<T>(p)) continue;
    const measured m = how.backward ? gradients.measure(p) : each.measure(p);
    const std::string name(p.work_name());
    to.add(p.shape(), name, "kaio", m.kernel, "cold", m.cold_us, m.error, m.cold_mhz);
    to.add(p.shape(), name, "kaio", m.kernel, "burst", m.burst_us, m.error, m.burst_mhz);
    if (is_right<T>(m)) continue;
    std::fprintf(stderr, "%s %s: WRONG\n", how.type.c_str(), key_of(p).c_str());
    right = false;
  }
  return right;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of attention, and of its peers.");
  arguments.add_flag("--json", how.json, "a JSON object for each line");
  arguments.add_flag("--backward", how.backward, "the gradients, in place of the attention");
  arguments.add_flag("--no-peers", how.no_peers, "kaio alone");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--type", how.type, "of the tensors")->check(CLI::IsMember({"f16", "bf16", "f32"}));
  arguments.add_option("--shape", how.shapes, "BxSxHxHkvxD")->check([](const std::string& text) {
    return problem_of(text.c_str()) ? std::string() : text + " is not BxSxHxHkvxD, H a multiple of Hkv";
  });
  arguments.add_option("--work", how.works, "full, causal, ...: bench/attention/problem.hpp")
      ->check([](const std::string& text) { return work_of(text) ? std::string() : "there is no " + text; });
  arguments.add_option("--random", how.random, "how many random problems in place of shapes and works");
  arguments.add_option("--seed", how.seed, "of the random problems");
  arguments.add_flag("--variants", how.variants, "times of all kernels that can run a problem");
  arguments.add_flag("--kernels", how.kernels, "the table of which kernel serves which calls");
  arguments.add_flag("--model", how.model, "what the cost model sees of problems on an H200");
  CLI11_PARSE(arguments, count, words);
  try {
    if (how.kernels) {
      print_kernels();
      return 0;
    }
    if (how.model) {
      print_model_constants();
      for (const problem& p : problems_of(how, false)) {
        if (how.type == "f16") print_model<f16>(how.type, p);
        if (how.type == "bf16") print_model<bf16>(how.type, p);
        if (how.type == "f32") print_model<f32>(how.type, p);
      }
      return 0;
    }
    device gpu = device::open();
    how.device = gpu.properties().name;
    const std::vector<problem> problems = problems_of(how, gpu.is_emulator());
    report to = report_of(how);
    const bool right = how.type == "f16"    ? run<f16>(gpu, how, problems, to)
                       : how.type == "bf16" ? run<bf16>(gpu, how, problems, to)
                                            : run<f32>(gpu, how, problems, to);
    if (!how.no_peers && !gpu.is_emulator()) {
      std::vector<std::string> cases;
      for (const problem& p : problems) cases.push_back(key_of(p));
      to.run_peers(std::filesystem::path(__FILE__).parent_path() / "peers.py",
                   (how.backward ? "--backward --seconds " : "--seconds ") + std::to_string(how.seconds),
                   cases);
    }
    if (how.random != 0) to.print_summary();
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
