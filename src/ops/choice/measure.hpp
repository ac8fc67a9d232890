#pragma once
// A tuner's measurements: memory that replaces the caller's, and the times of all variants on it.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/event.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/choice/tune_store.hpp"

namespace kaio::ops {

// Words of the random pattern that fills memory, repeated. No power of two, so that rows do not repeat.
inline constexpr std::uint32_t pattern_words = 65521;

// Random numbers of T from -1 to 1, as words.
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

// Random bits, for integers.
buffer<u32> make_pattern_of_bytes(const device& gpu);
buffer<u32> make_pattern_of(const device& gpu, element_kind kind);

// Memory that replaces an operand's, of equal size and alignment. Zeros, unless filled.
class stand_in {
 public:
  stand_in(const device& gpu, std::uint64_t address, std::uint64_t bytes)
      : offset_(address % 256), memory_(gpu.allocate<u32>((bytes + offset_ + 3) / 4 + 1)) {}
  void fill(const stream& s, const buffer<u32>& pattern);
  // Writes words from byte `first` on; `first` and the address are multiples of 4.
  void put(const stream& s, std::uint64_t first, const std::vector<u32>& words);

  std::uint64_t address() const { return memory_.address() + offset_; }
  std::uint64_t bytes() const { return memory_.bytes() - offset_; }
  const void* device() const { return memory_.as_argument().device; }

 private:
  std::uint64_t offset_;
  buffer<u32> memory_;
};

// All memory of a trial.
class stand_ins {
 public:
  explicit stand_ins(const device& gpu) : gpu_(&gpu) {}
  // Adds memory, filled with the pattern if there is one.
  stand_in& add(std::uint64_t address, std::uint64_t bytes, const buffer<u32>* pattern = nullptr);
  // Replaces the memory of a view, if it exists, from its first element in memory to its last one.
  void replace(any_view& v, const buffer<u32>* pattern = nullptr) {
    replace(v.facts(), v.address, v.bytes, v.device, pattern);
  }
  template <class T, std::size_t Rank>
  void replace(tensor_view<T, Rank>& v) {
    any_view own(v);
    replace(own);
    if (own.address == v.address()) return;
    v = [&]<std::size_t... D>(std::index_sequence<D...>) {
      return tensor_view<T, Rank>(
          device_pointer<std::remove_const_t<T>>{own.address, own.bytes / sizeof(T), own.device},
          ops::extents<Rank>(v.extent(D)...), ops::strides<Rank>(v.stride(D)...));
    }(std::make_index_sequence<Rank>());
  }
  workspace_view add_workspace(std::uint64_t bytes);
  const device& gpu() const { return *gpu_; }
  std::uint64_t bytes() const;

 private:
  void replace(const detail::view_facts& v, std::uint64_t& address, std::uint64_t& bytes, const void*& device,
               const buffer<u32>* pattern);

  const device* gpu_;
  std::vector<stand_in> memory_;
};

// Makes trials, each a call on memory of its own, until together they exceed the L2 cache twice over, at most
// 16. A run then finds its operands in memory, as in a program. make() returns one; Trial::bytes() is its
// memory.
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

// Seconds of run(stream, trial): the median of `repetitions` times. Each time is one pass over all trials.
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

// Sorts the entries of a report, names the fastest, and remembers it for `key` if `how` says so.
void conclude(tune_report& report, const device_properties& device, std::string_view key,
              const tune_options& how);

// Measures each of `choices` and reports. `before` names the choice that calls took until now.
// name_of(choice) is a choice's name; run(stream, trial, choice) launches it. The fastest is remembered for
// `key`, if `how` says so.
template <class Choices, class Trial, class NameOf, class Run>
tune_report measure_choices(const device& gpu, const Choices& choices, const std::vector<Trial>& trials,
                            const NameOf& name_of, const Run& run, std::string_view before,
                            std::string_view key, const tune_options& how) {
  tune_report report;
  report.variant_before = before;
  for (const auto& choice : choices) {
    report.entries.push_back({std::string(name_of(choice)),
                              measure_trials(gpu, trials, how.repetitions,
                                             [&](const stream& s, const Trial& t) { run(s, t, choice); })});
    if (report.entries.back().variant == before) report.seconds_before = report.entries.back().seconds;
  }
  conclude(report, gpu.properties(), key, how);
  return report;
}

}  // namespace kaio::ops
