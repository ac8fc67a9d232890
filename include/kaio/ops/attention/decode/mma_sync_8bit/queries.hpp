#pragma once
// Queries of f16 or bf16, as f16 in shared memory, for products with 8-bit keys. A row of bf16 is multiplied
// by a power of two that makes its largest finite element 2^14 or more. Only digits below 2^-24 are lost
// then.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The place of a query element. In each 16, elements 4 q and 4 q + 1 are at 2 q and 2 q + 1, the next two 8
// further. A lane's four neighbours in a register of codes are then in its two registers of the operand, in
// pairs.
constexpr auto place_of_query_element(const auto& column) {
  return (column & ~15u) + (column & 2u) * 4u + (column >> 1 & 6u) + (column & 1u);
}

// `up` multiplies a row of bf16, `back` its scores. largest: the largest finite magnitude of the row.
struct query_scaling {
  val<f32> up, back;
};
constexpr query_scaling scaling_of_queries(thread t, const val<f32>& largest) {
  constexpr u32 place = 23, least = 20;  // of the exponent; `back` is normal from `least` on
  const val exponent = t.let(max(bit_cast<u32>(largest) >> place, least));
  return {t.let(bit_cast<f32>((268u - exponent) << place)), t.let(bit_cast<f32>((exponent - 14u) << place))};
}
// x is not negative.
constexpr auto finite_or_zero(const val<f32>& x) {
  return select(x == std::numeric_limits<f32>::infinity(), 0.0f, x);
}

// Loads the rows of a tile, by the warps in turns; rows that do not exist become zero. `factors`: multiply
// the scores of each row by its factor.
template <std::uint32_t Rows, std::uint32_t Depth, std::uint32_t Warps, class Tile>
constexpr void load_queries_as_f16(thread t, const Tile& to, const shared<f32, Rows>& factors,
                                   const val<attention_problem>& problem, const val<attention_split>& split,
                                   const decode_block& block) {
  const val size = t.let(problem[&attention_problem::qk_size]);
  const val rows = rows_of_sequence(t, split, block);
  const val type = t.let(split[&attention_split::type]);
  const val lane = t.lane_rank();
  for (auto row : t.range(t.let(t.warp_rank()), Rows, Warps).no_unroll()) {
    const val packed = t.let(block.first_row + row);
    const decode_row at = find_row(t, split, block, t.let(min(packed, rows - 1u)));
    auto x = array_of<Depth / 32>([&](u32) { return var(t, 0.0f); });  // columns lane + 32 i
    if (auto exists = t.when(packed < rows))
      with_any_element(t, type, [&]<class A>(A) {
        const auto from = queries_of<typename A::stored>(t, problem, block, at);
        for (u32 i = 0; i < Depth / 32; ++i)
          if (auto has = t.when(lane + 32 * i < size)) x[i] = A::read(from[lane + 32 * i]);
      });
    var largest(t, 0.0f);
    for (auto& one : x) largest = max(largest, finite_or_zero(t.let(abs(one))));
    const query_scaling by = scaling_of_queries(t, t.let(warp_reduce(t, largest, maximum{})));
    const val scaled = t.let(type == static_cast<u32>(element_type::bf16));
    const val up = t.let(select(scaled, by.up, 1.0f));
    if (auto leads = t.when(lane == 0u)) factors[row] = select(scaled, by.back, 1.0f);
    for (u32 i = 0; i < Depth / 32; ++i) {
      const val place_in_row = t.let(place_of_query_element(lane + 32 * i));
      const val rounded = t.let(cast<f16>(x[i] * up));
      to[row][place_in_row] = rounded;
    }
  }
}

}  // namespace kaio::ops
