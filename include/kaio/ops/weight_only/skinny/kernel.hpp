#pragma once
// matmul_w4 for up to sixteen rows of x: y = x W^T as Y^T = W X^T, as in mma_sync/kernel.hpp. A block has 32
// columns of y for each of warps_n warps, or 64 with sixteen rows, and a split of the tiles of K. The warps of
// a column share that split:
//
//   8 rows, 32 columns     | warp 0 | warp 1 | ... | warp 7 | warp 0 | ...        tiles of K, two at once
//   16 rows, 64 columns    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 0 | 1 | ...          one at once, of two columns
//
// Such products are bound by memory, then by instructions: a tile of 32 x 64 codes of four bits takes a warp
// about 125 (f16), 72 of them to decode. A warp copies all that it reads, `stages` - 1 stages ahead. Before
// its sums are complete it waits for no other warp, except with the numbers of a table (decode_table.hpp).
// The loop's body exists once for all stages: places in shared memory are found from the first word of the
// warp's split of a stage. A body per stage had three times the instructions, which a first call has to fetch.
// Sixteen rows are two operands of the matrix instruction; their codes are decoded once. At the end the sums
// of a column's warps are added through shared memory.
//
// From sm_90 on the launch is programmatic: constant weights are copied before the previous kernel has ended.
//
// From sm_90 on the splits of K may also be the blocks of a cluster, which add up their sums (store.hpp).
//
// Codes are decoded without their scales (decode.hpp). Each group's sum over a tile of K is multiplied by its
// scale in f32 and added to the total: no product of a code and a scale is rounded. Zero points are
// subtracted from the codes. Subtracting zero point * sum of x from the sums instead took 16 % fewer
// instructions and 0.3 to 0.7 us more (8192 x 8192, H200), since the matrix instruction then forms the sums
// of x too.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/kernel.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only/skinny/config.hpp>
#include <kaio/ops/weight_only/skinny/copies.hpp>
#include <kaio/ops/weight_only/skinny/store.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <w4_few_rows_config C, class D, scalar T>
class w4_few_rows_body {
  static_assert(C.valid(), "kaio: matmul_w4's kernel does not support this block shape");
  static_assert(C.bits == D::bits && (D::bits == 4 || D::bits == 8));
  static_assert(!C.pairs || C.warps >= w4_pair_warps);
  static_assert(D::slots == 0 || D::slots == 1 || D::slots == 2 || D::slots == 4);
  using mma = mma_m16n8k16<f32, T>;
  using pair = typename w4_pair<T>::type;
  using decoder_type = typename D::template decoder<T>;
  using pairs_type = std::conditional_t<C.pairs, w4_pairs<D, T>, no_w4_pairs>;
  using codes_type = w4_few_rows_codes<C, D>;
  using stage_type = w4_few_rows_stage<C, D>;
  using words_type = typename stage_type::ring;
  using scales_and_zeros_of = w4_scales_and_zeros<D>;
  static constexpr std::uint32_t halves = 2, fragments = C.fragments(), tiles_n = C.tiles_n;
  static constexpr std::uint32_t quads = D::bits / 4;             // loads of four words per half of a tile
  static constexpr std::uint32_t of_fragment = 8 * C.tiles * 32;  // words of eight rows of x in a stage

 public:
  // End: see w4_body.
  template <class End = w4_product_end<C, T>>
  static constexpr void run(thread t, const val<w4_problem>& problem, const End& end = {}) {
    const words_type words(t);
    const w4_block block = find_w4_block<C>(t, problem, end);
    constexpr u32 ahead = C.stages - 1, apart = C.tiles * C.warps_k();  // apart: tiles from stage to stage
    const val first = t.let(block.first + block.warp_k * C.tiles);
    constexpr bool is_programmatic = requires { end.begin(t); };
    const codes_type codes(t, words, problem, block, end);
    if constexpr (is_programmatic)
      if (auto late = t.when(!end.weights_are_constant(t))) grid_dependency_wait(t);
    // The warp's split of a stage is known by its first word: `from` is multiplied, `to` is filled. `to`
    // becomes the `from` of the round before.
    const val<u32>& own = codes.own();
    const auto of_stage = [&](u32 stage) { return own + stage * stage_type::words; };
    // Copy groups complete in order, and copies arrive in the order of all: x of the first stage before
    // weights of the next.
    if (auto exists = t.when(first < block.last)) codes.copy(first, own);
    const auto rows = w4_rows_of(end);
    const w4_few_rows_copies<C, D, T, std::remove_cv_t<decltype(rows)>> copies(t, words, problem, block,
                                                                               codes, rows);
    if (auto exists = t.when(first < block.last)) copies.copy_all_scales_and_zeros(first, own);
    copies.clear_other_rows(own);
    const auto pairs = make_w4_pairs<C.pairs, D, T>(t, problem);
    if constexpr (is_programmatic) grid_dependency_wait(t);
    if (auto exists = t.when(first < block.last)) copies.copy_x(first, own);
    cp_async_commit_group(t);
    if constexpr (is_programmatic) end.begin(t);

    if constexpr (C.pairs) t.barrier();
    w4_few_rows_body multiply(t, problem, words, codes, pairs);
    var from(t, of_stage((C.stages + 1 - ahead) % C.stages)), to(t, of_stage(1));
    // The first ahead - 1 rounds only copy.
    for (auto next : t.range(first + apart, block.last + ahead * apart, apart).no_unroll()) {
      cp_async_wait_group<ahead - 1>(t);
      sync_warp(t);
      if (auto exists = t.when(next < block.last)) {
        const val stage = t.let(to);
        codes.copy(next, stage);
        copies.copy(next, stage);
      }
      cp_async_commit_group(t);
      const val tile = t.let(next - ahead * apart), stage = t.let(from);
      const auto multiply_stage = [&] {
        copies.load_elements(tile, stage);
        multiply.stage(stage, tile, block.last);
      };
      if constexpr (ahead == 1)
        multiply_stage();
      else if (auto begun = t.when(next >= first + ahead * apart))
        multiply_stage();
      if constexpr (C.stages == 2)
        from = t.let(to);
      else
        from = select(stage == of_stage(C.stages - 1), own, stage + stage_type::words);
      to = stage;
    }
    cp_async_wait_group<0>(t);
    end.store(t, problem, block, multiply.totals_, words);
  }

 private:
  // A stage's first words, of the lane's codes and of the warp's scales and zeros, and the addresses of the lane's rows
  // of x.
  struct stage_place {
    val<u32> codes, scales_and_zeros;
    dsl::register_array<val<u32>, 2> x;
  };
  // Words from a stage_place on.
  struct places {
    u32 codes, scales_and_zeros;
  };

  constexpr w4_few_rows_body(thread t, const val<w4_problem>& problem, const words_type& words,
                             const codes_type& codes, const pairs_type& pairs)
      : t_(t),
        words_(words),
        decoder_(w4_decoder_of<D, T>(t, problem, pairs)),
        g_(t.let(t.lane_rank() / 4u)),
        has_zeros_(t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0})),
        fine_(t.let(problem[&w4_problem::w][&w4_packed::slots] != 1u)),
        is_bf16_(t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u)),
        codes_(t.let(codes.of_lane() + 0u)),
        second_(t.let(codes.has_second())),
        x_(find_x(t, words)),
        minus_(array_of<halves * 2>([&](u32 i) { return var(t, initial(t, problem, i % 2)); })),
        sums_(array_of<halves * fragments>([&](u32) { return typename mma::accumulator(t); })),
        totals_(
            array_of<tiles_n * halves * fragments>([&](u32) { return typename mma::accumulator(t, 0.0f); })),
        none_(t, 0.0f),
        ones_(all_ones(t)) {}

  // Multiplies the stage whose split for this warp begins at word `stage`. Its tiles of K are `tile`, which
  // exists, and those after it that are below `last`.
  constexpr void stage(const val<u32>& stage, const val<u32>& tile, const val<u32>& last) {
    const stage_place from{t_.let(stage + codes_), t_.let(stage + 0u),
                           array_of<2>([&](u32 half) { return t_.let(x_[half] + stage * 4u); })};
    const auto each = [&](const auto& multiply) {
      multiply(0u);
      for (u32 i = 1; i < C.tiles; ++i)
        if (auto exists = t_.when(tile + i < last)) multiply(i);
    };
    if constexpr (D::slots != 0) {
      each([&](u32 i) { tile_in<D::slots>(from, i); });
    } else {
      if (auto several = t_.when(fine_)) {
        if constexpr (C.tiles == 1)
          fine_tile(from);
        else
          for (auto i : t_.range(0u, min(last - tile, C.tiles)).no_unroll())
            fine_tile({t_.let(from.codes + i * C.words()),
                       t_.let(from.scales_and_zeros + i * scales_and_zeros_of::words),
                       array_of<2>([&](u32 half) { return t_.let(from.x[half] + i * (32u * 4u)); })});
      }
      if (auto one = t_.otherwise()) each([&](u32 i) { tile_in<1>(from, i); });
    }
  }
  static constexpr auto places_of(u32 i) {
    std::array<places, tiles_n> at{};
    for (u32 n = 0; n < tiles_n; ++n) {
      const u32 of_stage = n * C.tiles + i;
      at[n] = {of_stage * C.words(), stage_type::scales_and_zeros_at + of_stage * scales_and_zeros_of::words};
    }
    return at;
  }
  // Multiplies the first tile from a place on, in groups of 16 k. The loop over groups stays: unrolled, it
  // has three times the instructions.
  constexpr void fine_tile(const stage_place& from) {
    const auto at = places_of(0);
    for (auto j : t_.range(0u, 4u).no_unroll()) {
      const val place = t_.let(select(j < 2u, from.x[0], from.x[1]));
      const val is_odd = t_.let(j % 2u != 0u);
      const auto x = array_of<fragments>([&](u32 f) {
        const auto words = ldmatrix_x4(t_.let(place + 4 * f * of_fragment));
        return operand([&](u32 r) { return select(is_odd, words[2 + r], words[r]); });
      });
      auto x_sums = sums_of_x();
      add_x(x_sums, x, true);
      for_columns([&](u32 n) {
        begin_group(from, at[n], j);
        step(n, x, true, [&](u32 h, [[maybe_unused]] u32 w) {
          const u32 half = at[n].codes + h * (quads * 128);
          if constexpr (quads == 1)
            return t_.let(words_[from.codes + j + half]);
          else
            return t_.let(words_[from.codes + (j / 2u * 128u + j % 2u * 2u) + (half + w)]);
        });
        end_group(n, from, at[n], j, x_sums);
      });
    }
  }
  // Multiplies a tile of `Slots` groups, a number known at compile time. With offsets one group follows the
  // other, since their sums of x take registers too.
  template <u32 Slots>
  constexpr void tile_in(const stage_place& from, u32 tile) {
    const auto at = places_of(tile);
    constexpr u32 passes = D::offsets ? Slots : 1, steps = 4 / passes;
    static_assert(passes <= 2);
    for (u32 pass = 0; pass < passes; ++pass) {
      constexpr u32 loads = steps / 2;
      const auto x = array_of<fragments * loads>([&](u32 i) {
        const u32 half = pass * loads + i % loads;
        return ldmatrix_x4(t_.let(from.x[half] + 4 * (tile * 32 + i / loads * of_fragment)));
      });
      const auto x_of_step = array_of<steps>([&](u32 j) {
        return array_of<fragments>([&](u32 f) {
          return operand([&](u32 r) { return t_.let(x[f * loads + j / 2][j % 2 * 2 + r]); });
        });
      });
      auto x_sums = sums_of_x();
      for (u32 j = 0; j < steps; ++j) add_x(x_sums, x_of_step[j], j == 0);
      for_columns([&](u32 n) { multiply_column<Slots / passes>(from, at[n], n, pass, x_of_step, x_sums); });
    }
  }
  // The branch between both columns keeps ptxas from interleaving them, which takes too many registers.
  template <class F>
  constexpr void for_columns(const F& multiply) {
    multiply(0);
    if constexpr (tiles_n == 2)
      if (auto exists = t_.when(second_)) multiply(1);
  }
  // Multiplies the groups of a pass for column n of tiles.
  template <u32 Slots, class X, class XSums>
  constexpr void multiply_column(const stage_place& from, const places& at, u32 n, u32 pass, const X& x,
                                 const XSums& x_sums) {
    constexpr u32 steps = X::size(), words = steps * quads, at_once = words < 4 ? words : 4;
    constexpr u32 loads = words / at_once;
    const auto codes = array_of<halves * loads>([&](u32 i) {
      const u32 word = pass * words + i % loads * at_once;
      return load_vec<at_once>(
          words_[from.codes + (at.codes + i / loads * (quads * 128) + word / 4 * 128 + word % 4)]);
    });
    for (u32 slot = 0; slot < Slots; ++slot) {
      const u32 of_tile = pass * Slots + slot;
      begin_group(from, at, of_tile);
      for (u32 j = slot * (steps / Slots); j < (slot + 1) * (steps / Slots); ++j)
        step(n, x[j], j == slot * (steps / Slots), [&](u32 h, u32 i) {
          const u32 word = j * quads + i;
          return t_.let(codes[h * loads + word / at_once][word % at_once]);
        });
      end_group(n, from, at, of_tile, x_sums);
    }
  }
  // Multiplies a step of 16 k of a column of tiles. is_first: the step begins a group. x: its fragments.
  // word(h, i): word i of the codes of half h.
  template <class X, class Word>
  constexpr void step([[maybe_unused]] u32 n, const X& x, bool is_first, const Word& word) {
    for (u32 h = 0; h < halves; ++h) {
      typename mma::a_fragment a(t_);  // 16 x 16 of W
      const auto codes = array_of<quads>([&](u32 i) { return word(h, i); });
      const auto zero = array_of<2>([&](u32 i) { return t_.let(minus_[2 * h + i]); });
      decoder_.decode(t_, codes, zero, a.registers);
      for (u32 f = 0; f < fragments; ++f) {
        auto& to = D::scaled ? totals_[(n * halves + h) * fragments + f] : sums_[h * fragments + f];
        mma::multiply_add(to, a, x[f], !D::scaled && is_first ? none_ : to);
      }
    }
  }
  template <class Word>
  constexpr auto operand(const Word& word) const {
    typename mma::b_fragment b(t_);
    for (u32 r = 0; r < 2; ++r) b.registers[r] = bit_cast<pair>(word(r));
    return b;
  }
  // Sums of x over a group, which offsets are multiplied by; all rows of a fragment are equal.
  constexpr auto sums_of_x() const {
    if constexpr (D::offsets)
      return array_of<fragments>([&](u32) { return typename mma::accumulator(t_); });
    else
      return 0;
  }
  template <class XSums, class X>
  constexpr void add_x([[maybe_unused]] XSums& x_sums, [[maybe_unused]] const X& x,
                       [[maybe_unused]] bool is_first) const {
    if constexpr (D::offsets)
      for (u32 f = 0; f < fragments; ++f)
        mma::multiply_add(x_sums[f], ones_, x[f], is_first ? none_ : x_sums[f]);
  }

  // Loads the scales or zero points of group `slot` of a tile.
  template <class Slot>
  constexpr void begin_group(const stage_place& from, const places& at, const Slot& slot) {
    [[maybe_unused]] const val scales_and_zeros = t_.let(from.scales_and_zeros + at.scales_and_zeros);
    if constexpr (D::scaled) {
      for (u32 h = 0; h < halves; ++h) {
        const auto scale = scales_and_zeros_of::scales(t_, words_, scales_and_zeros, slot, g_, h, is_bf16_);
        minus_[2 * h] = decoder_type::of_scale(t_, scale.even);
        minus_[2 * h + 1] = decoder_type::of_scale(t_, scale.odd);
      }
    } else {
      if constexpr (D::zero_points)
        if (auto some = t_.when(has_zeros_))
          for (u32 h = 0; h < halves; ++h) {
            const auto zeros = scales_and_zeros_of::zeros(t_, words_, scales_and_zeros, slot, g_, h);
            minus_[2 * h] = decoder_type::of_zero(t_, zeros.even, 0);
            minus_[2 * h + 1] = decoder_type::of_zero(t_, zeros.odd, 1);
          }
    }
  }
  // Adds a group's sums, times its scales, to the totals of column n of tiles.
  template <class Slot, class XSums>
  constexpr void end_group([[maybe_unused]] u32 n, const stage_place& from, const places& at,
                           const Slot& slot, [[maybe_unused]] const XSums& x_sums) {
    [[maybe_unused]] const val scales_and_zeros = t_.let(from.scales_and_zeros + at.scales_and_zeros);
    if constexpr (!D::scaled)
      for (u32 h = 0; h < halves; ++h) {
        const auto scale = scales_and_zeros_of::scales(t_, words_, scales_and_zeros, slot, g_, h, is_bf16_);
        for (u32 f = 0; f < fragments; ++f) {
          auto& to = totals_[(n * halves + h) * fragments + f].registers;
          const auto& sum = sums_[h * fragments + f].registers;
          for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? scale.even : scale.odd, sum[e], to[e]);
        }
        if constexpr (D::offsets) {
          const auto offset = scales_and_zeros_of::offsets(t_, words_, scales_and_zeros, slot, g_, h);
          for (u32 f = 0; f < fragments; ++f) {
            auto& to = totals_[(n * halves + h) * fragments + f].registers;
            const auto& sum = x_sums[f].registers;
            for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? offset.even : offset.odd, sum[e % 2], to[e]);
          }
        }
      }
  }
  // The lane's addresses for ldmatrix, for each half of a tile, from the beginning of a stage on: row i % 8
  // of matrix i / 8 for lane i. The pieces of the other half are four further, which changes bit 2 of the
  // piece.
  static constexpr auto find_x(thread t, const words_type& words) {
    const val lane = t.lane_rank(), row = t.let(lane % 8u);
    return array_of<2>([&](u32 half) {
      return t.let(shared_address(
          words[stage_type::x_at + row * (C.tiles * 32u) + ((lane / 8u + 4 * half) ^ row) * 4u]));
    });
  }
  // `minus` without zero points: what the decoder expects, or anything if the decoder does not read it.
  static constexpr auto initial([[maybe_unused]] thread t, [[maybe_unused]] const val<w4_problem>& problem,
                                u32 odd) {
    if constexpr (D::offsets && D::bits == 4)
      return t.let(decoder_type::of_zero(t, t.let(problem[&w4_problem::w][&w4_packed::zero]), odd));
    else if constexpr (D::offsets || D::zero_points)
      return decoder_type::initial(odd);
    else
      return odd - odd;
  }
  static constexpr auto all_ones(thread t) {
    typename mma::a_fragment ones(t);
    for (auto& r : ones.registers) r = w4_one_of_offsets<decoder_type, T>(t);
    return ones;
  }

  thread t_;
  const words_type& words_;
  std::conditional_t<C.pairs, w4_pairs<D, T>, decoder_type> decoder_;
  val<u32> g_;
  val<bool> has_zeros_, fine_, is_bf16_;
  val<u32> codes_;
  val<bool> second_;  // there is a second column of tiles
  dsl::register_array<val<u32>, 2> x_;
  dsl::register_array<var<u32>, halves * 2> minus_;                          // argument of decode()
  dsl::register_array<typename mma::accumulator, halves * fragments> sums_;  // sums of a group
  dsl::register_array<typename mma::accumulator, tiles_n * halves * fragments> totals_;
  typename mma::accumulator none_;  // addend of a group's first product
  typename mma::a_fragment ones_;
};

// The body of a block, for a configuration of either kind.
template <auto C, class D, scalar T>
struct w4_body_of : w4_body<C, D, T> {};
template <w4_few_rows_config C, class D, scalar T>
struct w4_body_of<C, D, T> : w4_few_rows_body<C, D, T> {};

template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
struct w4_few_rows_kernel {
  static constexpr w4_few_rows_config config = w4_few_rows_of<D>(Rows, Sm);
  static constexpr auto name = "matmul_w" + decimal<D::bits> + "_few_rows_" + D::name + type_name<T> + "_" +
                               decimal<Rows> + "_sm" + decimal<Sm>;
  static constexpr kernel_options options =
      Sm >= 90 ? kernel_options{.target = {Sm},
                                .large_shared = true,
                                .cluster = block_size{0, 0, 0},
                                .min_blocks = config.min_blocks}
               : kernel_options{.target = {Sm}, .large_shared = true, .min_blocks = config.min_blocks};
  static constexpr auto kernel =
      kaio::kernel<name, block_size{config.threads()}, options>([](thread t, val<w4_problem> problem) {
        if constexpr (Sm >= 90) {
          launch_dependents(t);
          w4_few_rows_body<config, D, T>::run(t, problem, w4_few_rows_end<config, T>(problem));
        } else {
          w4_few_rows_body<config, D, T>::run(t, problem);
        }
      });
};

// Launched with m_tiles * n_tiles * splits blocks along x. From sm_90 on the launch may be programmatic, in
// clusters of 1, or of `splits` if that is 2, 4 or 8.
template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
inline constexpr auto matmul_w4_few_rows = w4_few_rows_kernel<D, T, Rows, Sm>::kernel;

}  // namespace kaio::ops
