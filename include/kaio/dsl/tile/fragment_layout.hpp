#pragma once
// The elements of a matrix that a thread holds in the fragments of the matrix instructions. Each layout maps
// (lane, element) to (row, column) as a sum: a part for the lane and a part for the element. A kernel
// computes the first once, and the second is a constant; the host has both, for tests and pictures. Element e
// of a fragment is in register e / per_register, from its low bits up.
//
//   using layout = wgmma_accumulator_layout<128>;
//   val row = layout::lane_row(thread % 128u), column = layout::lane_column(thread % 128u);
//   for (u32 i = 0; i < layout::elements; ++i)
//     y[(row + layout::element_row(i)) * n + column + layout::element_column(i)] = acc[i];
//
// Source: PTX ISA, "Matrix Fragments for mma.m8n8k4" and the sections after it, "Register Fragments and
// Shared Memory Matrix Layouts" of wgmma, and "ldmatrix".

#include <kaio/dsl/number/diagnostic.hpp>

#include <cstdint>

namespace kaio::dsl {

struct matrix_place {
  std::uint32_t row, column;
  friend constexpr bool operator==(const matrix_place&, const matrix_place&) = default;
};

namespace detail {

// The common part of all layouts. Each adds its lane_row, lane_column, element_row and element_column.
template <class Layout, std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Lanes,
          std::uint32_t ElementBits>
struct fragment_layout {
  static constexpr std::uint32_t rows = Rows;
  static constexpr std::uint32_t columns = Columns;
  static constexpr std::uint32_t lanes = Lanes;
  static constexpr std::uint32_t elements = Rows * Columns / Lanes;  // of a lane
  static constexpr std::uint32_t element_bits = ElementBits;
  static constexpr std::uint32_t per_register = ElementBits >= 32 ? 1 : 32 / ElementBits;
  static constexpr std::uint32_t registers = (elements + per_register - 1) / per_register;

  // The place in the matrix of an element of a lane's fragment.
  static constexpr matrix_place place(std::uint32_t lane, std::uint32_t element) {
    if (lane >= Layout::lanes || element >= Layout::elements)
      kernel_error("kaio: a fragment has no such lane or element; see its lanes and elements");
    return {Layout::lane_row(lane) + Layout::element_row(element),
            Layout::lane_column(lane) + Layout::element_column(element)};
  }
};

constexpr bool has_bits(std::uint32_t bits) {
  return bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

// Elements along K that are neighbours in a lane: a register of 32 bits, or one of 64.
constexpr std::uint32_t along_k(std::uint32_t bits) { return bits >= 32 ? 1 : 32 / bits; }

}  // namespace detail

// A of mma.sync, M x K. Lane l holds elements of rows l / 4 and l / 4 + 8. Four lanes share a row; each has
// one register of neighbours at a time.
template <std::uint32_t M, std::uint32_t K, std::uint32_t ElementBits>
struct mma_a_layout : detail::fragment_layout<mma_a_layout<M, K, ElementBits>, M, K, 32, ElementBits> {
  static_assert(
      (M == 8 || M == 16) && detail::has_bits(ElementBits) && K % (4 * detail::along_k(ElementBits)) == 0,
      "kaio: A of mma.sync has 8 or 16 rows, and along K a multiple of 4 registers; see the shapes of mma");
  static constexpr std::uint32_t along = detail::along_k(ElementBits);
  static constexpr std::uint32_t halves = M / 8;  // of the rows: they alternate from register to register

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    return lane / 4u;
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    return lane % 4u * along;
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return element / along % halves * 8; }
  static constexpr std::uint32_t element_column(std::uint32_t element) {
    return element % along + element / along / halves * (4 * along);
  }
};

// B of mma.sync, K x 8: A's layout with rows and columns exchanged.
template <std::uint32_t K, std::uint32_t ElementBits>
struct mma_b_layout : detail::fragment_layout<mma_b_layout<K, ElementBits>, K, 8, 32, ElementBits> {
  using transposed = mma_a_layout<8, K, ElementBits>;

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    return transposed::lane_column(lane);
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    return transposed::lane_row(lane);
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) {
    return transposed::element_column(element);
  }
  static constexpr std::uint32_t element_column(std::uint32_t) { return 0; }
};

// C and D of mma.sync, M x 8: two neighbours of row l / 4, then two of row l / 4 + 8.
template <std::uint32_t M, std::uint32_t ElementBits = 32>
struct mma_accumulator_layout
    : detail::fragment_layout<mma_accumulator_layout<M, ElementBits>, M, 8, 32, ElementBits> {
  static_assert(M == 8 || M == 16, "kaio: the accumulator of mma.sync has 8 or 16 rows");

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    return lane / 4u;
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    return lane % 4u * 2u;
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return element / 2 * 8; }
  static constexpr std::uint32_t element_column(std::uint32_t element) { return element % 2; }
};

// C and D of wgmma, 64 x N. Warp w of the warpgroup has rows 16 w to 16 w + 15: fragments of mma.sync side by
// side. The lane is the thread of the warpgroup, 0 to 127.
template <std::uint32_t N, std::uint32_t ElementBits = 32>
struct wgmma_accumulator_layout
    : detail::fragment_layout<wgmma_accumulator_layout<N, ElementBits>, 64, N, 128, ElementBits> {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "kaio: N of wgmma is a multiple of 8, from 8 to 256");

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    return lane / 32u * 16u + lane % 32u / 4u;
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    return lane % 4u * 2u;
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return element % 4 / 2 * 8; }
  static constexpr std::uint32_t element_column(std::uint32_t element) {
    return element / 4 * 8 + element % 2;
  }
};

// A of wgmma in registers, 64 x K with K the 256 bits of one instruction: 16 rows a warp, as A of mma.sync.
template <std::uint32_t ElementBits>
struct wgmma_a_layout
    : detail::fragment_layout<wgmma_a_layout<ElementBits>, 64, 256 / ElementBits, 128, ElementBits> {
  using of_warp = mma_a_layout<16, 256 / ElementBits, ElementBits>;

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    return lane / 32u * 16u + lane % 32u / 4u;
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    return of_warp::lane_column(lane);
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return of_warp::element_row(element); }
  static constexpr std::uint32_t element_column(std::uint32_t element) {
    return of_warp::element_column(element);
  }
};

// A register of ldmatrix and stmatrix, 8 x 8 elements of 16 bits. Lane l gives the address of row l % 8 of
// matrix l / 8. Transposed: with .trans; the matrix is the one stored in memory.
template <bool Transposed = false>
struct matrix_layout : detail::fragment_layout<matrix_layout<Transposed>, 8, 8, 32, 16> {
  using straight = mma_accumulator_layout<8>;

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    if constexpr (Transposed)
      return straight::lane_column(lane);
    else
      return straight::lane_row(lane);
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    if constexpr (Transposed)
      return straight::lane_row(lane);
    else
      return straight::lane_column(lane);
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return Transposed ? element : 0; }
  static constexpr std::uint32_t element_column(std::uint32_t element) { return Transposed ? 0 : element; }
};

// The fragments of mma.m8n8k4 on f16. It multiplies four pairs of matrices; a lane has part of pair number
// lane % 16 / 4. ByColumns: the operand is column-major.
template <bool ByColumns>
struct mma_m8n8k4_a_layout : detail::fragment_layout<mma_m8n8k4_a_layout<ByColumns>, 8, 4, 8, 16> {
  static constexpr std::uint32_t lanes = 32;
  static constexpr std::uint32_t matrices = 4;

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    if constexpr (ByColumns)
      return lane / 16u * 4u;
    else
      return lane / 16u * 4u + lane % 4u;
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    if constexpr (ByColumns)
      return lane % 4u;
    else
      return lane * 0u;
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return ByColumns ? element : 0; }
  static constexpr std::uint32_t element_column(std::uint32_t element) { return ByColumns ? 0 : element; }
};

template <bool ByColumns>
struct mma_m8n8k4_b_layout : detail::fragment_layout<mma_m8n8k4_b_layout<ByColumns>, 4, 8, 8, 16> {
  static constexpr std::uint32_t lanes = 32;
  static constexpr std::uint32_t matrices = 4;
  using transposed = mma_m8n8k4_a_layout<!ByColumns>;

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    return transposed::lane_column(lane);
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    return transposed::lane_row(lane);
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) {
    return transposed::element_column(element);
  }
  static constexpr std::uint32_t element_column(std::uint32_t element) {
    return transposed::element_row(element);
  }
};

template <std::uint32_t ElementBits>
struct mma_m8n8k4_accumulator_layout
    : detail::fragment_layout<mma_m8n8k4_accumulator_layout<ElementBits>, 8, 8, 8, ElementBits> {
  static_assert(ElementBits == 16 || ElementBits == 32,
                "kaio: the accumulator of mma.m8n8k4 has elements of 16 or 32 bits");
  static constexpr std::uint32_t lanes = 32;
  static constexpr std::uint32_t matrices = 4;
  static constexpr bool is_f16 = ElementBits == 16;

  template <class Lane>
  static constexpr auto lane_row(const Lane& lane) {
    if constexpr (is_f16)
      return lane / 16u * 4u + lane % 4u;
    else
      return lane / 16u * 4u + lane % 2u;
  }
  template <class Lane>
  static constexpr auto lane_column(const Lane& lane) {
    if constexpr (is_f16)
      return lane * 0u;
    else
      return lane / 2u % 2u * 2u;
  }
  static constexpr std::uint32_t element_row(std::uint32_t element) { return is_f16 ? 0 : element & 2; }
  static constexpr std::uint32_t element_column(std::uint32_t element) {
    return is_f16 ? element : (element & 4) + (element & 1);
  }
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::matrix_layout;
using dsl::matrix_place;
using dsl::mma_a_layout;
using dsl::mma_accumulator_layout;
using dsl::mma_b_layout;
using dsl::mma_m8n8k4_a_layout;
using dsl::mma_m8n8k4_accumulator_layout;
using dsl::mma_m8n8k4_b_layout;
using dsl::wgmma_a_layout;
using dsl::wgmma_accumulator_layout;
}  // namespace kaio
