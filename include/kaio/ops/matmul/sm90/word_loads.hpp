#pragma once
// Loads of f32 operands, multiplied as tf32, that tensor copies cannot bring to where wgmma reads them on
// sm_90a: lines that begin at no multiple of 16 bytes, and a B across K, because wgmma reads tf32 only along
// K. Warps that do nothing else load their tiles word by word, round the words, and store them along K in a
// stage of the main loop's ring:
//
//   along K    32 steps of a row at once     a word for each lane into the row
//   across K   a step of 32 rows at once     four steps, 16 bytes, for each lane into a row of its own
//
// Both ways use all banks of shared memory evenly. Groups of four warps take turns with the steps of an
// operand, so that the words of one step are in flight while those of another are stored:
//
//   group 0   load 0 ........ store 0 | load 2 ........ store 2 |
//   group 1        load 1 ........ store 1 | load 3 ........ store 3 |
//
// Words outside the operand are loaded from the nearest place inside it; if they are steps of K, they become
// zero. The other operand may come by tensor copies if its lines begin at multiples of 16 bytes: one along K,
// or an A across K, which then goes through registers.

#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul/common/address_of.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Where an operand's words are, relative to the start of its memory.
struct word_lines {
  i64 batch_pitch;  // elements
  u32 pitch;        // bytes
  u32 extent, k;    // rows (columns) and steps, at least one of each

  template <class T>
  static word_lines of(const matrix_lines<T>& x, std::uint64_t extent, std::uint64_t k) {
    return {static_cast<i64>(x.batch_pitch), static_cast<u32>(x.pitch * sizeof(T)), static_cast<u32>(extent),
            static_cast<u32>(k)};
  }
};
struct word_operand {
  in<f32> memory;
  val<word_lines> lines;
};

namespace detail {
// Rounds to the nearest, ties to even, as tensor copies do. Source: PTX ISA, "cvt".
inline constexpr auto round_as_copies =
    ptx_op<"cvt.rn.tf32.f32", u32(f32), ptx_effect::pure, ptx_since{.target = {90}, .version = {7, 8}}>;
}  // namespace detail

// The words of an operand's tile that a thread of a group moves. Rows: rows of the tile, which is 32 steps
// deep.
template <major Major, std::uint32_t Rows>
class word_tile {
 public:
  static constexpr std::uint32_t k = 32, warps = 4, count = Rows * k / (32 * warps);
  static constexpr bool along_k = Major == major::k;
  using words = dsl::register_array<var<f32>, count>;

  // `row`: the tile's first row; `to`: any stage of the ring.
  template <class Tile>
  constexpr word_tile(thread t, const word_operand& x, const val<u32>& warp, const val<u32>& batch,
                      const val<u32>& row, const Tile& to)
      : t_(t),
        warp_(warp),
        lane_(t.let(lane_id())),
        last_row_(t.let(x.lines[&word_lines::extent] - 1u - row)),
        k_(t.let(x.lines[&word_lines::k])),
        pitch_(t.let(x.lines[&word_lines::pitch])),
        begin_(t.let(address_of(x.memory) +
                     cast<u64>(cast<i64>(batch) * x.lines[&word_lines::batch_pitch]) * u64{4} +
                     first_of(row))),
        places_(array_of<place_count>([&](u32 i) {
          return along_k ? to.lane(warp * rows_of_warp + i, lane_)
                         : to.lane(lane_, warp * steps_of_warp + 4 * i);
        })) {}

  // Whether the tile is inside the operand for the steps from `first_k` on; loads across K are then shorter.
  constexpr val<bool> is_whole(const val<u32>& first_k) const {
    return t_.let(all_of(last_row_ >= Rows - 1, k_ - first_k >= k));
  }

  // Loads the words of the steps from `first_k` on.
  template <bool Whole>
  constexpr void load(words& to, const val<u32>& first_k) const {
    if constexpr (along_k) {
      const val first = t_.let(begin_ + cast<u64>(min(first_k + lane_, k_ - 1u)) * u64{4});
      for (std::uint32_t i = 0; i < count; ++i) {
        const val line = t_.let(min(warp_ * rows_of_warp + i, last_row_));
        to[i] = word_at(t_.let(first + mul_wide(line, pitch_)));
      }
    } else {
      constexpr std::uint32_t places = Whole ? 1 : row_blocks;  // Whole: at constant distances
      const auto blocks = array_of<places>([&](u32 b) {
        const val row = Whole ? lane_ : t_.let(min(lane_ + 32 * b, last_row_));
        return t_.let(begin_ + cast<u64>(row) * u64{4});
      });
      for (std::uint32_t i = 0; i < steps_of_warp; ++i) {
        const val step = t_.let(first_k + (warp_ * steps_of_warp + i));
        const val line = t_.let(mul_wide(Whole ? step : t_.let(min(step, k_ - 1u)), pitch_));
        for (std::uint32_t b = 0; b < row_blocks; ++b)
          to[b * steps_of_warp + i] = word_at(t_.let(blocks[Whole ? 0 : b] + line), Whole ? 32 * b : 0);
      }
    }
  }

  // Rounds them and stores them in a stage.
  template <bool Whole, class Tile>
  constexpr void store(const Tile& to, const words& x, const val<u32>& first_k) const {
    const auto mask_of = [&](const val<u32>& step) { return t_.let(select(step < k_, ~0u, 0u)); };
    const auto rounded = [&](u32 i, const val<u32>& mask) {
      if constexpr (Whole)
        return t_.let(detail::round_as_copies(x[i]));
      else
        return t_.let(detail::round_as_copies(x[i]) & mask);
    };
    if constexpr (along_k) {
      const val mask = mask_of(t_.let(first_k + lane_));
      for (std::uint32_t i = 0; i < count; ++i)
        to.at(places_[i % 8], i / 8 * 8) = bit_cast<f32>(rounded(i, mask));
    } else {
      const auto masks = array_of<steps_of_warp>(
          [&](u32 i) { return mask_of(t_.let(first_k + warp_ * steps_of_warp + i)); });
      for (std::uint32_t i = 0; i < count; i += 4) {
        const std::uint32_t step = i % steps_of_warp;
        const auto four = array_of<4>([&](u32 w) { return rounded(i + w, masks[step + w]); });
        const auto cell = to.at(places_[step / 4], i / steps_of_warp * 32);
        dsl::place_of<ptx::access::inout, u32x4>(cell.location()) =
            make_vec(four[0], four[1], four[2], four[3]);
      }
    }
  }

 private:
  // Per warp. Along K: consecutive rows. Across K: consecutive steps of all rows, in blocks of 32.
  static constexpr std::uint32_t rows_of_warp = Rows / warps, steps_of_warp = k / warps,
                                 row_blocks = Rows / 32;
  static constexpr std::uint32_t place_count = along_k ? 8 : steps_of_warp / 4;
  static_assert(Rows % 32 == 0 && rows_of_warp % 8 == 0);

  constexpr val<u64> first_of(const val<u32>& row) const {
    if constexpr (along_k)
      return t_.let(mul_wide(row, pitch_));
    else
      return t_.let(cast<u64>(row) * u64{4});
  }
  constexpr val<f32> word_at(const val<u64>& address, std::uint32_t further = 0) const {
    return t_.let(pointer_at<in<f32>>(t_, address)[further]);
  }

  thread t_;
  val<u32> warp_, lane_, last_row_, k_, pitch_;
  val<u64> begin_;
  dsl::register_array<
      dsl::tile_lane<typename sm90_operand<f32, major::k, Rows, 1, 1>::template ring<2>::layout>, place_count>
      places_;
};

// The main loop with its warps: consumers | groups that load words. If an operand comes by tensor copies, the
// first thread of a group issues them. C: the lines of A and B are those in memory.
template <sm90_config C>
class word_mainloop : public sm90_mainloop<C.of_stages(), f32, false, true> {
  using base = sm90_mainloop<C.of_stages(), f32, false, true>;
  using map = tensor_map<f32, 3>;

 public:
  using operand_a = std::conditional_t<C.loads_a, word_operand, map>;
  using operand_b = std::conditional_t<C.loads_b, word_operand, map>;
  // Groups of four warps. Each loads one operand, and takes turns with the other groups of that operand.
  static constexpr std::uint32_t operands = C.loads_a && C.loads_b ? 2 : 1;
  static constexpr std::uint32_t turns = C.m == 64 ? 5 - operands : operands == 1 ? 3 : 1;
  static constexpr std::uint32_t groups = operands * turns, group_threads = 128;
  // Steps whose words a thread has in flight: two if a group takes no turns.
  static constexpr std::uint32_t sets = turns == 1 ? 2 : 1;
  static constexpr std::uint32_t first_mover = 128 * C.consumers(),
                                 threads = first_mover + groups * group_threads;
  static constexpr std::uint32_t copied_bytes =
      (C.loads_a ? 0 : C.a_bytes()) + (C.loads_b ? 0 : C.stage_bytes() - C.a_bytes());
  // The loading warps leave registers to the consumers, which need them for fragments of A or the way to C.
  static constexpr bool moves_registers = C.m == 128;
  static constexpr unsigned mover_registers = operands == 2 ? 120 : 64,
                            consumer_registers = operands == 2 ? 136 : 144;
  static_assert(C.loads_words() && C.cluster_blocks() == 1 && C.depth == 1);

  constexpr word_mainloop(thread t, const operand_a& a, const operand_b& b, const val<sm90_tile>& of)
      : base(t, map_of(a), map_of(b)),
        t_(t),
        a_(a),
        b_(b),
        a_is_across_(flag_of<C.a_by_launch, C.a == major::mn>(t, of[&sm90_tile::a_is_across])),
        b_is_across_(flag_of<C.b_by_launch, C.b == major::mn>(t, of[&sm90_tile::b_is_across])) {}

  constexpr void prefetch_maps() const {
    if constexpr (!C.loads_a) prefetch(a_);
    if constexpr (!C.loads_b) prefetch(b_);
  }
  constexpr void initialise() const {
    base::initialise(operands * group_threads / 32 + (copied_bytes != 0 ? 1 : 0));
  }

  // A group's place in the ring, and the steps of the next tile that other groups take first.
  struct turn {
    ring_position at;
    var<u32> skipped;
  };
  constexpr turn first_turn() const {
    turn result{ring_position(t_), var<u32>(t_, t_.let(group() / operands))};
    for (std::uint32_t i = 1; i < turns; ++i)
      if (auto later = t_.when(result.skipped >= i)) result.at.template advance<C.stages>();
    return result;
  }
  // The groups: move the tiles of `k_blocks` stages along K, from stage `first` on.
  constexpr void move(turn& next, const tile_origin& tile, const val<u32>& first,
                      const val<u32>& k_blocks) const {
    const val warp = t_.let(t_.thread_rank() % group_threads / 32u);
    const auto move_a = [&] {
      if constexpr (C.loads_a)
        for_direction<C.a_by_launch, C.a>(t_, a_is_across_, [&]<major A>() {
          move_tiles(
              next,
              word_tile<A, C.m>(t_, a_, warp, tile.batch, base::row_of(tile, 0u),
                                base::tile_of_a(t_.let(0u))),
              [&] { return base::tile_of_a(next.at.stage); }, tile, first, k_blocks);
        });
    };
    const auto move_b = [&] {
      if constexpr (C.loads_b)
        for_direction<C.b_by_launch, C.b>(t_, b_is_across_, [&]<major B>() {
          move_tiles(
              next,
              word_tile<B, C.n>(t_, b_, warp, tile.batch, base::column_of(tile, 0u),
                                base::tile_of_b(t_.let(0u))),
              [&] { return base::tile_of_b(next.at.stage); }, tile, first, k_blocks);
        });
    };
    if constexpr (operands == 1) {
      move_a();
      move_b();
    } else {
      if (auto of_a = t_.when(group() % operands == 0u)) move_a();
      if (auto of_b = t_.otherwise()) move_b();
    }
    next.skipped = (next.skipped + (turns - 1) * k_blocks) % turns;
  }

 private:
  constexpr val<u32> group() const { return t_.let((t_.thread_rank() - first_mover) / group_threads); }

  template <class Words, class Stage>
  constexpr void move_tiles(turn& next, const Words& of, const Stage& stage, const tile_origin& tile,
                            const val<u32>& first, const val<u32>& k_blocks) const {
    const val leads = t_.let(lane_id() == 0u), copies = t_.let(t_.thread_rank() % group_threads == 0u);
    auto words =
        array_of<sets>([&](u32) { return array_of<Words::count>([&](u32) { return var<f32>(t_, 0.0f); }); });
    const auto load = [&](std::uint32_t set, const val<u32>& step) {
      const val first_k = t_.let((first + step) * base::k);
      by_form(of, first_k, [&](auto whole) { of.template load<whole.value>(words[set], first_k); });
    };
    const auto move_one = [&](std::uint32_t set, const val<u32>& step) {
      base::wait_until_empty(next.at);
      const val block = t_.let(first + step);
      if constexpr (copied_bytes != 0)
        if (auto one = t_.when(copies)) {
          base::expect(next.at.stage, t_.let(copied_bytes));
          const auto own = base::shares_of(tile);
          if constexpr (!C.loads_a) base::load_a(next.at.stage, own, block);
          if constexpr (!C.loads_b) base::load_b(next.at.stage, own, block);
        }
      const val first_k = t_.let(block * base::k);
      by_form(of, first_k, [&](auto whole) { of.template store<whole.value>(stage(), words[set], first_k); });
      fence_proxy_async(t_);
      sync_warp(t_);
      if (auto one = t_.when(leads)) base::arrive_full(next.at.stage);
      for (std::uint32_t i = 0; i < turns; ++i) next.at.template advance<C.stages>();
    };
    const val skipped = t_.let(next.skipped);
    if constexpr (sets == 1) {
      for (auto step : t_.range(skipped, k_blocks, turns)) {
        load(0, step);
        move_one(0, step);
      }
    } else {
      for (std::uint32_t i = 0; i < sets; ++i)
        if (auto exists = t_.when(skipped + i * turns < k_blocks)) load(i, t_.let(skipped + i * turns));
      for (auto first_step : t_.range(skipped, k_blocks, sets * turns))
        for (std::uint32_t i = 0; i < sets; ++i) {
          const val step = t_.let(first_step + i * turns), later = t_.let(step + sets * turns);
          const auto move_set = [&] {
            move_one(i, step);
            if (auto continues = t_.when(later < k_blocks)) load(i, later);
          };
          if (i == 0)
            move_set();
          else if (auto exists = t_.when(step < k_blocks))
            move_set();
        }
    }
  }

  // Calls act(whether the tile is whole, as a type); a tile along K has one form.
  template <class Words, class Do>
  constexpr void by_form(const Words& of, const val<u32>& first_k, const Do& act) const {
    if constexpr (Words::along_k) {
      act(std::false_type{});
    } else {
      if (auto whole = t_.when(of.is_whole(first_k))) act(std::true_type{});
      if (auto ragged = t_.otherwise()) act(std::false_type{});
    }
  }

  static constexpr map map_of(const map& x) { return x; }
  static constexpr map map_of(const word_operand&) { return {}; }

  thread t_;
  operand_a a_;
  operand_b b_;
  val<bool> a_is_across_, b_is_across_;
};

// For the names of kernels.
template <sm90_config C>
inline constexpr auto loads_name = [] {
  if constexpr (C.loads_a && C.loads_b)
    return fixed_string("words_");
  else if constexpr (C.loads_words())
    return C.loads_a ? fixed_string("words_of_a_") : fixed_string("words_of_b_");
  else
    return fixed_string("");
}();

// The kernel parameters of an operand: a tensor map, or memory and its lines.
template <class... Parameter>
struct sm90_inputs {};
template <scalar T, bool LoadsWords>
using sm90_inputs_of =
    std::conditional_t<LoadsWords, sm90_inputs<in<T>, val<word_lines>>, sm90_inputs<tensor_map<T, 3>>>;

}  // namespace kaio::ops
