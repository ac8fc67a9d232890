#pragma once
// Matrix multiplications of a warp with a sparse A (PTX mma.sp, ordered metadata, sm_80): twice the K of the
// dense instruction at its cost. Of every four neighbours along K two are kept (tf32: one of two; i4: two of
// four pairs). A register of metadata says which, with four bits for each such group. There is one struct for
// each instruction, as in mma.hpp. The fragment of A has the kept elements, M x K / 2. Source: PTX ISA,
// "mma.sp", "Sparse matrix storage".
//
//   using mma = mma_sp_m16n8k32<f32, f16>;          // A: 16 x 32, of which 16 x 16 are stored
//   mma::multiply_add<0>(c, a, b, metadata);        // 0: the sparsity selector

#include <kaio/dsl/mma/mma.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr bool has_sparse_mma(const ptx::matrix_shape& shape, modifier a, modifier b, modifier c) {
  return ptx::detail::mma_family(a) == ptx::detail::mma_family(b) &&
         ptx::find_mma(shape, a, c, true) != nullptr;
}

}  // namespace detail

// The common part of all shapes: D (M x N) = A (M x K) * B (K x N) + C.
template <ptx::matrix_shape Shape, class D, class A, class B>
struct mma_sp_instruction {
  static constexpr modifier d_type = matrix_element<D>::type;
  static constexpr modifier a_type = matrix_element<A>::type;
  static constexpr modifier b_type = matrix_element<B>::type;
  static_assert(
      detail::has_sparse_mma(Shape, a_type, b_type, d_type),
      "kaio: PTX has no mma.sp of this shape and these types; the table in docs/language/mma.md has them all");
  static constexpr bool is_integer = d_type == modifier::s32;

  static constexpr ptx::matrix_shape shape = Shape;
  static constexpr std::uint32_t m = Shape.m;
  static constexpr std::uint32_t n = Shape.n;
  static constexpr std::uint32_t k = Shape.k;
  static constexpr std::uint16_t sm = ptx::find_mma(Shape, a_type, d_type, true)->sm;
  static constexpr ptx::isa_version version = ptx::find_mma(Shape, a_type, d_type, true)->version;

  // `chunk`: elements of A that four bits of metadata describe. `selectors`: sets of lanes that can hold all
  // metadata; of each four lanes, all (selector 0), one half (0 and 1), or one lane (0 to 3).
  static constexpr std::uint32_t chunk = matrix_element<A>::bits == 32  ? 2
                                         : matrix_element<A>::bits == 4 ? 8
                                                                        : 4;
  static constexpr std::uint32_t selectors = 16 * chunk / k;

  using a_element = A;
  using b_element = B;
  using a_fragment = fragment<A, m, k / 2, matrix_role::a>;
  using b_fragment = fragment<B, k, n, matrix_role::b>;
  using accumulator = fragment<D, m, n, matrix_role::accumulator>;
  using result = accumulator;

  // c = a * b + c. Selector names the lanes whose metadata, a u32 of each lane, is used.
  template <std::uint32_t Selector, device E>
  static constexpr void multiply_add(accumulator& c, const a_fragment& a, const b_fragment& b,
                                     const E& metadata, std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
    emit<Selector>(c, a, b, c, metadata, modifier::none, line, file);
  }
  // d = a * b + c
  template <std::uint32_t Selector, device E>
  static constexpr void multiply_add(accumulator& d, const a_fragment& a, const b_fragment& b,
                                     const accumulator& c, const E& metadata,
                                     std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
    emit<Selector>(d, a, b, c, metadata, modifier::none, line, file);
  }
  // c = a * b + c with sums clamped to the range of i32 (.satfinite).
  template <std::uint32_t Selector, device E>
  static constexpr void multiply_add_saturated(accumulator& c, const a_fragment& a, const b_fragment& b,
                                               const E& metadata, std::uint32_t line = __builtin_LINE(),
                                               const char* file = __builtin_FILE()) {
    static_assert(is_integer, "kaio: multiply_add_saturated is for i8, u8, i4 and u4");
    emit<Selector>(c, a, b, c, metadata, modifier::satfinite, line, file);
  }

 private:
  template <std::uint32_t Selector, class E>
  static constexpr void emit(accumulator& d, const a_fragment& a, const b_fragment& b, const accumulator& c,
                             const E& metadata, modifier saturation, std::uint32_t line, const char* file) {
    static_assert(Selector < selectors,
                  "kaio: this mma.sp has fewer sets of lanes that can hold the metadata; see its selectors");
    static_assert(device_of<E, u32>,
                  "kaio: the metadata of mma.sp is a value of u32; write bit_cast<u32>(x)");
    tracer& t = d.trace();
    t.statement(line, file);
    if (t.probing()) return see_operands(t, d, a, b, c, metadata);
    const value bits = t.in_register(lower(t, metadata.node()));
    t.begin(opcode::mma_sp,
            in_order(modifier::row, modifier::col, saturation, d_type, a_type, b_type, d_type),
            ptx::type::none);
    t.shape(Shape);
    detail::change_registers(t, d);
    detail::read_registers(t, a);
    detail::read_registers(t, b);
    detail::read_registers(t, c);
    t.use(bits);
    t.add({operand_kind::immediate, ptx::type::u32, 0, Selector});
  }
};

// tf32.
template <class D, class A, class B = A>
struct mma_sp_m16n8k8 : mma_sp_instruction<ptx::matrix_shape{16, 8, 8}, D, A, B> {};

// f16 (with sums of f32 or f16), bf16, tf32.
template <class D, class A, class B = A>
struct mma_sp_m16n8k16 : mma_sp_instruction<ptx::matrix_shape{16, 8, 16}, D, A, B> {};

// f16, bf16, i8, u8.
template <class D, class A, class B = A>
struct mma_sp_m16n8k32 : mma_sp_instruction<ptx::matrix_shape{16, 8, 32}, D, A, B> {};

// i8, u8, i4, u4; e4m3 and e5m2 (sm_89).
template <class D, class A, class B = A>
struct mma_sp_m16n8k64 : mma_sp_instruction<ptx::matrix_shape{16, 8, 64}, D, A, B> {};

// i4, u4.
template <class D, class A, class B = A>
struct mma_sp_m16n8k128 : mma_sp_instruction<ptx::matrix_shape{16, 8, 128}, D, A, B> {};

}  // namespace kaio::dsl

namespace kaio {
using dsl::mma_sp_m16n8k128;
using dsl::mma_sp_m16n8k16;
using dsl::mma_sp_m16n8k32;
using dsl::mma_sp_m16n8k64;
using dsl::mma_sp_m16n8k8;
}  // namespace kaio
