#pragma once
// Products of the rows of each group: C[g] = A[g]^T * B[g], the gradient of a group's matrix. K is the group's rows.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <cstdint>

namespace kaio::ops {

// The tiles of all groups, those of a group one after the other.
struct grouped_sum_tiles {
  u64 offsets;             // u32: groups + 1
  u32 rows;                // of A and B; offsets are clamped to it
  u32 count;               // tiles of all groups
  divisor of_group, of_m;  // tiles of a group, and along M
};
struct grouped_sum_tile {
  val<u32> group, m, n;
  val<u32> first, rows;  // of A and B
};
template <class Tiles>
constexpr grouped_sum_tile sum_tile_at(thread t, const Tiles& tiles, const val<u32>& index) {
  const quotient group = divide(t, index, tiles[&grouped_sum_tiles::of_group]);
  const quotient place = divide(t, group.rest, tiles[&grouped_sum_tiles::of_m]);
  const auto offsets = pointer_at<in<u32>>(t, t.let(tiles[&grouped_sum_tiles::offsets]));
  const val rows = t.let(tiles[&grouped_sum_tiles::rows]);
  const val first = t.let(min(offsets[group.whole], rows));
  const val last = t.let(min(offsets[group.whole + 1u], rows));
  return {group.whole, place.rest, place.whole, first, t.let(max(last, first) - first)};
}

// Where an epilogue finds C.
struct grouped_sum_terms {
  output_lines c;
  output_memory memory;
  u32 accumulate;  // 1: adds to C
  u32 unused = 0;
};
struct add_to_grouped {
  static constexpr fixed_string name = "sums";
  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<grouped_sum_terms> terms) const {
    var result(t, x);
    const val accumulate = t.let(terms[&grouped_sum_terms::accumulate] != 0u);
    if (auto adds = t.when(accumulate)) {
      const val offset = t.let(
          cast<i64>(at.batch) * terms[&grouped_sum_terms::c][&output_lines::batch_pitch] +
          cast<i64>(at.row) * terms[&grouped_sum_terms::c][&output_lines::pitch] + cast<i64>(at.column));
      const val address = t.let(terms[&grouped_sum_terms::memory][&output_memory::address]);
      const val type = t.let(terms[&grouped_sum_terms::memory][&output_memory::type]);
      const auto each = [&]<class T>(std::type_identity<T>) {
        if (auto chosen = t.when(type == static_cast<u32>(detail::number_of_output<T>)))
          result = x + cast<f32>(pointer_at<inout<T>>(t, address)[offset]);
      };
      each(std::type_identity<f32>{});
      each(std::type_identity<f16>{});
      each(std::type_identity<bf16>{});
    }
    return t.let(result);
  }
};

}  // namespace kaio::ops
