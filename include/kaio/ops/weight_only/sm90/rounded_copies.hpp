#pragma once
// The copies of the kernels for sm_90a that round weights. One thread copies the codes of all columns of a block and x,
// by one tensor copy each for a tile of 64 k. A warp copies scales and zero points in pieces of 16 bytes: a copy engine
// takes about 100 clocks for a copy, however small, and two blocks of 64 columns would wait for it.
//
// Constant weights are copied before the previous kernel has ended. The last step is moved back to end with W. Those of
// its tiles that the step before has too are multiplied by zeros: their x is read beyond the end of K.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>

#include <cstdint>

namespace kaio::ops {

// The boxes of `edge` have the rows of the last tile (w4_edge_rows). codes: words of a line of 128 bytes, the lines of 32
// columns, groups of 32 columns.
template <scalar T>
struct w4_rounded_maps {
  tensor_map<T, 2> x, edge;
  tensor_map<u32, 3> codes;
};

template <w4_sm90_config C, class D, scalar T>
class w4_rounded_copies {
 public:
  using shared_memory = w4_sm90_stages<C, D, T>;
  static constexpr std::uint32_t arrivals = 1 + 32;  // that fill a stage

  constexpr w4_rounded_copies(thread t, const shared_memory& shared, const w4_rounded_maps<T>& maps,
                              const val<w4_problem>& problem, const w4_sm90_tile& tile,
                              const w4_sm90_steps& steps)
      : t_(t),
        shared_(shared),
        maps_(maps),
        problem_(problem),
        tile_(tile),
        steps_(steps),
        all_k_(t.let(problem[&w4_problem::w][&w4_packed::tiles_k])) {}

  // Copies codes and x to all stages; one thread calls it.
  template <class Producer>
  constexpr void codes_and_x(Producer& to) const {
    constexpr u32 lines_of_tile = shape::words / shared_memory::line_words;
    const val bytes = t_.let(tile_.rows * (C.tiles * w4_tile_k * 2) + shared_memory::code_words * 4);
    const val is_whole = t_.let(tile_.rows == problem_[&w4_problem::tile_rows]);
    const val first = t_.let(steps_.first * C.together);
    for_stages(to, [&](const val<u32>& stage, const val<u32>& new_k, const val<u32>& tile_k) {
      to.acquire_expect(bytes);
      const val line = t_.let(to.stage() * shared_.stage_lines);
      copy_tensor(shared_.line(line), maps_.codes,
                  coordinates(0u, tile_k * lines_of_tile, steps_.first_tile_n), to.full());
      // All other reads and writes of the kernel come after x, and so after this wait.
      if (auto begin = t_.when(stage == first)) grid_dependency_wait(t_);
      for (u32 k = 0; k < C.tiles; ++k) {
        const val own_k = t_.let(tile_k + k);
        const val first_k = t_.let(select(own_k < new_k, all_k_, own_k) * w4_tile_k);
        const auto tile_of_x = shared_.tile_of_x(t_, to.stage(), k);  // rows x 64
        const auto at = coordinates(first_k, tile_.row);
        if (auto whole = t_.when(is_whole)) copy_tensor(tile_of_x, maps_.x, at, to.full());
        if (auto edge = t_.otherwise()) copy_tensor(tile_of_x, maps_.edge, at, to.full());
      }
    });
  }
  // Copies scales and zero points to all stages; a warp calls it.
  template <class Producer>
  constexpr void scales_and_zeros(Producer& to) const {
    const auto w = problem_[&w4_problem::w];
    const val lane = t_.let(t_.lane_rank());
    const val all_n = t_.let(w[&w4_packed::tiles_n]);
    const val zeros = t_.let(w[&w4_packed::zeros]);
    const val here = t_.let(min(shape::tiles_n, all_n - steps_.first_tile_n));  // columns, in tiles of 32
    const val slots_log2 = t_.let(select(w[&w4_packed::slots] == 1u, 0u, 1u));
    const val has_scales = t_.let(lane < here * (shape::scale_words / 4));
    const val has_zeros = t_.let(all_of(lane < here * (shape::zero_words / 4), zeros != u64{0}));
    for_stages(to, [&](const val<u32>&, const val<u32>&, const val<u32>& tile_k) {
      to.acquire();
      for (auto i : t_.range(0u, C.tiles << slots_log2).no_unroll()) {
        const val tile = t_.let(i >> slots_log2), slot = t_.let(i - (tile << slots_log2));
        const val k = t_.let((tile_k + tile) * w4_tile_k + slot * (w4_tile_k / D::slots));
        const quotient of_k = divide(t_, k, w[&w4_packed::group]);
        const val group = t_.let(cast<u64>(min(of_k.whole, w[&w4_packed::groups] - 1u)) * cast<u64>(all_n) +
                                 cast<u64>(steps_.first_tile_n));
        const val first = t_.let(shared_.first_scale(to.stage(), tile) + lane * 4u);
        const auto copy = [&](u32 words, u32 first_word, const val<u64>& from) {
          const val address = t_.let(group * u64{words * 4} + from + cast<u64>(lane * 16u));
          cp_async<16>(shared_.words[first + (slot * (shape::tiles_n * words) + first_word)],
                       pointer_at<in<u32>>(t_, address)[0]);
        };
        if (auto some = t_.when(has_scales)) copy(shape::scale_words, 0, t_.let(w[&w4_packed::scales]));
        if (auto some = t_.when(has_zeros))
          copy(shape::zero_words, D::slots * shape::tiles_n * shape::scale_words, zeros);
      }
      to.full().arrive_on_cp_async();
    });
  }

 private:
  using shape = w4_sm90_shape<C, D>;
  static_assert(shape::tiles_n * shape::scale_words <= 32 * 4,
                "kaio: a lane has a piece of the scales of a tile");

  // Calls f(stage, first new tile of K of the step, first tile of the stage) for each stage of the block.
  template <class Producer, class F>
  constexpr void for_stages(Producer& to, const F& f) const {
    constexpr u32 step_tiles = C.tiles * C.together;
    if (auto late = t_.when(problem_[&w4_problem::constant] == 0u)) grid_dependency_wait(t_);
    for (auto i : t_.range(steps_.first * C.together, steps_.last * C.together).no_unroll()) {
      const val stage = t_.let(i);
      const val new_k = t_.let(stage / C.together * step_tiles);
      f(stage, new_k, t_.let(min(new_k, all_k_ - step_tiles) + stage % C.together * C.tiles));
      to.advance();
    }
  }

  thread t_;
  const shared_memory& shared_;
  const w4_rounded_maps<T>& maps_;
  const val<w4_problem>& problem_;
  const w4_sm90_tile& tile_;
  const w4_sm90_steps& steps_;
  val<u32> all_k_;  // tiles of W
};

}  // namespace kaio::ops
