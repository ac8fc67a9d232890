#pragma once
// A block's split of x in matmul_w4 for one row, as digits in shared memory. x may be normalised first
// (rms_norm): then each block reads the whole row, and the residual if there is one. The first cluster stores
// the sum of both.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/row_elements.hpp>
#include <kaio/ops/shared/row_sum.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/weight_only/gemv/digits.hpp>
#include <kaio/ops/weight_only/gemv/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::scalar;

template <w4_one_row_config C, scalar T>
class w4_one_row_x {
  using elements = row_elements<T, 90>;
  using digits = w4_one_row_digits<T>;
  static constexpr u32 piece = digits::piece;
  static_assert(piece == 16 / sizeof(T));
  static constexpr u32 held = 4;  // pieces that are loaded before one of them is used

 public:
  using memory = shared<u32, C.k / w4_tile_k * digits::of_tile>;

  // Prefetches the norm's weights into L2, if no work before this one writes them.
  static constexpr void ask_for_norm(thread t, const val<w4_problem>& problem,
                                     const val<w4_one_row_work>& work) {
    constexpr u32 line = 128;
    const val norm = t.let(work[&w4_one_row_work::norm]);
    const val at = t.let(t.thread_rank() * line);
    if (auto exists = t.when(all_of(norm != u64{0}, problem[&w4_problem::constant] != 0u,
                                    at < problem[&w4_problem::w][&w4_packed::k] * sizeof(T))))
      prefetch(pointer_at<in<u8>>(t, norm)[at], cache_level::l2);
  }

  // Loads a block's split of x, with zeros beyond its end. free: shared memory for x in its own order.
  template <class X, class Free>
  static constexpr void load(thread t, const X& to, const row_sums& of_warps, const Free& free,
                             const val<w4_problem>& problem, const val<w4_one_row_work>& work,
                             const w4_one_row_part& k) {
    const val first = t.let(k.first * (w4_tile_k / piece));
    const val pieces = t.let((k.last - k.first) * (w4_tile_k / piece));
    const val exist = t.let(problem[&w4_problem::w][&w4_packed::k] / piece);
    const val x = t.let(problem[&w4_problem::x]), norm = t.let(work[&w4_one_row_work::norm]);
    const val act_order = t.let(problem[&w4_problem::w][&w4_packed::rows]);
    const auto load_words = [&](const val<u32>& i, auto& words) {
      elements::load_words(t, t.let(x + cast<u64>(i) * u64{16}), words, 0);
    };
    const val is_plain = t.let(norm == u64{0}), has_act_order = t.let(act_order != u64{0});
    if (auto gathers = t.when(all_of(is_plain, has_act_order))) {
      for (auto i : t.block_stride(exist).no_unroll()) {
        auto words = array_of<4>([&](u32) { return var(t, 0u); });
        load_words(t.let(i + 0u), words);
        const auto four = array_of<4>([&](u32 w) { return t.let(bit_cast<f32>(words[w])); });
        store_vec(free[i * 4u], make_vec(four[0], four[1], four[2], four[3]));
      }
      t.barrier();
    }
    const val rank = t.let(t.thread_rank());
    const row_inputs inputs{x, t.let(work[&w4_one_row_work::residual]), norm};
    const val adds = t.let(inputs.residual != u64{0});
    auto h = array_of<4>([&](u32) { return var(t, 0u); });
    auto more = array_of<4>([&](u32) { return var(t, 0u); });
    auto weight = array_of<4>([&](u32) { return var(t, 0u); });
    const auto load = [&](const val<u32>& i) {
      if (auto inside = t.when(all_of(i < pieces, first + i < exist))) {
        const val at = t.let(first + i);
        inputs.load_h(t, at, h, 0);
        elements::load_words(t, t.let(inputs.norm + cast<u64>(at) * u64{16}), weight, 0);
        if (auto also = t.when(adds)) inputs.load_residual(t, at, more, 0);
      }
    };
    var factor(t, 0.0f);
    if (auto normed = t.when(!is_plain)) {
      load(rank);  // while the squares are added
      const val size = t.let(problem[&w4_problem::w][&w4_packed::k]);
      factor = inverse_rms(t, of_warps, inputs, adds, size, work);
    }
    const val offset = t.let(work[&w4_one_row_work::weight_offset]);
    const val residual_out = t.let(work[&w4_one_row_work::residual_out]);
    const val stores = t.let(all_of(residual_out != u64{0}, cluster_idx_x() == 0u));
    for_pieces(t, pieces, [&](const val<u32>& i) {
      const val at = t.let(first + i);
      const val here = t.let(i < pieces);
      const val inside = t.let(all_of(here, at < exist));
      auto words = array_of<4>([&](u32) { return var(t, 0u); });
      if (auto plain = t.when(is_plain)) {
        if (auto exists = t.when(inside)) {
          if (auto gathers = t.when(has_act_order)) gather(t, free, act_order, at, words);
          if (auto adjacent = t.otherwise()) load_words(at, words);
        }
      }
      if (auto normed = t.otherwise()) {
        if (auto later = t.when(i != rank)) load(i);
        if (auto exists = t.when(inside)) {
          if (auto also = t.when(adds)) {
            row_inputs::add(t, h, more, 0);
            if (auto one = t.when(stores))
              elements::store_words(t, t.let(residual_out + cast<u64>(at) * u64{16}), h);
          }
          const auto y = array_of<piece>([&](u32 e) {
            const val own = elements::value(t, h, 0, e), by = elements::value(t, weight, 0, e);
            return t.let(own * factor * (offset + by));
          });
          const auto rounded = elements::rounded_words(t, y);
          for (u32 w = 0; w < 4; ++w) words[w] = rounded[w];
        }
      }
      digits::store(t, to, i, words, here);
    });
  }

 private:
  // Calls of(i) for the pieces of a thread. All lanes of a warp stay together, beyond `pieces` too.
  template <class Of>
  static constexpr void for_pieces(thread t, const val<u32>& pieces, const Of& of) {
    const val end = t.let((pieces + 31u) / 32u * 32u);
    for (auto i : t.block_stride(end).no_unroll()) of(t.let(i + 0u));
  }
  // Piece `at` of x in the order of the weights.
  template <class Free, class Words>
  static constexpr void gather(thread t, const Free& x, const val<u64>& act_order, const val<u32>& at,
                               Words& words) {
    auto columns = array_of<piece>([&](u32) { return var(t, 0u); });
    const val from = t.let(act_order + cast<u64>(at) * u64{piece * sizeof(i32)});
    for (u32 quad = 0; quad < 2; ++quad)
      elements::load_words(t, t.let(from + u64{quad * 16}), columns, quad * 4);
    const auto pairs = array_of<piece>([&](u32 e) { return t.let(bit_cast<u32>(x[columns[e] / 2u])); });
    const auto bits =
        array_of<piece>([&](u32 e) { return t.let(pairs[e] >> columns[e] % 2u * 16u & 0xffffu); });
    for (u32 w = 0; w < 4; ++w) words[w] = bits[2 * w] | bits[2 * w + 1] << 16;
  }
  // Pieces of x, of the residual and of the norm's weights, as they are in memory.
  struct row_inputs {
    val<u64> x, residual, norm;

    // Loads piece i into the words from `first` on: all loads come before the first use.
    template <class Words>
    constexpr void load_h(thread t, const val<u32>& i, Words& h, u32 first) const {
      elements::load_words(t, t.let(x + cast<u64>(i) * u64{16}), h, first);
    }
    template <class Words>
    constexpr void load_residual(thread t, const val<u32>& i, Words& more, u32 first) const {
      elements::load_words(t, t.let(residual + cast<u64>(i) * u64{16}), more, first);
    }
    // Adds both, rounded.
    template <class Words>
    static constexpr void add(thread t, Words& h, const Words& more, u32 first) {
      const auto sums = array_of<piece>([&](u32 e) {
        const val own = elements::value(t, h, first, e), other = elements::value(t, more, first, e);
        return t.let(own + other);
      });
      const auto rounded = elements::rounded_words(t, sums);
      for (u32 i = 0; i < 4; ++i) h[first + i] = rounded[i];
    }
  };

  // The inverse root mean square of the row, with the bits of rms_norm: a lane has every lanes-th piece.
  static constexpr val<f32> inverse_rms(thread t, const row_sums& of_warps, const row_inputs& inputs,
                                        const val<bool>& adds, const val<u32>& size,
                                        const val<w4_one_row_work>& work) {
    const val pieces = t.let(size / piece);
    const val lanes = t.let(val<u32>(1u) << work[&w4_one_row_work::lanes_log]);
    const val rank = t.let(t.thread_rank());
    var sum(t, 0.0f);
    const val last = t.let(select(rank < lanes, pieces, 0u)), step = t.let(lanes * held);
    for (auto i : t.range(rank, last, step).no_unroll()) {
      auto h = array_of<4 * held>([&](u32) { return var(t, 0u); });
      auto more = array_of<4 * held>([&](u32) { return var(t, 0u); });
      const auto for_pieces = [&](const auto& f) {
        for (u32 r = 0; r < held; ++r)
          if (auto inside = t.when(i + lanes * r < pieces)) f(t.let(i + lanes * r), 4 * r);
      };
      for_pieces([&](const val<u32>& at, u32 word) { inputs.load_h(t, at, h, word); });
      if (auto also = t.when(adds)) {
        for_pieces([&](const val<u32>& at, u32 word) { inputs.load_residual(t, at, more, word); });
        for (u32 r = 0; r < held; ++r) row_inputs::add(t, h, more, 4 * r);
      }
      for (u32 e = 0; e < piece * held; ++e) {
        const val one = elements::value(t, h, e / piece * 4, e % piece);
        sum = fma(one, one, sum);
      }
    }
    const val of_warp = sum_in_warp(t, t.let(sum), lanes);
    const val count = t.let(max(lanes / 32u, 1u)), warp = t.let(t.warp_rank());
    if (auto one = t.when(all_of(warp < row_warps, t.lane_rank() == 0u))) of_warps[warp] = of_warp;
    t.barrier();
    const val total = sum_of_warps(t, of_warps, val<u32>(0u), count);
    return t.let(rsqrt(total / cast<f32>(size) + work[&w4_one_row_work::epsilon]));
  }
};

}  // namespace kaio::ops
