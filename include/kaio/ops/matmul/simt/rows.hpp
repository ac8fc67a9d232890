#pragma once
// The rows of a thread of the f32 matmul kernels along one operand.
//
// A thread reads its operands in pieces of 16 bytes. If a line of the tile goes along k, a piece is 4 steps
// of k for one row (for B: column), and a thread's rows are `lanes` apart. If it goes along the rows, a piece
// is 4 neighbouring rows at one step of k. Either way 4 steps of k for `rows` rows are `rows` pieces.

#include <kaio/ops/matmul/simt/config.hpp>

#include <cstdint>

namespace kaio::ops {

// The rows of a thread along one operand, and the numbers in its pieces.
template <major Major, std::uint32_t Lanes>
struct simt_rows {
  static constexpr bool along_k = Major == major::k;
  static constexpr std::uint32_t unit =
      along_k ? 1 : 4;  // pieces that complete `unit` rows for four steps of k

  // The thread's first row, if its warp begins at row 0.
  static constexpr val<u32> first(thread t, const val<u32>& lane) { return t.let(lane * unit); }
  // The distance from there to its row `r`.
  static constexpr std::uint32_t of(std::uint32_t r) {
    return along_k ? r * Lanes : r / 4 * (4 * Lanes) + r % 4;
  }
  static constexpr val<u32> of(thread t, const val<u32>& r) {
    if constexpr (along_k)
      return t.let(r * Lanes);
    else
      return t.let(r / 4u * (4 * Lanes) + r % 4u);
  }
  // The row of piece `p`, counted like `of`, and its first step of k.
  static constexpr std::uint32_t row_of_piece(std::uint32_t p) {
    return along_k ? p * Lanes : p / 4 * (4 * Lanes);
  }
  static constexpr std::uint32_t k_of_piece(std::uint32_t p) { return along_k ? 0 : p % 4; }

  // The number for row `r` at step `k` of four; `pieces` begins with a unit.
  template <class Pieces>
  static constexpr auto number(const Pieces& pieces, std::uint32_t r, std::uint32_t k) {
    if constexpr (along_k)
      return pieces[r][k];
    else
      return pieces[r / 4 * 4 + k][r % 4];
  }
};

}  // namespace kaio::ops
