#pragma once
// matmul_w4 for sm_90a: y = x W^T as Y^T = W X^T, by wgmma. W is the register operand, decoded from codes in
// shared memory. X^T comes from the tiles of x as tensor copies leave them in shared memory. One warp is the
// producer; two or four consumer warpgroups decode and multiply, each with 64 columns of y:
//
//                             stage, up to 256 of K
//   x      rows x 64 each    --> | x: rows x 64 | rows x 64 | ...     operand B of wgmma
//   codes  of 32 columns     --> | 4 tiles of 32 x 64 | ...           words of a lane -> registers of A
//   scales, zero points      --> | of a row of all columns | ...
//
// Each contiguous piece is one copy: a copy engine takes about 100 clocks for any copy of up to 2 KB.
//
// As in the kernels for sm_80, codes are decoded without their scales. A unit is the part of a tile of 64 k
// that one group has. A pass multiplies a unit by all rows of x or by half of them. Its sums are multiplied
// by the scale in f32 and added to the totals. If a unit has two passes, one has its sums added while the
// other is multiplied:
//
//   to 64 rows | decode 0, start 0 | decode 1, wait 0, add, start 1 | decode 2, wait 1, add, start 2 | ...
//   128 rows   | decode 0, start 0a, 0b | wait 0a, add | decode 1, start 1a | wait 0b, add | start 1b | ...
//
// If units of a stage have the same scale, as two units of a group of 128, they are added as one. Weights
// that are decoded with their scales are summed by wgmma alone. A block has a part of K. The blocks of a
// cluster have all of K. Each hands its sums to the block that owns the row of y, which adds them in the
// order of K. Without clusters, the sums of parts go from registers to the workspace, for the second kernel
// (sums.hpp).
//
// wgmma shares the register ports with other instructions. On an H200, 16 warps with 64 multiply-adds each,
// next to their four products of 64 x 64 x 16, take 722 clocks; the products alone take 512, the
// multiply-adds 256. Fewer rows therefore have a kernel with fewer of both, rather than one that hides them.
//
// Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", register fragments of A;
// CUTLASS, mixed-input GEMM of Hopper, for the order of operands.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/common/facts.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/sums.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kaio::ops {

template <w4_sm90_config C, class Dequantisation, scalar T>
struct w4_sm90_body {
  using D = w4_whole_groups<Dequantisation>;
  static_assert(C.valid() && C.bits == D::bits && (!C.pairs || C.threads() >= 32 * w4_pair_warps));
  using decoder_type = typename D::template decoder<T>;
  using fragment = typename mma_m16n8k16<f32, T>::a_fragment;
  using accumulator = wgmma_accumulator<f32, C.rows>;
  using facts_of = w4_facts<D>;
  using x_ring = shared_tiles<T, C.rows, w4_tile_k, dsl::swizzled<128>, C.stages * C.tiles>;
  using ring_type = dsl::pipeline<C.stages>;
  static constexpr std::uint32_t tiles_n = C.tiles_n(), words = C.words(), fact_words = facts_of::words;
  static constexpr std::uint32_t quads = D::bits / 4;
  static constexpr u32 minus_count = D::rounded ? 4 : 2;
  static constexpr std::uint32_t box[2] = {w4_tile_k, C.rows};
  static constexpr u32 passes = D::scaled ? 1 : C.passes;
  using pass_sums = wgmma_accumulator<f32, C.rows / passes>;
  using sums_type = w4_sm90_sums<C, T, C.stages * C.tiles * x_ring::stage_bytes>;
  using codes_type = shared<u32, C.stages * tiles_n * C.tiles * words>;  // [stage][32 columns][64 of K]
  // [stage][64 of K][slot][scales of all columns], then [slot][zero points]
  using facts_type = shared<u32, C.stages * C.tiles * tiles_n * fact_words>;
  static constexpr std::uint32_t scale_words = facts_of::scale_pieces_of_group * 4,  // words per 32 columns
      zero_words = facts_of::zero_pieces_of_group * 4;

  // If the configuration has an edge, the boxes of `x_edge` have the rows of the last tile (w4_edge_rows).
  static constexpr void run(thread t, const tensor_map<T, 2>& x, const tensor_map<T, 2>& x_edge,
                            const val<w4_problem>& problem) {
    const x_ring x_tiles(t);
    const codes_type codes(t);
    const facts_type facts(t);
    ring_type ring(t);
    const val parts = t.let(problem[&w4_problem::parts]);
    const val of_tile = t.let(block_idx_x() / parts);
    const val part = t.let(block_idx_x() - of_tile * parts);
    const quotient tile = divide(t, of_tile, problem[&w4_problem::m_tiles]);
    const val row = t.let(tile.rest * C.rows), column = t.let(tile.whole * C.columns());
    const val rows = rows_to_copy(t, problem, row);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      prefetch(x);
      if constexpr (C.has_edge()) prefetch(x_edge);
      ring.init(1, C.consumers * 4);
      fence_mbarrier_init(t);
    }
    if constexpr (C.has_edge()) clear_beyond(t, x_tiles, rows);
    const auto pairs = make_w4_pairs<C.pairs, D, T>(t, problem);
    t.barrier();
    launch_dependents(t);

    const val first_tile_n = t.let(column / w4_tile_n);
    const val steps = t.let(problem[&w4_problem::steps]), rest = t.let(problem[&w4_problem::rest]);
    const val first = t.let(part * steps + min(part, rest));
    const val last = t.let(first + steps + select(part < rest, 1u, 0u));

    const sums_type sums(t, problem, x_tiles, row, column);
    const val warp = warp_rank(t);
    const val is_producer = t.let(warp >= C.consumers * 4);
    if (auto producer = t.when(is_producer)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(warp == C.consumers * 4))
        load(t, x, x_edge, problem, ring, x_tiles, codes, facts, row, rows, first_tile_n, first, last);
      if (auto whole = t.when(sums.are_whole())) cluster_barrier(t);
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      auto totals = array_of<accumulator::size()>([&](u32) { return var(t, 0.0f); });
      multiply(t, problem, ring, x_tiles, codes, facts, pairs, warp, first_tile_n, first, last, totals);
      if (auto whole = t.when(sums.are_whole())) {
        cluster_barrier(t);  // no block reads its tiles any more
        sums.hand_out(totals, warp);
      }
      if (auto of_part = t.otherwise()) sums.store_part(totals, warp, part);
    }
    if (auto whole = t.when(sums.are_whole())) {
      cluster_barrier(t);  // the sums of all blocks have arrived
      sums.finish();
    }
  }

 private:
  static constexpr val<u32> rows_to_copy(thread t, const val<w4_problem>& problem, const val<u32>& row) {
    if constexpr (C.has_edge())
      return t.let(min(C.rows, (problem[&w4_problem::m] - row + 7u) / 8u * 8u));
    else
      return t.let(C.rows);
  }
  // Clears the rows that no copy writes, so that all operands have values.
  static constexpr void clear_beyond(thread t, const x_ring& x_tiles, const val<u32>& rows) {
    constexpr u32 pieces = 8;  // pieces of 16 bytes per row
    const auto all = shared_tile<u32, C.stages * C.tiles * C.rows, pieces * 4>::over(x_tiles);
    const val zero = t.let(0u);
    if (auto some = t.when(rows != C.rows)) {
      for (auto tile : t.range(0u, C.stages * C.tiles).no_unroll())
        for (auto i : t.range(t.thread_rank(), (C.rows - rows) * pieces, C.threads()).no_unroll())
          store_vec(all[tile * C.rows + rows + i / pieces][i % pieces * 4], make_vec(zero, zero, zero, zero));
      fence_proxy_async(t);
    }
  }

  // The producer warp: copies stages `first` to `last` of K. Constant weights are copied before the previous
  // kernel has ended. Columns beyond the end of W are not copied. The last stage is moved back to end with W.
  // Those of its tiles that the stage before has too are multiplied by zeros: their x is read beyond the end
  // of K.
  static constexpr void load(thread t, const tensor_map<T, 2>& x, const tensor_map<T, 2>& x_edge,
                             const val<w4_problem>& problem, ring_type& ring, const x_ring& x_tiles,
                             const codes_type& codes, const facts_type& facts, const val<u32>& row,
                             const val<u32>& rows, const val<u32>& first_tile_n, const val<u32>& first,
                             const val<u32>& last) {
    static_assert(tiles_n + C.tiles * D::slots <= 32, "kaio: a lane of the warp has one copy of each kind");
    const auto w = problem[&w4_problem::w];
    const val lane = t.lane_rank();
    const val all_n = t.let(w[&w4_packed::tiles_n]), all_k = t.let(w[&w4_packed::tiles_k]);
    const val here = t.let(min(tiles_n, all_n - first_tile_n));
    const val zeros = t.let(w[&w4_packed::zeros]);
    const val is_code = t.let(lane < here);
    const val codes_of_lane =
        t.let(cast<u64>(first_tile_n + lane) * cast<u64>(all_k) * u64{words * 4} + w[&w4_packed::codes]);
    const val fact_bytes = t.let(here * (scale_words * 4)), zero_bytes = t.let(here * (zero_words * 4));
    const val of_tile =
        t.let(here * (words * 4) + D::slots * (fact_bytes + select(zeros != u64{0}, zero_bytes, 0u)));
    const val bytes = t.let(C.tiles * (of_tile + rows * (w4_tile_k * 2)));
    [[maybe_unused]] const val is_whole = t.let(rows == C.rows);
    const val tile_of_lane = t.let((lane - tiles_n) / D::slots), slot = t.let((lane - tiles_n) % D::slots);
    if (auto late = t.when(problem[&w4_problem::constant] == 0u)) grid_dependency_wait(t);
    auto to = ring.producer(t);
    for (auto step : t.range(first, last).no_unroll()) {
      to.acquire();
      const val new_k = t.let(step * C.tiles);
      const val tile_k = t.let(min(new_k, all_k - C.tiles));
      if (auto one = t.when(lane == 0u)) to.full().arrive_expect_tx(bytes);
      sync_warp(t);
      if (auto copies = t.when(is_code)) {
        const val from = t.let(codes_of_lane + cast<u64>(tile_k) * u64{words * 4});
        copy_bulk(codes[(to.stage() * tiles_n + lane) * (C.tiles * words)], pointer_at<in<u32>>(t, from)[0],
                  C.tiles * words * 4, to.full());
      }
      if (auto copies = t.when(all_of(lane >= tiles_n, tile_of_lane < C.tiles))) {
        const val k = t.let((tile_k + tile_of_lane) * w4_tile_k + slot * (w4_tile_k / D::slots));
        const quotient of_k = divide(t, k, w[&w4_packed::group]);
        const val group = t.let(cast<u64>(min(of_k.whole, w[&w4_packed::groups] - 1u)) * cast<u64>(all_n) +
                                cast<u64>(first_tile_n));
        const val scales = t.let(group * u64{scale_words * 4} + w[&w4_packed::scales]);
        const val fact = t.let(first_fact(t.let(to.stage()), tile_of_lane));
        copy_bulk(facts[fact + slot * (tiles_n * scale_words)], pointer_at<in<u32>>(t, scales)[0], fact_bytes,
                  to.full());
        if constexpr (D::zero_points)
          if (auto some = t.when(zeros != u64{0}))
            copy_bulk(facts[fact + (slot * (tiles_n * zero_words) + D::slots * tiles_n * scale_words)],
                      pointer_at<in<u32>>(t, t.let(group * u64{zero_words * 4} + zeros))[0], zero_bytes,
                      to.full());
      }
      if (auto one = t.when(lane == 0u)) {
        // All other reads and writes of the kernel come after x, and so after this wait.
        if (auto begin = t.when(step == first)) grid_dependency_wait(t);
        for (std::uint32_t k = 0; k < C.tiles; ++k) {
          const val own_k = t.let(tile_k + k);
          const val first_k = t.let(select(own_k < new_k, all_k, own_k) * w4_tile_k);
          const auto tile_of_x = x_tiles[to.stage() * C.tiles + k];
          const auto copy = [&](const auto& map) {
            copy_tensor(tile_of_x, map, coordinates(first_k, row), to.full());
          };
          if constexpr (C.has_edge()) {
            if (auto whole = t.when(is_whole)) copy(x);
            if (auto edge = t.otherwise()) copy(x_edge);
          } else {
            copy(x);
          }
        }
      }
      to.advance();
    }
  }
  // The first word of the facts of tile `k` of a stage.
  template <class K>
  static constexpr auto first_fact(const val<u32>& stage, const K& k) {
    return (stage * C.tiles + k) * (tiles_n * fact_words);
  }

  // A consumer warpgroup: computes the sums of its columns, in the order of the accumulators of wgmma.
  template <class Pairs, class Totals>
  static constexpr void multiply(thread t, const val<w4_problem>& problem, ring_type& ring,
                                 const x_ring& x_tiles, const codes_type& codes, const facts_type& facts,
                                 const Pairs& pairs, const val<u32>& warp, const val<u32>& first_tile_n,
                                 const val<u32>& first, const val<u32>& last, Totals& totals) {
    // together: slots per unit; units: units per stage; of_slot, of_unit: products along K per slot and unit.
    constexpr u32 together = D::scaled ? D::slots : 1, units = C.tiles * D::slots / together;
    constexpr u32 of_slot = 4 / D::slots, of_unit = together * of_slot;
    // With one accumulator and codes of eight bits, there are no registers to decode the next unit before
    // adding.
    constexpr bool adds_first = !D::scaled && passes == 1 && D::bits == 8;
    constexpr bool adds_after_decoding = !D::scaled && passes == 1 && !adds_first;
    constexpr bool joins_units = !D::scaled && D::slots == 1;
    const val lane = t.lane_rank();
    const val g = t.let(lane / 4u), half = t.let(warp % 2u);
    // Warps beyond the last column repeat the last tile; their sums are not stored.
    const val here = t.let(problem[&w4_problem::w][&w4_packed::tiles_n] - first_tile_n);
    const val own_tile = t.let(min(warp / 2u, here - 1u));
    const auto decoder = w4_decoder_of<D, T>(t, problem, pairs);
    const val has_zeros = t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0});
    const val is_bf16 = t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u);
    auto acc = array_of<passes>([&](u32) { return pass_sums(t); });
    if constexpr (D::scaled) acc[0].clear();
    // Whether the unit after an even (odd) one has the same scale: then their sums are added as one.
    const val together_of_k = t.let(units_of_scale(t, problem));
    const auto goes_on = array_of<2>([&](u32 odd) { return t.let(together_of_k > 2 * odd + 1); });
    const auto if_complete = [&](u32 unit, const auto& f) {
      if constexpr (!joins_units)
        f();
      else if (unit == units - 1)
        f();
      else if (auto complete = t.when(!goes_on[unit % 2]))
        f();
    };
    // The scales of a unit and of the unit before it, for the even and the odd columns of y.
    auto scale = array_of<4>([&](u32) { return var(t, 0.0f); });
    const auto add = [&](u32 pass) {
      const u32 unit = pass / passes, first_total = pass % passes * pass_sums::size();
      for (u32 i = 0; i < pass_sums::size(); ++i) {
        const auto& own_scale = scale[unit % 2 * 2 + (pass_sums::row(i) == 0 ? 0 : 1)];
        totals[first_total + i] = fma(own_scale, acc[pass % passes][i], totals[first_total + i]);
      }
    };
    // Adds the sums of the pass before `pass` to the totals.
    const auto add_before = [&](u32 pass) {
      wgmma_wait<passes - 1>(t);
      if (pass != 0) if_complete((pass - 1) / passes, [&] { add(pass - 1); });
    };
    // The warp's 16 columns of facts that have `words_of_tile` words per 32 columns.
    const auto of_columns = [&](const val<u32>& fact, u32 words_of_tile) {
      return t.let(fact + own_tile * words_of_tile + half * (words_of_tile / 2));
    };
    auto from = ring.consumer(t);
    [[maybe_unused]] auto done = ring.consumer(t);
    for ([[maybe_unused]] auto step : t.range(first, last).no_unroll()) {
      from.wait();
      const val stage = t.let(from.stage());
      for (u32 unit = 0; unit < units; ++unit) {
        if constexpr (adds_first) add_before(unit);
        const u32 k = unit * together / D::slots, slot = unit * together % D::slots;
        const val tile = t.let((stage * tiles_n + own_tile) * C.tiles + k);
        const val at = t.let(tile * words + half * (quads * 128) + lane * 4u);
        const val fact = t.let(first_fact(stage, k));
        const val scales = of_columns(fact, scale_words);
        const val zeros = of_columns(fact, zero_words);
        const auto minus = array_of<together>(
            [&](u32 i) { return minus_of(t, facts, scales, zeros, slot + i, g, has_zeros, is_bf16); });
        const auto words_of = array_of<quads>([&](u32 i) { return load_vec<4>(codes[at + i * 128]); });
        const auto w = array_of<of_unit>([&](u32 j) {
          const auto codes_of_step = array_of<quads>([&](u32 q) {
            const u32 word = (slot * of_slot + j) * quads + q;
            return t.let(words_of[word / 4][word % 4]);
          });
          const auto of_codes = array_of<minus_count>([&](u32 i) { return t.let(minus[j / of_slot][i]); });
          fragment decoded(t);
          decoder.decode(t, codes_of_step, of_codes, decoded.registers);
          return wgmma_register_operand<T>(std::move(decoded.registers));
        });
        const auto x = wgmma_operand<major::k>(x_tiles[t.let(stage * C.tiles + k)]);
        if constexpr (!D::scaled) {
          const auto of_unit_scale = scale_of(t, facts, scales, slot, g, is_bf16);
          scale[unit % 2 * 2] = of_unit_scale.even;
          scale[unit % 2 * 2 + 1] = of_unit_scale.odd;
        }
        if constexpr (adds_after_decoding) add_before(unit);
        for (u32 pass = unit * passes; pass < (unit + 1) * passes; ++pass) {
          {
            wgmma_batch mma(t);
            const auto rows_of_x = x.rows(pass % passes * pass_sums::columns);
            const auto multiply_add = [&](u32 j, const auto& accumulate) {
              mma.multiply_add(acc[pass % passes], w[j], rows_of_x.slice(slot * of_slot + j), accumulate);
            };
            if constexpr (joins_units) {
              if (unit == 0)
                multiply_add(0, false);
              else
                multiply_add(0, goes_on[(unit - 1) % 2]);
            } else {
              multiply_add(0, D::scaled);
            }
            for (u32 j = 1; j < of_unit; ++j) multiply_add(j, true);
          }
          // With four warpgroups there are no registers to decode while the products run.
          if constexpr (D::scaled) wgmma_wait<C.consumers == 2 ? 1 : 0>(t);
          if constexpr (passes > 1) add_before(pass);
        }
        if (D::scaled && unit == 0) {
          sync_warp(t);
          if (auto later = t.when(step != first)) {
            if (auto one = t.when(lane == 0u)) done.release();
            done.advance();
          }
        }
      }
      if constexpr (!D::scaled) {
        wgmma_wait<0>(t);
        add(units * passes - 1);
        sync_warp(t);
        if (auto one = t.when(lane == 0u)) from.release();
      }
      from.advance();
    }
    if constexpr (D::scaled) {
      wgmma_wait<0>(t);
      for (u32 i = 0; i < accumulator::size(); ++i) totals[i] = acc[0][i];
    }
  }

  // Adjacent units of a stage, 1, 2 or 4, that have the same scales wherever a part of K begins.
  static constexpr auto units_of_scale([[maybe_unused]] thread t, const val<w4_problem>& problem) {
    const auto w = problem[&w4_problem::w];
    const val all =
        t.let(w[&w4_packed::group][&divisor::value] / w4_tile_k | w[&w4_packed::tiles_k] | C.tiles);
    return all & (0u - all);  // the greatest power of two that divides all three
  }

  // The scales of a slot, for columns whose words begin at `first` in slot 0.
  static constexpr auto scale_of(thread t, const facts_type& facts, const val<u32>& first, u32 slot,
                                 const val<u32>& g, const val<bool>& is_bf16) {
    return facts_of::scales(t, facts, t.let(first + slot * (tiles_n * scale_words)), 0u, g, 0, is_bf16);
  }
  static constexpr auto zeros_of(thread t, const facts_type& facts, const val<u32>& first, u32 slot,
                                 const val<u32>& g) {
    constexpr u32 begin = D::slots * tiles_n * scale_words - facts_of::scale_pieces * 4;
    return facts_of::zeros(t, facts, t.let(first + (begin + slot * (tiles_n * zero_words))), 0u, g, 0);
  }
  // The argument `minus` of decode for a slot: for the even, then the odd registers.
  static constexpr auto minus_of(thread t, const facts_type& facts, const val<u32>& scales,
                                 const val<u32>& zeros, u32 slot, const val<u32>& g,
                                 const val<bool>& has_zeros, const val<bool>& is_bf16) {
    if constexpr (D::rounded) {
      auto zero = array_of<2>([&](u32 i) { return var(t, decoder_type::initial(i)); });
      if (auto some = t.when(has_zeros)) {
        const auto found = zeros_of(t, facts, zeros, slot, g);
        zero[0] = decoder_type::of_zero(t, found.even, 0);
        zero[1] = decoder_type::of_zero(t, found.odd, 1);
      }
      const auto scale = scale_of(t, facts, scales, slot, g, is_bf16);
      const val even = decoder_type::of_scale(t, scale.even), odd = decoder_type::of_scale(t, scale.odd);
      return array_of<4>([&](u32 i) { return var(t, i < 2 ? t.let(zero[i]) : i == 2 ? even : odd); });
    } else if constexpr (D::scaled) {
      const auto scale = scale_of(t, facts, scales, slot, g, is_bf16);
      const val even = decoder_type::of_scale(t, scale.even), odd = decoder_type::of_scale(t, scale.odd);
      return array_of<2>([&](u32 i) { return var(t, i == 0 ? even : odd); });
    } else if constexpr (D::zero_points) {
      auto minus = array_of<2>([&](u32 i) { return var(t, decoder_type::initial(i)); });
      if (auto some = t.when(has_zeros)) {
        const auto zero = zeros_of(t, facts, zeros, slot, g);
        minus[0] = decoder_type::of_zero(t, zero.even, 0);
        minus[1] = decoder_type::of_zero(t, zero.odd, 1);
      }
      return minus;
    } else {
      return array_of<2>([&](u32) { return var(t, 0u); });
    }
  }
};

template <w4_sm90_config C, class D, scalar T>
struct w4_sm90_kernel {
  static constexpr auto name =
      "matmul_w" + decimal<D::bits> + "_sm90_" + D::name + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{
      .target = {90, true}, .large_shared = true, .cluster = block_size{0, 0, 0}, .min_blocks = 1};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 2> x, tensor_map<T, 2> x_edge, val<w4_problem> problem) {
        w4_sm90_body<C, D, T>::run(t, x, x_edge, problem);
      });
};

// Launched with m_tiles * n_tiles * parts blocks along x, in clusters of 1, or of `parts` = 2, 4 or 8.
template <w4_sm90_config C, class D, scalar T>
inline constexpr auto matmul_w4_sm90 = w4_sm90_kernel<C, D, T>::kernel;

}  // namespace kaio::ops
