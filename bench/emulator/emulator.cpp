// How fast the emulator is, on one core: kernels of several kinds, plain and under the sanitizer. A kernel
// of one block gets one core; with more cores the speed multiplies.
//
//   emulator [--json] [--runs N]
//
// A warp instruction is one instruction for the 32 lanes of a warp; lane instructions are 32 times as many.
// Floors: 15 million warp instructions a second plain and 3 million with every check, and for the product of
// two 256 x 256 matrices 0.2 s and 0.8 s.

#include "emulator/emulator.hpp"
#include "bench/instructions/kernels.hpp"
#include "emulator/sanitizer/sanitizer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
namespace emulator = kaio::emulator;

namespace {

// Arithmetic alone: registers, a loop, no memory but one store.
inline constexpr auto arithmetic =
    kernel<"emulator_arithmetic", 256>([](thread t, out<f32> y, val<u32> rounds) {
      val i = t.global_id();
      var x(t, cast<f32>(i));
      var state(t, i);
      for (auto k : t.range(0u, rounds).no_unroll()) {
        x = fma(x, 0.999f, 1.0f);
        state = (state ^ (state << 13u)) + k;
        x += cast<f32>(state & 7u);
      }
      y[i] = x;
    });

// Every lane of a warp goes its own way through a loop.
inline constexpr auto divergence =
    kernel<"emulator_divergence", 256>([](thread t, out<u32> y, val<u32> rounds) {
      val i = t.global_id();
      var state(t, i + 1);
      for (auto k : t.range(0u, rounds).no_unroll()) {
        if (auto odd = t.when((state & 1u) == 1u)) state = state * 3u + k;
        if (auto even = t.when((state & 1u) == 0u)) state = state >> 1u;
      }
      y[i] = state;
    });

// Blocks that have nothing to do, as at the ragged end of a grid: what a block costs by itself.
inline constexpr auto idle_blocks = kernel<"emulator_idle_blocks", 128>([](thread t, out<u32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) y[i] = i;
});

struct settings {
  bool json = false;
  int runs = 5;
};

struct measured {
  double seconds = 0;
  double instructions = 0;  // of warps
};

class launched_kernel {
 public:
  launched_kernel(const ptx::kernel_image& image, ptx::dim3 grid, std::vector<std::uint64_t> arguments,
                  std::vector<std::size_t> buffers)
      : image_(image),
        module_(emulator::parse_module(text_of(image), emulator::architecture{})),
        grid_(grid) {
    for (const std::size_t bytes : buffers) {
      const std::uint64_t address = memory_.allocate(bytes);
      std::vector<float> values(bytes / sizeof(float));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) * 0.25f;
      memory_.write(address, values.data(), bytes);
      addresses_.push_back(address);
    }
    // A small number names a buffer; parameters of pointers are 8 bytes wide.
    entry_ = module_.find(image.name);
    parameters_.resize(entry_->parameter_bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const emulator::layout& place = entry_->parameters[i];
      const std::uint64_t value =
          image.parameters[i].access == ptx::access::scalar ? arguments[i] : addresses_[arguments[i]];
      std::memcpy(parameters_.data() + place.offset, &value, place.bytes);
    }
  }

  measured run(bool checked) {
    emulator::launch l;
    l.mod = &module_;
    l.kernel = entry_;
    l.grid = grid_;
    l.block = image_.block;
    l.parameters = parameters_;
    l.image = &image_;
    l.threads = 1;
    std::atomic<std::uint64_t> executed{0};
    l.executed = &executed;
    emulator::sanitizer checks{emulator::sanitizer_options{}};
    if (checked) l.observers.push_back(&checks);
    const auto begin = std::chrono::steady_clock::now();
    emulator::run(l, memory_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {took.count(), static_cast<double>(executed.load())};
  }

 private:
  static std::string text_of(const ptx::kernel_image& image) {
    std::string text;
    ptx::with_text(image, [&](const ptx::kernel_image& whole) {
      for (std::size_t i = 0; i < whole.segment_count; ++i) text += whole.segments[i];
    });
    return text;
  }

  const ptx::kernel_image& image_;
  emulator::memory memory_;
  emulator::module module_;
  const emulator::entry* entry_ = nullptr;
  ptx::dim3 grid_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::byte> parameters_;
};

// As Linux calls it.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

void measure(const settings& how, const char* name, launched_kernel kernel) {
  for (const bool checked : {false, true}) {
    std::vector<measured> runs;
    for (int i = 0; i < how.runs; ++i) runs.push_back(kernel.run(checked));
    const auto middle = runs.begin() + how.runs / 2;
    std::nth_element(runs.begin(), middle, runs.end(),
                     [](const measured& a, const measured& b) { return a.seconds < b.seconds; });
    const double million = middle->instructions / middle->seconds * 1e-6;
    if (how.json)
      std::printf(
          "{\"benchmark\": \"emulator\", \"machine\": \"%s\", \"kernel\": \"%s\", \"checks\": \"%s\", \"seconds\": %.4f, \"warp_instructions\": %.0f, \"million_per_s\": %.2f, \"million_lane_instructions_per_s\": %.0f}\n",
          processor().c_str(), name, checked ? "all" : "none", middle->seconds, middle->instructions, million,
          million * 32);
    else
      std::printf("%-24s %-6s %8.4f s, %10.0f warp instructions: %7.2f M/s, %6.0f M lane instructions/s\n",
                  name, checked ? "all" : "none", middle->seconds, middle->instructions, million,
                  million * 32);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  settings how;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const int number = i + 1 < count ? std::atoi(words[i + 1]) : 0;
    if (word == "--json") {
      how.json = true;
    } else if (word == "--runs" && number > 0) {
      how.runs = number;
      ++i;
    } else {
      std::fprintf(stderr, "usage: emulator [--json] [--runs N]\n");
      return 2;
    }
  }
  constexpr std::size_t words_of_matrix = 256 * 256 * 4;
  const std::size_t line = 64 * 256 * 4;
  measure(how, "arithmetic", {arithmetic.image(), {64, 1, 1}, {0, 200}, {line}});
  measure(how, "divergence", {divergence.image(), {64, 1, 1}, {0, 100}, {line}});
  measure(how, "idle blocks", {idle_blocks.image(), {1 << 18, 1, 1}, {0, 128}, {128 * 4}});
  measure(how, "saxpy",
          {bench::saxpy.image(), {4096, 1, 1}, {2, 0, 1, 4096 * 256}, {4096 * 1024, 4096 * 1024}});
  measure(how, "softmax_row",
          {bench::softmax_row.image(), {128, 1, 1}, {0, 1, 1024}, {128 * 4096, 128 * 4096}});
  measure(how, "matmul 256 x 256 x 256",
          {bench::tiled_matmul.image(),
           {16, 16, 1},
           {0, 1, 2, 256},
           {words_of_matrix, words_of_matrix, words_of_matrix}});
}
