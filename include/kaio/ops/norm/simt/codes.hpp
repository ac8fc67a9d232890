#pragma once
// Codes of 8 bits of the rows y that a kernel has staged (rows/stage.hpp), and their scales:
//
//   scale of               found
//   all rows               given: code_scale
//   a row                  the largest |y| of its threads
//   a block of a row       the largest |y| of 128 neighbours, by up to 32 lanes that are neighbours too
//
// Each is that of quantise_int8 or quantise_fp8 of y, and so is each code.

#include <kaio/ops/norm/common/problem.hpp>
#include <kaio/ops/rows/reduce.hpp>
#include <kaio/ops/rows/stage.hpp>
#include <kaio/ops/shared/divided_by.hpp>
#include <kaio/ops/shared/e4m3_code.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/shared/int8_code.hpp>

#include <bit>
#include <cstdint>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Stage>
class row_codes {
 public:
  constexpr row_codes(thread t, Stage& stage, const val<general_norm_problem>& problem)
      : t_(t),
        stage_(stage),
        problem_(problem),
        is_i8_(t.let(problem[&general_norm_problem::kept] == static_cast<u32>(kept_type::i8))),
        has_scales_(t.let(problem[&general_norm_problem::scales][&row_strides::address] != u64{0})),
        has_blocks_(t.let(problem[&general_norm_problem::has_block_scales] != 0u)),
        step_(t.let(problem[&general_norm_problem::scale_step])),
        scales_(
            pointer_at<inout<f32>>(t, stage.row_of(problem[&general_norm_problem::scales], sizeof(f32)))) {}

  // largest: |y| of this thread. out: the row of far pieces.
  template <class Reduce>
  constexpr void make(Reduce& reduce, const val<f32>& largest, const val<u64>& out) {
    thread t = t_;
    var by(t, problem_[&general_norm_problem::code_scale]);
    if (auto of_row = t.when(all_of(has_scales_, !has_blocks_))) {
      by = scale_of(reduce.largest(largest, 0.0f));
      if (auto one = t.when(all_of(stage_.exists(), stage_.lane() == 0u, stage_.block() == 0u)))
        scales_[0] = by;
    }
    if (auto of_blocks = t.when(has_blocks_)) find_blocks(out);
    const val to = stage_.row_of(problem_[&general_norm_problem::codes], 1);
    var reciprocal(t, 1.0f / by);
    // Neighbours of a piece share a scale; other elements have one each.
    const val is_own = Vectors ? has_scales_ : t.let(all_of(has_scales_, !has_blocks_));
    stage_.each_piece(out, [&](const auto& p, auto& y) {
      using words = words_of<decltype(p)>;
      constexpr u32 width = words::width;
      if constexpr (Vectors)
        if (auto own = t.when(has_blocks_)) {
          by = block_scale(p.first);
          reciprocal = 1.0f / by;
        }
      const val divisor = t.let(by), inverse = t.let(reciprocal);
      // A scale of y's own is at least 2^-9 of each of its numbers, as divided_by needs.
      const val is_usual = t.let(all_of(is_own, has_reciprocal(t, divisor)));
      auto quotients = array_of<width>([&](u32) { return var(t, 0.0f); });
      if (auto usual = t.when(is_usual))
        for (u32 i = 0; i < width; ++i) quotients[i] = divided_by(t, words::value(t, y, i), divisor, inverse);
      if (auto other = t.when(!is_usual))
        for (u32 i = 0; i < width; ++i) {
          if constexpr (!Vectors)
            if (auto own = t.when(has_blocks_)) by = block_scale(stage_.element(p, i));
          const val one = words::value(t, y, i);
          quotients[i] = one / by;
        }
      store(to, p, quotients);
    });
  }

 private:
  constexpr val<f32> scale_of(const val<f32>& largest) const {
    const val of_i8 = int8_scale(t_, largest), of_e4m3 = e4m3_scale(t_, largest);
    return t_.let(select(is_i8_, of_i8, of_e4m3));
  }
  constexpr auto scale_at(const val<u32>& block) const { return scales_[cast<i64>(block) * step_]; }
  // The scale of an element's block.
  constexpr val<f32> block_scale(const val<u32>& element) const {
    return t_.let(scale_at(t_.let(element / norm_code_block)));
  }

  // Writes the scales of the block's share of the row. Afterwards all threads of the block can read them.
  //
  //   32 lanes, pieces of bf16: 16 have a block of 128    0: pieces 0..15    1: pieces 16..31
  //   8 lanes                   all have it, twice        0: pieces 0..7, 8..15
  constexpr void find_blocks(const val<u64>& out) {
    thread t = t_;
    constexpr u32 parts = norm_code_block / Stage::part_size, most_lanes = parts < 32 ? parts : 32;
    const val lanes = t.let(min(stage_.lanes(), most_lanes));
    const val lane = t.let(stage_.lane() & (lanes - 1u)), rank = t.let(stage_.lane() / lanes);
    const val share = stage_.share();
    const val count = t.let((share + (norm_code_block - 1)) / norm_code_block),
              at_once = t.let(stage_.lanes() / lanes);
    if constexpr (!Vectors) t.barrier();  // pieces of neighbours are the thread's own
    for (auto first : t.range(0u, count, at_once).no_unroll()) {
      const val block = t.let(first + rank);
      var largest(t, 0.0f);
      for (auto i : t.range(lane, t.let(val<u32>(parts)), lanes).no_unroll()) {
        const val part = t.let(block * parts + i);
        if (auto inside = t.when(all_of(stage_.exists(), part * Stage::part_size < share)))
          stage_.part(out, part, [&](const val<f32>& y) { largest = max(largest, abs(y)); });
      }
      for (u32 distance = most_lanes / 2; distance != 0; distance /= 2) {
        const val other = shfl_xor(largest, distance);
        largest = select(lanes > distance, max(largest, other), largest);
      }
      const val scale = scale_of(t.let(largest));
      const val at = t.let(stage_.begin() / norm_code_block + block);
      if (auto one = t.when(all_of(stage_.exists(), lane == 0u, block < count))) scale_at(at) = scale;
    }
    t.barrier();
  }
  template <class Piece, class Quotients>
  constexpr void store(const val<u64>& row, const Piece& p, const Quotients& quotients) {
    thread t = t_;
    constexpr u32 width = words_of<Piece>::width;
    auto codes = array_of<width>([&](u32) { return var(t, u8{0}); });
    if (auto integers = t.when(is_i8_))
      for (u32 i = 0; i < width; ++i) codes[i] = bit_cast<u8>(int8_code_of(t, t.let(quotients[i])));
    if (auto floats = t.when(!is_i8_))
      for (u32 i = 0; i < width; ++i) codes[i] = bit_cast<u8>(e4m3_code_of(t, t.let(quotients[i])));
    const auto memory = pointer_at<kaio::out<u8>>(t, row);
    if constexpr (Vectors) {
      for (u32 i = 0; i < width; i += 4)
        store_vec(memory[p.first + i], make_vec(codes[i], codes[i + 1], codes[i + 2], codes[i + 3]));
    } else {
      for (u32 i = 0; i < width; ++i) memory[stage_.element(p, i)] = codes[i];
    }
  }

  thread t_;
  Stage& stage_;
  val<general_norm_problem> problem_;
  val<bool> is_i8_, has_scales_, has_blocks_;
  val<i64> step_;
  inout<f32> scales_;
};

}  // namespace kaio::ops
