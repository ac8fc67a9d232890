#pragma once
// The forms of mma.sync: the shapes of each element type, and the contents of a decoded form. Decoder and
// handlers share it. Source: PTX ISA, "Multiply-and-Accumulate Instruction: mma" and ": mma.sp".
//
//   const mma_choice chosen = std::bit_cast<mma_choice>(i.immediate);
//   const mma_form& form = mma_forms[chosen.form];  // form.k, ...

#include "emulator/program/scalar.hpp"

#include <array>
#include <string_view>

namespace kaio::emulator {

enum class mma_element : u8 {
  float16,
  bfloat16,
  tfloat32,
  float8_e4m3,
  float8_e5m2,
  float64,
  signed8,
  unsigned8,
  signed4,
  unsigned4,
  bit,
  float32,
  signed32,
};

// A and B may combine any elements of one family.
enum class mma_family : u8 { float16, bfloat16, tfloat32, float8, float64, integer8, integer4, bit };

struct mma_element_facts {
  std::string_view suffix;
  u8 bits;
  mma_family family;  // as an element of A or B
};

inline constexpr std::array<mma_element_facts, 11> mma_multiplicands{{
    {".f16", 16, mma_family::float16},
    {".bf16", 16, mma_family::bfloat16},
    {".tf32", 32, mma_family::tfloat32},
    {".e4m3", 8, mma_family::float8},
    {".e5m2", 8, mma_family::float8},
    {".f64", 64, mma_family::float64},
    {".s8", 8, mma_family::integer8},
    {".u8", 8, mma_family::integer8},
    {".s4", 4, mma_family::integer4},
    {".u4", 4, mma_family::integer4},
    {".b1", 1, mma_family::bit},
}};

constexpr unsigned bits_of(mma_element e) {
  const auto index = static_cast<std::size_t>(e);
  return index < mma_multiplicands.size() ? mma_multiplicands[index].bits : 32;
}

// A shape of a family of elements. n is 8 in all of them.
struct mma_form {
  mma_family family;
  bool sparse;
  u16 m, k;
  std::string_view shape;
  std::string_view feature;       // its row in the requirements
  std::string_view half_feature;  // for accumulators of f16; empty: there are none
};

// clang-format off
inline constexpr mma_form mma_forms[] = {
    {mma_family::float16, false, 8, 4, ".m8n8k4", "mma.m8n8k4.f16", "mma.m8n8k4.f16"},
    {mma_family::float16, false, 16, 8, ".m16n8k8", "mma.m16n8k8.f16", "mma.m16n8k8.f16"},
    {mma_family::float16, false, 16, 16, ".m16n8k16", "mma.m16n8k16.f16", "mma.m16n8k16.f16"},
    {mma_family::bfloat16, false, 16, 8, ".m16n8k8", "mma.bf16", ""},
    {mma_family::bfloat16, false, 16, 16, ".m16n8k16", "mma.bf16", ""},
    {mma_family::tfloat32, false, 16, 4, ".m16n8k4", "mma.tf32", ""},
    {mma_family::tfloat32, false, 16, 8, ".m16n8k8", "mma.tf32", ""},
    {mma_family::float8, false, 16, 16, ".m16n8k16", "mma.m16n8k16.f8", "mma.m16n8k16.f8"},
    {mma_family::float8, false, 16, 32, ".m16n8k32", "mma.m16n8k32.f8", "mma.f16.f8"},
    {mma_family::float64, false, 8, 4, ".m8n8k4", "mma.m8n8k4.f64", ""},
    {mma_family::float64, false, 16, 4, ".m16n8k4", "mma.m16n8.f64", ""},
    {mma_family::float64, false, 16, 8, ".m16n8k8", "mma.m16n8.f64", ""},
    {mma_family::float64, false, 16, 16, ".m16n8k16", "mma.m16n8.f64", ""},
    {mma_family::integer8, false, 8, 16, ".m8n8k16", "mma.m8n8k16", ""},
    {mma_family::integer8, false, 16, 16, ".m16n8k16", "mma.m16n8.integer", ""},
    {mma_family::integer8, false, 16, 32, ".m16n8k32", "mma.m16n8.integer", ""},
    {mma_family::integer4, false, 8, 32, ".m8n8k32", "mma.m8n8k32", ""},
    {mma_family::integer4, false, 16, 32, ".m16n8k32", "mma.m16n8.integer", ""},
    {mma_family::integer4, false, 16, 64, ".m16n8k64", "mma.m16n8.integer", ""},
    {mma_family::bit, false, 8, 128, ".m8n8k128", "mma.m8n8k128", ""},
    {mma_family::bit, false, 16, 128, ".m16n8k128", "mma.m16n8.integer", ""},
    {mma_family::bit, false, 16, 256, ".m16n8k256", "mma.m16n8.integer", ""},
    {mma_family::float16, true, 16, 16, ".m16n8k16", "mma.sp", "mma.sp"},
    {mma_family::float16, true, 16, 32, ".m16n8k32", "mma.sp", "mma.sp"},
    {mma_family::bfloat16, true, 16, 16, ".m16n8k16", "mma.sp", ""},
    {mma_family::bfloat16, true, 16, 32, ".m16n8k32", "mma.sp", ""},
    {mma_family::tfloat32, true, 16, 8, ".m16n8k8", "mma.sp", ""},
    {mma_family::tfloat32, true, 16, 16, ".m16n8k16", "mma.sp", ""},
    {mma_family::float8, true, 16, 64, ".m16n8k64", "mma.sp.f8", ""},
    {mma_family::integer8, true, 16, 32, ".m16n8k32", "mma.sp", ""},
    {mma_family::integer8, true, 16, 64, ".m16n8k64", "mma.sp", ""},
    {mma_family::integer4, true, 16, 64, ".m16n8k64", "mma.sp", ""},
    {mma_family::integer4, true, 16, 128, ".m16n8k128", "mma.sp", ""},
};
// clang-format on

// m8n8k4 of f16 is four multiplications. The lanes of two quarters of a half-warp do each.
constexpr bool is_quad_pair(const mma_form& f) { return f.family == mma_family::float16 && f.m == 8; }

// The registers per lane that hold its part of each matrix.
struct mma_fragments {
  u32 d, a, b, c;
};

constexpr mma_fragments fragments_of(const mma_form& f, mma_element a, mma_element b, mma_element c,
                                     mma_element d) {
  if (is_quad_pair(f))
    return {d == mma_element::float16 ? 4u : 8u, 2, 2, c == mma_element::float16 ? 4u : 8u};
  const auto registers = [](u32 elements, mma_element e) {
    const u32 bits = bits_of(e);
    return elements * bits / (32 * (bits > 32 ? bits : 32));
  };
  const u32 depth = f.sparse ? f.k / 2u : f.k;
  return {registers(f.m * 8u, d), registers(f.m * depth, a), registers(f.k * 8u, b), registers(f.m * 8u, c)};
}

// The contents of instruction::immediate. instruction::rows lists the rows of d, a, b, c and of the metadata.
struct mma_choice {
  u8 form;  // index in mma_forms
  mma_element a, b, c, d;
  u8 selector;                      // selects the lanes with the metadata of a sparse A
  bool a_column : 1, b_column : 1;  // column-major: m8n8k4 of f16
  bool conjunction : 1;             // b1: and, not xor
  u8 sm;                            // the device
};
static_assert(sizeof(mma_choice) == sizeof(u64));

}  // namespace kaio::emulator
