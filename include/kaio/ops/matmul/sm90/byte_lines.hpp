#pragma once
// Operands of 8 bits whose lines begin at multiples of 8 bytes, for the main loop of sm_90a. Tensor copies
// take multiples of 16. Eight warps that do nothing else therefore copy the tiles, 8 bytes for each lane:
//
//   cp.async    16 lanes for the 128 bytes of a line    -->  stage s: Rows x 128, swizzled
//
// Elements outside the operand become zero.

#include <kaio/ops/matmul/common/address_of.hpp>
#include <kaio/ops/matmul/sm90/short_lines.hpp>

#include <cstdint>

namespace kaio::ops {

// The main loop with its warps: consumers | those that copy A and B.
template <sm90_config C, scalar T>
class byte_lines_mainloop : public lagged_copies<sm90_mainloop<detail::all_copied(C), T, false>> {
  using base = lagged_copies<sm90_mainloop<detail::all_copied(C), T, false>>;
  static constexpr std::uint32_t movers = 8, word = 8;

 public:
  using operand_a = short_line_operand<T>;
  using operand_b = short_line_operand<T>;
  static constexpr std::uint32_t first_mover = 128 * C.consumers(), threads = first_mover + 32 * movers;
  static constexpr bool moves_registers = false;
  static_assert(C.loads_a && C.loads_b && C.a == major::k && C.b == major::k && sizeof(T) == 1 &&
                    C.depth == 1 && C.cluster_m == 1 && C.cluster_n == 1,
                "kaio: lines at multiples of 8 bytes are those of operands of 8 bits along K");

  constexpr byte_lines_mainloop(thread t, const operand_a& a, const operand_b& b, const val<sm90_tile>& of)
      : base(t, tensor_map<T, 3>{}, tensor_map<T, 3>{}, base::is_second_type(t, of)), t_(t), a_(a), b_(b) {}

  template <bool Moves>
  static constexpr sm90_boxes boxes_for(const sm90_extents&, std::uint32_t shares) {
    return base::whole_boxes(shares);
  }
  constexpr void prefetch_maps() const {}
  constexpr void initialise() const { base::initialise(movers); }

  // The copying warps: copy the tiles of `k_blocks` stages along K, from stage `first` on.
  constexpr void move(const tile_origin& tile, const val<u32>& first, const val<u32>& k_blocks) const {
    const val any_stage = t_.let(0u);
    const lines<C.m> of_a(t_, a_, tile.batch, base::row_of(tile, 0u), base::tile_of_a(any_stage));
    const lines<C.n> of_b(t_, b_, tile.batch, base::column_of(tile, 0u), base::tile_of_b(any_stage));
    base::copy_stages(t_, k_blocks, [&](const auto& stage, const val<u32>& block) {
      const val first_k = t_.let((first + block) * base::k);
      of_a.copy(base::tile_of_a(stage), first_k);
      of_b.copy(base::tile_of_b(stage), first_k);
    });
  }

 private:
  // The pieces of a tile that a thread copies: one in every `apart` lines.
  template <std::uint32_t Lines>
  class lines {
    static constexpr std::uint32_t of_line = sm90_config::row_bytes / word, apart = 32 * movers / of_line;
    // A swizzled address advances by multiples of eight lines.
    static_assert(Lines % apart == 0 && apart % 8 == 0);

   public:
    // `first`: the tile's first line; `to`: any stage of the ring.
    template <class Tile>
    constexpr lines(thread t, const operand_a& x, const val<u32>& batch, const val<u32>& first,
                    const Tile& to)
        : t_(t),
          of_tile_(t.let((t.thread_rank() - first_mover) / of_line)),
          column_(t.let((t.thread_rank() - first_mover) % of_line * word)),
          k_(t.let(x.lines[&word_lines::k])),
          left_(t.let(x.lines[&word_lines::extent] - min(x.lines[&word_lines::extent], first + of_tile_))),
          step_(t.let(mul_wide(t.let(x.lines[&word_lines::pitch]), apart))),
          begin_(t.let(address_of(x.memory) +
                       cast<u64>(cast<i64>(batch) * x.lines[&word_lines::batch_pitch]) +
                       mul_wide(t.let(first + of_tile_), t.let(x.lines[&word_lines::pitch])))),
          place_(to.lane(of_tile_, column_)) {}

    // What is outside is not read; it has the address of the thread's first line.
    template <class Tile>
    constexpr void copy(const Tile& to, const val<u32>& first_k) const {
      const val k = t_.let(first_k + column_);
      const val bytes = t_.let(min(k_ - min(k, k_), word));
      const val from = t_.let(begin_ + cast<u64>(k));
      for (std::uint32_t i = 0; i < Lines; i += apart) {
        const val size = t_.let(select(left_ > i, bytes, 0u));
        const val place = t_.let(select(size != 0u, from + u64{i / apart} * step_, begin_));
        cp_async<word>(to.at(place_, i), pointer_at<in<T>>(t_, place)[0], size);
      }
    }

   private:
    thread t_;
    val<u32> of_tile_, column_, k_, left_;
    val<u64> step_, begin_;
    dsl::tile_lane<typename sm90_operand<T, major::k, Lines, 1, 1>::template ring<2>::layout> place_;
  };

  thread t_;
  operand_a a_;
  operand_b b_;
};

}  // namespace kaio::ops
