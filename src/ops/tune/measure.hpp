#pragma once
// The measurements of a tuner: memory in place of the caller's, and the times of all variants on it.

#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/event.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ops/tune/tune_store.hpp"

namespace kaio::ops {

// Words of a pattern, again and again: random numbers of any type, whose length is not a power of two so that
// rows do not repeat.
inline constexpr std::uint32_t pattern_words = 65521;

// Numbers of T from -1 to 1, in words.
template <class T>
buffer<u32> make_pattern(const device& gpu) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<std::uint32_t> words(pattern_words);
  std::vector<T> numbers(words.size() * 4 / sizeof(T));
  for (T& x : numbers) x = T(any(engine));
  std::copy_n(reinterpret_cast<const unsigned char*>(numbers.data()), words.size() * 4,
              reinterpret_cast<unsigned char*>(words.data()));
  return gpu.upload(words);
}

// Any bits, for integers.
buffer<u32> make_pattern_of_bytes(const device& gpu);

// Memory in place of an operand's: as much, and as aligned. Zeros, unless it is filled.
class stand_in {
 public:
  stand_in(const device& gpu, std::uint64_t address, std::uint64_t bytes)
      : offset_(address % 256), memory_(gpu.allocate<u32>((bytes + offset_ + 3) / 4 + 1)) {}
  void fill(const stream& s, const buffer<u32>& pattern);

  std::uint64_t address() const { return memory_.address() + offset_; }
  std::uint64_t bytes() const { return memory_.bytes() - offset_; }
  const void* device() const { return memory_.as_argument().device; }

 private:
  std::uint64_t offset_;
  buffer<u32> memory_;
};

// As many trials, each a call on memory of its own, as do not fit into the L2 cache together, so that a run
// finds its operands where a program would: in memory. make() returns one; Trial::bytes() is its memory.
template <class Trial, class Make>
std::vector<Trial> make_trials(const device& gpu, const Make& make) {
  constexpr std::size_t most_trials = 16;
  std::vector<Trial> trials;
  trials.push_back(make());
  const std::uint64_t wanted = gpu.is_emulator() ? 0 : 2 * std::uint64_t{gpu.properties().l2_bytes};
  while (trials.size() < most_trials && trials[0].bytes() * trials.size() < wanted) trials.push_back(make());
  gpu.stream().synchronize();
  return trials;
}

// Seconds of run(stream, trial): the median of `repetitions` times that go once through all trials each.
template <class Trial, class Run>
double measure_trials(const device& gpu, const std::vector<Trial>& trials, std::uint32_t repetitions,
                      const Run& run) {
  const stream& s = gpu.stream();
  const auto run_all = [&] {
    for (const Trial& t : trials) run(s, t);
  };
  run_all();
  s.synchronize();
  std::vector<double> samples;
  event begin = gpu.create_event(), end = gpu.create_event();
  for (std::uint32_t i = 0; i < std::max(repetitions, 1u); ++i) {
    s.record(begin);
    run_all();
    s.record(end);
    samples.push_back(elapsed_ms(begin, end) * 1e-3 / static_cast<double>(trials.size()));
  }
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2),
                   samples.end());
  return samples[samples.size() / 2];
}

// Sorts the entries of a report, names the fastest, and remembers it for `key` where that is wanted.
void conclude(tune_report& report, const device_properties& device, std::string_view key,
              const tune_options& how);

}  // namespace kaio::ops
