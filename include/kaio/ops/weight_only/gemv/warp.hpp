#pragma once
// A warp that multiplies in matmul_w4 for one row of x. It goes through the columns of its cluster, sums its
// tiles of K of each 32 columns, and leaves the sums to the other warps of the block. For each batch of
// columns a warp adds the sums of one tile, and stores them where the block that finishes it has its inbox.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/codes.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/weight_only/gemv/digits.hpp>
#include <kaio/ops/weight_only/gemv/place.hpp>
#include <kaio/ops/weight_only/gemv/shared.hpp>
#include <kaio/ops/weight_only/gemv/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

// A batch of columns, as End::store or End::finish sees it: sums over the splits, in their order.
template <w4_one_row_config C>
struct w4_one_row_sums {
  thread t;
  const typename w4_one_row_inbox<C>::memory& inbox;
  const val<u32>& batch_at;  // place of the batch's first sum
  const val<u32>& splits;

  // The sums of columns `column` to column + 3 of a tile of the batch.
  constexpr auto four(const val<u32>& tile, const val<u32>& column) const {
    auto y = array_of<4>([&](u32) { return var(t, -0.0f); });
    const val at = t.let(batch_at + tile * w4_tile_n + column);
    for (u32 split = 0; split < C.most_splits; ++split)
      if (auto exists = t.when(split < splits)) {
        const val more = load_vec<4>(inbox[at + split * w4_one_row_inbox<C>::of_split]);
        for (u32 e = 0; e < 4; ++e) y[e] += more[e];
      }
    return y;
  }
};

template <w4_one_row_config C, scalar T>
class w4_one_row_warp {
  using codes_of = w4_one_row_codes<C.bits>;
  using scales_and_zeros_of = typename codes_of::scales_and_zeros;
  using mma = mma_m16n8k32<i32, u8, i8>;
  using digits = w4_one_row_digits<T>;
  using inbox_of = w4_one_row_inbox<C>;
  static constexpr u32 halves = 2;
  static_assert(scales_and_zeros_of::slots == 1);

 public:
  using tiles_type = w4_one_row_tiles<C, scales_and_zeros_of>;
  using shared_memory = w4_one_row_shared<C, T, tiles_type>;

  constexpr w4_one_row_warp(thread t, const shared_memory& shared, const val<w4_problem>& problem,
                            const w4_one_row_place& place, tiles_type& tiles)
      : t_(t),
        shared_(shared),
        place_(place),
        tiles_(tiles),
        g_(t.let(place.lane / 4u)),
        upper_(t.let(place.lane / 2u % 2u)),
        has_upper_digits_(t.let(place.lane % 2u)),
        pair_(t.let(g_ + upper_ * 8u)),
        is_upper_(t.let(upper_ != 0u)),
        is_bf16_(t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u)),
        has_zeros_(t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0})),
        x_begin_(t.let((place.own.first - place.k.first) * digits::of_tile)),
        of_lane_(t.let(place.lane % 16u * 4u)),
        of_sums_(t.let(digits::totals + has_upper_digits_ * 2u)),
        zero_bit_(t.let(codes_of::zero_bit(pair_))),
        begin_(t.let(tiles.begin())),
        totals_(array_of<2>([&](u32) { return var(t, 0.0f); })),
        zero_(array_of<2>([&](u32 odd) { return var(t, codes_of::zero(odd)); })),
        stage_(t, 0u) {}

  // Multiplies `columns` tiles of 32 columns. tile_of(i): the index along N of the i-th of them.
  template <class End, class TileOf>
  constexpr void run(const End& end, const val<u32>& columns, const TileOf& tile_of) {
    for (auto c : t_.range(0u, columns).no_unroll()) {
      for (auto& total : totals_) total = 0.0f;
      for (auto tile : t_.range(place_.own.first, place_.own.last, C.tiles).no_unroll()) {
        cp_async_wait_group<C.stages - 2>(t_);
        sync_warp(t_);
        tiles_.ask(tile_of);
        multiply_step(tile);
        const val after = t_.let(stage_ + tiles_type::of_step);
        stage_ = select(after == C.stages * tiles_type::of_step, 0u, after);
      }
      const val place = t_.let(c % C.columns);
      put_totals(place);
      if (auto full = t_.when(any_of(place == C.columns - 1, c + 1u == columns))) {
        const val first = t_.let(c - place);
        const val batch_at = t_.let(c / C.columns % 2u * inbox_of::of_batch);
        send_batch<End>(first, place, batch_at);
        if constexpr (!End::has_warp)
          end.store(t_, w4_one_row_sums<C>{t_, shared_.inbox, batch_at, place_.splits}, place_.units.first,
                    first, t_.let(place + 1u), place_.split);
      }
    }
  }

 private:
  // The words of shared memory that a lane reads in a step; scales and zeros are of its two columns.
  struct lane_words {
    val<u32> codes, scales, zeros, x, x_sums;
  };
  using sums = dsl::register_array<typename mma::accumulator, halves>;

  // Adds the products of a step of C.tiles tiles of K. The first of them exists.
  template <class Tile>
  constexpr void multiply_step(const Tile& tile) {
    const val step = t_.let(begin_ + stage_);
    const val from_x = t_.let(x_begin_ + (tile - place_.own.first) * digits::of_tile);
    const lane_words at{t_.let(step + place_.lane * 4u), t_.let(step + codes_of::scale_at(pair_)),
                        t_.let(step + codes_of::zero_at(pair_)), t_.let(from_x + of_lane_),
                        t_.let(from_x + of_sums_)};
    multiply(at, 0);
    for (u32 i = 1; i < C.tiles; ++i)
      if (auto more = t_.when(tile + i < place_.own.last)) multiply(at, i);
  }
  // Adds the products of tile i of a step.
  constexpr void multiply(const lane_words& at, u32 i) {
    const auto& words = shared_.words;
    const auto& x = shared_.x;
    const u32 scales_and_zeros = tiles_type::of_codes + i * scales_and_zeros_of::words;
    const auto xs = load_vec<4>(x[at.x + i * digits::of_tile]);
    const auto of_x = load_vec<2>(x[at.x_sums + i * digits::of_tile]);
    const auto codes = codes_of::load(t_, words, at.codes, i * C.words());
    if (auto some = t_.when(has_zeros_)) {
      const val word = words[at.zeros + (scales_and_zeros + scales_and_zeros_of::scale_pieces * 4)];
      const val both = t_.let(word >> zero_bit_);
      for (u32 odd = 0; odd < 2; ++odd) zero_[odd] = codes_of::zero_of(t_, both, odd);
    }
    auto of_digits = array_of<halves>([&](u32) { return typename mma::accumulator(t_, 0); });
    multiply_digits(of_digits, codes, xs);
    const auto scale = codes_of::scales(t_, words[at.scales + scales_and_zeros], is_bf16_);
    const val minus = t_.let(bit_cast<i32>(of_x[0]));
    const val unit = t_.let(bit_cast<f32>(of_x[1]));
    const auto product = array_of<2>([&](u32 odd) {
      const val both = sum_of_digits(of_digits, odd);
      return t_.let(cast<f32>(zero_[odd] * minus + both) * unit);
    });
    totals_[0] = fma(scale.even, product[0], totals_[0]);
    totals_[1] = fma(scale.odd, product[1], totals_[1]);
  }
  // to += W x, for codes of 32 columns x 64 k and the digits of x, columns of B
  template <class Codes, class X>
  constexpr void multiply_digits(sums& to, const Codes& codes, const X& xs) const {
    for (u32 j = 0; j < 4; j += 2) {
      typename mma::b_fragment b(t_);  // 32 k x 8
      for (u32 r = 0; r < 2; ++r) b.registers[r] = xs[j + r];
      for (u32 h = 0; h < halves; ++h) {
        typename mma::a_fragment a(t_);  // 16 columns x 32 k of W
        for (u32 r = 0; r < 4; ++r) a.registers[r] = codes_of::bytes(t_, codes, h, j, r);
        mma::multiply_add(to[h], a, b);
      }
    }
  }
  // The lane's sum of an even or odd column: d0 + 256 d1.
  constexpr val<i32> sum_of_digits(const sums& of_digits, u32 odd) const {
    const auto sum = array_of<2>([&](u32 d) {
      const val lower = t_.let(of_digits[0].registers[2 * odd + d]),
                other = t_.let(of_digits[1].registers[2 * odd + d]);
      return t_.let(select(is_upper_, other, lower));
    });
    return t_.let(sum[1] * 256 + sum[0]);
  }

  // Leaves the totals of tile `place` of the batch to the other warps.
  constexpr void put_totals(const val<u32>& place) const {
    const auto of_columns = array_of<2>([&](u32 odd) {
      const val other = shfl_xor(totals_[odd], 1u);
      return t_.let((totals_[odd] + other) * (odd != 0 ? codes_of::of_odd : 1.0f));
    });
    if (auto stores = t_.when(has_upper_digits_ == 0u))
      store_vec(shared_.partial[(place * C.warps + place_.warp) * w4_tile_n + pair_ * 2u],
                make_vec(of_columns[0], of_columns[1]));
  }
  // Sends the sums of a batch, tiles 0 to `last`, to the blocks that finish them. `first`: the batch's first
  // tile. `batch_at`: its first sum.
  template <class End>
  constexpr void send_batch(const val<u32>& first, const val<u32>& last, const val<u32>& batch_at) const {
    const val<u32>& warp = place_.warp;
    const val<u32>& lane = place_.lane;
    if constexpr (End::has_warp)
      named_barrier<1>(t_, C.warps * 32).sync();
    else
      t_.barrier();
    if (auto exists = t_.when(warp <= last)) {
      var sum(t_, -0.0f);
      for (u32 w = 0; w < C.warps; ++w) sum += shared_.partial[(warp * C.warps + w) * w4_tile_n + lane];
      const val owner = t_.let((first + warp) / End::tiles_of_unit % place_.splits);
      store(remote(shared_.inbox[batch_at + place_.split * inbox_of::of_split + warp * w4_tile_n + lane],
                   owner),
            t_.let(sum));
    }
    cluster_barrier(t_);
  }

  thread t_;
  const shared_memory& shared_;
  const w4_one_row_place& place_;
  tiles_type& tiles_;
  val<u32> g_, upper_;
  val<u32> has_upper_digits_;
  val<u32> pair_;  // columns 2 pair and 2 pair + 1 of a tile
  val<bool> is_upper_, is_bf16_, has_zeros_;
  val<u32> x_begin_, of_lane_, of_sums_, zero_bit_;
  val<u32> begin_;                           // the first word of the warp's steps
  dsl::register_array<var<f32>, 2> totals_;  // of the even and the odd column, before `of_odd`
  dsl::register_array<var<i32>, 2> zero_;    // zero points of both
  var<u32> stage_;                           // words before the stage
};

}  // namespace kaio::ops
