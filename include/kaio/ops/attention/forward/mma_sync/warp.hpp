#pragma once
// A warp of a block of attention by mma.sync: 16 queries, with S, P and its columns of O in registers.
//
//   S    16 x keys           accumulators of 16 x 8
//   P    16 x keys           fragments of 16 x k, out of S
//   O    16 x own_depth_v    accumulators of 16 x 8

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/mma_sync/config.hpp>
#include <kaio/ops/attention/forward/mma_sync/shared.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kaio::ops {

// Sums of S of warps that share their queries. Fragment j of a warp is a row with four numbers per lane, so
// that a warp moves 512 contiguous bytes.
template <attention_mma_config C, class T>
class attention_mma_exchanged_sums {
  static constexpr std::uint32_t key_parts = attention_mma_types<C, T>::key_parts;
  using tile = shared_tile<f32, C.warps * C.column_warps * key_parts, 128, dsl::row_major>;

 public:
  constexpr explicit attention_mma_exchanged_sums(thread t) : sums_(t) {}
  template <class Parts>
  constexpr void put(thread t, const Parts& s) const {
    const val row = t.let(t.warp_rank() * key_parts), column = t.let(t.lane_rank() * 4u);
    for (std::uint32_t j = 0; j < key_parts; ++j) {
      const auto& from = s[j].registers;
      store_vec(sums_[row + j][column], make_vec(from[0], from[1], from[2], from[3]));
    }
  }
  template <class Parts>
  constexpr void add_others(thread t, Parts& s) const {
    const val row = t.let((t.warp_rank() ^ 1u) * key_parts), column = t.let(t.lane_rank() * 4u);
    for (std::uint32_t j = 0; j < key_parts; ++j) {
      const val x = load_vec<4>(sums_[row + j][column]);
      for (std::uint32_t e = 0; e < 4; ++e) s[j].registers[e] += x[e];
    }
  }

 private:
  tile sums_;  // parts of S of all warps x 128
};
struct attention_mma_no_sums {
  constexpr explicit attention_mma_no_sums(thread) {}
  template <class Parts>
  constexpr void put(thread, const Parts&) const {}
  template <class Parts>
  constexpr void add_others(thread, Parts&) const {}
};

// A warp's columns of the tiles, which it multiplies.
template <class Q, class K, class V>
struct attention_mma_operands {
  Q q;  // queries x own_depth_qk
  K k;  // keys x own_depth_qk
  V v;  // keys x own_depth_v
};
template <class Q, class K, class V>
attention_mma_operands(Q, K, V) -> attention_mma_operands<Q, K, V>;

template <attention_mma_config C, class T>
constexpr auto operands_of_part(const attention_mma_shared<C, T>& shared,
                                const typename attention_mma_types<C, T>::part& part) {
  const auto own_v = [&] {
    if constexpr (attention_mma_types<C, T>::shares)
      return column_block<C.own_depth_v()>(shared.v, part);
    else
      return shared.v;
  };
  return attention_mma_operands{column_block<C.own_depth_qk()>(shared.q, part),
                                column_block<C.own_depth_qk()>(shared.k, part), own_v()};
}

template <attention_mma_config C, class T>
class attention_mma_warp {
 public:
  using types = attention_mma_types<C, T>;
  using product = typename types::product;
  using accumulator = typename types::accumulator;
  using scores = dsl::register_array<accumulator, types::key_parts>;  // 16 x keys
  static constexpr std::uint32_t q_fragments = C.q_in_registers ? types::slices : 1;

  template <class Factor>
  constexpr attention_mma_warp(thread t, const attention_mma_shared<C, T>& shared,
                               const val<attention_problem>& problem, const attention_block& block,
                               const Factor& factor_of)
      : lane(t.lane_rank()),
        row(t.let(t.warp_rank() / C.column_warps * 16u)),
        part(part_of(t)),
        operands(operands_of_part<C, T>(shared, part)),
        partials(t),
        quad_row(t.let(accumulator::layout::lane_row(lane))),
        quad_column(t.let(accumulator::layout::lane_column(lane))),
        scale(t.let(problem[&attention_problem::scale])),
        factor(factor_of(scale)),
        query(queries_of(t, t.let(block.first_query + row + quad_row))),
        o(array_of<types::value_parts>([&](u32) { return accumulator(t, 0.0f); })),
        q(array_of<q_fragments>([&](u32) { return typename types::a_fragment(t); })),
        softmax(t) {}

  val<u32> lane;
  val<u32> row;  // the warp's first row in the tile of queries
  typename types::part part;
  decltype(operands_of_part<C, T>(std::declval<const attention_mma_shared<C, T>&>(),
                                  std::declval<const typename types::part&>())) operands;
  std::conditional_t<types::shares, attention_mma_exchanged_sums<C, T>, attention_mma_no_sums> partials;
  val<u32> quad_row, quad_column;  // the lane's first row and column in an accumulator
  val<f32> scale, factor;
  dsl::register_array<val<u32>, 2> query;                          // of rows quad_row and quad_row + 8
  dsl::register_array<accumulator, types::value_parts> o;          // 16 x own_depth_v
  dsl::register_array<typename types::a_fragment, q_fragments> q;  // 16 x own_depth_qk, or a slice of it
  online_softmax<2> softmax;

  static constexpr scores zero_scores(thread t) {
    return array_of<types::key_parts>([&](u32) { return accumulator(t, 0.0f); });
  }
  constexpr void load_queries() {
    for (std::uint32_t i = 0; i < types::slices; ++i) product::load_queries(q[i], operands.q, row, i);
  }
  // S += Q K^T
  constexpr void add_scores(thread t, const val<attention_problem>& problem, scores& s) {
    with_product<C, T>(t, problem, [&]<class Product>(Product) {
      for (std::uint32_t i = 0; i < types::slices; ++i) {
        auto& a = q[C.q_in_registers ? i : 0];  // 16 x k of Q
        if constexpr (!C.q_in_registers) Product::load_queries(a, operands.q, row, i);
        for (std::uint32_t j = 0; j < types::key_parts; j += types::at_once) {
          auto b = fragments_of_b(t);  // k x 8 of K^T each
          Product::load_keys(b, operands.k, 8 * j, i);
          for (std::uint32_t n = 0; n < types::at_once; ++n) Product::multiply_add(s[j + n], a, b[n]);
        }
      }
    });
  }
  // O += P V, P out of S
  constexpr void add_values(thread t, const val<attention_problem>& problem, const scores& s) {
    with_product<C, T>(t, problem, [&]<class Product>(Product) {
      for (std::uint32_t c = 0; c < types::p_slices; ++c) {
        typename types::a_fragment p(t);  // 16 x k of P
        Product::take_probabilities(p, s, c);
        for (std::uint32_t j = 0; j < types::value_parts; j += types::at_once) {
          auto b = fragments_of_b(t);  // k x 8 of V each
          Product::load_values(t, b, operands.v, c, 8 * j);
          for (std::uint32_t n = 0; n < types::at_once; ++n) Product::multiply_add(o[j + n], p, b[n]);
        }
      }
    });
  }
  // Multiplies the lane's two rows of O.
  template <class Factors>
  constexpr void scale_rows(const Factors& by) {
    for (std::uint32_t j = 0; j < types::value_parts; ++j)
      for (std::uint32_t e = 0; e < 4; ++e) o[j].registers[e] *= by[e / 2];
  }

 private:
  static constexpr typename types::part part_of(thread t) {
    if constexpr (types::shares)
      return t.let(t.warp_rank() % C.column_warps);
    else
      return 0u;
  }
  static constexpr auto queries_of(thread t, const val<u32>& first) {
    return array_of<2>([&](u32 r) { return t.let(first + 8 * r); });
  }
  static constexpr auto fragments_of_b(thread t) {
    return array_of<types::at_once>([&](u32) { return typename product::b_fragment(t); });
  }
};

}  // namespace kaio::ops
