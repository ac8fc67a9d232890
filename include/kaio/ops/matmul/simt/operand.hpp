#pragma once
// One operand of the f32 matmul kernel: its ring of tiles in shared memory, the copies that fill it, and the
// pieces that a thread multiplies. A tile is laid out as its operand is, line by line:
//
//   major::k     a line is a row of A (a column of B): k numbers, and 4 of padding. Consecutive lines begin
//                4 * odd banks apart, so that the 8 lines that a warp reads at once use all banks
//   major::mn    a line is one step of k, all rows of A (columns of B)
//
// Every mixture of layouts therefore costs the same, and nothing is transposed.

#include <kaio/ops/matmul/simt/rows.hpp>

#include <cstdint>

namespace kaio::ops {

// Extent: rows of A or columns of B in a block; Lanes: lanes of a warp along them; Async: the copies are
// cp.async.
template <std::uint32_t Extent, std::uint32_t K, std::uint32_t Stages, major Major, std::uint32_t Vector,
          std::uint32_t Threads, std::uint32_t Lanes, bool Async>
class simt_operand {
  using rows = simt_rows<Major, Lanes>;
  static constexpr bool along_k = rows::along_k;
  static constexpr std::uint32_t lines = along_k ? Extent : K;
  static constexpr std::uint32_t width = along_k ? K : Extent;  // numbers per line
  static constexpr std::uint32_t pitch = along_k ? K + 4 : Extent;
  static constexpr std::uint32_t copies_of_line = width / Vector;
  static constexpr std::uint32_t copies = lines * copies_of_line / Threads;  // per thread
  static_assert(lines * copies_of_line % Threads == 0 &&
                    (Threads % copies_of_line == 0 || copies_of_line % Threads == 0),
                "kaio: the threads of a block share the copies of a tile evenly");

 public:
  static constexpr std::uint32_t tile = lines * pitch;  // elements per stage

  // `first`: the thread's first row in its block; `k`: its first step of K in a tile.
  constexpr simt_operand(thread t, const val<u32>& first, const val<u32>& k)
      : t_(t),
        ring_(t, std::uint64_t{Stages} * tile),
        read_(t.let(first * (along_k ? pitch : 1u) + k * (along_k ? 1u : pitch))),
        line_(t.let(t.thread_rank() / copies_of_line)),
        column_(t.let(t.thread_rank() % copies_of_line * Vector)),
        write_(t.let(line_ * pitch + column_)) {}

  // The offset of this thread's first copy. `first`: the block's first row; `k`: its first step.
  constexpr val<i64> source(const val<i64>& leading, const val<u32>& first, const val<u32>& k) const {
    const val line = t_.let(along_k ? t_.let(first + line_) : t_.let(k + line_));
    const val column = t_.let(along_k ? t_.let(k + column_) : t_.let(first + column_));
    return t_.let(cast<i64>(line) * leading + cast<i64>(column));
  }

  // Copies one tile, whose first copy comes from `from`, into the stage at element `stage` of the ring.
  // Ragged: only `rows_left` rows and `k_left` steps of k exist, the rest becomes 0.
  template <bool Ragged>
  constexpr void copy(const in<f32>& from, const val<i64>& leading, const val<u32>& stage,
                      const val<u32>& rows_left, const val<u32>& k_left) const {
    copy_from<Ragged, 0>(from, leading, t_.let(stage + write_), rows_left, k_left);
  }
  // Elements from one tile to the next.
  constexpr val<i64> step(const val<i64>& leading) const {
    if constexpr (along_k)
      return t_.let(leading * 0 + K);
    else
      return t_.let(leading * K);
  }

  // Where this thread's pieces begin in a stage.
  constexpr val<u32> pieces_at(const val<u32>& stage) const { return t_.let(stage + read_); }
  // Piece `p` of the four steps from `k` on.
  constexpr val<f32x4> load(const val<u32>& at, std::uint32_t k, std::uint32_t p) const {
    const std::uint32_t line = along_k ? rows::row_of_piece(p) : k + rows::k_of_piece(p);
    const std::uint32_t column = along_k ? k + rows::k_of_piece(p) : rows::row_of_piece(p);
    return load_vec<4>(ring_[at + (line * pitch + column)]);
  }

 private:
  template <bool Ragged, std::uint32_t I>
  constexpr void copy_from(const in<f32>& from, const val<i64>& leading, const val<u32>& to,
                           const val<u32>& rows_left, const val<u32>& k_left) const {
    const auto origin = from[column_of(I)];
    const auto others = [&] {
      if constexpr (I + 1 < copies) {
        constexpr std::uint32_t lines_on = line_of(I + 1) - line_of(I);
        if constexpr (lines_on == 0)
          copy_from<Ragged, I + 1>(from, leading, to, rows_left, k_left);
        else
          copy_from<Ragged, I + 1>(from.from(leading * lines_on), leading, to, rows_left, k_left);
      }
    };
    const auto place = ring_[to + (line_of(I) * pitch + column_of(I))];
    if constexpr (!Async) {
      // Loads all numbers before it stores the first.
      var<f32> number(t_, 0.0f);
      if constexpr (!Ragged)
        number = origin;
      else if (auto there = t_.when(bytes_there(I, rows_left, k_left) != 0))
        number = origin;
      others();
      place = number;
    } else {
      if constexpr (!Ragged)
        cp_async<4 * Vector>(place, origin);
      else
        cp_async<4 * Vector>(place, origin, bytes_there(I, rows_left, k_left));
      others();
    }
  }
  // Bytes of copy i that are inside the operand.
  constexpr val<u32> bytes_there(std::uint32_t i, const val<u32>& rows_left, const val<u32>& k_left) const {
    const val line = t_.let(line_ + line_of(i));
    const val column = t_.let(column_ + column_of(i));
    const val width_left = t_.let(along_k ? k_left : rows_left);
    const val numbers = t_.let(min(width_left - min(width_left, column), Vector));
    return t_.let(select(line < (along_k ? rows_left : k_left), numbers * 4u, 0u));
  }

  static constexpr std::uint32_t line_of(std::uint32_t i) { return i * Threads / copies_of_line; }
  static constexpr std::uint32_t column_of(std::uint32_t i) { return i * Threads % copies_of_line * Vector; }

  thread t_;
  shared_array<f32> ring_;
  val<u32> read_;                   // offset of the pieces in a stage
  val<u32> line_, column_, write_;  // place of the first copy
};

}  // namespace kaio::ops
