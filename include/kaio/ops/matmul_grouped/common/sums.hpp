#pragma once
// Products of the rows of each group: C[g] = A[g]^T * B[g], the gradient of a group's matrix. K is the group's rows.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/common/strip.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <cstdint>
#include <type_traits>

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
  static constexpr bool takes_strips = true;
  template <class Sums, class At>
  static constexpr auto several(thread t, const Sums& x, const At& at, const val<grouped_sum_terms>& terms) {
    auto y = array_of<Sums::size()>([&](u32 i) { return var(t, x[i]); });
    const val accumulate = t.let(terms[&grouped_sum_terms::accumulate] != 0u);
    if (auto adds = t.when(accumulate)) {
      const val<output_lines> lines = t.let(terms[&grouped_sum_terms::c]);
      const val offset = t.let(offset_in(t, lines, at.first)), pitch = t.let(lines[&output_lines::pitch]);
      const val address = t.let(terms[&grouped_sum_terms::memory][&output_memory::address]);
      const val type = t.let(terms[&grouped_sum_terms::memory][&output_memory::type]);
      const auto each = [&]<class T>(std::type_identity<T>) {
        if (auto chosen = t.when(type == static_cast<u32>(detail::number_of_output<T>)))
          for (u32 i = 0; i < At::rows; ++i)
            if (auto exists = t.when(at.exists[i])) {
              const auto line =
                  pointer_at<inout<T>>(t, address).from(t.let(offset + pitch * i64{i * At::apart}));
              for (u32 c = 0; c < At::columns; ++c)
                if (auto inside = t.when(at.columns_left > c)) y[At::columns * i + c] += cast<f32>(line[c]);
            }
      };
      each(std::type_identity<f32>{});
      each(std::type_identity<f16>{});
      each(std::type_identity<bf16>{});
    }
    return array_of<Sums::size()>([&](u32 i) { return val<f32>(t.let(y[i])); });
  }

  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<grouped_sum_terms> terms) const {
    return several(t, array_of<1>([&](u32) { return x; }), single_place(t, at), terms)[0];
  }
};

}  // namespace kaio::ops
