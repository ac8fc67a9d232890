#pragma once
// Codes of 8 bits of the rows y that a kernel has staged (rows/stage.hpp), and their scales:
//
//   scale of               found
//   all rows               given: code_scale
//   a row                  the largest |y| of its threads
//   a block of a row       the largest |y| of 128 neighbours, by lanes that are neighbours too
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
  using words = row_words<T, Sm>;  // of Vectors

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

  // Rows of Vectors. finish(piece, bits) keeps y of a piece of h, and returns it; makes: codes are made of it. line, out:
  // the rows of far pieces of h and of y.
  //
  // If blocks have scales, lanes that are neighbours have the pieces of one, in one round, or in a few if the row has
  // fewer lanes. Its codes are made before the next y.
  //
  //   lanes   pieces of bf16 of block 0   of block 1
  //   32      0..15                       16..31
  //   8       0..7, 8..15                 16..23, 24..31
  template <class Reduce, class Finish>
  constexpr void finish_neighbours(Reduce& reduce, const val<u64>& line, const val<u64>& out,
                                   const val<bool>& makes, const Finish& finish) {
    thread t = t_;
    constexpr u32 width = words::width, parts = norm_code_block / width, most_lanes = parts < 32 ? parts : 32;
    const dynamic_shared<u32x4> memory(t);
    const val lane = stage_.lane(), lanes = stage_.lanes();
    const val pieces = t.let(stage_.share() / width);
    const val own = t.let(select(stage_.exists(), pieces, 0u));
    const val lanes_log = t.let(popc(lanes - 1u));
    const val rounds = t.let((pieces + (lanes - 1u)) >> lanes_log);
    const val at_least_one = t.let(max(rounds, 1u));  // all blocks of a cluster meet
    const val at_once = t.let(select(has_blocks_, max(val<u32>(parts) >> lanes_log, 1u), at_least_one));
    const val rank = t.let(t.thread_rank());
    const val to = stage_.row_of(problem_[&general_norm_problem::codes], 1);
    var by(t, problem_[&general_norm_problem::code_scale]);
    for (auto first : t.range(0u, at_least_one, at_once).no_unroll()) {
      const val last = t.let(min(first + at_once, rounds));
      const val begin = t.let(lane + first * lanes), end = t.let(min(last * lanes, own));
      // Calls f(piece, bits) for the pieces of these rounds; far ones come from the row at `from`.
      const auto each_piece = [&](const val<u64>& from, const auto& f) {
        var slot(t, rank + first * row_threads);
        for (auto i : t.range(begin, end, lanes).no_unroll()) {
          const typename Stage::piece p{{t.let(slot + 0u), t.let(stage_.begin() + i * width)}};
          auto bits = words::zeros(t);
          if (auto is_kept = t.when(!stage_.is_far(p))) {
            const val four = memory[p.slot];
            for (u32 w = 0; w < 4; ++w) bits[w] = four[w];
          }
          if (auto is_elsewhere = t.when(stage_.is_far(p))) stage_.load(from, p, bits);
          f(p, bits);
          slot += row_threads;
        }
      };
      largest_of_pieces<T, Sm> largest(t);
      each_piece(line, [&](const auto& p, const auto& h) {
        const auto y = finish(p, h);
        largest.template add<words>(y);
      });
      if (auto also = t.when(makes)) {
        if (auto finds = t.when(has_scales_)) {
          var all(t, largest.result());
          if (auto of_blocks = t.when(has_blocks_))
            for (u32 distance = most_lanes / 2; distance != 0; distance /= 2) {
              const val other = shfl_xor(all, distance);
              all = select(lanes > distance, max(all, other), all);
            }
          if (auto of_row = t.otherwise()) all = reduce.largest(t.let(all), 0.0f);
          by = scale_of(t.let(all));
          const val element = t.let(stage_.begin() + begin * width);
          const val begins_block = t.let(all_of(has_blocks_, begin % parts == 0u));
          if (auto one = t.when(all_of(begin < own, any_of(begins_block, element == 0u))))
            scale_at(t.let(element / norm_code_block)) = by;
        }
        const val divisor = t.let(by), inverse = t.let(1.0f / divisor);
        // A scale of y's own is at least 2^-9 of each of its numbers, as divided_by needs.
        const val is_usual = t.let(all_of(has_scales_, has_reciprocal(t, divisor)));
        each_piece(out, [&](const auto& p, const auto& y) {
          const auto x = words::values(t, y);
          auto quotients =
              array_of<width>([&](u32 i) { return var(t, divided_by(t, x[i], divisor, inverse)); });
          if (auto other = t.when(!is_usual))
            for (u32 i = 0; i < width; ++i) quotients[i] = x[i] / divisor;
          store_piece(to, p, quotients);
        });
      }
    }
  }

  // Rows of single elements, of which y is kept. largest: |y| of this thread. Blocks have their scales before: up to 32
  // lanes find that of a block.
  template <class Reduce>
  constexpr void make_of_elements(Reduce& reduce, const val<f32>& largest, const val<u64>& out) {
    thread t = t_;
    var by(t, problem_[&general_norm_problem::code_scale]);
    if (auto of_row = t.when(all_of(has_scales_, !has_blocks_))) {
      by = scale_of(reduce.largest(largest, 0.0f));
      if (auto one = t.when(all_of(stage_.exists(), stage_.lane() == 0u, stage_.block() == 0u)))
        scales_[0] = by;
    }
    if (auto of_blocks = t.when(has_blocks_)) find_blocks(out);
    const val to = stage_.row_of(problem_[&general_norm_problem::codes], 1);
    const val scale = t.let(by), inverse = t.let(1.0f / scale);
    const val is_usual = t.let(all_of(has_scales_, !has_blocks_, has_reciprocal(t, scale)));
    stage_.each_piece(out, [&](const auto& p, auto& y) {
      using singles = words_of<decltype(p)>;
      constexpr u32 width = singles::width;
      const auto x = array_of<width>([&](u32 i) { return singles::value(t, y, i); });
      auto quotients = array_of<width>([&](u32 i) { return var(t, divided_by(t, x[i], scale, inverse)); });
      if (auto other = t.when(!is_usual))
        for (u32 i = 0; i < width; ++i) {
          if (auto own = t.when(has_blocks_)) by = block_scale(stage_.element(p, i));
          quotients[i] = x[i] / by;
        }
      store_elements(to, p, quotients);
    });
  }

 private:
  constexpr val<f32> scale_of(const val<f32>& largest) const {
    thread t = t_;
    const val greatest = t.let(select(is_i8_, 127.0f, 448.0f));
    const val reciprocal = t.let(select(is_i8_, 1.0f / 127.0f, 1.0f / 448.0f));
    var scale(t, divided_by(t, largest, greatest, reciprocal));
    if (auto rare = t.when(any_of(largest<0x1p-60f, largest> 0x1p60f))) {
      const val quotient = t.let(largest / greatest);
      scale = select(quotient == 0.0f, 1.0f, quotient);
    }
    return t.let(scale + 0.0f);
  }
  constexpr auto scale_at(const val<u32>& block) const { return scales_[cast<i64>(block) * step_]; }
  // The scale of an element's block.
  constexpr val<f32> block_scale(const val<u32>& element) const {
    return t_.let(scale_at(t_.let(element / norm_code_block)));
  }

  // Writes the scales of the block's share of the row. Afterwards all threads of the block can read them.
  constexpr void find_blocks(const val<u64>& out) {
    thread t = t_;
    constexpr u32 most_lanes = 32;
    const val lanes = t.let(min(stage_.lanes(), most_lanes));
    const val lane = t.let(stage_.lane() & (lanes - 1u)), rank = t.let(stage_.lane() / lanes);
    const val share = stage_.share();
    const val count = t.let((share + (norm_code_block - 1)) / norm_code_block),
              at_once = t.let(stage_.lanes() / lanes);
    t.barrier();
    for (auto first : t.range(0u, count, at_once).no_unroll()) {
      const val block = t.let(first + rank);
      var largest(t, 0.0f);
      for (auto i : t.range(lane, norm_code_block, lanes).no_unroll()) {
        const val element = t.let(block * norm_code_block + i);
        if (auto inside = t.when(all_of(stage_.exists(), element < share)))
          stage_.element_of_share(out, element, [&](const val<f32>& y) { largest = max(largest, abs(y)); });
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

  template <class Quotients>
  constexpr void store_piece(const val<u64>& row, const staged_piece& p, const Quotients& quotients) {
    thread t = t_;
    constexpr u32 width = words::width;
    auto packed = array_of<width / 4>([&](u32) { return var(t, 0u); });
    if (auto integers = t.when(is_i8_))
      for (u32 w = 0; w < width / 4; ++w) packed[w] = int8_codes_of<Sm>(t, quotients, 4 * w);
    if (auto floats = t.when(!is_i8_))
      for (u32 w = 0; w < width / 4; ++w) packed[w] = e4m3_codes_of(t, quotients, 4 * w);
    const auto memory = pointer_at<kaio::out<u32>>(t, t.let(row + cast<u64>(p.first)));
    if constexpr (width == 8)
      store_vec(memory[0], make_vec(packed[0], packed[1]));
    else
      memory[0] = packed[0];
  }
  template <class Piece, class Quotients>
  constexpr void store_elements(const val<u64>& row, const Piece& p, const Quotients& quotients) {
    thread t = t_;
    constexpr u32 width = words_of<Piece>::width;
    auto codes = array_of<width>([&](u32) { return var(t, u8{0}); });
    if (auto integers = t.when(is_i8_))
      for (u32 i = 0; i < width; ++i) codes[i] = bit_cast<u8>(int8_code_of(t, t.let(quotients[i])));
    if (auto floats = t.when(!is_i8_))
      for (u32 i = 0; i < width; ++i) codes[i] = bit_cast<u8>(e4m3_code_of(t, t.let(quotients[i])));
    const auto memory = pointer_at<kaio::out<u8>>(t, row);
    for (u32 i = 0; i < width; ++i) memory[stage_.element(p, i)] = codes[i];
  }

  thread t_;
  Stage& stage_;
  val<general_norm_problem> problem_;
  val<bool> is_i8_, has_scales_, has_blocks_;
  val<i64> step_;
  inout<f32> scales_;
};

}  // namespace kaio::ops
