#pragma once
// The tile computations of the backward kernels with matrix instructions. A block owns 64 rows of two
// tensors, 16 per warp, and walks over tiles of rows of two others.
//
//               step                   keys kernel      owns K, V      walks over Q, dO
//           +--------+                 queries kernel   owns Q, dO     walks over K, V
//   own  16 | S, dP  | of a warp
//           +--------+                 S = own0 step0^T, dP = own1 step1^T: in registers,
//                                      queries x keys in the queries kernel, transposed in the keys kernel
//
// P and dS, rounded to T, are register operands as they are: sums += dS step0, sums += P step1. The next tile
// is copied meanwhile.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/backward/mma_sync/config.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/copy_rows.hpp>
#include <kaio/ops/attention/common/store_rows.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// A thread's scores in fragments of K Q^T, 16 keys x 8 queries each: keys r and r + 8.
template <class T, class Fragment, std::uint32_t Count>
class transposed_mma_scores {
 public:
  using element = T;
  static constexpr std::uint32_t rows = 2 * Count;
  constexpr explicit transposed_mma_scores(dsl::register_array<Fragment, Count>& fragments)
      : fragments_(&fragments) {}
  static constexpr std::uint32_t size() { return Count * 4; }
  static constexpr std::uint32_t row(std::uint32_t i) { return i / 4 * 2 + i % 2; }
  static constexpr std::uint32_t column(std::uint32_t i) { return i % 4 / 2 * 8; }
  // The distance in queries from the thread's first query to row r.
  static constexpr std::uint32_t query(std::uint32_t r) { return r / 2 * 8 + r % 2; }
  constexpr var<f32>& operator[](std::uint32_t i) const { return (*fragments_)[i / 4].registers[i % 4]; }

 private:
  dsl::register_array<Fragment, Count>* fragments_;
};

template <attention_backward_mma_config C, class T>
struct backward_mma_tiles {
  static_assert(C.valid(), "kaio: the kernel of attention_backward does not support this tile shape");
  using stored = stored_element<T>;
  using product = attention_product<T, 80>;
  using accumulator = typename product::accumulator;
  using swizzle = dsl::swizzled<128>;
  template <std::uint32_t Rows, std::uint32_t Depth>
  using rows = attention_rows<stored, Rows, Depth, C.threads, swizzle>;
  static constexpr std::uint32_t fragments = C.step / 8, count = fragments * 4;  // count: a thread's scores
  using scores = dsl::register_array<accumulator, fragments>;
  template <std::uint32_t Columns>
  using sums = dsl::register_array<accumulator, Columns / 8>;

  static constexpr scores zero_scores(thread t) {
    return array_of<fragments>([&](u32) { return accumulator(t, 0.0f); });
  }
  template <std::uint32_t Columns>
  static constexpr sums<Columns> zero_sums(thread t) {
    return array_of<Columns / 8>([&](u32) { return accumulator(t, 0.0f); });
  }
  static constexpr auto fragments_of_b(thread t) {
    return array_of<product::at_once>([&](u32) { return typename product::b_fragment(t); });
  }

  // The copies of a head's rows into tiles of Rows x Depth.
  template <std::uint32_t Rows, std::uint32_t Depth, class Strides>
  static constexpr rows<Rows, Depth> rows_of(thread t, const Strides& strides, const attention_block& block,
                                             const val<u32>& head, const val<u32>& first_row,
                                             const val<u32>& size) {
    return {t,
            pointer_at<in<stored>>(t, t.let(strides[&attention_strides::address]))
                .from(head_offset(t, strides, block, head, first_row)),
            t.let(strides[&attention_strides::row]), size, t.let(strides[&attention_strides::by_16])};
  }

  // Waits until all copies have arrived, and all warps have read what the next copies overwrite.
  static constexpr void wait(thread t) {
    cp_async_wait_group<0>(t);
    t.barrier();
  }

  // s += own step^T, for the warp's 16 rows.
  template <class Product, class Own, class Step>
  static constexpr void multiply_rows(thread t, scores& s, const Own& own, const val<u32>& warp_row,
                                      const Step& step) {
    for (std::uint32_t i = 0; i < Own::columns / product::k; ++i) {
      typename product::a_fragment a(t);
      Product::load_queries(a, own, warp_row, i);
      for (std::uint32_t j = 0; j < fragments; j += product::at_once) {
        auto b = fragments_of_b(t);
        Product::load_keys(b, step, 8 * j, i);
        for (std::uint32_t n = 0; n < product::at_once; ++n) Product::multiply_add(s[j + n], a, b[n]);
      }
    }
  }

  // sum += weights step, for Columns columns of the step.
  template <class Product, std::uint32_t Columns, class Step>
  static constexpr void multiply_columns(thread t, sums<Columns>& sum, const scores& weights,
                                         const Step& step) {
    for (std::uint32_t c = 0; c < C.step / product::k; ++c) {
      typename product::a_fragment a(t);
      Product::take_probabilities(a, weights, c);
      for (std::uint32_t j = 0; j < Columns / 8; j += product::at_once) {
        auto b = fragments_of_b(t);
        Product::load_values(t, b, step, c, 8 * j);
        for (std::uint32_t n = 0; n < product::at_once; ++n) Product::multiply_add(sum[j + n], a, b[n]);
      }
    }
  }

  // S becomes P, and dP becomes P * (dP - delta). shifts and deltas belong to the rows of Scores.
  template <class Scores, class Shifts>
  static constexpr void differentiate(thread t, const Scores& s, const Scores& dp, const Shifts& shifts,
                                      const Shifts& deltas, const val<f32>& factor) {
    for (std::uint32_t i = 0; i < Scores::size(); ++i) {
      const val shift = shifts[Scores::row(i)];
      const val p = probability(t, t.let(s[i] * factor), shift);
      s[i] = p;
      dp[i] = select(p == 0.0f, 0.0f, p * (dp[i] - deltas[Scores::row(i)]));
    }
  }

  template <std::uint32_t Columns>
  static constexpr val<bool> is_not_finite(thread t, const sums<Columns>& sum) {
    var zero(t, 0.0f);  // becomes NaN if a sum is NaN or infinite
    for (std::uint32_t j = 0; j < Columns / 8; ++j)
      for (std::uint32_t e = 0; e < 4; ++e) zero = fma(sum[j].registers[e], 0.0f, zero);
    return t.let(isnan(zero));
  }

  // Stores factor * sum to rows `first` on of memory, through the warp's own rows of a tile that it has read.
  template <std::uint32_t Columns, class Own>
  static constexpr void store(thread t, sums<Columns>& sum, const Own& own, const val<u32>& warp_row,
                              const out<stored>& memory, const val<i64>& pitch, const val<u32>& size,
                              const val<u32>& by_16, const val<u32>& first, const val<u32>& limit,
                              const val<f32>& factor, const val<u32>& type) {
    using words = shared_tile<typename product::pair, C.own, Columns / 2, swizzle>;
    const auto to = column_block<Columns>(own, 0u);
    const val lane = t.lane_rank();
    const val row = t.let(warp_row + accumulator::layout::lane_row(lane));
    const val column = t.let(accumulator::layout::lane_column(lane) / 2u);
    constexpr u32 of_fragment = product::a_fragment::register_count;
    auto rounded = array_of<Columns / 4 / of_fragment>([&](u32) { return typename product::a_fragment(t); });
    const auto word = [&](u32 i) -> auto& { return rounded[i / of_fragment].registers[i % of_fragment]; };
    for (auto& part : sum)
      for (auto& x : part.registers) x *= factor;
    with_attention_product<T>(t, type, [&]<class Product>(Product) {
      for (u32 i = 0; i < Columns / 4; ++i)
        word(i) = Product::packed(sum[i / 2].registers[i % 2 * 2], sum[i / 2].registers[i % 2 * 2 + 1]);
    });
    for (u32 r = 0; r < 2; ++r)
      for (u32 j = 0; j < Columns / 8; ++j) words::over(to)[row + 8 * r][column + 4 * j] = word(2 * j + r);
    sync_warp(t);
    store_rows<stored, 16, Columns>(t, to, warp_row, memory, pitch, size, by_16, t.let(first + warp_row),
                                    limit);
    sync_warp(t);
  }
};

}  // namespace kaio::ops
