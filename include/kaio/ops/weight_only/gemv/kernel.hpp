#pragma once
// matmul_w4 and matmul_w8 for one row of x, from sm_90 on: y = x W^T as Y^T = W X^T, as in
// mma_sync/kernel.hpp. Each multiprocessor has one block, and all have equal parts of the weights:
//
//   cluster of two blocks    tiles of 32 columns c, c + 1, ...    K: first half in block 0, second in block 1
//   warp w of a block        the same columns                     its sixteenth of that half
//
// A block's part of x is in its shared memory as a whole. It may be normalised first: then each block reads
// the whole row, and has the bits of rms_norm. A warp goes through its columns with the sums of 32 of them in
// registers, and leaves these to the other warps of the block. The sums of a cluster's blocks meet in the
// block that finishes the column. The launch decides the order of all additions.
//
// Codes are multiplied undecoded, as bytes of A (codes.hpp), by four digits of x, columns of B (digits.hpp):
//
//   lane (g, c)    rows g and g + 8 of D      n = n0 + 16 h + 2 g and the next one
//                  columns 2 c and 2 c + 1    digits 0 and 1, or 2 and 3; columns 4 to 7 are copies of 0 to 3
//
// The sums of a tile are integers: d0 + 256 d1, less the zero point times the sum of x. Lanes c = 2 h and
// 2 h + 1 keep those of half h; the sums of both lanes make a column's.
//
// The launch is programmatic: constant weights are copied before the previous kernel has ended.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/codes.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/weight_only/gemv/digits.hpp>
#include <kaio/ops/weight_only/gemv/tiles.hpp>
#include <kaio/ops/weight_only/gemv/x.hpp>

#include <cstdint>

namespace kaio::ops {

// The cluster's sums for the columns that this block finishes: [batch % 2][part][tile][32].
template <w4_one_row_config C>
struct w4_one_row_inbox {
  static constexpr std::uint32_t of_part = C.columns * w4_tile_n, of_batch = C.most_parts * of_part;
  using memory = shared<f32, 2 * of_batch>;
};

// A batch of columns, as End::store or End::finish sees it: sums over the parts, in their order.
template <w4_one_row_config C>
struct w4_one_row_sums {
  thread t;
  const typename w4_one_row_inbox<C>::memory& inbox;
  const val<u32>& batch_at;  // place of the batch's first sum
  const val<u32>& parts;

  // The sums of columns `column` to column + 3 of a tile of the batch.
  constexpr auto four(const val<u32>& tile, const val<u32>& column) const {
    auto y = array_of<4>([&](u32) { return var(t, -0.0f); });
    const val at = t.let(batch_at + tile * w4_tile_n + column);
    for (u32 part = 0; part < C.most_parts; ++part)
      if (auto exists = t.when(part < parts)) {
        const val more = load_vec<4>(inbox[at + part * w4_one_row_inbox<C>::of_part]);
        for (u32 e = 0; e < 4; ++e) y[e] += more[e];
      }
    return y;
  }
};

// Options of the kernels with w4_one_row_body.
inline constexpr kernel_options w4_one_row_options{
    .target = {90}, .large_shared = true, .cluster = block_size{0, 0, 0}, .min_blocks = 1};

// The end of these kernels' names, such as "w4_one_row_f16".
template <w4_one_row_config C, scalar T>
inline constexpr auto w4_one_row_name = w4_one_row_codes<C.bits>::name + "_one_row_" + type_name<T>;

template <w4_one_row_config C, scalar T>
class w4_one_row_body {
  using codes_of = w4_one_row_codes<C.bits>;
  using facts_of = typename codes_of::facts;
  using mma = mma_m16n8k32<i32, u8, i8>;
  using digits = w4_one_row_digits<T>;
  using tiles_type = w4_one_row_tiles<C, facts_of>;
  using x_type = w4_one_row_x<C, T>;
  using inbox_of = w4_one_row_inbox<C>;
  static constexpr u32 halves = 2;
  static_assert(facts_of::slots == 1);

  // The words of shared memory that a lane reads in a step; scales and zeros are of its two columns.
  struct lane_words {
    val<u32> codes, scales, zeros, x, x_facts;
  };

 public:
  // End defines the units of columns and stores their sums. If End::has_warp, one more warp, without tiles,
  // runs End::finish, which meets the others at a cluster barrier for each batch of columns. Otherwise all
  // run End::store.
  template <class End>
  static constexpr u32 threads() {
    return (C.warps + (End::has_warp ? 1 : 0)) * 32;
  }
  template <class End>
  static constexpr void run(thread t, const val<w4_problem>& problem, const val<w4_one_row_work>& work,
                            const End& end) {
    const typename tiles_type::ring_type words(t);
    const typename x_type::memory x(t);
    const shared<f32, C.partial()> partial(t);
    const typename inbox_of::memory inbox(t);
    const row_sums of_warps(t);
    cluster_arrive(t);
    launch_dependents(t);

    const val part = t.let(cluster_rank(t)), parts = t.let(cluster_size(t));
    const val cluster = t.let(cluster_idx_x());
    const auto share = [&](const val<u32>& i, const val<u32>& each, const val<u32>& rest) {
      const val first = t.let(i * each + min(i, rest));
      return w4_one_row_part{first, t.let(first + each + select(i < rest, 1u, 0u))};
    };
    const val units_of_cluster = t.let(work[&w4_one_row_work::units]);
    const w4_one_row_part units = share(cluster, units_of_cluster, t.let(work[&w4_one_row_work::rest]));
    const val steps_of_part = t.let(problem[&w4_problem::steps]);
    const w4_one_row_part k = share(part, steps_of_part, t.let(problem[&w4_problem::rest]));
    const val of_block = t.let(k.last - k.first);
    const val warp = t.let(t.warp_rank()), lane = t.lane_rank();
    const val multiplies = t.let(warp < C.warps);
    const val steps_of_warp = t.let(of_block / C.warps);
    const w4_one_row_part of_warp = share(warp, steps_of_warp, t.let(of_block % C.warps));
    const w4_one_row_part own{t.let(k.first + of_warp.first),
                              t.let(k.first + select(multiplies, of_warp.last, of_warp.first))};
    const val columns = t.let((units.last - units.first) * End::tiles_of_unit);
    const auto tile_of = [&](const val<u32>& i) { return end.tile(t, units.first, i); };

    if (auto late = t.when(problem[&w4_problem::constant] == 0u)) grid_dependency_wait(t);
    tiles_type tiles(t, words, problem, own, columns, tile_of);
    for ([[maybe_unused]] auto step : t.range(1u, C.stages).no_unroll()) tiles.ask(tile_of);
    x_type::ask_for_norm(t, problem, work);
    grid_dependency_wait(t);
    x_type::load(t, x, of_warps, partial, problem, work, k);
    cluster_wait(t);  // all blocks of the cluster have begun
    t.barrier();
    // Runs in the warps that have tiles.
    const auto multiply_columns = [&] {
      const val g = t.let(lane / 4u), upper = t.let(lane / 2u % 2u), has_upper_digits = t.let(lane % 2u);
      const val pair = t.let(g + upper * 8u);  // columns 2 pair and 2 pair + 1 of a tile
      const val is_upper = t.let(upper != 0u);
      const val is_bf16 = t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u);
      const val has_zeros = t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0});
      const val x_begin = t.let((own.first - k.first) * digits::of_tile);
      const val of_lane = t.let(lane % 16u * 4u), of_facts = t.let(digits::facts + has_upper_digits * 2u);
      const val zero_bit = t.let(codes_of::zero_bit(pair));
      const val begin = t.let(tiles.begin());
      // Totals of the even and of the odd column, before `of_odd`.
      auto totals = array_of<2>([&](u32) { return var(t, 0.0f); });
      auto zero = array_of<2>([&](u32 odd) { return var(t, codes_of::zero(odd)); });
      var stage(t, 0u);
      const auto multiply = [&](const lane_words& at, u32 i) {
        const u32 facts = tiles_type::of_codes + i * facts_of::words;
        const auto xs = load_vec<4>(x[at.x + i * digits::of_tile]);
        const auto of_x = load_vec<2>(x[at.x_facts + i * digits::of_tile]);
        const auto codes = codes_of::load(t, words, at.codes, i * C.words());
        if (auto some = t.when(has_zeros)) {
          const val word = words[at.zeros + (facts + facts_of::scale_pieces * 4)];
          const val both = t.let(word >> zero_bit);
          for (u32 odd = 0; odd < 2; ++odd) zero[odd] = codes_of::zero_of(t, both, odd);
        }
        auto sums = array_of<halves>([&](u32) { return typename mma::accumulator(t, 0); });
        for (u32 j = 0; j < 4; j += 2) {
          typename mma::b_fragment b(t);
          for (u32 r = 0; r < 2; ++r) b.registers[r] = xs[j + r];
          for (u32 h = 0; h < halves; ++h) {
            typename mma::a_fragment a(t);
            for (u32 r = 0; r < 4; ++r) a.registers[r] = codes_of::bytes(t, codes, h, j, r);
            mma::multiply_add(sums[h], a, b);
          }
        }
        const auto scale = codes_of::scales(t, words[at.scales + facts], is_bf16);
        const val minus = t.let(bit_cast<i32>(of_x[0]));
        const val unit = t.let(bit_cast<f32>(of_x[1]));
        const auto product = array_of<2>([&](u32 odd) {
          const auto sum = array_of<2>([&](u32 d) {
            const val lower = t.let(sums[0].registers[2 * odd + d]),
                      other = t.let(sums[1].registers[2 * odd + d]);
            return t.let(select(is_upper, other, lower));
          });
          const val both = t.let(sum[1] * 256 + sum[0]);
          return t.let(cast<f32>(zero[odd] * minus + both) * unit);
        });
        totals[0] = fma(scale.even, product[0], totals[0]);
        totals[1] = fma(scale.odd, product[1], totals[1]);
      };

      for (auto c : t.range(0u, columns).no_unroll()) {
        for (auto& total : totals) total = 0.0f;
        for (auto tile : t.range(own.first, own.last, C.tiles).no_unroll()) {
          cp_async_wait_group<C.stages - 2>(t);
          sync_warp(t);
          tiles.ask(tile_of);
          const val step = t.let(begin + stage);
          const val from_x = t.let(x_begin + (tile - own.first) * digits::of_tile);
          const lane_words at{t.let(step + lane * 4u), t.let(step + codes_of::scale_at(pair)),
                              t.let(step + codes_of::zero_at(pair)), t.let(from_x + of_lane),
                              t.let(from_x + of_facts)};
          multiply(at, 0);
          for (u32 i = 1; i < C.tiles; ++i)
            if (auto more = t.when(tile + i < own.last)) multiply(at, i);
          const val after = t.let(stage + tiles_type::of_step);
          stage = select(after == C.stages * tiles_type::of_step, 0u, after);
        }
        const val place = t.let(c % C.columns);
        const auto of_columns = array_of<2>([&](u32 odd) {
          const val other = shfl_xor(totals[odd], 1u);
          return t.let((totals[odd] + other) * (odd != 0 ? codes_of::of_odd : 1.0f));
        });
        if (auto stores = t.when(has_upper_digits == 0u))
          store_vec(partial[(place * C.warps + warp) * w4_tile_n + pair * 2u],
                    make_vec(of_columns[0], of_columns[1]));
        if (auto full = t.when(any_of(place == C.columns - 1, c + 1u == columns))) {
          const val first = t.let(c - place);
          const val batch_at = t.let(c / C.columns % 2u * inbox_of::of_batch);
          if constexpr (End::has_warp)
            named_barrier<1>(t, C.warps * 32).sync();
          else
            t.barrier();
          if (auto exists = t.when(warp <= place)) {
            var sum(t, -0.0f);
            for (u32 w = 0; w < C.warps; ++w) sum += partial[(warp * C.warps + w) * w4_tile_n + lane];
            const val owner = t.let((first + warp) / End::tiles_of_unit % parts);
            store(remote(inbox[batch_at + part * inbox_of::of_part + warp * w4_tile_n + lane], owner),
                  t.let(sum));
          }
          cluster_barrier(t);
          if constexpr (!End::has_warp)
            end.store(t, w4_one_row_sums<C>{t, inbox, batch_at, parts}, units.first, first, t.let(place + 1u),
                      part);
        }
      }
    };
    if constexpr (End::has_warp) {
      if (auto other = t.when(!multiplies)) end.finish(t, inbox, units, part, parts);
      if (auto others = t.otherwise()) multiply_columns();
    } else {
      multiply_columns();
    }
    cp_async_wait_group<0>(t);
  }
};

}  // namespace kaio::ops
