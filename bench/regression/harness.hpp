#pragma once
// Shared by every kind of problem: operands in enough sets to exceed L2, the digest of outputs, the times, and the
// line of JSON.
//
//   rotated<f16> x = h.normal<f16>(m * k, sets);
//   h.measure({"matmul", text, kernel, 2e-3}, sets, run, [&] { h.digest(c[0], m * n); });

#include "bench/matmul/kernels.hpp"
#include "bench/matmul/timing.hpp"
#include "bench/median.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace kaio::bench {

// All of i8, the same numbers for the same seed.
inline constexpr auto fill_codes =
    kernel<"fill_codes", 256>([](thread t, out<i8> y, val<u32> seed, val<u64> n) {
      for (auto i : t.grid_stride(n)) y[i] = bit_cast<i8>(cast<u8>(mixed(cast<u32>(i) ^ seed)));
    });

// sums[0] += |x|^2; sums[1] and sums[2] += the sum of x with random signs. The difference of two such sums has the size
// of |x - y|, so that every element counts.
template <class T>
inline constexpr auto digest_elements =
    kernel<"digest_elements_" + type_name<T>, 256>([](thread t, in<T> x, inout<f64> sums, val<u64> n) {
      var squares(t, 0.0);
      var first(t, 0.0);
      var second(t, 0.0);
      for (auto i : t.grid_stride(n)) {
        const val e = t.let(cast<f64>(cast<f32>(x[i])));
        const val bits = t.let(mixed(cast<u32>(i)));
        squares += e * e;
        first += select((bits & 1u) == 0u, e, -e);
        second += select((bits & 2u) == 0u, e, -e);
      }
      const val all_squares = warp_reduce(t, t.let(squares), plus{});
      const val all_first = warp_reduce(t, t.let(first), plus{});
      const val all_second = warp_reduce(t, t.let(second), plus{});
      if (auto one = t.when(lane_id() == 0)) {
        atomic_add(sums[0], all_squares);
        atomic_add(sums[1], all_first);
        atomic_add(sums[2], all_second);
      }
    });

// The allowed relative difference between the results of two builds: some roundings of the type.
template <class T>
inline constexpr double rounding = std::is_same_v<T, f32> || std::is_same_v<T, i32> ? 1e-4
                                   : std::is_same_v<T, f16>                         ? 2e-3
                                   : std::is_same_v<T, bf16>                        ? 1.6e-2
                                                                                    : 4e-2;

// Tensors of `count` elements, one for each set of operands.
template <class T>
class rotated {
 public:
  rotated() = default;
  rotated(const device& gpu, i64 count, std::size_t sets)
      : count_(static_cast<std::size_t>(count)),
        pitch_((count_ * sizeof(T) + 255) / 256 * 256 / sizeof(T)),
        memory_(gpu.allocate<T>(pitch_ * sets, uninitialised)) {}
  device_pointer<T> operator[](std::size_t i) const { return memory_.slice(i * pitch_, count_); }
  // The memory of all sets, and the gaps between them.
  device_pointer<T> all() const { return memory_.view(); }

 private:
  std::size_t count_ = 0, pitch_ = 0;
  buffer<T> memory_;
};

// A problem's description in its line; no kernel if the operation has no name for it.
struct entry {
  std::string kind, problem, kernel;
  double tolerance;
};

class harness {
 public:
  harness(device& gpu, double seconds)
      : gpu_(gpu), seconds_(seconds), stream_(gpu.create_stream()), timing_(gpu, stream_) {}

  device& gpu() { return gpu_; }
  const stream& on() const { return stream_; }
  bool is_emulated() const { return gpu_.is_emulator(); }
  // Before a problem: its numbers do not depend on those before it.
  void begin(u64 seed) {
    fills_ = static_cast<u32>(seed);
    digests_.clear();
  }

  std::size_t sets_of(double bytes) const {
    const double cache = is_emulated() ? 1 : 2.0 * static_cast<double>(gpu_.properties().l2_bytes);
    return static_cast<std::size_t>(std::clamp(std::ceil(cache / bytes), 1.0, 16.0));
  }

  // N(0, 1) by a power of two; of i8 all codes.
  template <class T>
  rotated<T> normal(i64 count, std::size_t sets, f32 factor = 1) {
    rotated<T> result(gpu_, count, sets);
    const u64 n = result.all().count;
    if constexpr (std::is_same_v<T, i8>) {
      fill_codes.launch(stream_, blocks(), result.all(), ++fills_, n);
    } else {
      fill_normal<T>.launch(stream_, blocks(), result.all(), ++fills_, n);
      if (factor != 1) scale_elements<T>.launch(stream_, blocks(), result.all(), factor, n);
    }
    return result;
  }
  // NaN: an output that is not written shows. Integers have none, and get random numbers.
  template <class T>
  rotated<T> unwritten(i64 count, std::size_t sets) {
    if constexpr (std::is_same_v<T, i8>) {
      return normal<i8>(count, sets);
    } else if constexpr (std::is_same_v<T, i32>) {
      rotated<i32> result(gpu_, count, sets);
      const u64 bytes = result.all().count * sizeof(i32);
      fill_codes.launch(stream_, blocks(), device_pointer<i8>{result.all().address, bytes, gpu_.identity()},
                        ++fills_, bytes);
      return result;
    } else {
      rotated<T> result(gpu_, count, sets);
      poison<T>.launch(stream_, blocks(), result.all(), u64{result.all().count});
      return result;
    }
  }
  // From `factor` to twice that.
  buffer<f32> scales(i64 count, f32 factor) {
    std::vector<f32> numbers;
    u32 state = ++fills_;
    for (i64 i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      numbers.push_back(factor * (1.0f + static_cast<f32>(state >> 16) / 65536.0f));
    }
    return gpu_.upload(numbers);
  }
  buffer<u8> workspace(u64 bytes) { return gpu_.allocate<u8>(std::max<u64>(bytes, 16), uninitialised); }

  template <class T>
  void digest(const device_pointer<T>& x, i64 count) {
    auto on_device = gpu_.upload(std::vector<f64>(3, 0.0));
    digest_elements<T>.launch(stream_, blocks(), x, on_device, static_cast<u64>(count));
    stream_.synchronize();
    const auto sums = on_device.download();
    const double norm = std::sqrt(sums[0]);
    digests_.push_back(norm);
    for (const double one : {sums[1], sums[2]}) digests_.push_back(norm > 0 ? one / norm : one);
  }

  // run(i) puts the call into the stream with set i. check() digests the outputs of run(0).
  void measure(const entry& of, std::size_t sets, const std::function<void(std::size_t)>& run,
               const std::function<void()>& check) {
    contestant kaio{"kaio", run};
    run(0);
    check();
    timing_.cold({&kaio}, is_emulated() ? 1 : 5);
    const double once = std::max(median(kaio.cold), 1.0), budget = seconds_ * 1e6;
    kaio.cold.clear();
    timing_.cold({&kaio},
                 is_emulated() ? 1 : static_cast<int>(std::clamp(budget / (once + 50), 15.0, 300.0)));
    const std::size_t rounded =
        (static_cast<std::size_t>(std::clamp(2e4 / once, 4.0, 20.0)) + sets - 1) / sets;
    const int runs = static_cast<int>(rounded * sets);
    timing_.burst({&kaio}, static_cast<int>(sets), runs,
                  is_emulated() ? 1 : static_cast<int>(std::clamp(budget / (once * runs), 5.0, 40.0)));
    print(of, median(kaio.burst), median(kaio.cold));
  }

  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    return result + "\"";
  }

 private:
  grid blocks() const { return grid(is_emulated() ? 1 : 8 * gpu_.properties().multiprocessors); }

  void print(const entry& of, double burst_us, double cold_us) const {
    std::string checksum;
    for (const double one : digests_) {
      char text[40];
      std::snprintf(text, sizeof text, "%.9g", one);
      checksum += (checksum.empty() ? "" : ", ") + std::string(std::isfinite(one) ? text : "null");
    }
    std::printf("{\"benchmark\": \"regression\", \"kind\": \"%s\", \"problem\": %s, ", of.kind.c_str(),
                quoted(of.problem).c_str());
    if (!of.kernel.empty()) std::printf("\"kernel\": %s, ", quoted(of.kernel).c_str());
    std::printf("\"burst_us\": %.3f, \"cold_us\": %.3f, \"checksum\": [%s], \"tolerance\": %g}\n", burst_us,
                cold_us, checksum.c_str(), of.tolerance);
    std::fflush(stdout);
  }

  device& gpu_;
  double seconds_;
  stream stream_;
  timing timing_;
  std::vector<double> digests_;  // of each output: its norm, and two sums by the norm
  u32 fills_ = 0;
};

}  // namespace kaio::bench
