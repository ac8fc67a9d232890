#pragma once
// The tiles of a grouped product, found on the device: how many rows a group has is known there alone.
//
//   offsets   0        130   130       200        tiles of 128 rows, three along N
//   group     0         1     2                   tile   0 1 2 3 4 5      group 0: down its rows first
//   tiles     2         0     1                          6 7 8            group 2
//
// A group with more than 16 tiles along M is computed in bands of 16, so that their rows of A stay in L2.
// A grid or a persistent loop goes up to a bound of the tiles, and ends with the first tile that does not exist.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Tiles along M whose rows of A stay in L2 while the columns of B go by.
inline constexpr u32 grouped_band = 16;

struct grouped_tiles {
  u64 offsets;  // u32: groups + 1
  u32 groups;
  u32 rows;         // of C; offsets are clamped to it
  divisor of_n;     // tiles along N
  divisor of_band;  // tiles of a whole band
  u32 band;         // its tiles along M

  static constexpr grouped_tiles of(u64 offsets, std::uint64_t groups, std::uint64_t rows,
                                    std::uint64_t tiles_n, u32 band = grouped_band) {
    const auto along_n = static_cast<u32>(tiles_n);
    return {offsets,
            static_cast<u32>(groups),
            static_cast<u32>(rows),
            divisor::of(along_n),
            divisor::of(along_n * band),
            band};
  }

  // The most tiles that `rows` rows in groups can have along M.
  static constexpr std::uint64_t most(std::uint64_t rows, std::uint64_t groups, std::uint32_t tile) {
    const std::uint64_t used = std::min(rows, groups);
    return (rows - used) / tile + used;
  }
};

struct grouped_tile {
  val<bool> exists;
  val<u32> group;
  val<u32> row, end;  // the tile's first row of C, and the first row after its group
  val<u32> n;         // its place along N, in tiles
};

// Finds tiles in increasing order. All lanes of a warp take part: each counts the tiles of a group, 32 groups at a
// time. The search for a tile begins where the one before ended.
template <std::uint32_t Rows, class Tiles>
class grouped_walk {
 public:
  constexpr grouped_walk(thread t, const Tiles& of) : t_(t), of_(of), first_(t, 0u), before_(t, 0u) {}

  constexpr grouped_tile find(const val<u32>& index) {
    const val groups = t_.let(of_[&grouped_tiles::groups]), rows = t_.let(of_[&grouped_tiles::rows]);
    const quotient wanted = divide(t_, index, of_[&grouped_tiles::of_n]);
    const auto offsets = pointer_at<in<u32>>(t_, t_.let(of_[&grouped_tiles::offsets]));
    var group(t_, groups), begin(t_, 0u), end(t_, 0u), tiles(t_, 1u), tiles_before(t_, 0u);
    for (auto l : t_.loop()) {
      const val own = t_.let(first_ + t_.lane_rank());
      var own_begin(t_, 0u), own_end(t_, 0u);
      if (auto exists = t_.when(own < groups)) {
        own_begin = min(offsets[own], rows);
        own_end = min(offsets[own + 1u], rows);
      }
      const val own_rows = t_.let(select(own_end > own_begin, own_end - own_begin, 0u));
      const val own_tiles = t_.let((own_rows + (Rows - 1)) / Rows);
      const val up_to_own = warp_inclusive_scan(t_, own_tiles, plus{});
      const val hits = ballot(t_.let(wanted.whole < before_ + up_to_own));
      if (auto found = t_.when(hits != 0u)) {
        const val lane = t_.let(ctz(hits));
        group = first_ + lane;
        begin = shfl_idx(own_begin, lane);
        end = shfl_idx(own_end, lane);
        const val of_lane = shfl_idx(own_tiles, lane), up_to_lane = shfl_idx(up_to_own, lane);
        tiles = of_lane;
        tiles_before = before_ + up_to_lane - of_lane;
      }
      l.break_if(hits != 0u);
      const val all = shfl_idx(up_to_own, 31u);
      before_ += all;
      first_ += 32u;
      l.break_if(first_ >= groups);
    }
    const val within = t_.let(index - tiles_before * of_[&grouped_tiles::of_n][&divisor::value]);
    const quotient band = divide(t_, within, of_[&grouped_tiles::of_band]);
    const val height = t_.let(of_[&grouped_tiles::band]);
    const val first = t_.let(band.whole * height);
    const val of_band = t_.let(min(tiles - first, height));
    const val n = t_.let(band.rest / of_band);
    const val m = t_.let(first + (band.rest - n * of_band));
    return {t_.let(group < groups), t_.let(group), t_.let(begin + m * Rows), t_.let(end), n};
  }

 private:
  thread t_;
  Tiles of_;
  var<u32> first_, before_;  // a group, and the tiles of all groups before it
};

}  // namespace kaio::ops
