#pragma once
// The formats of the elements of weights in files: their names, block lengths, and the operations of kaio for
// them. One table (src/weights/format/weight_format.cpp) has them all; a new format is a new row.
//
//   facts(weight_format::q4_k).block_bytes      // 144, for 256 elements
//   facts(weight_format::bf16).operation        // "matmul": the operation that multiplies with it
//
// Sources: ggml-common.h and gguf's constants.py for GGUF; the README of safetensors, "Format".

#include <kaio/ptx/standard.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace kaio::weights {

enum class weight_format : std::uint8_t {
  // One number each.
  f64,
  f32,
  f16,
  bf16,
  e4m3,
  e5m2,
  e4m3fnuz,
  e5m2fnuz,
  e8m0,
  c64,
  boolean,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  // Numbers of less than a byte, neighbours packed without gaps.
  f4_e2m1,
  f6_e2m3,
  f6_e3m2,
  // Blocks of codes with their scales, of GGUF.
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  nvfp4,
  // Blocks whose codes index tables, and those with binary, ternary or 2-bit codes.
  iq1_s,
  iq1_m,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  tq1_0,
  tq2_0,
  q1_0,
  q2_0,
  // A type of GGUF that kaio does not know: tensor_entry::type is its number.
  unknown,
};

struct format_facts {
  weight_format format;
  std::string_view name;  // as its files spell it: "Q4_K", "BF16", "F8_E4M3"
  std::uint32_t block_elements, block_bytes;
  bool has_values;  // read_values decodes it
  std::string_view
      operation;  // kaio's operation that multiplies with it, after a step before; empty: none does yet
};

const format_facts& facts(weight_format format) noexcept;
// All of them, in the order of weight_format.
std::span<const format_facts> weight_formats() noexcept;

}  // namespace kaio::weights

namespace kaio {
using weights::weight_format;
}  // namespace kaio
