#pragma once
// Fragments: the part of a small matrix that one lane of a warp holds in registers, as the matrix
// instructions take it. The type gives the shape, the element and the role. Registers are variables: a
// fragment is declared once, and each round of a loop writes it. Every lane of the warp has one. Source: PTX
// ISA, "Matrix Fragments" of each shape of mma.
//
//   fragment<f32, 16, 8, matrix_role::accumulator> c(t, 0.0f);
//   c.for_each([&](auto x, auto row, auto column) { y[row * 8 + column] = x; });

#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/expression/array.hpp>
#include <kaio/dsl/expression/conversion.hpp>
#include <kaio/dsl/expression/packed.hpp>
#include <kaio/dsl/expression/special_register.hpp>
#include <kaio/dsl/integer/field.hpp>
#include <kaio/dsl/mma/element.hpp>
#include <kaio/dsl/tile/fragment_layout.hpp>

#include <cstdint>

namespace kaio::dsl {

// The matrix of D = A * B + C that a fragment belongs to; accumulator: C and D.
enum class matrix_role : std::uint8_t { a, b, accumulator };

// The lanes that share a matrix. warp: all lanes, as in nearly all instructions. quad_row, quad_col, for
// m8n8k4 of f16 with a row-major or column-major operand: lanes 4 q to 4 q + 3 and 4 q + 16 to 4 q + 19.
enum class matrix_arrangement : std::uint8_t { warp, quad_row, quad_col };

namespace detail {

template <matrix_role Role, matrix_arrangement Arrangement>
struct fragment_layout_of {
  template <std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Bits>
  using type = mma_accumulator_layout<Rows, Bits>;
};
template <>
struct fragment_layout_of<matrix_role::a, matrix_arrangement::warp> {
  template <std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Bits>
  using type = mma_a_layout<Rows, Columns, Bits>;
};
template <>
struct fragment_layout_of<matrix_role::b, matrix_arrangement::warp> {
  template <std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Bits>
  using type = mma_b_layout<Rows, Bits>;
};
template <matrix_arrangement Arrangement>
  requires(Arrangement != matrix_arrangement::warp)
struct fragment_layout_of<matrix_role::a, Arrangement> {
  template <std::uint32_t, std::uint32_t, std::uint32_t>
  using type = mma_m8n8k4_a_layout<Arrangement == matrix_arrangement::quad_col>;
};
template <matrix_arrangement Arrangement>
  requires(Arrangement != matrix_arrangement::warp)
struct fragment_layout_of<matrix_role::b, Arrangement> {
  template <std::uint32_t, std::uint32_t, std::uint32_t>
  using type = mma_m8n8k4_b_layout<Arrangement == matrix_arrangement::quad_col>;
};
template <matrix_arrangement Arrangement>
  requires(Arrangement != matrix_arrangement::warp)
struct fragment_layout_of<matrix_role::accumulator, Arrangement> {
  template <std::uint32_t, std::uint32_t, std::uint32_t Bits>
  using type = mma_m8n8k4_accumulator_layout<Bits>;
};

}  // namespace detail

// A fragment of a matrix of Rows x Columns elements of type T. A: M x K; B: K x N; accumulators: M x N.
template <class T, std::uint32_t Rows, std::uint32_t Columns, matrix_role Role,
          matrix_arrangement Arrangement = matrix_arrangement::warp>
class fragment {
  using facts = matrix_element<T>;
  static_assert(
      facts::type != ptx::modifier::none,
      "kaio: the elements of a fragment are f16, bf16, tf32, e4m3, e5m2, f64, i8, u8, i4, u4 or b1; of an accumulator f32, f16, f64 or i32");

 public:
  // Where elements are: layout::place(lane, element), for the host.
  using layout =
      typename detail::fragment_layout_of<Role, Arrangement>::template type<Rows, Columns, facts::bits>;
  using element_type = T;
  using register_type = typename facts::register_type;
  static constexpr std::uint32_t rows = Rows;
  static constexpr std::uint32_t columns = Columns;
  static constexpr matrix_role role = Role;
  static constexpr std::uint32_t size = layout::elements;  // of a lane
  static constexpr std::uint32_t per_register = facts::per_register;
  static constexpr std::uint32_t register_count = size / per_register;

  // Undefined until it is loaded or filled.
  constexpr explicit fragment(const thread& t)
      : registers(array_of<register_count>([&](u32) { return var<register_type>::unwritten(t.trace()); })) {}

  // Sets every element to `number`, which the host knows or the device computed.
  template <class N>
  constexpr fragment(const thread& t, const N& number, std::uint32_t line = __builtin_LINE(),
                     const char* file = __builtin_FILE())
      : fragment(t) {
    fill(number, line, file);
  }

  // The registers, each a var of one of these types: f16x2 or bf16x2; u32 with elements from the lowest bits
  // up; f32, f64 or i32.
  register_array<var<register_type>, register_count> registers;

  template <class N>
  constexpr void fill(const N& number, std::uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
    constexpr bool whole = per_register == 1 || per_register == 2;
    static_assert(whole || std::is_integral_v<N>,
                  "kaio: a fragment of elements below 16 bits is filled with the bits of a register");
    for (u32 r = 0; r < register_count; ++r) {
      if constexpr (device<N>)
        if constexpr (per_register == 2)
          registers[r] = statement<register_type>(pack(number, number), line, file);
        else
          registers[r] = statement<register_type>(number, line, file);
      else
        registers[r] = statement<register_type>(number, line, file);
    }
  }

  // Element i of this lane: of type T (tf32: as f32). Elements below 8 bits and fp8 give their bits in a u32.
  constexpr auto element(std::uint32_t i) const {
    if (i >= size) {
      registers[0].node().context()->fail_next(
          "kaio: a lane holds fewer elements of this fragment; they go from 0 to fragment::size - 1");
      i = 0;
    }
    const auto& r = registers[i / per_register];
    if constexpr (per_register == 1) {
      if constexpr (std::is_same_v<T, tf32>)
        return bit_cast<f32>(r);
      else
        return cast<register_type>(r);
    } else if constexpr (per_register == 2) {
      return detail_half(r, i % 2);
    } else {
      constexpr std::uint32_t bits = facts::bits;
      const auto field = bit_extract(r, bits * (i % per_register), bits);
      if constexpr (std::is_same_v<T, i8> || std::is_same_v<T, u8>)
        return cast<T>(field);
      else
        return field;
    }
  }

  // The place of element i of this lane in the matrix.
  static constexpr auto row(std::uint32_t i) { return layout::lane_row(lane_id()) + layout::element_row(i); }
  static constexpr auto column(std::uint32_t i) {
    return layout::lane_column(lane_id()) + layout::element_column(i);
  }

  // f(element, row, column) for each element of the lane.
  template <class F>
  constexpr void for_each(const F& f) const {
    for (u32 i = 0; i < size; ++i) f(element(i), row(i), column(i));
  }

  // Reads the fragment that begins at `row`, `column` of a matrix indexed [row][column]: a shared array of
  // two dimensions, a tile. Uses no matrix instruction, so it serves any architecture, any order, and any
  // type whose elements have an address. Each lane reads its own elements.
  template <class Matrix, class R, class C>
  constexpr void load(const Matrix& from, const R& row_begin, const C& column_begin,
                      std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    load_each([&](const auto& r, const auto& c) { return from[r + row_begin][c + column_begin].node(); },
              line, file);
  }

  // Reads the fragment of a matrix that is stored transposed: indexed [column][row].
  template <class Matrix, class R, class C>
  constexpr void load_transposed(const Matrix& from, const C& column_begin, const R& row_begin,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    load_each([&](const auto& r, const auto& c) { return from[c + column_begin][r + row_begin].node(); },
              line, file);
  }

  // Sets each element to f(row, column), a value of type T (f32 for tf32).
  template <class F>
  constexpr void load_each(const F& f, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
    for (u32 r = 0; r < register_count; ++r) {
      const u32 i = r * per_register;
      const auto value_at = [&](u32 k) { return f(row(i + k), column(i + k)); };
      if constexpr (std::is_same_v<T, tf32>)
        registers[r] = statement<u32>(bit_cast<u32>(value_at(0)), line, file);
      else if constexpr (per_register == 1)
        registers[r] = statement<register_type>(value_at(0), line, file);
      else if constexpr (per_register == 2)
        registers[r] = statement<register_type>(pack(value_at(0), value_at(1)), line, file);
      else
        registers[r] = statement<u32>(joined(value_at), line, file);
    }
  }

  // Writes every element to a matrix indexed [row][column], from `row`, `column` on, converted to U if given.
  template <class U = void, class Matrix, class R, class C>
  constexpr void store(const Matrix& to, const R& row_begin, const C& column_begin,
                       std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    using V = std::conditional_t<std::is_void_v<U>, T, U>;
    for (u32 i = 0; i < size; ++i)
      to[row(i) + row_begin][column(i) + column_begin] = statement<V>(cast<V>(element(i)), line, file);
  }

  constexpr tracer& trace() const { return registers[0].trace(); }
  constexpr std::uint64_t hash() const { return registers[0].variable(); }

 private:
  static constexpr auto detail_half(const var<register_type>& r, std::uint32_t which) {
    return half_node{which, r.node()};
  }

  // The low or the high half of a pair; the host chooses.
  struct half_node : no_host_bool {
    using device_type = T;
    static constexpr bool bound = true;
    static constexpr bool reads_memory = false;
    static constexpr bool is_product = false;
    static constexpr unsigned loads = 0;
    std::uint32_t which;
    leaf<register_type> pair;
    constexpr half_node(std::uint32_t w, const leaf<register_type>& p) : which(w), pair(p) {}
    constexpr const half_node& node() const { return *this; }
    constexpr tracer* context() const { return pair.trace; }
    constexpr void load(tracer&) const {}
    constexpr std::uint64_t hash() const { return pair.hash() * hash_factor + which; }
    constexpr value lower(tracer& t) const {
      if constexpr (packed<register_type>) {
        const value x = pair.lower(t);
        return which != 0 ? detail::half_rule<register_type, true>::apply(t, x)
                          : detail::half_rule<register_type, false>::apply(t, x);
      } else {
        return 0;
      }
    }
  };

  // Bytes of a register, the first in the lowest bits.
  template <class At>
  static constexpr auto joined(const At& at) {
    static_assert(facts::bits == 8, "kaio: elements below 8 bits have no address; load whole registers");
    const auto byte = [&](u32 k) { return cast<u32>(byte_of(at(k))); };
    return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
  }
  template <device E>
  static constexpr auto byte_of(const E& e) {
    return bit_cast<u8>(e);
  }
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::fragment;
using dsl::matrix_arrangement;
using dsl::matrix_role;
}  // namespace kaio
