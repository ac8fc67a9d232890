#pragma once
// Loads fragments from shared memory (PTX ldmatrix, sm_75): one, two or four matrices of 8 rows of 16 bytes.
// Each row may be anywhere in shared memory, aligned to 16 bytes. All lanes of the warp must reach the call
// together. Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
//   ldmatrix(a, a_tile, row, k);              // a fragment of A from a tile whose rows are the rows of A
//   ldmatrix(b0, b1, b_tile, column, k);      // two of B, from a tile whose rows are the columns of B
//   ldmatrix_trans(b0, b1, b_tile, k, column);            // from a tile whose rows are the rows of B
//   const auto words = ldmatrix_x4(cell);                 // four registers; lane i names row i % 8 of matrix i / 8

#include <kaio/dsl/async/operand.hpp>
#include <kaio/dsl/mma/fragment.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <std::uint32_t Count>
constexpr modifier matrix_count() {
  static_assert(
      Count == 1 || Count == 2 || Count == 4,
      "kaio: ldmatrix and stmatrix move 1, 2 or 4 matrices of 8 x 16 bytes: registers of the fragments together");
  return Count == 1 ? modifier::x1 : Count == 2 ? modifier::x2 : modifier::x4;
}

template <std::uint32_t Count>
constexpr void begin_ldmatrix(tracer& t, bool transposed) {
  t.begin(opcode::ldmatrix,
          in_order(modifier::m8n8, matrix_count<Count>(), transposed ? modifier::trans : modifier::none,
                   modifier::shared),
          ptx::type::b16);
  t.add({operand_kind::pack, ptx::type::none, Count, 0});
}

// A row of 16 bytes that a lane names.
template <class P>
concept matrix_row_place = memory_cell<P> || device_of<P, u32>;

template <class P>
constexpr auto require_row_place() {
  static_assert(
      matrix_row_place<P>,
      "kaio: matrices are moved from and to shared memory: name a cell of it, tile[row][column] or tile.at(lane, rows, columns), or its address, val<u32>");
}

template <std::uint32_t Count, class P>
constexpr auto ldmatrix_words(const P& place, bool transposed, std::uint32_t line, const char* file) {
  require_row_place<P>();
  tracer& t = tracer_of(place);
  t.statement(line, file);
  value words[Count] = {};
  if (t.probing()) {
    see_operands(t, place);
    for (value& w : words) w = t.new_identity();
  } else {
    const tracer::address at = shared_place(t, place);
    begin_ldmatrix<Count>(t, transposed);
    for (value& w : words) w = t.define(ptx::type::u32);
    t.add_address(at);
  }
  return array_of<Count>([&](u32 i) { return val<u32>(t, words[i]); });
}

template <bool Transposed, class P, class... Fragment>
constexpr void ldmatrix_into(const P& place, std::uint32_t line, const char* file, Fragment&... to) {
  constexpr std::uint32_t count = (Fragment::register_count + ...);
  require_row_place<P>();
  tracer& t = tracer_of(place);
  t.statement(line, file);
  if (t.probing()) return see_operands(t, place, to...);
  const tracer::address at = shared_place(t, place);
  begin_ldmatrix<count>(t, Transposed);
  const auto change = [&](auto& f) {
    for (auto& r : f.registers) t.change(r.variable());
  };
  (change(to), ...);
  t.add_address(at);
}

// The origin of a matrix of 8 x 8 in its tile: a row, and a piece of 16 bytes in it.
struct matrix_origin {
  std::uint32_t row, piece;
};

// The origin of the matrix in register r of a fragment, the `index`-th of its kind in the load.
template <class Fragment, bool Transposed>
constexpr matrix_origin origin_of(std::uint32_t r, std::uint32_t index) {
  const bool has_halves = Fragment::role == matrix_role::a && Fragment::rows == 16;
  const std::uint32_t along_k = has_halves ? r / 2 : r;
  const std::uint32_t across = (has_halves ? r % 2 : 0) + index * (has_halves ? 2 : 1);
  return Transposed ? matrix_origin{8 * along_k, across} : matrix_origin{8 * across, along_k};
}

// The rows of 8 x 8 matrices that the lanes point to: lane i to row i % 8 of matrix i / 8.
template <bool Transposed, class... Fragment>
struct ldmatrix_rows {
  static constexpr std::uint32_t count = (Fragment::register_count + ...);
  struct origins {
    matrix_origin of[4] = {};
  };
  static constexpr origins list() {
    origins result;
    std::uint32_t next = 0;
    std::uint32_t index = 0;
    const auto add = [&]<class F>(const F*) {
      for (std::uint32_t r = 0; r < F::register_count; ++r)
        result.of[next++] = origin_of<F, Transposed>(r, index);
      ++index;
    };
    (add(static_cast<const Fragment*>(nullptr)), ...);
    return result;
  }
  static constexpr origins at = list();
  // The number of 16-byte pieces that a load spans along a row.
  static constexpr std::uint32_t pieces = [] {
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < count; ++i) last = at.of[i].piece > last ? at.of[i].piece : last;
    return last + 1;
  }();
  static_assert(count < 4 || (at.of[3].row == at.of[1].row + at.of[2].row &&
                              at.of[3].piece == at.of[1].piece + at.of[2].piece));

  // The row of a lane, from the first row of the load.
  template <class Lane>
  static constexpr auto row(const Lane& lane) {
    return sum<(count > 1 ? at.of[1].row : 0), (count > 2 ? at.of[2].row : 0)>(lane, lane & 7);
  }
  // The column of a lane, in elements from the first; Width elements are 16 bytes.
  template <std::uint32_t Width, class Lane>
  static constexpr auto column(const Lane& lane) {
    return sum<(count > 1 ? Width * at.of[1].piece : 0), (count > 2 ? Width * at.of[2].piece : 0)>(lane, 0u);
  }

 private:
  // first + bit 3 of the lane * Weight3 + bit 4 * Weight4
  template <std::uint32_t Weight3, std::uint32_t Weight4, class Lane, class First>
  static constexpr auto sum(const Lane& lane, const First& first) {
    if constexpr (Weight3 != 0 && Weight4 != 0)
      return ((lane >> 3) & 1) * Weight3 + ((lane >> 4) & 1) * Weight4 + first;
    else if constexpr (Weight3 != 0)
      return ((lane >> 3) & 1) * Weight3 + first;
    else if constexpr (Weight4 != 0)
      return ((lane >> 4) & 1) * Weight4 + first;
    else
      return first;
  }
};

// Adds the beginning of a load to a place within it.
template <class Within, class Begin>
constexpr auto place_from(const Within& within, const Begin& begin) {
  if constexpr (std::is_integral_v<Within> && std::is_integral_v<Begin>)
    return within + static_cast<Within>(begin);
  else
    return within + begin;
}

// Elements in 16 bytes; all fragments agree on it.
template <class First, class... Rest>
constexpr std::uint32_t piece_elements() {
  constexpr std::uint32_t bits = matrix_element<typename First::element_type>::bits;
  static_assert(((matrix_element<typename Rest::element_type>::bits == bits) && ...));
  return 128 / bits;
}

template <bool Transposed, class... Fragment>
constexpr auto require_loadable() {
  static_assert(
      ((!Transposed || matrix_element<typename Fragment::element_type>::bits == 16) && ...),
      "kaio: ldmatrix_trans exchanges rows and columns of elements of 16 bits only; store the tile with K along its rows");
}

template <bool Transposed, class... Fragment, class Tile, class R, class C>
constexpr auto ldmatrix_lane(const Tile& tile, const R& row, const C& column, std::uint32_t line,
                             const char* file) {
  require_loadable<Transposed, Fragment...>();
  using rows = ldmatrix_rows<Transposed, Fragment...>;
  constexpr std::uint32_t width = piece_elements<Fragment...>();
  const auto lane = lane_id();
  // The number of columns that a load covers from column 0 on.
  constexpr std::uint32_t span = rows::pieces * width;
  const auto r = rows::row(lane) + row;
  const auto c = place_from(rows::template column<width>(lane), column);
  if constexpr (std::is_integral_v<C>)
    return tile.lane(r, c, column == 0 ? span : 0, line, file);
  else
    return tile.lane(r, c, 0, line, file);
}

template <bool Transposed, class Tile, class R, class C, class... Fragment>
constexpr void ldmatrix_from_tile(const Tile& tile, const R& row, const C& column, std::uint32_t line,
                                  const char* file, Fragment&... to) {
  require_loadable<Transposed, Fragment...>();
  using rows = ldmatrix_rows<Transposed, Fragment...>;
  constexpr std::uint32_t width = piece_elements<Fragment...>();
  const auto lane = lane_id();
  ldmatrix_into<Transposed>(
      tile[rows::row(lane) + row][place_from(rows::template column<width>(lane), column)], line, file, to...);
}

template <class F>
inline constexpr bool is_fragment = false;
template <class T, std::uint32_t R, std::uint32_t C, matrix_role Role, matrix_arrangement A>
inline constexpr bool is_fragment<fragment<T, R, C, Role, A>> = true;

}  // namespace detail

template <class F>
concept matrix_fragment = detail::is_fragment<F>;

// Loads 1, 2 or 4 registers. Lane i gives the place of row i % 8 of matrix i / 8: a cell of shared memory or
// its address, of 16 bytes. Places of lanes without a matrix are not read. Register j of a lane gets two
// 16-bit elements of row lane / 4 of matrix j: elements 2 * (lane % 4) and the next.
template <class P>
constexpr auto ldmatrix_x1(const P& place, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  return detail::ldmatrix_words<1>(place, false, line, file);
}
template <class P>
constexpr auto ldmatrix_x2(const P& place, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  return detail::ldmatrix_words<2>(place, false, line, file);
}
template <class P>
constexpr auto ldmatrix_x4(const P& place, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  return detail::ldmatrix_words<4>(place, false, line, file);
}

// Loads with rows and columns of each matrix exchanged. Elements have 16 bits.
template <class P>
constexpr auto ldmatrix_x1_trans(const P& place, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  return detail::ldmatrix_words<1>(place, true, line, file);
}
template <class P>
constexpr auto ldmatrix_x2_trans(const P& place, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  return detail::ldmatrix_words<2>(place, true, line, file);
}
template <class P>
constexpr auto ldmatrix_x4_trans(const P& place, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  return detail::ldmatrix_words<4>(place, true, line, file);
}

// Loads the registers of a fragment, or of two in order, from the rows that the lanes point to.
template <matrix_fragment F, detail::matrix_row_place P>
constexpr void ldmatrix(F& to, const P& place, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) {
  detail::ldmatrix_into<false>(place, line, file, to);
}
template <matrix_fragment F, matrix_fragment G, detail::matrix_row_place P>
constexpr void ldmatrix(F& first, G& second, const P& place, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) {
  detail::ldmatrix_into<false>(place, line, file, first, second);
}
template <matrix_fragment F, detail::matrix_row_place P>
constexpr void ldmatrix_trans(F& to, const P& place, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  detail::ldmatrix_into<true>(place, line, file, to);
}
template <matrix_fragment F, matrix_fragment G, detail::matrix_row_place P>
constexpr void ldmatrix_trans(F& first, G& second, const P& place, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  detail::ldmatrix_into<true>(place, line, file, first, second);
}

// Loads from a shared tile, from `row`, `column` of the tile on. The rows of the tile run along K: they are
// rows of A, or columns of B. Two fragments, or four of one register each, follow each other down the tile.
// `row` and `column` are numbers of the host or of the device, the column a multiple of 16 bytes.
template <matrix_fragment F, class Tile, class R, class C>
constexpr void ldmatrix(F& to, const Tile& tile, const R& row, const C& column,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::ldmatrix_from_tile<false>(tile, row, column, line, file, to);
}
template <matrix_fragment F, matrix_fragment G, class Tile, class R, class C>
constexpr void ldmatrix(F& first, G& second, const Tile& tile, const R& row, const C& column,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::ldmatrix_from_tile<false>(tile, row, column, line, file, first, second);
}
template <matrix_fragment F, class Tile, class R, class C>
constexpr void ldmatrix(F& first, F& second, F& third, F& fourth, const Tile& tile, const R& row,
                        const C& column, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) {
  detail::ldmatrix_from_tile<false>(tile, row, column, line, file, first, second, third, fourth);
}

// Loads from a tile whose rows run across K: they are columns of A, or rows of B. Two fragments, or four of
// one register each, are side by side. Elements have 16 bits.
template <matrix_fragment F, class Tile, class R, class C>
constexpr void ldmatrix_trans(F& to, const Tile& tile, const R& row, const C& column,
                              std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::ldmatrix_from_tile<true>(tile, row, column, line, file, to);
}
template <matrix_fragment F, matrix_fragment G, class Tile, class R, class C>
constexpr void ldmatrix_trans(F& first, G& second, const Tile& tile, const R& row, const C& column,
                              std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::ldmatrix_from_tile<true>(tile, row, column, line, file, first, second);
}
template <matrix_fragment F, class Tile, class R, class C>
constexpr void ldmatrix_trans(F& first, F& second, F& third, F& fourth, const Tile& tile, const R& row,
                              const C& column, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  detail::ldmatrix_from_tile<true>(tile, row, column, line, file, first, second, third, fourth);
}

// The lane's place for such loads of these fragments, in every tile of a ring: computed once, outside of the
// loop. If `column` is the host's number 0, the place also moves along the row:
//   const auto lane = ldmatrix_lane<mma::a_fragment>(ring, 16 * warp, 0);
//   ldmatrix(a, ring[stage].at(lane, 0, 16 * step));
template <matrix_fragment... F, class Tile, class R, class C>
constexpr auto ldmatrix_lane(const Tile& tile, const R& row, const C& column,
                             std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::ldmatrix_lane<false, F...>(tile, row, column, line, file);
}
template <matrix_fragment... F, class Tile, class R, class C>
constexpr auto ldmatrix_trans_lane(const Tile& tile, const R& row, const C& column,
                                   std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
  return detail::ldmatrix_lane<true, F...>(tile, row, column, line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::ldmatrix;
using dsl::ldmatrix_lane;
using dsl::ldmatrix_trans;
using dsl::ldmatrix_trans_lane;
}  // namespace kaio
