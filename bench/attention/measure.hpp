#pragma once
// One problem: random operands, the call, the check of its result, and its times.

#include "bench/attention/documents.hpp"
#include "bench/attention/kernels.hpp"
#include "bench/attention/problem.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul/timing.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/make_block_mask.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kaio::bench {

struct measured {
  std::string kernel;                  // or what was called
  double cold_us = 0, burst_us = 0;    // medians
  double cold_mhz = 0, burst_mhz = 0;  // of the device's clock meanwhile
  // Of sampled elements: the root of the mean square of the differences, relative to that of the elements.
  double error = 0;
};

// Whether the benchmark has a call for it.
template <class T>
bool can_measure(const problem& p) {
  return p.what != work::documents || (sizeof(T) == 2 && has_document_kernels(p.size));
}

template <class T>
class attention_bench {
 public:
  attention_bench(device& gpu, clock_sampler& clock, double seconds)
      : gpu_(gpu), clock_(clock), seconds_(seconds), stream_(gpu.create_stream()), timing_(gpu, stream_) {}

  // By the kernel that is chosen, or the one that is named.
  measured measure(const problem& p, std::string_view variant = {}) {
    operands x = make_operands(p);
    const call run = call_of(p, x, variant);
    poison<T>.launch(stream_, grid(blocks()), x.o[0], u64{x.o[0].size()});
    contestant kaio{"kaio", run.put};
    kaio.run(0);
    measured result;
    result.kernel = run.kernel;
    result.error = distance(p, x);

    const bool emulated = gpu_.is_emulator();
    timing_.cold({&kaio}, emulated ? 1 : 5);
    const double once = std::max(median(kaio.cold), 1.0);
    kaio.cold.clear();
    const double budget = seconds_ * 1e6;
    clock_.begin();
    timing_.cold({&kaio}, emulated ? 1 : static_cast<int>(std::clamp(budget / (once + 50), 15.0, 300.0)));
    result.cold_mhz = clock_.end();
    const auto sets = static_cast<double>(x.o.size());
    const int runs =
        static_cast<int>((std::clamp(2e4 / once, 4.0, 20.0) + sets - 1) / sets) * static_cast<int>(sets);
    clock_.begin();
    timing_.burst({&kaio}, static_cast<int>(sets), runs,
                  emulated ? 1 : static_cast<int>(std::clamp(budget / 2 / (once * runs), 5.0, 40.0)));
    result.burst_mhz = clock_.end();
    result.cold_us = median(kaio.cold);
    result.burst_us = median(kaio.burst);
    return result;
  }

  // The names of the kernels that can run a problem, which is neither packed nor of documents.
  std::vector<std::string> variants(const problem& p) {
    operands x = make_operands(p);
    const extents of_q(p.batches, p.length, p.heads, p.size), of_k(p.batches, p.length, p.key_heads, p.size);
    const auto [q, k, v, o] = views(x, 0, of_q, of_k);
    std::vector<std::string> result;
    for (const auto& one : ops::attention_variants(stream_, q, k, v, o, options_of(p, x, {})))
      if (one.refusal.empty()) result.emplace_back(one.name);
    return result;
  }

 private:
  // So many sets of tensors that L2 does not hold them.
  struct operands {
    std::vector<buffer<T>> q, k, v, o;
    buffer<f32> slopes;                                      // (heads)
    buffer<u32> document;                                    // of each row of a batch; packed: of all of them
    buffer<i32> sequences;                                   // where they begin, packed
    buffer<i32> counts, indices, full_counts, full_indices;  // of blocks of 128 queries
    u32 longest;                                             // of the documents
  };
  struct call {
    std::function<void(std::size_t)> put;
    std::string kernel;
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
    options.variant = variant;
    return options;
  }
  call call_of(const problem& p, operands& x, std::string_view variant) {
    const attention_options options = options_of(p, x, variant);
    if (p.is_packed()) return packed_call(p, x, options);
    const extents of_q(p.batches, p.length, p.heads, p.size), of_k(p.batches, p.length, p.key_heads, p.size);
    if (p.what == work::documents) return documents_call(p, x, of_q, of_k);
    const auto [q, k, v, o] = views(x, 0, of_q, of_k);
    return {[this, &x, of_q, of_k, options](std::size_t i) {
              const auto [q_i, k_i, v_i, o_i] = views(x, i, of_q, of_k);
              attention(stream_, q_i, k_i, v_i, o_i, options);
            },
            std::string(ops::attention_choice(stream_, q, k, v, o, options))};
  }
  call packed_call(const problem& p, operands& x, const attention_options& options) {
    const u64 rows = u64{p.batches} * p.length;
    const extents of_q(rows, p.heads, p.size), of_k(rows, p.key_heads, p.size);
    const tensor_view<const i32, 1> begins(x.sequences, x.sequences.size());
    const attention_sequences sequences{.cu_q = begins, .cu_k = begins, .max_q = x.longest};
    return {[this, &x, of_q, of_k, sequences, options](std::size_t i) {
              const auto [q, k, v, o] = views(x, i, of_q, of_k);
              attention_varlen(stream_, q, k, v, o, sequences, options);
            },
            "varlen"};
  }
  call documents_call(const problem& p, operands& x, const extents<4>& of_q, const extents<4>& of_k) {
    if constexpr (sizeof(T) == 2) {
      const u32 n = (p.length + 127) / 128;
      x.counts = gpu_.allocate<i32>(n);
      x.full_counts = gpu_.allocate<i32>(n);
      x.indices = gpu_.allocate<i32>(u64{n} * n);
      x.full_indices = gpu_.allocate<i32>(u64{n} * n);
      const block_mask_output lists{.kv_num_blocks = tensor_view<i32, 3>(x.counts, 1, 1, n),
                                    .kv_indices = tensor_view<i32, 4>(x.indices, 1, 1, n, n),
                                    .full_kv_num_blocks = tensor_view<i32, 3>(x.full_counts, 1, 1, n),
                                    .full_kv_indices = tensor_view<i32, 4>(x.full_indices, 1, 1, n, n)};
      make_block_mask(stream_, same_document{}, lists, {.queries = p.length, .keys = p.length}, x.document);
      return {[this, &x, of_q, of_k, lists](std::size_t i) {
                const auto [q, k, v, o] = views(x, i, of_q, of_k);
                attention_of_documents<T>(stream_, q, k, v, o, lists, x.document);
              },
              "same_document"};
    } else {
      return {};  // can_measure says so
    }
  }

  unsigned blocks() const { return gpu_.is_emulator() ? 1 : 8 * gpu_.properties().multiprocessors; }
  buffer<T> normal(u64 n) {
    auto memory = gpu_.allocate<T>(n);
    fill_normal<T>.launch(stream_, grid(blocks()), memory, ++seed_, u64{n});
    return memory;
  }
  double distance(const problem& p, const operands& x) {
    constexpr u32 samples = 512;
    auto want = gpu_.allocate<f64>(samples), got = gpu_.allocate<f64>(samples);
    const sampled_attention of{.batches = p.is_packed() ? 1 : p.batches,
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
                               .has_slopes = p.has_slopes()};
    sample_attention<T>.launch(stream_, grid(samples), x.q[0], x.k[0], x.v[0], x.o[0], x.document, x.slopes,
                               want, got, of);
    stream_.synchronize();
    const auto exact = want.download(), result = got.download();
    double difference = 0, all = 0;
    for (u32 i = 0; i < samples; ++i) {
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
