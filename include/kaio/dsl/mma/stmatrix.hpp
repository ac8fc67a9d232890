#pragma once
// Stores matrices of 8 rows of 16 bytes from registers to shared memory (PTX stmatrix, sm_90): the inverse of
// ldmatrix. All lanes of the warp must reach the call together. Source: PTX ISA, "Warp-level matrix store
// instruction: stmatrix".
//
//   stmatrix_x4(address, pack<f16x2>(c[0], c[1]), pack<f16x2>(c[2], c[3]), ...);
//   stmatrix<f16>(tile, row, column, c0, c1);          // accumulators, rounded to f16

#include <kaio/dsl/mma/ldmatrix.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <bool Transposed, class P, class... Words>
constexpr void stmatrix(const P& place, std::uint32_t line, const char* file, const Words&... words) {
  require_row_place<P>();
  static_assert(((sizeof(element<Words>) == 4) && ...),
                "kaio: stmatrix takes registers of 32 bits: u32, or pairs of 16 bits: pack<f16x2>(a, b)");
  tracer& t = tracer_of(place);
  t.statement(line, file);
  if (t.probing()) return see_operands(t, place, words...);
  const tracer::address at = shared_place(t, place);
  constexpr auto count = static_cast<std::uint32_t>(sizeof...(Words));
  const value registers[] = {t.in_register(lower(t, words.node()))...};
  t.begin(opcode::stmatrix,
          in_order(modifier::m8n8, matrix_count<count>(), Transposed ? modifier::trans : modifier::none,
                   modifier::shared),
          ptx::type::b16);
  t.add_address(at);
  t.add({operand_kind::pack, ptx::type::none, count, 0});
  for (const value r : registers) t.use(r);
}

// A register with two neighbouring elements of a row.
template <class T>
using pair_of = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;

template <class T, class F>
constexpr auto pair_at(const F& c, std::uint32_t i) {
  static_assert(std::is_same_v<T, f16> || std::is_same_v<T, bf16>,
                "kaio: stmatrix stores accumulators as f16 or bf16: stmatrix<f16>(tile, row, column, c)");
  if constexpr (F::per_register == 2)
    return c.registers[i].node();
  else
    return pack<pair_of<T>>(c.registers[2 * i], c.registers[2 * i + 1]);
}

}  // namespace detail

// Lane i gives the place of row i % 8 of matrix i / 8, aligned to 16 bytes. Register j of lane i goes to row
// i / 4 of matrix j: elements 2 * (i % 4) and the next, of 16 bits.
template <class P, device W0>
constexpr void stmatrix_x1(const P& place, const W0& w0, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  detail::stmatrix<false>(place, line, file, w0);
}
template <class P, device W0, device W1>
constexpr void stmatrix_x2(const P& place, const W0& w0, const W1& w1, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  detail::stmatrix<false>(place, line, file, w0, w1);
}
template <class P, device W0, device W1, device W2, device W3>
constexpr void stmatrix_x4(const P& place, const W0& w0, const W1& w1, const W2& w2, const W3& w3,
                           std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::stmatrix<false>(place, line, file, w0, w1, w2, w3);
}

// Stores with rows and columns of each matrix exchanged.
template <class P, device W0>
constexpr void stmatrix_x1_trans(const P& place, const W0& w0, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  detail::stmatrix<true>(place, line, file, w0);
}
template <class P, device W0, device W1>
constexpr void stmatrix_x2_trans(const P& place, const W0& w0, const W1& w1,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::stmatrix<true>(place, line, file, w0, w1);
}
template <class P, device W0, device W1, device W2, device W3>
constexpr void stmatrix_x4_trans(const P& place, const W0& w0, const W1& w1, const W2& w2, const W3& w3,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::stmatrix<true>(place, line, file, w0, w1, w2, w3);
}

// Stores an accumulator of 16 x 8 at `row`, `column` of a shared tile of T (f16 or bf16), rounded to the
// nearest even. The rows of the tile are the rows of the matrix; with _trans, its columns.
template <class T, matrix_fragment F, class Tile, class R, class C>
constexpr void stmatrix(const Tile& tile, const R& row, const C& column, const F& c,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const auto lane = lane_id();
  detail::stmatrix<false>(tile[(lane & 15) + row][(lane & 0) + column], line, file, detail::pair_at<T>(c, 0),
                          detail::pair_at<T>(c, 1));
}
template <class T, matrix_fragment F, class Tile, class R, class C>
constexpr void stmatrix_trans(const Tile& tile, const R& row, const C& column, const F& c,
                              std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const auto lane = lane_id();
  detail::stmatrix<true>(tile[(lane & 7) + row][(lane & 8) + column], line, file, detail::pair_at<T>(c, 0),
                         detail::pair_at<T>(c, 1));
}

// Stores two accumulators side by side, 16 x 16 together.
template <class T, matrix_fragment F, class Tile, class R, class C>
constexpr void stmatrix(const Tile& tile, const R& row, const C& column, const F& left, const F& right,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const auto lane = lane_id();
  detail::stmatrix<false>(tile[(lane & 15) + row][((lane >> 4) * 8) + column], line, file,
                          detail::pair_at<T>(left, 0), detail::pair_at<T>(left, 1),
                          detail::pair_at<T>(right, 0), detail::pair_at<T>(right, 1));
}
template <class T, matrix_fragment F, class Tile, class R, class C>
constexpr void stmatrix_trans(const Tile& tile, const R& row, const C& column, const F& left, const F& right,
                              std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const auto lane = lane_id();
  detail::stmatrix<true>(tile[(lane & 7) + ((lane >> 4) * 8) + row][(lane & 8) + column], line, file,
                         detail::pair_at<T>(left, 0), detail::pair_at<T>(left, 1),
                         detail::pair_at<T>(right, 0), detail::pair_at<T>(right, 1));
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::stmatrix;
using dsl::stmatrix_trans;
}  // namespace kaio
