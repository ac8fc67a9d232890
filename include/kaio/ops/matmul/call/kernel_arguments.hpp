#pragma once
// A call's operands as kernel parameters: device pointers, matrix lines, C.

#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/matmul/call/call.hpp>
#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

constexpr line_direction direction_of(major m) {
  return m == major::k ? line_direction::along_k : line_direction::across_k;
}

// Marks the memory as scattered: operands of one call may be interleaved columns of one matrix, and the
// call's checks have already looked for overlaps.
template <class T>
device_pointer<T> memory_of(const matmul_operand& x) {
  return {x.address, x.bytes / sizeof(T), x.device, true};
}
template <class T>
matrix_lines<T> lines_for(const matmul_operand& x, std::uint64_t across, std::uint64_t k,
                          std::uint64_t batches) {
  const bool along = x.lines == line_direction::along_k;
  return {memory_of<T>(x), along ? k : across, along ? across : k, x.pitch, batches, x.batch_pitch};
}
// C as a kernel takes it: typed memory, or for output_among its address and the call's type.
template <class Out>
auto output_of_call(const matmul_call& call) {
  if constexpr (detail::is_output_among<Out>)
    return output_memory{call.c.address, static_cast<u32>(call.output)};
  else
    return memory_of<Out>(call.c);
}
static_assert(static_cast<u32>(output_type::f32) == static_cast<u32>(element_kind::f32) &&
              static_cast<u32>(output_type::f16) == static_cast<u32>(element_kind::f16) &&
              static_cast<u32>(output_type::bf16) == static_cast<u32>(element_kind::bf16) &&
              static_cast<u32>(output_type::e4m3) == static_cast<u32>(element_kind::e4m3) &&
              static_cast<u32>(output_type::i8) == static_cast<u32>(element_kind::i8) &&
              static_cast<u32>(output_type::i32) == static_cast<u32>(element_kind::i32));
template <class Out>
matrix_lines<Out> output_for(const matmul_call& call) {
  return {output_of_call<Out>(call), call.n, call.m, call.c.pitch, call.batches, call.c.batch_pitch};
}
// Whether columns 4q to 4q + 3 of C begin at a multiple of their size, for every q.
inline bool stores_by_four(const matmul_call& call) {
  return call.c.aligned(bytes_of(call.output), 4 * bytes_of(call.output));
}
inline output_lines output_lines_of(const matmul_call& call) {
  return {static_cast<i64>(call.c.pitch), static_cast<i64>(call.c.batch_pitch), static_cast<u32>(call.m),
          static_cast<u32>(call.n), stores_by_four(call) ? 1u : 0u};
}
// The type of C in a variant's table row. If the launch gives the type, f32 is a placeholder until the table
// adds a row per type.
template <class Out>
constexpr element_kind output_type_of() {
  if constexpr (detail::is_output_among<Out>)
    return element_kind::f32;
  else
    return element_kind_of<Out>();
}

// A configuration with these directions of the lines of A and B.
template <auto C>
constexpr auto with_lines(major a, major b) {
  auto result = C;
  result.a = a;
  result.b = b;
  return result;
}
// Configurations of a kernel that serves both directions of the lines of A, or of A and B; elements have 16
// bits.
template <auto C>
constexpr auto with_lines_of_a_by_launch(major a, major b) {
  auto result = with_lines<C>(a, b);
  result.a_by_launch = true;
  return result;
}
template <auto C>
constexpr auto with_lines_by_launch(major a, major b) {
  auto result = with_lines_of_a_by_launch<C>(a, b);
  result.b_by_launch = true;
  return result;
}
// A configuration of a kernel that serves both types of one element size: f16 and bf16, or e4m3 and e5m2.
template <auto C>
inline constexpr auto of_both_types = [] {
  auto result = C;
  result.type_by_launch = true;
  return result;
}();

}  // namespace kaio::ops
