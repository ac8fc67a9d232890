// How fast the emulator is: kernels of several kinds, plain and under the sanitizer, on one host thread or several.
//
//   emulator [--json] [--runs N] [--threads N] [--plain]
//
// On one thread the seconds are those of the processor, so other programs do not count; on several they are those
// of the clock. --plain leaves the sanitizer out.
// A warp instruction is one instruction for the 32 lanes of a warp; lane instructions are 32 times as many.
// Floors: 15 million warp instructions a second plain and 3 million with every check, and for the product of
// two 256 x 256 matrices 0.2 s and 0.8 s.

#include "emulator/emulator.hpp"
#include "bench/emulator/kernels.hpp"
#include "bench/instructions/kernels.hpp"
#include "emulator/sanitizer/sanitizer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
namespace emulator = kaio::emulator;

namespace {

struct settings {
  bool json = false;
  int runs = 5;
  unsigned threads = 1;
  bool plain = false;
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

  measured run(bool checked, unsigned threads) {
    emulator::launch l;
    l.mod = &module_;
    l.kernel = entry_;
    l.grid = grid_;
    l.block = image_.block;
    l.parameters = parameters_;
    l.image = &image_;
    l.threads = threads;
    std::atomic<std::uint64_t> executed{0};
    l.executed = &executed;
    emulator::sanitizer checks{emulator::sanitizer_options{}};
    if (checked) l.observers.push_back(&checks);
    const std::clock_t used = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    emulator::run(l, memory_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double of_processor = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
    return {threads == 1 ? of_processor : took.count(), static_cast<double>(executed.load())};
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
    if (checked && how.plain) continue;
    std::vector<measured> runs;
    for (int i = 0; i < how.runs; ++i) runs.push_back(kernel.run(checked, how.threads));
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
    } else if (word == "--plain") {
      how.plain = true;
    } else if (word == "--runs" && number > 0) {
      how.runs = number;
      ++i;
    } else if (word == "--threads" && number > 0) {
      how.threads = static_cast<unsigned>(number);
      ++i;
    } else {
      std::fprintf(stderr, "usage: emulator [--json] [--runs N] [--threads N] [--plain]\n");
      return 2;
    }
  }
  if (how.json && how.threads != 1) {
    std::fprintf(stderr, "emulator: recorded figures are those of one thread\n");
    return 2;
  }
  constexpr std::size_t words_of_matrix = 256 * 256 * 4;
  const std::size_t line = 64 * 256 * 4;
  namespace kernels = bench::emulated;
  measure(how, "arithmetic", {kernels::arithmetic.image(), {64, 1, 1}, {0, 200}, {line}});
  measure(how, "divergence", {kernels::divergence.image(), {64, 1, 1}, {0, 100}, {line}});
  measure(how, "idle blocks", {kernels::idle_blocks.image(), {1 << 18, 1, 1}, {0, 128}, {128 * 4}});
  measure(how, "copy of vectors",
          {kernels::copy_vectors.image(), {64, 1, 1}, {0, 1, 200}, {line * 16, line * 16}});
  measure(how, "copy of numbers",
          {kernels::copy_numbers.image(), {64, 1, 1}, {0, 1, 200}, {line * 4, line * 4}});
  measure(how, "copy of every fourth",
          {kernels::copy_apart.image(), {64, 1, 1}, {0, 1, 200}, {line * 4, line * 4}});
  measure(how, "mma.sync m16n8k16",
          {kernels::products_of_warp.image(), {16, 1, 1}, {0, 1, 200}, {line, line}});
  measure(how, "wgmma m64n128k16",
          {kernels::products_of_warpgroup.image(), {4, 1, 1}, {0, 1, 10}, {line, line}});
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
