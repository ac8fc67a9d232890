#pragma once
// matmul_w4 for up to sixteen rows of x: y = x W^T as Y^T = W X^T, as in kernel.hpp. A block has 32 columns of y,
// or 64 of sixteen rows, for each of warps_n warps, and a part of the tiles of K, which the warps of a column
// share:
//
//   8 rows, 32 columns     | warp 0 | warp 1 | ... | warp 7 | warp 0 | ...        tiles of K, two at once
//   16 rows, 64 columns    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 0 | 1 | ...          one at once, of two columns
//
// Such products are bound by memory, then by instructions, of which a tile of 32 x 64 codes of four bits takes
// about 125 of a warp (f16), 72 that decode. A warp copies all that it reads, `stages` - 1 tiles ahead, and but for
// the numbers of a table (decode_table.hpp) waits for no other one before its sums are complete; its loop has a copy
// for each stage, so that places in shared memory are constants. Sixteen rows are two operands of the matrix
// instruction, for which codes are decoded once. At the end the sums of the warps of a column are added through
// shared memory.
//
// From sm_90 on launched programmatically: weights that are constant are asked for before the kernel before
// has ended.
//
// From sm_90 on the parts of K may also be the blocks of a cluster, which add up their sums (store.hpp).
//
// Codes are decoded without their scales (decode.hpp); sums of the part of a tile of K that a group has are
// multiplied by the scale in f32, and added: no product of a code and a scale is rounded. Zero points come off
// the codes: sums of codes alone, less those of x by the zero point, took 16 % fewer instructions and 0.3 to 0.7 us
// more (8192 x 8192, H200), since the matrix instruction makes the sums of x too.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/quantised/w4/block.hpp>
#include <kaio/ops/quantised/w4/decode.hpp>
#include <kaio/ops/quantised/w4/decode_table.hpp>
#include <kaio/ops/quantised/w4/few_rows/config.hpp>
#include <kaio/ops/quantised/w4/few_rows/copies.hpp>
#include <kaio/ops/quantised/w4/few_rows/store.hpp>
#include <kaio/ops/quantised/w4/kernel.hpp>
#include <kaio/ops/quantised/w4/problem.hpp>
#include <kaio/ops/quantised/w4/store.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <w4_few_rows_config C, class D, scalar T>
class w4_few_rows_body {
  static_assert(C.valid(), "kaio: this shape of a block of matmul_w4 is none that the kernel can run");
  static_assert(C.bits == D::bits && (D::bits == 4 || D::bits == 8));
  static_assert(!C.pairs || C.warps >= w4_pair_warps);
  static_assert(D::slots == 0 || D::slots == 1 || D::slots == 2 || D::slots == 4);
  using mma = mma_m16n8k16<f32, T>;
  using pair = typename w4_pair<T>::type;
  using decoder_type = typename D::template decoder<T>;
  using pairs_type = std::conditional_t<C.pairs, w4_pairs<D, T>, no_w4_pairs>;
  using copies_type = w4_few_rows_copies<C, D, T>;
  using codes_type = w4_few_rows_codes<C, D>;
  using stage_type = w4_few_rows_stage<C, D>;
  using words_type = typename stage_type::ring;
  using facts_of = w4_facts<D>;
  static constexpr std::uint32_t halves = 2, fragments = C.fragments(), tiles_n = C.tiles_n;
  static constexpr std::uint32_t quads = D::bits / 4;  // loads of four words that a tile's half takes
  static constexpr std::uint32_t of_fragment = 8 * C.tiles * 32;  // words of eight rows of x in a stage

 public:
  // End: as of w4_body.
  template <class End = w4_product_end<C, T>>
  static constexpr void run(thread t, const val<w4_problem>& problem, const End& end = {}) {
    const words_type words(t);
    const w4_block block = find_w4_block<C>(t, problem, end);
    constexpr u32 ahead = C.stages - 1, apart = C.tiles * C.warps_k();  // tiles from stage to stage
    const val first = t.let(block.first + block.warp_k * C.tiles);
    constexpr bool is_programmatic = requires { end.begin(t); };
    const codes_type codes(t, words, problem, block, end);
    if constexpr (is_programmatic)
      if (auto late = t.when(!end.weights_are_constant(t))) grid_dependency_wait(t);
    // Copies end in the order of their groups, and arrive in that of all: x of the first stage before weights of the next.
    if (auto exists = t.when(first < block.last)) codes.copy(first, 0);
    const copies_type copies(t, words, problem, block, codes);
    if (auto exists = t.when(first < block.last)) copies.copy_all_facts(first, 0);
    copies.clear_other_rows();
    const auto pairs = make_w4_pairs<C.pairs, D, T>(t, problem);
    if constexpr (is_programmatic) grid_dependency_wait(t);
    for (u32 u = 0; u < ahead; ++u) {
      const val tile = t.let(first + u * apart);
      if (auto exists = t.when(tile < block.last)) {
        if (u == 0) {
          copies.copy_x(tile, u);
        } else {
          codes.copy(tile, u);
          copies.copy(tile, u);
        }
      }
      cp_async_commit_group(t);
    }
    if constexpr (is_programmatic) end.begin(t);

    if constexpr (C.pairs) t.barrier();
    w4_few_rows_body multiply(t, problem, words, codes, pairs);
    for (auto base : t.range(block.first, block.last, C.stages * apart).no_unroll()) {
      const val of_turn = t.let(base + block.warp_k * C.tiles);
      copies.load_elements(of_turn);
      for (u32 u = 0; u < C.stages; ++u) {
        cp_async_wait_group<ahead - 1>(t);
        sync_warp(t);
        const val tile = t.let(of_turn + u * apart);
        const val next = t.let(tile + ahead * apart);
        if (auto exists = t.when(next < block.last)) {
          codes.copy(next, (u + ahead) % C.stages);
          copies.copy(next, (u + ahead) % C.stages);
        }
        cp_async_commit_group(t);
        for (u32 i = 0; i < C.tiles; ++i)
          if (auto exists = t.when(tile + i < block.last)) multiply.tile(u, i);
      }
    }
    cp_async_wait_group<0>(t);
    end.store(t, problem, block, multiply.totals_, words);
  }

 private:
  // Words from the first ones of a warp, or of a lane, in stage 0.
  struct places {
    u32 codes, facts;
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
        own_(codes.own()),
        codes_(t.let(own_ + t.lane_rank() * 4u)),
        second_(t.let(codes.has_second())),
        x_(find_x(t, words, codes)),
        minus_(array_of<halves * 2>([&](u32 i) { return var(t, initial(t, problem, i % 2)); })),
        sums_(array_of<halves * fragments>([&](u32) { return typename mma::accumulator(t, 0.0f); })),
        totals_(
            array_of<tiles_n * halves * fragments>([&](u32) { return typename mma::accumulator(t, 0.0f); })),
        ones_(all_ones(t)) {}

  // Tile `i` of K of a stage.
  constexpr void tile(u32 stage, [[maybe_unused]] u32 i) {
    const auto at = array_of<tiles_n>([&](u32 n) {
      const u32 of_stage = n * C.tiles + i, first = stage * stage_type::words;
      return places{first + of_stage * C.words(), first + stage_type::facts_at + of_stage * facts_of::words};
    });
    const u32 x_at = stage * stage_type::words + i * 32;
    if constexpr (D::slots != 0) {
      tile_in<D::slots>(at, x_at);
    } else {
      if (auto several = t_.when(fine_)) {
        // A group after the other: unrolled, they are three times as many instructions.
        for (auto j : t_.range(0u, 4u).no_unroll()) {
          const val place = t_.let(select(j < 2u, x_[0], x_[1]));
          const val is_odd = t_.let(j % 2u != 0u);
          const auto x = array_of<fragments>([&](u32 f) {
            const auto words = ldmatrix_x4(t_.let(place + 4 * (x_at + f * of_fragment)));
            return array_of<2>([&](u32 r) { return t_.let(select(is_odd, words[2 + r], words[r])); });
          });
          auto x_sums = sums_of_x();
          add_x(x_sums, x);
          for_columns([&](u32 n) {
            begin_group(at[n], j);
            step(n, x, [&](u32 h, [[maybe_unused]] u32 w) {
              const u32 half = at[n].codes + h * (quads * 128);
              if constexpr (quads == 1)
                return t_.let(words_[codes_ + j + half]);
              else
                return t_.let(words_[codes_ + (j / 2u * 128u + j % 2u * 2u) + (half + w)]);
            });
            end_group(n, at[n], j, x_sums);
          });
        }
      }
      if (auto one = t_.otherwise()) tile_in<1>(at, x_at);
    }
  }
  // One that has part of `Slots` groups, as far as is known. With offsets a group after the other, since their sums
  // of x take registers too.
  template <u32 Slots, class At>
  constexpr void tile_in(const At& at, u32 x_at) {
    constexpr u32 passes = D::offsets ? Slots : 1, steps = 4 / passes;
    static_assert(passes <= 2);
    for (u32 pass = 0; pass < passes; ++pass) {
      constexpr u32 loads = steps / 2;
      const auto x = array_of<fragments * loads>([&](u32 i) {
        const u32 half = pass * loads + i % loads;
        return ldmatrix_x4(t_.let(x_[half] + 4 * (x_at + i / loads * of_fragment)));
      });
      const auto x_of_step = array_of<steps>([&](u32 j) {
        return array_of<fragments>([&](u32 f) {
          return array_of<2>([&](u32 r) { return t_.let(x[f * loads + j / 2][j % 2 * 2 + r]); });
        });
      });
      auto x_sums = sums_of_x();
      for (u32 j = 0; j < steps; ++j) add_x(x_sums, x_of_step[j]);
      for_columns([&](u32 n) { multiply_column<Slots / passes>(at[n], n, pass, x_of_step, x_sums); });
    }
  }
  // A branch between both keeps ptxas from mixing them, for which there are no registers.
  template <class F>
  constexpr void for_columns(const F& multiply) {
    multiply(0);
    if constexpr (tiles_n == 2)
      if (auto exists = t_.when(second_)) multiply(1);
  }
  // The groups of a pass, of column n of tiles.
  template <u32 Slots, class X, class XSums>
  constexpr void multiply_column(const places& at, u32 n, u32 pass, const X& x, const XSums& x_sums) {
    constexpr u32 steps = X::size(), words = steps * quads, together = words < 4 ? words : 4;
    constexpr u32 loads = words / together;
    const auto codes = array_of<halves * loads>([&](u32 i) {
      const u32 word = pass * words + i % loads * together;
      return load_vec<together>(
          words_[codes_ + (at.codes + i / loads * (quads * 128) + word / 4 * 128 + word % 4)]);
    });
    for (u32 slot = 0; slot < Slots; ++slot) {
      const u32 of_tile = pass * Slots + slot;
      begin_group(at, of_tile);
      for (u32 j = slot * (steps / Slots); j < (slot + 1) * (steps / Slots); ++j)
        step(n, x[j], [&](u32 h, u32 i) {
          const u32 word = j * quads + i;
          return t_.let(codes[h * loads + word / together][word % together]);
        });
      end_group(n, at, of_tile, x_sums);
    }
  }
  // 16 of K of a column of tiles: two words of each fragment of x, and word i of the codes of half h.
  template <class X, class Word>
  constexpr void step([[maybe_unused]] u32 n, const X& x, const Word& word) {
    const auto b = array_of<fragments>([&](u32 f) { return operand(x[f]); });
    for (u32 h = 0; h < halves; ++h) {
      typename mma::a_fragment a(t_);  // 16 x 16 of W
      const auto codes = array_of<quads>([&](u32 i) { return word(h, i); });
      const auto zero = array_of<2>([&](u32 i) { return t_.let(minus_[2 * h + i]); });
      decoder_.decode(t_, codes, zero, a.registers);
      for (u32 f = 0; f < fragments; ++f)
        mma::multiply_add(D::scaled ? totals_[(n * halves + h) * fragments + f] : sums_[h * fragments + f], a,
                          b[f]);
    }
  }
  template <class Words>
  constexpr auto operand(const Words& words) const {
    typename mma::b_fragment b(t_);
    for (u32 r = 0; r < 2; ++r) b.registers[r] = bit_cast<pair>(words[r]);
    return b;
  }
  // Of x over a group, in rows that are all the same, where offsets are multiplied by them.
  constexpr auto sums_of_x() const {
    if constexpr (D::offsets)
      return array_of<fragments>([&](u32) { return typename mma::accumulator(t_, 0.0f); });
    else
      return 0;
  }
  template <class XSums, class X>
  constexpr void add_x([[maybe_unused]] XSums& x_sums, [[maybe_unused]] const X& x) const {
    if constexpr (D::offsets)
      for (u32 f = 0; f < fragments; ++f) mma::multiply_add(x_sums[f], ones_, operand(x[f]));
  }

  // Of part `slot` of a tile.
  template <class Slot>
  constexpr void begin_group(const places& at, const Slot& slot) {
    [[maybe_unused]] const val facts = t_.let(own_ + at.facts);
    if constexpr (D::scaled) {
      for (u32 h = 0; h < halves; ++h) {
        const auto scale = facts_of::scales(t_, words_, facts, slot, g_, h, is_bf16_);
        minus_[2 * h] = decoder_type::of_scale(t_, scale.even);
        minus_[2 * h + 1] = decoder_type::of_scale(t_, scale.odd);
      }
    } else {
      for (auto& of_half : sums_)
        for (auto& r : of_half.registers) r = 0.0f;
      if constexpr (D::zero_points)
        if (auto some = t_.when(has_zeros_))
          for (u32 h = 0; h < halves; ++h) {
            const auto zeros = facts_of::zeros(t_, words_, facts, slot, g_, h);
            minus_[2 * h] = decoder_type::of_zero(t_, zeros.even, 0);
            minus_[2 * h + 1] = decoder_type::of_zero(t_, zeros.odd, 1);
          }
    }
  }
  // Of column n of tiles.
  template <class Slot, class XSums>
  constexpr void end_group([[maybe_unused]] u32 n, const places& at, const Slot& slot,
                           [[maybe_unused]] const XSums& x_sums) {
    [[maybe_unused]] const val facts = t_.let(own_ + at.facts);
    if constexpr (!D::scaled)
      for (u32 h = 0; h < halves; ++h) {
        const auto scale = facts_of::scales(t_, words_, facts, slot, g_, h, is_bf16_);
        for (u32 f = 0; f < fragments; ++f) {
          auto& to = totals_[(n * halves + h) * fragments + f].registers;
          const auto& from = sums_[h * fragments + f].registers;
          for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? scale.even : scale.odd, from[e], to[e]);
        }
        if constexpr (D::offsets) {
          const auto offset = facts_of::offsets(t_, words_, facts, slot, g_, h);
          for (u32 f = 0; f < fragments; ++f) {
            auto& to = totals_[(n * halves + h) * fragments + f].registers;
            const auto& from = x_sums[f].registers;
            for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? offset.even : offset.odd, from[e % 2], to[e]);
          }
        }
      }
  }
  // Where a lane has its row of the four matrices of half a tile, in stage 0: row i % 8 of matrix i / 8. The
  // pieces of the other half are four on, which changes bit 2 of the piece.
  static constexpr auto find_x(thread t, const words_type& words, const codes_type& codes) {
    const val lane = t.lane_rank(), row = t.let(lane % 8u);
    return array_of<2>([&](u32 half) {
      return t.let(shared_address(words[codes.own() + stage_type::x_at + row * (C.tiles * 32u) +
                                        ((lane / 8u + 4 * half) ^ row) * 4u]));
    });
  }
  // Where there are no zero points, what `minus` has is not looked at, or as the decoder has it.
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
    for (auto& r : ones.registers) r = bit_cast<pair>(t.let(w4_pair<T>::is_half ? 0x3c003c00u : 0x3f803f80u));
    return ones;
  }

  thread t_;
  const words_type& words_;
  std::conditional_t<C.pairs, w4_pairs<D, T>, decoder_type> decoder_;
  val<u32> g_;
  val<bool> has_zeros_, fine_, is_bf16_;
  val<u32> own_, codes_;
  val<bool> second_;  // whether there is a second column of tiles
  dsl::register_array<val<u32>, 2> x_;
  dsl::register_array<var<u32>, halves * 2> minus_;                          // what decode() takes
  dsl::register_array<typename mma::accumulator, halves * fragments> sums_;  // of a group
  dsl::register_array<typename mma::accumulator, tiles_n * halves * fragments> totals_;
  typename mma::a_fragment ones_;
};

// The product of a block of a configuration of either kind.
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

// Launched with m_tiles * n_tiles * parts blocks along x; from sm_90 on programmatically, in clusters of 1 or of
// `parts`, then 2, 4 or 8.
template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
inline constexpr auto matmul_w4_few_rows = w4_few_rows_kernel<D, T, Rows, Sm>::kernel;

}  // namespace kaio::ops
