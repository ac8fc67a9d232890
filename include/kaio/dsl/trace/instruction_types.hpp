#pragma once
// The types that instructions are written with, for each type of their operands.

#include <kaio/ptx/type.hpp>

namespace kaio::dsl {

using ptx::type;

// The name of a type in instructions. mov and selp take the class of its registers. Arithmetic takes the type
// that it computes in: for integers of 8 and 16 bits, that of 32.
struct instruction_types {
  ptx::type move;
  ptx::type compute;
};
namespace detail {
inline constexpr instruction_types instruction_type_table[] = {
    {type::b32, type::none},  {type::pred, type::pred}, {type::b32, type::u32},    {type::b16, type::b16},
    {type::b32, type::b32},   {type::b64, type::b64},   {type::b32, type::b128},   {type::b32, type::u32},
    {type::b32, type::u32},   {type::b32, type::u32},   {type::b64, type::u64},    {type::b32, type::s32},
    {type::b32, type::s32},   {type::b32, type::s32},   {type::b64, type::s64},    {type::b16, type::f16},
    {type::b32, type::f16x2}, {type::b16, type::bf16},  {type::b32, type::bf16x2}, {type::f32, type::f32},
    {type::f64, type::f64},
};
static_assert(sizeof(instruction_type_table) / sizeof(instruction_types) ==
                  static_cast<unsigned>(type::f64) + 1,
              "kaio: each type needs its row, in the order of the enum");
}  // namespace detail

}  // namespace kaio::dsl
