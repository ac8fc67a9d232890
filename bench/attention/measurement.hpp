#pragma once
// Shared by the benchmarks of an attention and of its gradients: random operands, the options of a work, and
// the times of a call.

#include "bench/attention/kernels.hpp"
#include "bench/attention/problem.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul/timing.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kaio::bench {

struct measured {
  std::string kernel;                  // or what was called
  double cold_us = 0, burst_us = 0;    // medians
  double cold_mhz = 0, burst_mhz = 0;  // of the device's clock meanwhile
  // The root mean square of the differences of sampled elements, relative to that of the elements.
  double error = 0;
};

template <class T>
class attention_measurement {
 public:
  attention_measurement(device& gpu, clock_sampler& clock, double seconds)
      : gpu_(gpu), clock_(clock), seconds_(seconds), stream_(gpu.create_stream()), timing_(gpu, stream_) {}

 protected:
  // Sets of tensors, enough of them to exceed L2.
  struct operands {
    std::vector<buffer<T>> q, k, v, o;
    buffer<f32> slopes;     // (heads)
    buffer<T> bias;         // (heads, queries, keys)
    buffer<u8> keep;        // (batches, keys)
    buffer<u32> document;   // document of each row of a batch; packed: of all rows
    buffer<i32> sequences;  // packed: where each sequence begins
    u32 longest;            // length of the longest document
  };

  operands make_operands(const problem& p) {
    const u64 q_size = u64{p.batches} * p.length * p.heads * p.size;
    const u64 k_size = u64{p.batches} * p.length * p.key_heads * p.size;
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const u64 bytes = (2 * q_size + 2 * k_size) * sizeof(T);
    operands x;
    for (u64 sets = std::min<u64>((cache + bytes - 1) / bytes, 16); sets > 0; --sets) {
      x.q.push_back(normal(q_size));
      x.k.push_back(normal(k_size));
      x.v.push_back(normal(k_size));
      x.o.push_back(gpu_.allocate<T>(q_size));
    }
    std::vector<f32> slopes;
    for (u32 h = 0; h < p.heads; ++h) slopes.push_back(problem::slope(h, p.heads));
    x.slopes = gpu_.upload(slopes);
    x.bias = normal(p.what == work::bias ? u64{p.heads} * p.length * p.length : 1);
    std::vector<u8> keep(p.what == work::padding ? u64{p.batches} * p.length : 1, 1);
    if (p.what == work::padding)
      for (u32 b = 0; b < p.batches; ++b)
        for (u32 j = p.kept(b); j < p.length; ++j) keep[u64{b} * p.length + j] = 0;
    x.keep = gpu_.upload(keep);
    std::vector<u32> document;
    std::vector<i32> begins{0};
    const std::vector<u32> lengths = p.documents();
    for (u32 i = 0; i < lengths.size(); ++i) {
      document.insert(document.end(), lengths[i], i);
      begins.push_back(static_cast<i32>(document.size()));
    }
    x.longest = *std::max_element(lengths.begin(), lengths.end());
    x.document = gpu_.upload(document);
    x.sequences = gpu_.upload(begins);
    return x;
  }

  // The tensors of set i, (batch, sequence, head, element), or packed (row, head, element).
  template <std::size_t Rank>
  static auto views(operands& x, std::size_t i, const extents<Rank>& of_q, const extents<Rank>& of_k) {
    return std::tuple(tensor_view<const T, Rank>(x.q[i], of_q), tensor_view<const T, Rank>(x.k[i], of_k),
                      tensor_view<const T, Rank>(x.v[i], of_k), tensor_view<T, Rank>(x.o[i], of_q));
  }

  static attention_options options_of(const problem& p, operands& x, std::string_view variant) {
    attention_options options;
    if (p.is_causal()) options.causal = causal_alignment::bottom_right;
    if (p.what == work::window) options.window.left = problem::window - 1;
    if (p.what == work::softcap) options.softcap = problem::softcap;
    if (p.has_slopes()) options.alibi = tensor_view<const f32, 1>(x.slopes, p.heads);
    if (p.what == work::bias) options.bias = tensor_view<const T, 3>(x.bias, p.heads, p.length, p.length);
    if (p.what == work::padding) options.keep = tensor_view<const u8, 4>(x.keep, p.batches, 1, 1, p.length);
    options.variant = variant;
    return options;
  }
  // The medians of both protocols; `kaio` was run before.
  void time(contestant& kaio, std::size_t sets, measured& result) {
    const bool emulated = gpu_.is_emulator();
    timing_.cold({&kaio}, emulated ? 1 : 5);
    const double once = std::max(median(kaio.cold), 1.0);
    kaio.cold.clear();
    const double budget = seconds_ * 1e6;
    clock_.begin();
    timing_.cold({&kaio}, emulated ? 1 : static_cast<int>(std::clamp(budget / (once + 50), 15.0, 300.0)));
    result.cold_mhz = clock_.end();
    const auto all = static_cast<double>(sets);
    const int runs =
        static_cast<int>((std::clamp(2e4 / once, 4.0, 20.0) + all - 1) / all) * static_cast<int>(sets);
    clock_.begin();
    timing_.burst({&kaio}, static_cast<int>(sets), runs,
                  emulated ? 1 : static_cast<int>(std::clamp(budget / 2 / (once * runs), 5.0, 40.0)));
    result.burst_mhz = clock_.end();
    result.cold_us = median(kaio.cold);
    result.burst_us = median(kaio.burst);
  }

  unsigned blocks() const { return gpu_.is_emulator() ? 1 : 8 * gpu_.properties().multiprocessors; }
  buffer<T> normal(u64 n) {
    auto memory = gpu_.allocate<T>(n);
    fill_normal<T>.launch(stream_, grid(blocks()), memory, ++seed_, u64{n});
    return memory;
  }
  // The tensors, as the kernels that check samples see them.
  static sampled_attention sampled(const problem& p) {
    return {.batches = p.is_packed() ? 1 : p.batches,
            .length = p.is_packed() ? p.batches * p.length : p.length,
            .heads = p.heads,
            .key_heads = p.key_heads,
            .size = p.size,
            .low = p.what == work::window ? 1 - static_cast<i32>(problem::window)
                                          : std::numeric_limits<i32>::min(),
            .high = p.is_causal() ? 0 : std::numeric_limits<i32>::max(),
            .of_documents = p.has_documents(),
            .scale = 1 / std::sqrt(double(p.size)),
            .softcap = p.what == work::softcap ? double{problem::softcap} : 0.0,
            .has_slopes = p.has_slopes(),
            .has_bias = p.what == work::bias,
            .has_padding = p.what == work::padding};
  }
  // The root mean square of the differences of samples, relative to that of the samples; 1e30 if one is not
  // finite.
  static double relative_error(const buffer<f64>& want, const buffer<f64>& got) {
    const auto exact = want.download(), result = got.download();
    double difference = 0, all = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      difference += (exact[i] - result[i]) * (exact[i] - result[i]);
      all += exact[i] * exact[i];
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }

  device& gpu_;
  clock_sampler& clock_;
  double seconds_;
  stream stream_;
  timing timing_;
  u32 seed_ = 0;
};

}  // namespace kaio::bench
