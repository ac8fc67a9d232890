#pragma once
// One problem: random weights of four bits and activations, the call, the check of its result, and its times.

#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul_w4.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kaio::bench {

// y = x W^T, x of m rows, W n x k in groups of `group`, symmetric, scales of the type of x.
struct w4_bench_problem {
  u32 n = 0, k = 0, group = 128, m = 1;

  std::string shape() const {
    return std::to_string(n) + "x" + std::to_string(k) + "x" + std::to_string(group);
  }
  std::string work() const { return "m" + std::to_string(m); }
  // Of codes, scales, x and y.
  double bytes() const { return n * (k / 2.0 + k / group * 2.0) + 2.0 * m * (n + k); }

  // NxKxGROUP and mM.
  static std::optional<w4_bench_problem> of(const std::string& shape, const std::string& work) {
    w4_bench_problem p;
    char rest = 0;
    if (std::sscanf(shape.c_str(), "%ux%ux%u%c", &p.n, &p.k, &p.group, &rest) != 3) return std::nullopt;
    if (std::sscanf(work.c_str(), "m%u%c", &p.m, &rest) != 1) return std::nullopt;
    const bool fits = p.n != 0 && p.group % 16 == 0 && p.group != 0 && p.k != 0 && p.k % p.group == 0;
    return fits && p.m != 0 ? std::optional(p) : std::nullopt;
  }
};

template <class T>
class matmul_w4_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;

 public:
  using base::base;

  measured measure(const w4_bench_problem& p, const std::string& variant) {
    const w4_shape shape{.n = p.n,
                         .k = p.k,
                         .group = p.group,
                         .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
    const u64 bytes = packed_bytes(shape);
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    std::mt19937 engine(p.n + p.k);
    std::vector<i32> words(u64{p.n} * (p.k / 8));
    for (i32& w : words) w = static_cast<i32>(engine());
    std::vector<T> scales(u64{p.n} * (p.k / p.group));
    for (T& s : scales) s = T((1.0f + static_cast<f32>(engine() % 256) / 256.0f) / 64.0f);
    const auto on_words = gpu_.upload(words);
    const auto on_scales = gpu_.upload(scales);
    std::vector<buffer<u8>> packed;
    std::vector<buffer<T>> x, y;
    for (u64 sets = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 32); sets > 0; --sets) {
      packed.push_back(gpu_.template allocate<u8>(bytes));
      x.push_back(normal(u64{p.m} * p.k));
      y.push_back(gpu_.template allocate<T>(u64{p.m} * p.n));
      repack(stream_,
             gptq_w4{.qweight = tensor_view<const i32, 2>(on_words, p.k / 8, p.n),
                     .scales = tensor_view<const T, 2>(on_scales, p.k / p.group, p.n)},
             w4_weights{shape, packed.back()});
    }
    const auto of = [&](std::size_t i) { return tensor_view<const T, 2>(x[i], p.m, p.k); };
    matmul_w4_options options;
    options.variant = variant;
    const w4_weights first{shape, packed[0]};
    measured result;
    const auto choice = ops::matmul_w4_choice(stream_, of(0), first, options);
    result.kernel = std::string(choice.name) + "/" + std::to_string(choice.parts);
    auto memory = gpu_.template allocate<u8>(
        std::max<u64>(matmul_w4_workspace_bytes(stream_, of(0), first, options), 1));
    options.workspace = memory;
    contestant kaio{
        "kaio", [&](std::size_t i) {
          matmul_w4(stream_, of(i), w4_weights{shape, packed[i]}, tensor_view<T, 2>(y[i], p.m, p.n), options);
        }};
    kaio.run(0);
    stream_.synchronize();
    result.error = distance(p, words, scales, x[0].download(), y[0].download());
    this->time(kaio, packed.size(), result);
    return result;
  }

 private:
  static double distance(const w4_bench_problem& p, const std::vector<i32>& words,
                         const std::vector<T>& scales, const std::vector<T>& x, const std::vector<T>& y) {
    double difference = 0, all = 0;
    for (u32 sample = 0; sample < 256; ++sample) {
      const u32 row = sample * 37u % p.m, column = sample * 7919u % p.n;
      double exact = 0;
      for (u32 k = 0; k < p.k; ++k) {
        const auto word = static_cast<u32>(words[u64{k / 8} * p.n + column]);
        const double code = word >> (4 * (k % 8)) & 15u;
        const double scale = static_cast<f32>(scales[u64{k / p.group} * p.n + column]);
        exact += static_cast<f32>(x[u64{row} * p.k + k]) * (code - 8) * scale;
      }
      const double got = static_cast<f32>(y[u64{row} * p.n + column]);
      difference += (exact - got) * (exact - got);
      all += exact * exact;
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }
};

}  // namespace kaio::bench
