// A small language model that generates: two layers with random weights, rotary positions, grouped heads, a cache in
// shuffled pages; prompts of different lengths, then a token a step for all sequences. Nothing of a step depends on the
// host: all steps but the first one are replays of one graph. The logits of every step are compared with double
// precision over the whole sequence.

#include "generator.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::showcase::generation;

namespace {

constexpr u32 sequences = 2;

int run(device& gpu, u32 steps) {
  const model m(gpu);
  std::array<std::vector<i32>, sequences> tokens{std::vector<i32>{7, 11, 3, 42, 5, 19, 23},
                                                 std::vector<i32>{1, 30}};
  generator g(gpu, m, sequences, static_cast<u32>(tokens[0].size()) + steps);
  for (u32 b = 0; b < sequences; ++b) g.prompt(b, tokens[b]);
  double worst = 0;
  std::vector<double> milliseconds;
  const auto compare = [&] {
    const std::vector<f32> logits = g.logits();
    for (u32 b = 0; b < sequences; ++b) {
      const double error = error_of_logits(m, tokens[b], logits.data() + std::size_t{b} * vocabulary);
      if (!(error <= worst)) worst = error;
    }
  };
  compare();

  std::optional<executable_graph> replayed;
  std::string text;
  for (u32 step = 0; step < steps; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    if (replayed)
      replayed->launch(gpu.stream());
    else
      g.step();
    gpu.stream().synchronize();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(took.count());
    const std::vector<i32> chosen = g.tokens();
    for (u32 b = 0; b < sequences; ++b) tokens[b].push_back(chosen[b]);
    text += ' ' + std::to_string(chosen[0]);
    compare();
    if (!replayed)  // the first step has loaded the kernels
      replayed = capture_graph(gpu.stream(), [&] { g.step(); }).instantiate();
  }
  std::printf("  first sequence %s\n", text.c_str());
  std::sort(milliseconds.begin(), milliseconds.end());
  const double weights =
      2.0 *
      (vocabulary * hidden + layers * (hidden * (2.0 * heads + 2 * key_heads) * size + 2.0 * hidden * inner));
  return showcase::report(gpu, {std::to_string(layers) + " layers, " + std::to_string(sequences) +
                                    " sequences, " + std::to_string(steps) + " steps, replays of a graph",
                                worst, 1e-2, milliseconds[milliseconds.size() / 2], weights});
}

}  // namespace

int main() {
  return showcase::run("generation", [](device& gpu) { return run(gpu, gpu.is_emulator() ? 8 : 64); });
}
