#pragma once
// Weight formats whose files have blocks of codes with the scales inside (GGUF), by ggml's names.
//
//   block_format_named(facts(tensor.format).name)      // block_format::q4_k of a tensor of a gguf_file
//   packed_bytes(block_format::q4_k, 4096 * 4096)      // 9437184
//
// Source of the layouts: ggml, src/ggml-common.h.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/runtime/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ops {

enum class block_format : std::uint8_t {
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
};

struct block_facts {
  block_format format;
  std::string_view name;          // "Q4_K"
  std::uint32_t elements, bytes;  // per block
};

inline constexpr std::array<block_facts, 14> block_formats = {{
    {block_format::q4_0, "Q4_0", 32, 18},
    {block_format::q4_1, "Q4_1", 32, 20},
    {block_format::q5_0, "Q5_0", 32, 22},
    {block_format::q5_1, "Q5_1", 32, 24},
    {block_format::q8_0, "Q8_0", 32, 34},
    {block_format::q2_k, "Q2_K", 256, 84},
    {block_format::q3_k, "Q3_K", 256, 110},
    {block_format::q4_k, "Q4_K", 256, 144},
    {block_format::q5_k, "Q5_K", 256, 176},
    {block_format::q6_k, "Q6_K", 256, 210},
    {block_format::iq4_nl, "IQ4_NL", 32, 18},
    {block_format::iq4_xs, "IQ4_XS", 256, 136},
    {block_format::mxfp4, "MXFP4", 32, 17},
    {block_format::nvfp4, "NVFP4", 64, 36},
}};

// Throws invalid_argument if `format` is not one of block_formats.
constexpr const block_facts& facts(block_format format) {
  if (static_cast<std::size_t>(format) >= block_formats.size())
    throw invalid_argument("kaio: an unknown block_format; formats.md lists them");
  return block_formats[static_cast<std::size_t>(format)];
}

// Bytes of `elements` elements. Throws invalid_argument if these are not whole blocks or exceed 64 bits.
std::uint64_t packed_bytes(block_format format, std::int64_t elements);
// The format of that name. Throws invalid_argument if there is none.
block_format block_format_named(std::string_view name);

}  // namespace kaio::ops

namespace kaio {
using ops::block_format;
using ops::block_format_named;
using ops::packed_bytes;
}  // namespace kaio
