#pragma once
// The recomputation, from memory, of a split's rows that have NaN among their sums (common/exact_rows.hpp):
// the steps that kernels with matrix instructions share. A warp has 16 rows, and its own keys of each tile.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The warp's keys of the split, as recompute_rows_of visits them.
template <class Config, class Visit>
constexpr void each_key_of_warp(thread t, const Config& config, const decode_block& block,
                                const val<u32>& key_warp, const Visit& visit) {
  for (auto tile : t.range(block.first, block.last, config.keys).no_unroll()) {
    const val from = t.let(min(tile + key_warp * config.own_keys(), block.last));
    const val to = t.let(min(from + config.own_keys(), block.last));
    for (auto key : t.range(from, to).no_unroll()) visit(key, [](const auto& f) { f(); });
  }
}

// totals: the softmax totals of a thread's two rows. sums: the sums of the split, which are not divided here;
// those of the warp begin at sums_row.
template <class T, std::uint32_t Depth, class SourceOf, class Totals, class Functions, class Sums>
constexpr void recompute_rows_of_part(thread t, const SourceOf& source_of,
                                      const dsl::register_array<val<bool>, 2>& wrong, const Totals& totals,
                                      const val<f32>& factor, const Functions& functions, const Sums& sums,
                                      const val<u32>& sums_row) {
  struct part_of_row {
    val<f32> largest, inverse;
  };
  const auto results = array_of<2>([&](u32 r) {
    return part_of_row{
        t.let(select(totals[r].largest == -std::numeric_limits<f32>::infinity(), 0.0f, totals[r].largest)),
        t.let(1.0f)};
  });
  recompute_rows_of<T, Depth>(t, source_of, 0u, wrong, results, factor, functions.score, functions.mask,
                              [&](const val<u32>& of_warp, const val<u32>& column, const val<f32>& x) {
                                sums[sums_row + of_warp][column] = x;
                              });
}

}  // namespace kaio::ops
