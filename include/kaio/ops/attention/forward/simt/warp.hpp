#pragma once
// A thread's part of a block of attention by multiply-adds: 4 queries x every column_lanes-th key of S, and 4
// queries x fours of columns of O, all in registers. P goes through shared memory, each warp for itself.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/attention/forward/simt/shared.hpp>

#include <cstdint>

namespace kaio::ops {

// A warp's place in its block: `groups` warps share rows, each with its own tiles of keys.
struct attention_simt_place {
  val<u32> rank, warp, lane;
  val<u32> groups;
  val<u32> group, row_group;  // the warp among those that share its rows; those warps among all

  constexpr attention_simt_place(thread t, const val<u32>& warps_of_rows)
      : rank(t.thread_rank()),
        warp(t.let(t.warp_rank())),
        lane(t.lane_rank()),
        groups(warps_of_rows),
        group(t.let(warp % groups)),
        row_group(t.let(warp / groups)) {}
};

// Where a thread's elements begin in the tiles.
template <attention_simt_config C>
struct attention_simt_origin {
  val<u32> column;  // key of a tile, and the four of columns of O
  val<u32> row;     // among the block's queries
  val<u32> p_row;   // among the rows of P of all warps

  constexpr attention_simt_origin(thread t, const attention_simt_place& place)
      : column(t.let(place.lane % lanes)),
        row(t.let(place.row_group * C.warp_rows() + place.lane / lanes)),
        p_row(t.let(place.warp * C.warp_rows() + place.lane / lanes)) {}

 private:
  static constexpr std::uint32_t lanes = C.column_lanes();
};

template <attention_simt_config C>
struct attention_simt_warp {
  using shape = attention_simt_shape<C>;
  static constexpr std::uint32_t rows = shape::rows, lanes = shape::lanes, columns = shape::columns,
                                 fours = shape::fours;
  using scores = dsl::register_array<var<f32>, rows * columns>;

  thread t;
  const attention_simt_shared<C>& shared;
  const attention_simt_place& place;
  const attention_simt_origin<C>& own;
  dsl::register_array<var<f32>, rows * fours * 4> sums;  // rows x fours x 4 of O
  online_softmax<rows, lanes> softmax;

  constexpr attention_simt_warp(thread of, const attention_simt_shared<C>& memory,
                                const attention_simt_place& at, const attention_simt_origin<C>& begin)
      : t(of),
        shared(memory),
        place(at),
        own(begin),
        sums(array_of<rows * fours * 4>([&](u32) { return var(of, 0.0f); })),
        softmax(of) {}

  static constexpr scores zero_scores(thread t) {
    return array_of<rows * columns>([&](u32) { return var(t, 0.0f); });
  }
  // S += Q K^T of a chunk of columns from `first` on.
  template <class First>
  constexpr void add_scores(scores& s, const First& first) const {
    for (auto d : t.range(0u, C.chunk, 4u).no_unroll()) {  // columns beyond the row are zero
      const auto q_fours = array_of<rows>(
          [&](u32 r) { return load_vec<4>(shared.q[own.row + C.row_lanes * r][first + d]); });  // rows x 4
      const auto k_fours = array_of<columns>([&](u32 c) {                                       // keys x 4
        return load_vec<4>(shared.k[place.group * C.tile_keys + own.column + lanes * c][d]);
      });
      for (u32 e = 0; e < 4; ++e)
        for (u32 i = 0; i < rows * columns; ++i)
          s[i] = fma(q_fours[i / columns][e], k_fours[i % columns][e], s[i]);
    }
  }
  // The places of the thread's scores in a tile of keys.
  template <class Keys>
  constexpr score_origin<rows> places(const attention_block& block, const Keys& keys) const {
    const auto query =
        array_of<rows>([&](u32 r) { return t.let(block.first_query + own.row + C.row_lanes * r); });
    const val key = t.let(keys.first + own.column);
    return origin_of<rows>(t, block, query, key, keys.end);
  }
  // Corrects O, and puts P in shared memory for the warp.
  template <class Correction>
  constexpr void take_probabilities(const scores& p, const Correction& correction) {
    for (u32 i = 0; i < rows * fours * 4; ++i) sums[i] *= correction[i / (fours * 4)];
    for (u32 i = 0; i < rows * columns; ++i)
      shared.p[own.p_row + C.row_lanes * (i / columns)][own.column + lanes * (i % columns)] = p[i];
    sync_warp(t);
  }
  // O += P V of value_keys keys from `first` on.
  template <class First>
  constexpr void add_values(const First& first) {
    constexpr std::uint32_t value_keys = shape::value_keys, step_keys = shape::step_keys;
    for (auto key : t.range(0u, value_keys, step_keys).no_unroll()) {
      const auto p = array_of<rows>([&](u32 r) {  // rows x step_keys
        return load_vec<step_keys>(shared.p[own.p_row + C.row_lanes * r][first + key]);
      });
      for (u32 i = 0; i < step_keys; ++i)
        for (u32 f = 0; f < fours; ++f) {
          const val x =
              load_vec<4>(shared.v[place.group * value_keys + key + i][own.column * 4u + 4 * lanes * f]);
          for (u32 r = 0; r < rows; ++r)
            for (u32 e = 0; e < 4; ++e) {
              auto& sum = sums[(r * fours + f) * 4 + e];
              // A masked key adds nothing, even if its value is NaN or infinite.
              sum = select(p[r][i] == 0.0f, sum, fma(p[r][i], x[e], sum));
            }
        }
    }
  }
};

}  // namespace kaio::ops
