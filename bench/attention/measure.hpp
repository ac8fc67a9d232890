#pragma once
// One problem: random operands, the call, the check of its result, and its times.

#include "bench/attention/documents.hpp"
#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/make_block_mask.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::bench {

// Whether the benchmark has a call for it.
template <class T>
bool can_measure(const problem& p) {
  return p.what != work::documents || (sizeof(T) == 2 && has_document_kernels(p.size));
}

template <class T>
class attention_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::blocks, base::gpu_, base::make_operands, base::options_of, base::stream_, base::views;
  using typename base::operands;

 public:
  using base::base;

  // Times the named kernel; without a name, the chosen one.
  measured measure(const problem& p, std::string_view variant = {}) {
    operands x = make_operands(p);
    const call run = call_of(p, x, variant);
    poison<T>.launch(stream_, grid(blocks()), x.o[0], u64{x.o[0].size()});
    contestant kaio{"kaio", run.put};
    kaio.run(0);
    measured result;
    result.kernel = run.kernel;
    result.error = distance(p, x);
    this->time(kaio, x.o.size(), result);
    return result;
  }

  // The names of the kernels that can run a problem. The problem is neither packed nor of documents.
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
  struct call {
    std::function<void(std::size_t)> put;
    std::string kernel;
  };

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
            std::string(ops::attention_choice(stream_, q, k, v, o, options).name)};
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
      lists_.counts = gpu_.template allocate<i32>(n);
      lists_.full_counts = gpu_.template allocate<i32>(n);
      lists_.indices = gpu_.template allocate<i32>(u64{n} * n);
      lists_.full_indices = gpu_.template allocate<i32>(u64{n} * n);
      const block_mask_output lists{.kv_num_blocks = tensor_view<i32, 3>(lists_.counts, 1, 1, n),
                                    .kv_indices = tensor_view<i32, 4>(lists_.indices, 1, 1, n, n),
                                    .full_kv_num_blocks = tensor_view<i32, 3>(lists_.full_counts, 1, 1, n),
                                    .full_kv_indices = tensor_view<i32, 4>(lists_.full_indices, 1, 1, n, n)};
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

  double distance(const problem& p, const operands& x) {
    constexpr u32 samples = 512;
    auto want = gpu_.template allocate<f64>(samples), got = gpu_.template allocate<f64>(samples);
    sample_attention<T>.launch(stream_, grid(samples), x.q[0], x.k[0], x.v[0], x.o[0], x.document, x.slopes,
                               x.bias, x.keep, want, got, base::sampled(p));
    stream_.synchronize();
    return base::relative_error(want, got);
  }

  struct {
    buffer<i32> counts, indices, full_counts, full_indices;  // of blocks of 128 queries
  } lists_;
};

}  // namespace kaio::bench
