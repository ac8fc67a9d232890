#pragma once
// A warp's copies to shared memory in matmul_w4: its tile of W with scales and zero points, and its share of
// a tile of x. The warps with the same k copy that tile of x together. Whatever is equal for all tiles is
// computed once.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/rows.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/config.hpp>
#include <kaio/ops/weight_only/mma_sync/scale_copies.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::scalar;

// XRows: as w4_rows_in_order.
template <w4_config C, class D, scalar T, class XRows = w4_rows_in_order>
class w4_copies {
 public:
  using x_ring = shared_tiles<T, C.rows, w4_tile_k, dsl::swizzled<128>, C.stages * C.warps_k()>;
  using scales_and_zeros_of = w4_scales_and_zeros<D>;
  static constexpr std::uint32_t words = C.words(), scale_and_zero_words = scales_and_zeros_of::words,
                                 tile_bytes = words * 4;
  using codes_type = shared<u32, C.stages * C.warps * words>;
  using scales_and_zeros_type = shared<u32, C.stages * C.warps * scale_and_zero_words>;
  static constexpr std::uint32_t piece = 16 / sizeof(T), pieces = w4_tile_k / piece;

  constexpr w4_copies(thread t, const x_ring& x_tiles, const codes_type& codes,
                      const scales_and_zeros_type& scales_and_zeros, const val<w4_problem>& problem,
                      const w4_block& block, const XRows& rows = {})
      : t_(t),
        of_rows_(rows),
        x_tiles_(x_tiles),
        codes_(codes),
        scales_and_zeros_(scales_and_zeros),
        problem_(problem),
        block_(block),
        lane_(t.lane_rank()),
        warp_(t.let(t.warp_rank())),
        // Warps beyond the last tile copy the last one, and store nothing.
        tile_n_{t.let(min(block.tile_n, problem[&w4_problem::w][&w4_packed::tiles_n] - 1u))},
        k_(t.let(problem[&w4_problem::w][&w4_packed::k])),
        by_16_(t.let(problem[&w4_problem::x_by_16] != 0u)),
        scale_copies_(t, problem, tile_n_, t.let(shared_address(scales_and_zeros[0]))),
        rank_(t.let(block.warp_n * 32u + lane_)),
        column_(t.let(rank_ % pieces * piece)),
        lines_(array_of<C.pieces()>([&](u32 p) { return find_line(p); })),
        tile_(t, block.first + block.warp_k),
        codes_from_(t, cast<u64>(tile_n_[0]) * cast<u64>(problem[&w4_problem::w][&w4_packed::tiles_k]) *
                               u64{tile_bytes} +
                           cast<u64>(tile_) * u64{tile_bytes} + cast<u64>(lane_) * u64{16} +
                           problem[&w4_problem::w][&w4_packed::codes]),
        fill_(t, 0u) {}

  // Copies the warp's next tile, if there is one, into the next stage, as one group.
  constexpr void copy() {
    const val tile = t_.let(tile_), stage = t_.let(fill_);
    if (auto exists = t_.when(tile < block_.last)) {
      copy_weights(tile, stage);
      copy_x(tile, stage);
    }
    commit(stage);
  }
  // Fills the first stages in a programmatic launch. Constant weights are copied before the previous kernel
  // has ended. x comes by loads, since copy groups complete in order: x of the first tile would wait for the
  // weights of all tiles.
  constexpr void copy_first(const val<bool>& weights_are_constant) {
    if (auto early = t_.when(!weights_are_constant)) grid_dependency_wait(t_);
    for ([[maybe_unused]] auto s : t_.range(1u, C.stages).no_unroll()) {
      const val tile = t_.let(tile_), stage = t_.let(fill_);
      if (auto exists = t_.when(tile < block_.last)) copy_weights(tile, stage);
      commit(stage);
    }
    grid_dependency_wait(t_);
    const val first = t_.let(block_.first + block_.warp_k);
    if (auto whole = t_.when(all_of(by_16_, k_ % w4_tile_k == 0u))) load_x(first);
    if (auto by_elements = t_.otherwise())
      for (auto stage : t_.range(0u, C.stages - 1).no_unroll()) {
        const val tile = t_.let(first + stage * C.warps_k());
        if (auto exists = t_.when(tile < block_.last)) load_x_by_elements(tile, stage);
      }
  }
  constexpr val<u32> following(const val<u32>& stage) const {
    return t_.let(select(stage == C.stages - 1, 0u, stage + 1u));
  }
  // Waits until all copies of the next tile have arrived and may be read.
  constexpr void wait() const {
    cp_async_wait_group<C.stages - 2>(t_);
    if constexpr (C.warps_n == 1)
      sync_warp(t_);
    else
      t_.barrier();
  }

 private:
  constexpr void copy_weights(const val<u32>& tile, const val<u32>& stage) const {
    const val of_stage = t_.let(stage * C.warps + warp_);
    const in codes = pointer_at<in<u32>>(t_, t_.let(codes_from_));
    for (std::uint32_t h = 0; h < words / 128; ++h)
      cp_async<16>(codes_[of_stage * words + lane_ * 4u + h * 128], codes[h * 128], prefetch_size::bytes_128);
    const val bytes = t_.let(of_stage * (scale_and_zero_words * 4));
    scale_copies_.copy(scale_copies_.find(tile), bytes);
    scale_copies_.copy_more(tile, bytes);
  }

  // Elements outside x become zero.
  constexpr void copy_x(const val<u32>& tile, const val<u32>& stage) const {
    const val at = t_.let(tile * w4_tile_k + column_);
    const val in_row = t_.let(select(at < k_, min(k_ - at, piece), 0u));
    const auto to = x_tiles_[t_.let(stage * C.warps_k() + block_.warp_k)];
    if (auto fast = t_.when(by_16_))
      for (const x_line& line : lines_) {
        const val bytes = t_.let(select(line.exists, in_row * sizeof(T), 0u));
        const in from = pointer_at<in<T>>(t_, line.address);
        cp_async<16>(to.at(line.place), from[at], bytes);
      }
    if (auto slow = t_.otherwise()) load_by_elements(at, in_row, to);
  }
  template <class Tile>
  constexpr void load_by_elements(const val<u32>& at, const val<u32>& in_row, const Tile& to) const {
    const val rows = t_.let(problem_[&w4_problem::w][&w4_packed::rows]);
    auto source = array_of<piece>([&](u32 e) { return var<u32>(t_, min(at + e, k_ - 1u)); });
    if (auto act_order = t_.when(rows != u64{0}))
      for (auto& one : source) one = cast<u32>(pointer_at<in<i32>>(t_, rows)[one]);
    for (const x_line& line : lines_) {
      const val left = t_.let(select(line.exists, in_row, 0u));
      const in from = pointer_at<in<T>>(t_, line.address);
      const auto x = array_of<piece>([&](u32 e) { return t_.let(from[source[e]]); });
      const auto y = array_of<piece>([&](u32 e) { return t_.let(select(e < left, x[e], T(0.0f))); });
      store_vec(to[line.row][column_], make_vec(y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]));
    }
  }
  constexpr void load_x_by_elements(const val<u32>& tile, const val<u32>& stage) const {
    const val at = t_.let(tile * w4_tile_k + column_);
    const val in_row = t_.let(select(at < k_, min(k_ - at, piece), 0u));
    load_by_elements(at, in_row, x_tiles_[t_.let(stage * C.warps_k() + block_.warp_k)]);
  }
  // Loads x of the tiles from `first` on, with all loads before the first store. K consists of whole tiles.
  // Rows that do not exist, and tiles that no warp multiplies, may have any contents.
  constexpr void load_x(const val<u32>& first) const {
    constexpr std::uint32_t tiles = C.stages - 1;
    const auto loaded = array_of<tiles * C.pieces()>([&](u32 i) {
      const val at = t_.let((first + i / C.pieces() * C.warps_k()) * w4_tile_k + column_);
      const in from = pointer_at<in<T>>(t_, lines_[i % C.pieces()].address);
      return load_vec<piece>(from[t_.let(select(at < k_, at, 0u))]);
    });
    for (u32 i = 0; i < tiles * C.pieces(); ++i) {
      const auto& x = loaded[i];
      const auto to = x_tiles_[t_.let(i / C.pieces() * C.warps_k() + block_.warp_k)];
      store_vec(to.at(lines_[i % C.pieces()].place),
                make_vec(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]));
    }
  }

  constexpr void commit(const val<u32>& stage) {
    cp_async_commit_group(t_);
    tile_ += C.warps_k();
    codes_from_ += u64{C.warps_k() * tile_bytes};
    fill_ = following(stage);
  }

  // A row of x with a piece that the thread copies.
  struct x_line {
    val<u32> row;  // within the tile
    val<bool> exists;
    val<u64> address;
    typename x_ring::lane_type place;
  };
  constexpr x_line find_line(std::uint32_t p) const {
    const val m = t_.let(problem_[&w4_problem::m]);
    const val row = t_.let(rank_ / pieces + p * (C.warps_n * 32 / pieces));
    const val of_x = of_rows_.source(t_, t_.let(block_.row + row));
    const val end = of_rows_.end(t_, m);
    const val exists = t_.let(of_x < end);
    const val line = t_.let(cast<i64>(min(of_x, end - 1u)) * problem_[&w4_problem::x_row]);
    const val address = t_.let(problem_[&w4_problem::x] + cast<u64>(line) * u64{sizeof(T)});
    return {row, exists, address, x_tiles_.lane(row, column_)};
  }

  thread t_;
  XRows of_rows_;
  const x_ring& x_tiles_;
  const codes_type& codes_;
  const scales_and_zeros_type& scales_and_zeros_;
  const val<w4_problem>& problem_;
  const w4_block& block_;
  val<u32> lane_, warp_;
  dsl::register_array<val<u32>, 1> tile_n_;
  val<u32> k_;
  val<bool> by_16_;
  w4_scale_copies<D> scale_copies_;
  val<u32> rank_, column_;
  dsl::register_array<x_line, C.pieces()> lines_;
  var<u32> tile_;
  var<u64> codes_from_;
  var<u32> fill_;
};

}  // namespace kaio::ops
