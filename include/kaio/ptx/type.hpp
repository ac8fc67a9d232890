#pragma once
// The fundamental types of PTX (PTX ISA, "Types") as data, shared by the program record, its text and every
// reader of PTX text.
//
//   static_assert(kaio::ptx::size_of(kaio::ptx::type::f32) == 4);
//   static_assert(kaio::ptx::suffix(kaio::ptx::type::f32) == ".f32");

#include <kaio/ptx/standard.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ptx {

enum class type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
};

namespace detail {
struct type_facts {
  std::string_view suffix;
  std::uint8_t bytes;
};
inline constexpr type_facts type_table[] = {
    {"", 0},     {".pred", 0}, {".b8", 1},    {".b16", 2},  {".b32", 4},    {".b64", 8}, {".b128", 16},
    {".u8", 1},  {".u16", 2},  {".u32", 4},   {".u64", 8},  {".s8", 1},     {".s16", 2}, {".s32", 4},
    {".s64", 8}, {".f16", 2},  {".f16x2", 4}, {".bf16", 2}, {".bf16x2", 4}, {".f32", 4}, {".f64", 8},
};
}  // namespace detail

// The suffix that an instruction carries, with its dot: ".f32". Empty for type::none.
constexpr std::string_view suffix(type t) { return detail::type_table[static_cast<unsigned>(t)].suffix; }

// Bytes in memory; 0 for predicates, which have no place in memory.
constexpr unsigned size_of(type t) { return detail::type_table[static_cast<unsigned>(t)].bytes; }

constexpr bool is_signed(type t) { return t >= type::s8 && t <= type::s64; }
constexpr bool is_unsigned(type t) { return t >= type::u8 && t <= type::u64; }
constexpr bool is_integer(type t) { return t >= type::u8 && t <= type::s64; }
constexpr bool is_floating(type t) { return t >= type::f16; }
constexpr bool is_half(type t) { return t >= type::f16 && t <= type::bf16x2; }
constexpr bool is_packed(type t) { return t == type::f16x2 || t == type::bf16x2; }

// The type of an element of a packed pair; any other type is its own.
constexpr type element_of(type t) {
  return t == type::f16x2 ? type::f16 : t == type::bf16x2 ? type::bf16 : t;
}

// The untyped register type of the same width, for mov, selp and the bitwise instructions.
constexpr type bits_of(type t) {
  switch (size_of(t)) {
    case 1: return type::b8;
    case 2: return type::b16;
    case 4: return type::b32;
    case 8: return type::b64;
    case 16: return type::b128;
    default: return t;
  }
}

}  // namespace kaio::ptx
