#pragma once
// A consumer warpgroup of the kernels for sm_90a that round weights: Y^T = W X^T for its 64 columns and all rows of x.
// While the products of a tile of 64 k run, its warps decode the next tile:
//
//   warps      | decode 0 | issue | decode 1 | issue, wait for 0 | decode 2 | issue, wait for 1 | ...
//   products                      | tile 0              | tile 1              | tile 2
//
// The products of a tile are one group, as the first product of a group waits for all four warps. Measured on an H200:
// two groups per tile take 5 % more time, four groups 15 %. One group for two tiles needs twice the code, since the
// registers of a group cannot change while it runs. It is 1 % faster with 64 columns, and slower with 128.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/place.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

template <w4_sm90_config C, class D, scalar T>
class w4_rounded_consumer {
 public:
  using shared_memory = w4_sm90_stages<C, D, T>;

  constexpr w4_rounded_consumer(thread t, const shared_memory& shared, const val<w4_problem>& problem,
                                const w4_sm90_steps& steps, const val<u32>& warp)
      : t_(t),
        shared_(shared),
        steps_(steps),
        is_first_(t.let(t.lane_rank() == 0u)),
        codes_of_lane_(t.let(w4_tile_of_warp(t, problem, steps, warp) * (C.tiles * shape::words) +
                             warp % 2u * (quads * 128) + t.lane_rank() * 4u)),
        scales_of_lane_(slots_of_lane(t, problem, steps, warp, shape::scale_words, 0)),
        zeros_of_lane_(slots_of_lane(t, problem, steps, warp, shape::zero_words,
                                     D::slots * shape::tiles_n * shape::scale_words)),
        which_zeros_(t.let(decoder::which_zeros(t, t.let(t.lane_rank() / 4u)))),
        rows_(array_of<bits_of_rows>([&](u32 bit) {
          const val further = t.let((problem[&w4_problem::tile_rows] - C.least_rows) / 16u);
          return t.let((further & 1u << bit) != 0u);
        })),
        decoder_(t, problem),
        acc_(t) {}

  // A position in the ring of stages. A stage is released when the first products of the next one have been issued, and
  // those for the results of a tile of y by release_last.
  struct ring_place {
    decltype(std::declval<const shared_memory&>().consumer(std::declval<thread>())) from;
    var<bool> is_full;      // an early answer about the stage of `from`
    var<u32> last, before;  // the two stages before it
  };
  static constexpr ring_place ring_begin(thread t, const shared_memory& shared) {
    return {shared.consumer(t), var(t, false), var(t, 0u), var(t, 0u)};
  }

  // Sums all steps. A step has two tiles, each with registers of its own.
  constexpr void run(ring_place& ring) {
    for (auto step : t_.range(steps_.first, steps_.last).no_unroll()) {
      const val continues = t_.let(step != steps_.first), ends = t_.let(step + 1u == steps_.last);
      for (u32 i = 0; i < C.together; ++i) multiply_stage(ring, i, continues, ends);
    }
    wgmma_wait<0>(t_);
  }
  constexpr auto& sums() { return acc_; }
  // The first line of shared memory for the warpgroup's results: where x of a tile of the last step was.
  constexpr val<u32> line_of_results(const ring_place& ring, const val<u32>& warp) const {
    if constexpr (keeps_two) {
      const val stage = t_.let(select(warp < 4u, ring.before, ring.last));
      return shared_.line_of_x(t_, stage, 0u);
    } else {
      return shared_.line_of_x(t_, t_.let(ring.last), t_.let(warp / 4u));
    }
  }
  // Releases the stages for the results.
  constexpr void release_last(const ring_place& ring) const {
    if constexpr (keeps_two) release(t_.let(ring.before), is_first_);
    release(t_.let(ring.last), is_first_);
  }

 private:
  using shape = w4_sm90_shape<C, D>;
  using decoder = typename D::template decoder<T>;
  using fragment = typename mma_m16n8k16<f32, T>::a_fragment;
  // products: along K per tile; quads: vectors of four words with the codes of a lane.
  static constexpr u32 products = 4, of_slot = products / D::slots, quads = D::bits / 4,
                       words_of_scales = decoder::rounding_scales::words;
  static constexpr u32 counts_of_rows = (C.rows - C.least_rows) / 16 + 1;
  static constexpr u32 bits_of_rows = [] {
    u32 bits = 0;
    while (1u << bits < counts_of_rows) ++bits;
    return bits;
  }();

  // The tiles of the last step, one for the results of each warpgroup, are in two stages.
  static constexpr bool keeps_two = C.consumers > C.tiles;
  static_assert(C.consumers <= C.tiles * C.together);

  // Stage i of a step. continues: it is not the first step of the tile of y; ends: it is the last one.
  constexpr void multiply_stage(ring_place& ring, u32 i, const val<bool>& continues, const val<bool>& ends) {
    ring.from.wait_unless(ring.is_full);
    const val stage = t_.let(ring.from.stage());
    const val last = t_.let(ring.last);
    const auto loaded = array_of<C.tiles>([&](u32 tile) { return load(stage, tile); });
    if constexpr (keeps_two) ring.before = last;
    ring.last = stage;
    ring.from.advance();
    for (u32 tile = 0; tile < C.tiles; ++tile) {
      const auto w = decode(loaded[tile]);                                         // 64 columns x 16 each
      const auto x = wgmma_operand<major::k>(shared_.tile_of_x(t_, stage, tile));  // rows x 64
      if (i == 0 && tile == 0)
        multiply(w, x, continues);
      else
        multiply(w, x, true);
      if (tile == 0) ask_about_next(ring);
      wgmma_wait<1>(t_);
      if (tile != 0) continue;
      if (i == 0)
        release(last, t_.let(all_of(is_first_, continues)));
      else
        release(last, keeps_two ? t_.let(all_of(is_first_, !ends)) : is_first_);
    }
  }
  // The products of a tile. accumulate: they add to the sums.
  template <class W, class X, class Accumulate>
  constexpr void multiply(const W& w, const X& x, const Accumulate& accumulate) {
    for_rows([&]<u32 Rows>() {
      auto sums = acc_.template first<Rows>();
      wgmma_batch mma(t_);
      mma.multiply_add(sums, w[0], x.slice(0), accumulate);
      for (u32 j = 1; j < products; ++j) mma.multiply_add(sums, w[j], x.slice(j), true);
    });
    acc_.set_value();
  }
  // The answer is there before the next stage is needed.
  constexpr void ask_about_next(ring_place& ring) const {
    ring.is_full = shared_.ring.full()[ring.from.stage()].test_wait(ring.from.parity());
  }
  // One lane of the warp arrives.
  constexpr void release(const val<u32>& stage, const val<bool>& one_arrives) const {
    sync_warp(t_);
    if (auto one = t_.when(one_arrives)) shared_.ring.empty()[stage].arrive();
  }

  // What decode takes of a tile of 64 k. Without zero points, those in shared memory are the middle of the codes.
  template <class Words, class Scales, class Minus>
  struct loaded_tile {
    Words words;
    Scales scales;  // of each slot, for an even and an odd column
    Minus minus;
  };
  constexpr auto load(const val<u32>& stage, u32 tile) const {
    const auto memory = shared_.words_from(t_, stage);
    const auto words = array_of<quads>(
        [&](u32 i) { return load_vec<4>(memory[codes_of_lane_ + (tile * shape::words + i * 128)]); });
    constexpr u32 of_tile = shape::tiles_n * shape::scale_and_zero_words;
    const auto scales = array_of<D::slots>([&](u32 slot) {
      const val at = t_.let(scales_of_lane_[slot] + tile * of_tile);
      if constexpr (words_of_scales == 1) {
        return array_of<1>([&](u32) { return t_.let(memory[at]); });
      } else {
        const val both = load_vec<words_of_scales>(memory[at]);
        return array_of<words_of_scales>([&](u32 odd) { return t_.let(both[odd]); });
      }
    });
    const auto minus = array_of<D::slots>([&](u32 slot) {
      return decoder::of_zeros(t_, t_.let(memory[zeros_of_lane_[slot] + tile * of_tile]), which_zeros_);
    });
    return loaded_tile<decltype(words), decltype(scales), decltype(minus)>{words, scales, minus};
  }
  // The register operands of a tile: 64 columns x 16 of K each.
  template <class Loaded>
  constexpr auto decode(const Loaded& loaded) const {
    auto w = array_of<products>([&](u32 j) {
      const auto codes = array_of<quads>([&](u32 q) {
        const u32 word = j * quads + q;
        return t_.let(loaded.words[word / 4][word % 4]);
      });
      fragment decoded(t_);
      decoder_.decode(t_, codes, loaded.minus[j / of_slot], decoded.registers);
      return decoded;
    });
    decoder_.scale(t_, w, loaded.scales, of_slot);
    return array_of<products>([&](u32 j) { return wgmma_register_operand<T>(std::move(w[j].registers)); });
  }

  // Calls f with the rows of the launch as a constant, C.least_rows + 16 i. The lower bits of i are those of Index; bit
  // Bit decides next.
  template <u32 Bit = 0, u32 Index = 0, class F>
  constexpr void for_rows(const F& f) const {
    constexpr u32 other = Index + (1u << Bit);
    if constexpr (other >= counts_of_rows) {
      f.template operator()<C.least_rows + Index * 16>();
    } else {
      if (auto set = t_.when(rows_[Bit])) for_rows<Bit + 1, other>(f);
      if (auto clear = t_.otherwise()) for_rows<Bit + 1, Index>(f);
    }
  }

  // The word with the lane's scales or zero points in each slot of a stage. of_tile: words per 32 columns; before: words
  // in front of them. With groups of multiples of 64 both slots are the first one.
  static constexpr auto slots_of_lane(thread t, const val<w4_problem>& problem, const w4_sm90_steps& steps,
                                      const val<u32>& warp, u32 of_tile, u32 before) {
    const val first = t.let(w4_tile_of_warp(t, problem, steps, warp) * of_tile + warp % 2u * (of_tile / 2) +
                            t.lane_rank() / 4u * of_tile / 16u + (shared_memory::code_words + before));
    const val fine = t.let(select(problem[&w4_problem::w][&w4_packed::slots] != 1u, 1u, 0u));
    // The shuffle keeps ptxas from computing the word again in each step.
    return array_of<D::slots>([&](u32 slot) {
      const val at = t.let(first + fine * (slot * shape::tiles_n * of_tile));
      return slot == 0 ? at : t.let(shfl_idx(at, t.lane_rank()));
    });
  }

  thread t_;
  const shared_memory& shared_;
  const w4_sm90_steps& steps_;
  val<bool> is_first_;      // the first lane of its warp
  val<u32> codes_of_lane_;  // first words in a stage
  dsl::register_array<val<u32>, D::slots> scales_of_lane_, zeros_of_lane_;
  val<u32> which_zeros_;                               // see of_zeros of the decoder
  dsl::register_array<val<bool>, bits_of_rows> rows_;  // bits of i (for_rows)
  decoder decoder_;
  wgmma_accumulator<f32, C.rows> acc_;  // 64 columns x rows
};

}  // namespace kaio::ops
