#pragma once
// The matrix instructions of a warp (mma.sync): the shapes for each element type, and the first PTX ISA
// version and architecture of each. An opcode alone is not enough: m8n8k4 of f16 is from sm_70, m16n8k32 of
// e4m3 from sm_89. Source: PTX ISA, "Multiply-and-Accumulate Instruction: mma", ": mma.sp".
//
//   static_assert(find_mma({16, 8, 16}, modifier::f16, modifier::f32, false)->sm == 80);

#include <kaio/ptx/modifier.hpp>
#include <kaio/ptx/opcode.hpp>

#include <cstdint>

namespace kaio::ptx {

// The shape of a matrix instruction, as its text has it: m16n8k16. If m is 0, there is none.
struct matrix_shape {
  std::uint16_t m = 0, n = 0, k = 0;
  friend constexpr bool operator==(const matrix_shape&, const matrix_shape&) = default;
};

// A multiplication of elements of type `a` with accumulators of type `c`. `a` is the first of its family:
// f16, s8 for s8 and u8, s4 for s4 and u4, e4m3 for e4m3 and e5m2.
struct mma_facts {
  matrix_shape shape;
  modifier a;
  modifier c;
  bool sparse;
  isa_version version;
  std::uint16_t sm;
};

namespace detail {
inline constexpr mma_facts mma_table[] = {
    {{8, 8, 4}, modifier::f16, modifier::f16, false, {6, 4}, 70},
    {{8, 8, 4}, modifier::f16, modifier::f32, false, {6, 4}, 70},
    {{16, 8, 8}, modifier::f16, modifier::f16, false, {6, 5}, 75},
    {{16, 8, 8}, modifier::f16, modifier::f32, false, {6, 5}, 75},
    {{16, 8, 16}, modifier::f16, modifier::f16, false, {7, 0}, 80},
    {{16, 8, 16}, modifier::f16, modifier::f32, false, {7, 0}, 80},
    {{16, 8, 8}, modifier::bf16, modifier::f32, false, {7, 0}, 80},
    {{16, 8, 16}, modifier::bf16, modifier::f32, false, {7, 0}, 80},
    {{16, 8, 4}, modifier::tf32, modifier::f32, false, {7, 0}, 80},
    {{16, 8, 8}, modifier::tf32, modifier::f32, false, {7, 0}, 80},
    {{16, 8, 16}, modifier::e4m3, modifier::f16, false, {8, 7}, 89},
    {{16, 8, 16}, modifier::e4m3, modifier::f32, false, {8, 7}, 89},
    {{16, 8, 32}, modifier::e4m3, modifier::f16, false, {8, 7}, 89},
    {{16, 8, 32}, modifier::e4m3, modifier::f32, false, {8, 4}, 89},
    {{8, 8, 4}, modifier::f64, modifier::f64, false, {7, 0}, 80},
    {{16, 8, 4}, modifier::f64, modifier::f64, false, {7, 8}, 90},
    {{16, 8, 8}, modifier::f64, modifier::f64, false, {7, 8}, 90},
    {{16, 8, 16}, modifier::f64, modifier::f64, false, {7, 8}, 90},
    {{8, 8, 16}, modifier::s8, modifier::s32, false, {6, 5}, 75},
    {{16, 8, 16}, modifier::s8, modifier::s32, false, {7, 0}, 80},
    {{16, 8, 32}, modifier::s8, modifier::s32, false, {7, 0}, 80},
    {{8, 8, 32}, modifier::s4, modifier::s32, false, {6, 5}, 75},
    {{16, 8, 32}, modifier::s4, modifier::s32, false, {7, 0}, 80},
    {{16, 8, 64}, modifier::s4, modifier::s32, false, {7, 0}, 80},
    {{8, 8, 128}, modifier::b1, modifier::s32, false, {7, 0}, 75},
    {{16, 8, 128}, modifier::b1, modifier::s32, false, {7, 0}, 80},
    {{16, 8, 256}, modifier::b1, modifier::s32, false, {7, 0}, 80},
    {{16, 8, 16}, modifier::f16, modifier::f16, true, {8, 5}, 80},
    {{16, 8, 16}, modifier::f16, modifier::f32, true, {8, 5}, 80},
    {{16, 8, 32}, modifier::f16, modifier::f16, true, {8, 5}, 80},
    {{16, 8, 32}, modifier::f16, modifier::f32, true, {8, 5}, 80},
    {{16, 8, 16}, modifier::bf16, modifier::f32, true, {8, 5}, 80},
    {{16, 8, 32}, modifier::bf16, modifier::f32, true, {8, 5}, 80},
    {{16, 8, 8}, modifier::tf32, modifier::f32, true, {8, 5}, 80},
    {{16, 8, 16}, modifier::tf32, modifier::f32, true, {8, 5}, 80},
    {{16, 8, 64}, modifier::e4m3, modifier::f32, true, {8, 5}, 89},
    {{16, 8, 32}, modifier::s8, modifier::s32, true, {8, 5}, 80},
    {{16, 8, 64}, modifier::s8, modifier::s32, true, {8, 5}, 80},
    {{16, 8, 64}, modifier::s4, modifier::s32, true, {8, 5}, 80},
    {{16, 8, 128}, modifier::s4, modifier::s32, true, {8, 5}, 80},
};

// The first type of the family that goes together as elements of A and B.
constexpr modifier mma_family(modifier a) {
  switch (a) {
    case modifier::u8: return modifier::s8;
    case modifier::u4: return modifier::s4;
    case modifier::e5m2: return modifier::e4m3;
    default: return a;
  }
}
}  // namespace detail

// The row of a multiplication, or nullptr if the PTX ISA has none. `a` is any type of its family, s8 or u8.
constexpr const mma_facts* find_mma(const matrix_shape& shape, modifier a, modifier c, bool sparse) {
  for (const mma_facts& row : detail::mma_table)
    if (row.shape == shape && row.a == detail::mma_family(a) && row.c == c && row.sparse == sparse)
      return &row;
  return nullptr;
}

// The last types in the text of mma.sync, before its operands or .xor.popc: those of D, A, B and C.
struct mma_types {
  modifier d = modifier::none, a = modifier::none, b = modifier::none, c = modifier::none;
};
constexpr mma_types mma_types_of(modifier_list modifiers) {
  mma_types types;
  modifier* const place[] = {&types.d, &types.a, &types.b, &types.c};
  unsigned next = 0;
  for (; modifiers != 0 && next != 4; modifiers >>= 8) {
    const auto m = static_cast<modifier>(modifiers & 0xff);
    const bool is_type = (m >= modifier::u8 && m <= modifier::s32);
    if (is_type) *place[next++] = m;
  }
  return types;
}

// Raises version and architecture to the least that have a matrix instruction of this shape and these types.
constexpr void raise_to_matrix(opcode op, modifier_list modifiers, const matrix_shape& shape,
                               isa_version& version, std::uint16_t& sm) {
  // The other shapes of wgmma are as old as the instruction.
  const bool is_wgmma = op == opcode::wgmma_mma_async || op == opcode::wgmma_mma_async_sp;
  if (is_wgmma && contains(modifiers, modifier::s8) && contains(modifiers, modifier::u8) &&
      version < isa_version{8, 4})
    version = {8, 4};
  if (op != opcode::mma && op != opcode::mma_sp) return;
  const mma_types types = mma_types_of(modifiers);
  const mma_facts* const row = find_mma(shape, types.a, types.c, op == opcode::mma_sp);
  if (row == nullptr) return;
  if (version < row->version) version = row->version;
  if (sm < row->sm) sm = row->sm;
}

}  // namespace kaio::ptx
