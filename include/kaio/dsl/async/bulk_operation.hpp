#pragma once
// The operations of reduce_bulk and reduce_tensor, the copies that combine their data with global memory.
// Source: PTX ISA, "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor".
//
//   reduce_tensor<bulk_operation::add>(map, coordinates(0, 0), tile);

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/dsl/trace/trace.hpp>

#include <cstdint>

namespace kaio::dsl {

// The types of each operation. An element changes atomically, in no order, at the device's scope.
//   add              i32, u32, u64, f32, f16, bf16; f64 in one dimension
//   min, max         integers of 32 and 64 bits, f16, bf16
//   and_, or_, xor_  integers of 32 and 64 bits
//   inc, dec         u32
enum class bulk_operation : std::uint8_t { add, min, max, inc, dec, and_, or_, xor_ };

namespace detail {

constexpr bool is_bitwise(bulk_operation op) { return op >= bulk_operation::and_; }

template <bulk_operation Op, class T, bool IsOneDimensional>
constexpr auto require_bulk_operation() {
  using enum bulk_operation;
  constexpr bool is_word = integer<T> && sizeof(T) >= 4;
  constexpr bool is_half_type = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
  constexpr bool adds =
      is_word ? !std::is_same_v<T, i64>
              : is_half_type || std::is_same_v<T, f32> || (IsOneDimensional && std::is_same_v<T, f64>);
  static_assert(
      Op != add || adds,
      "kaio: a reducing copy adds i32, u32, u64, f32, f16 and bf16; one that is no tensor copy adds f64 too");
  static_assert((Op != min && Op != max) || is_word || is_half_type,
                "kaio: min and max of a reducing copy take 32 and 64-bit integers, f16 and bf16");
  static_assert((Op != inc && Op != dec) || std::is_same_v<T, u32>,
                "kaio: a reducing copy increments and decrements u32");
  static_assert(!is_bitwise(Op) || is_word,
                "kaio: a reducing copy combines the bits of 32 and 64-bit integers");
}

constexpr modifier name_of(bulk_operation op) {
  constexpr modifier names[] = {modifier::add, modifier::min,  modifier::max, modifier::inc,
                                modifier::dec, modifier::and_, modifier::or_, modifier::xor_};
  return names[static_cast<unsigned>(op)];
}

}  // namespace detail

}  // namespace kaio::dsl

namespace kaio {
using dsl::bulk_operation;
}
