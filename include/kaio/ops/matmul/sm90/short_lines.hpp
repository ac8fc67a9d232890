#pragma once
// A B of 16 bits that is across K and has short lines, for the main loop of sm_90a: few rows of an A that is
// stored by columns, or few columns of a B that is stored by rows. A tensor copy would fetch each line of a
// tile from L2 on its own, and all blocks fetch the same lines. Four warps that do nothing else therefore
// copy them through L1, in words of two elements. Lines may begin at any multiple of four bytes:
//
//   cp.async    a line for each warp, a word for each lane   -->  stage s: k x Rows, swizzled
//
// Elements outside the operand become zero. A stage is published as full when its copies are done; those of
// `lag` later stages are then in flight:
//
//   issue     0   1   2   3   4
//   publish               0   1    lag = 3

#include <kaio/ops/matmul/common/address_of.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>
#include <kaio/ops/matmul/sm90/word_loads.hpp>

#include <cstdint>

namespace kaio::ops {

template <scalar T>
struct short_line_operand {
  in<T> memory;
  val<word_lines> lines;
};

namespace detail {
// The configuration as if both operands came by tensor copies.
constexpr sm90_config all_copied(sm90_config c) {
  c.loads_a = c.loads_b = false;
  return c;
}
}  // namespace detail

// A main loop whose warps copy operands by cp.async. Base: the main loop with tensor copies.
template <class Base>
class lagged_copies : public Base {
 public:
  using Base::Base;
  static constexpr std::uint32_t lag = Base::stages / 2;
  static_assert(lag + 2 <= Base::stages);

 protected:
  // One warp: copy(stage, block) issues its copies of each of `k_blocks` stages.
  template <class Copy>
  constexpr void copy_stages(thread t, const val<u32>& k_blocks, const Copy& copy) const {
    ring_position at(t), copied(t);
    const auto publish = [&] {
      fence_proxy_async(t);
      sync_warp(t);
      if (auto leader = t.when(lane_id() == 0u)) Base::arrive_full(copied.stage);
      copied.template advance<Base::stages>();
    };
    for (auto block : t.range(0u, k_blocks)) {
      Base::wait_until_empty(at);
      copy(at.stage, t.let(block));
      cp_async_commit_group(t);
      at.template advance<Base::stages>();
      if (auto is_behind = t.when(block >= lag)) {
        cp_async_wait_group<lag>(t);
        publish();
      }
    }
    cp_async_wait_all(t);
    for ([[maybe_unused]] auto rest : t.range(0u, t.let(min(k_blocks, lag)))) publish();
  }
};

// The main loop with its warps: consumers | one that copies A | four that copy B.
template <sm90_config C, scalar T>
class short_lines_mainloop : public lagged_copies<sm90_mainloop<detail::all_copied(C), T, false>> {
  using base = lagged_copies<sm90_mainloop<detail::all_copied(C), T, false>>;

 public:
  using operand_b = short_line_operand<T>;
  static constexpr std::uint32_t movers = 4, first_mover = 128 * C.consumers(),
                                 first_word_mover = first_mover + 32,
                                 threads = first_word_mover + 32 * movers;
  static constexpr bool moves_registers = false;
  static_assert(!C.loads_a && C.loads_b && C.b == major::mn && C.n == 64 && sizeof(T) == 2 && C.depth == 1 &&
                    C.cluster_m == 1 && C.cluster_n == 1,
                "kaio: short lines are those of a B across K, of 64 elements of 16 bits");

  constexpr short_lines_mainloop(thread t, const typename base::operand_a& a, const operand_b& b,
                                 const val<sm90_tile>& of)
      : base(t, a, {}, base::is_second_type(t, of)), t_(t), a_(a), b_(b) {}

  template <bool Moves>
  static constexpr sm90_boxes boxes_for(const sm90_extents&, std::uint32_t shares) {
    return base::whole_boxes(shares);
  }
  constexpr void prefetch_maps() const { prefetch(a_); }
  constexpr void initialise() const { base::initialise(1 + movers); }

  // The copying warps: copy the tiles of `k_blocks` stages along K, from stage `first` on.
  constexpr void move(const tile_origin& tile, const val<u32>& first, const val<u32>& k_blocks) const {
    if (auto copier = t_.when(t_.thread_rank() == first_mover)) copy_a(tile, first, k_blocks);
    if (auto mover = t_.when(t_.thread_rank() >= first_word_mover)) copy_words(tile, first, k_blocks);
  }

 private:
  constexpr void copy_a(const tile_origin& tile, const val<u32>& first, const val<u32>& k_blocks) const {
    ring_position at(t_);
    const auto own = base::shares_of(tile);
    for (auto block : t_.range(0u, k_blocks)) {
      base::wait_until_empty(at);
      base::expect(at.stage, t_.let(C.a_bytes()));
      base::load_a(at.stage, own, t_.let(first + block));
      at.template advance<C.stages>();
    }
  }

  constexpr void copy_words(const tile_origin& tile, const val<u32>& first, const val<u32>& k_blocks) const {
    constexpr std::uint32_t word = 4, lines_of_warp = base::k / movers;
    const val line = t_.let((t_.thread_rank() - first_word_mover) / 32u);
    const val lane = t_.let(lane_id());
    const val column = t_.let(base::column_of(tile, 0u) + lane * 2u);
    const val extent = t_.let(b_.lines[&word_lines::extent]);
    const val steps = t_.let(b_.lines[&word_lines::k]);
    const val pitch = t_.let(b_.lines[&word_lines::pitch]);
    // The last word of a line may have one element.
    const val bytes = t_.let(select(column < extent, min((extent - column) * 2u, word), 0u));
    const val begin =
        t_.let(address_of(b_.memory) +
               cast<u64>(cast<i64>(tile.batch) * b_.lines[&word_lines::batch_pitch]) * u64{sizeof(T)} +
               mul_wide(column, u32{sizeof(T)}));
    const auto any_tile = base::tile_of_b(t_.let(0u));
    // A swizzled address advances by multiples of eight lines.
    const auto places = array_of<8 / movers>(
        [&](u32 i) { return any_tile.lane(t_.let(line + i * movers), t_.let(lane * 2u)); });
    base::copy_stages(t_, k_blocks, [&](const auto& stage, const val<u32>& block) {
      const auto to = base::tile_of_b(stage);
      const val first_line = t_.let((first + block) * base::k + line);
      for (std::uint32_t i = 0; i < lines_of_warp; ++i) {
        const val step = t_.let(first_line + i * movers);
        const val from = t_.let(begin + mul_wide(step, pitch));
        cp_async<word>(to.at(places[i % places.size()], i / places.size() * 8),
                       pointer_at<in<T>>(t_, from)[0], t_.let(select(step < steps, bytes, 0u)));
      }
    });
  }

  thread t_;
  tensor_map<T, 3> a_;
  operand_b b_;
};

}  // namespace kaio::ops
