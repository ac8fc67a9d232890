#pragma once
// Matrix multiplications of a warp (PTX mma.sync), one struct for each instruction; the name is its shape.
// The template arguments are its types D, A, B and C as in the PTX text; B defaults to A, C to D. All lanes
// of the warp must reach the call together. Source: PTX ISA, "Multiply-and-Accumulate Instruction: mma".
//
//   using mma = mma_m16n8k16<f32, f16>;     // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
//   mma::accumulator c(t, 0.0f);
//   mma::a_fragment a(t);                   // 16 x 16 of f16
//   mma::b_fragment b(t);                   // 16 x 8
//   mma::multiply_add(c, a, b);             // c = a * b + c

#include <kaio/dsl/mma/fragment.hpp>
#include <kaio/ptx/matrix.hpp>

#include <cstdint>

namespace kaio::dsl {

// The order of A and B in m8n8k4 of f16; every other instruction has A by rows and B by columns.
enum class matrix_order : std::uint8_t { row, col };

namespace detail {

template <class Fragment>
constexpr void read_registers(tracer& t, const Fragment& f) {
  t.add({operand_kind::pack, ptx::type::none, Fragment::register_count, 0});
  for (u32 r = 0; r < Fragment::register_count; ++r) t.read(f.registers[r].variable());
}
template <class Fragment>
constexpr void change_registers(tracer& t, const Fragment& f) {
  t.add({operand_kind::pack, ptx::type::none, Fragment::register_count, 0});
  for (u32 r = 0; r < Fragment::register_count; ++r) t.change(f.registers[r].variable());
}

constexpr bool has_mma(const ptx::matrix_shape& shape, modifier d, modifier a, modifier b, modifier c) {
  if (ptx::detail::mma_family(a) != ptx::detail::mma_family(b)) return false;
  if (ptx::find_mma(shape, a, c, false) == nullptr) return false;
  const bool quad = shape == ptx::matrix_shape{8, 8, 4} && a == modifier::f16;
  return d == c || (quad && d == modifier::f32 && c == modifier::f16);
}

}  // namespace detail

// The common part of all shapes: D (M x N) = A (M x K) * B (K x N) + C.
template <ptx::matrix_shape Shape, class D, class A, class B, class C,
          matrix_order OrderA = matrix_order::row, matrix_order OrderB = matrix_order::col>
struct mma_instruction {
  static constexpr modifier d_type = matrix_element<D>::type;
  static constexpr modifier a_type = matrix_element<A>::type;
  static constexpr modifier b_type = matrix_element<B>::type;
  static constexpr modifier c_type = matrix_element<C>::type;
  static_assert(
      detail::has_mma(Shape, d_type, a_type, b_type, c_type),
      "kaio: PTX has no mma of this shape and these types; the table in docs/language/mma.md has them all");
  static constexpr bool is_quad = Shape == ptx::matrix_shape{8, 8, 4} && a_type == modifier::f16;
  static_assert(is_quad || (OrderA == matrix_order::row && OrderB == matrix_order::col),
                "kaio: only mma_m8n8k4 of f16 has other orders than A by rows and B by columns");
  static constexpr bool is_integer =
      a_type == modifier::s8 || a_type == modifier::u8 || a_type == modifier::s4 || a_type == modifier::u4;
  static constexpr bool is_bits = a_type == modifier::b1;

  static constexpr ptx::matrix_shape shape = Shape;
  static constexpr std::uint32_t m = Shape.m;
  static constexpr std::uint32_t n = Shape.n;
  static constexpr std::uint32_t k = Shape.k;
  // The first architecture and PTX ISA version that have it.
  static constexpr std::uint16_t sm = ptx::find_mma(Shape, a_type, c_type, false)->sm;
  static constexpr ptx::isa_version version = ptx::find_mma(Shape, a_type, c_type, false)->version;

 private:
  static constexpr matrix_arrangement arranged(matrix_order order) {
    if (!is_quad) return matrix_arrangement::warp;
    return order == matrix_order::row ? matrix_arrangement::quad_row : matrix_arrangement::quad_col;
  }

 public:
  using a_element = A;
  using b_element = B;
  using a_fragment = fragment<A, m, k, matrix_role::a, arranged(OrderA)>;
  using b_fragment = fragment<B, k, n, matrix_role::b, arranged(OrderB)>;
  using accumulator = fragment<C, m, n, matrix_role::accumulator, arranged(matrix_order::row)>;
  using result = fragment<D, m, n, matrix_role::accumulator, arranged(matrix_order::row)>;

  // c = a * b + c
  static constexpr void multiply_add(accumulator& c, const a_fragment& a, const b_fragment& b,
                                     std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
    static_assert(std::is_same_v<C, D>, "kaio: C has another type than D; write multiply_add(d, a, b, c)");
    if constexpr (std::is_same_v<C, D>) multiply_add(c, a, b, c, line, file);
  }

  // d = a * b + c
  static constexpr void multiply_add(result& d, const a_fragment& a, const b_fragment& b,
                                     const accumulator& c, std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
    static_assert(!is_bits, "kaio: bits are multiplied by xor_popc or and_popc");
    emit(d, a, b, c, modifier::none, modifier::none, line, file);
  }

  // c = a * b + c, for fragments of other elements with equally many bits. A kernel whose element type is a
  // number of the launch has one set of registers, and an instruction for each type.
  //
  //   if (auto brain = t.when(is_bf16)) mma_m16n8k16<f32, bf16>::multiply_add_bits(c, a, b);  // a, b: of f16
  //   if (auto half = t.otherwise()) mma_m16n8k16<f32, f16>::multiply_add(c, a, b);
  template <class FragmentA, class FragmentB>
  static constexpr void multiply_add_bits(accumulator& c, const FragmentA& a, const FragmentB& b,
                                          std::uint32_t line = __builtin_LINE(),
                                          const char* file = __builtin_FILE()) {
    static_assert(std::is_same_v<C, D>, "kaio: C has another type than D; write multiply_add(d, a, b, c)");
    static_assert(!is_bits, "kaio: bits are multiplied by xor_popc or and_popc");
    static_assert(
        has_registers_of<FragmentA, a_fragment>() && has_registers_of<FragmentB, b_fragment>(),
        "kaio: multiply_add_bits takes fragments of A and B of this shape, with elements of equally many bits");
    emit(c, a, b, c, modifier::none, modifier::none, line, file);
  }

  template <class... Operand>
  static constexpr auto multiply_add(const Operand&...) {
    static_assert(
        never<Operand...>,
        "kaio: multiply_add takes the accumulator, a_fragment and b_fragment of this instruction: multiply_add(c, a, b)");
    return refused{};
  }

  // c = a * b + c, each sum clamped to the range of i32 instead of wrapping (.satfinite).
  static constexpr void multiply_add_saturated(accumulator& c, const a_fragment& a, const b_fragment& b,
                                               std::uint32_t line = __builtin_LINE(),
                                               const char* file = __builtin_FILE()) {
    multiply_add_saturated(c, a, b, c, line, file);
  }
  static constexpr void multiply_add_saturated(result& d, const a_fragment& a, const b_fragment& b,
                                               const accumulator& c, std::uint32_t line = __builtin_LINE(),
                                               const char* file = __builtin_FILE()) {
    static_assert(is_integer, "kaio: multiply_add_saturated is for i8, u8, i4 and u4");
    emit(d, a, b, c, modifier::satfinite, modifier::none, line, file);
  }

  // c += the number of bits that differ between a row of A and a column of B.
  static constexpr void xor_popc(accumulator& c, const a_fragment& a, const b_fragment& b,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    xor_popc(c, a, b, c, line, file);
  }
  static constexpr void xor_popc(result& d, const a_fragment& a, const b_fragment& b, const accumulator& c,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    static_assert(is_bits, "kaio: xor_popc is for b1; other elements have multiply_add");
    emit(d, a, b, c, modifier::none, modifier::xor_popc, line, file);
  }

  // c += the number of bits that are 1 in both; sm_80.
  static constexpr void and_popc(accumulator& c, const a_fragment& a, const b_fragment& b,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    and_popc(c, a, b, c, line, file);
  }
  static constexpr void and_popc(result& d, const a_fragment& a, const b_fragment& b, const accumulator& c,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    static_assert(is_bits, "kaio: and_popc is for b1; other elements have multiply_add");
    emit(d, a, b, c, modifier::none, modifier::and_popc, line, file);
  }

 private:
  // Whether the registers of one fragment can serve as those of another.
  template <class Other, class Fragment>
  static constexpr bool has_registers_of() {
    return Other::rows == Fragment::rows && Other::columns == Fragment::columns &&
           Other::role == Fragment::role && Other::register_count == Fragment::register_count &&
           sizeof(typename Other::register_type) == sizeof(typename Fragment::register_type);
  }

  template <class FragmentA, class FragmentB>
  static constexpr void emit(result& d, const FragmentA& a, const FragmentB& b, const accumulator& c,
                             modifier saturation, modifier bit_operation, std::uint32_t line,
                             const char* file) {
    tracer& t = d.trace();
    t.statement(line, file);
    if (t.probing()) return see_operands(t, d, a, b, c);
    constexpr modifier order_a = OrderA == matrix_order::row ? modifier::row : modifier::col;
    constexpr modifier order_b = OrderB == matrix_order::row ? modifier::row : modifier::col;
    t.begin(opcode::mma,
            in_order(order_a, order_b, saturation, d_type, a_type, b_type, c_type, bit_operation),
            ptx::type::none);
    t.shape(Shape);
    detail::change_registers(t, d);
    detail::read_registers(t, a);
    detail::read_registers(t, b);
    detail::read_registers(t, c);
  }
};

// f16 (f32 or f16 accumulators; sm_70, slow on later architectures), f64 (sm_80).
template <class D, class A, class B = A, class C = D, matrix_order OrderA = matrix_order::row,
          matrix_order OrderB = matrix_order::col>
struct mma_m8n8k4 : mma_instruction<ptx::matrix_shape{8, 8, 4}, D, A, B, C, OrderA, OrderB> {};

// tf32 (sm_80), f64 (sm_90).
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k4 : mma_instruction<ptx::matrix_shape{16, 8, 4}, D, A, B, C> {};

// f16 (sm_75), bf16 and tf32 (sm_80), f64 (sm_90).
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k8 : mma_instruction<ptx::matrix_shape{16, 8, 8}, D, A, B, C> {};

// f16, bf16, i8 and u8 (sm_80), e4m3 and e5m2 (sm_89), f64 (sm_90).
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k16 : mma_instruction<ptx::matrix_shape{16, 8, 16}, D, A, B, C> {};

// i8, u8, i4 and u4 (sm_80), e4m3 and e5m2 (sm_89).
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k32 : mma_instruction<ptx::matrix_shape{16, 8, 32}, D, A, B, C> {};

// i4 and u4 (sm_80).
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k64 : mma_instruction<ptx::matrix_shape{16, 8, 64}, D, A, B, C> {};

// b1 (sm_80).
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k128 : mma_instruction<ptx::matrix_shape{16, 8, 128}, D, A, B, C> {};
template <class D, class A, class B = A, class C = D>
struct mma_m16n8k256 : mma_instruction<ptx::matrix_shape{16, 8, 256}, D, A, B, C> {};

// i8 and u8 (sm_75).
template <class D, class A, class B = A, class C = D>
struct mma_m8n8k16 : mma_instruction<ptx::matrix_shape{8, 8, 16}, D, A, B, C> {};

// i4 and u4 (sm_75).
template <class D, class A, class B = A, class C = D>
struct mma_m8n8k32 : mma_instruction<ptx::matrix_shape{8, 8, 32}, D, A, B, C> {};

// b1 (sm_75).
template <class D, class A, class B = A, class C = D>
struct mma_m8n8k128 : mma_instruction<ptx::matrix_shape{8, 8, 128}, D, A, B, C> {};

}  // namespace kaio::dsl

namespace kaio {
using dsl::matrix_order;
using dsl::mma_m16n8k128;
using dsl::mma_m16n8k16;
using dsl::mma_m16n8k256;
using dsl::mma_m16n8k32;
using dsl::mma_m16n8k4;
using dsl::mma_m16n8k64;
using dsl::mma_m16n8k8;
using dsl::mma_m8n8k128;
using dsl::mma_m8n8k16;
using dsl::mma_m8n8k32;
using dsl::mma_m8n8k4;
}  // namespace kaio
