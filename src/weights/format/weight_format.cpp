// The table of formats.

#include "weights/format/format_table.hpp"

#include <array>

namespace kaio::weights {
namespace {

using enum weight_format;
constexpr bool decoded = true, listed = false;
constexpr std::uint32_t no_id = format_row::no_id;

// Format, name, elements and bytes of a block, whether read_values decodes it, its operation; its type in GGUF, its
// dtype in safetensors.
constexpr format_row rows[] = {
    {{f64, "F64", 1, 8, decoded, ""}, 28, "F64"},
    {{f32, "F32", 1, 4, decoded, "matmul"}, 0, "F32"},
    {{f16, "F16", 1, 2, decoded, "matmul"}, 1, "F16"},
    {{bf16, "BF16", 1, 2, decoded, "matmul"}, 30, "BF16"},
    {{e4m3, "F8_E4M3", 1, 1, decoded, "matmul"}, no_id, "F8_E4M3"},
    {{e5m2, "F8_E5M2", 1, 1, decoded, "matmul"}, no_id, "F8_E5M2"},
    {{e4m3fnuz, "F8_E4M3FNUZ", 1, 1, listed, ""}, no_id, "F8_E4M3FNUZ"},
    {{e5m2fnuz, "F8_E5M2FNUZ", 1, 1, listed, ""}, no_id, "F8_E5M2FNUZ"},
    {{e8m0, "F8_E8M0", 1, 1, decoded, ""}, no_id, "F8_E8M0"},
    {{c64, "C64", 1, 8, listed, ""}, no_id, "C64"},
    {{boolean, "BOOL", 1, 1, decoded, ""}, no_id, "BOOL"},
    {{i64, "I64", 1, 8, decoded, ""}, 27, "I64"},
    {{i32, "I32", 1, 4, decoded, ""}, 26, "I32"},
    {{i16, "I16", 1, 2, decoded, ""}, 25, "I16"},
    {{i8, "I8", 1, 1, decoded, ""}, 24, "I8"},
    {{u64, "U64", 1, 8, decoded, ""}, no_id, "U64"},
    {{u32, "U32", 1, 4, decoded, ""}, no_id, "U32"},
    {{u16, "U16", 1, 2, decoded, ""}, no_id, "U16"},
    {{u8, "U8", 1, 1, decoded, ""}, no_id, "U8"},
    {{f4_e2m1, "F4", 2, 1, decoded, ""}, no_id, "F4"},
    {{f6_e2m3, "F6_E2M3", 4, 3, listed, ""}, no_id, "F6_E2M3"},
    {{f6_e3m2, "F6_E3M2", 4, 3, listed, ""}, no_id, "F6_E3M2"},
    {{q4_0, "Q4_0", 32, 18, decoded, "matmul_w4 after repack"}, 2, ""},
    {{q4_1, "Q4_1", 32, 20, decoded, "matmul_w4 after repack"}, 3, ""},
    {{q5_0, "Q5_0", 32, 22, decoded, "matmul_w8 after repack"}, 6, ""},
    {{q5_1, "Q5_1", 32, 24, decoded, "matmul_w8 after repack"}, 7, ""},
    {{q8_0, "Q8_0", 32, 34, decoded, "matmul_w8 after repack"}, 8, ""},
    {{q2_k, "Q2_K", 256, 84, decoded, "matmul after dequantise"}, 10, ""},
    {{q3_k, "Q3_K", 256, 110, decoded, "matmul_w8 after repack"}, 11, ""},
    {{q4_k, "Q4_K", 256, 144, decoded, "matmul_w4 after repack"}, 12, ""},
    {{q5_k, "Q5_K", 256, 176, decoded, "matmul_w8 after repack"}, 13, ""},
    {{q6_k, "Q6_K", 256, 210, decoded, "matmul_w8 after repack"}, 14, ""},
    {{iq4_nl, "IQ4_NL", 32, 18, decoded, "matmul_w8 after repack"}, 20, ""},
    {{iq4_xs, "IQ4_XS", 256, 136, decoded, "matmul_w8 after repack"}, 23, ""},
    {{mxfp4, "MXFP4", 32, 17, decoded, "matmul_w4 after repack"}, 39, ""},
    {{nvfp4, "NVFP4", 64, 36, decoded, "matmul_w4 after repack"}, 40, ""},
    {{iq1_s, "IQ1_S", 256, 50, decoded, ""}, 19, ""},
    {{iq1_m, "IQ1_M", 256, 56, decoded, ""}, 29, ""},
    {{iq2_xxs, "IQ2_XXS", 256, 66, decoded, ""}, 16, ""},
    {{iq2_xs, "IQ2_XS", 256, 74, decoded, ""}, 17, ""},
    {{iq2_s, "IQ2_S", 256, 82, decoded, ""}, 22, ""},
    {{iq3_xxs, "IQ3_XXS", 256, 98, decoded, ""}, 18, ""},
    {{iq3_s, "IQ3_S", 256, 110, decoded, ""}, 21, ""},
    {{tq1_0, "TQ1_0", 256, 54, decoded, ""}, 34, ""},
    {{tq2_0, "TQ2_0", 256, 66, decoded, ""}, 35, ""},
    {{q1_0, "Q1_0", 128, 18, decoded, ""}, 41, ""},
    {{q2_0, "Q2_0", 64, 18, decoded, ""}, 42, ""},
    {{unknown, "unknown", 1, 0, listed, ""}, no_id, ""},
};

constexpr auto all_facts = [] {
  std::array<format_facts, std::size(rows)> facts{};
  for (std::size_t i = 0; i < std::size(rows); ++i) facts[i] = rows[i].facts;
  return facts;
}();

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (static_cast<std::size_t>(rows[i].facts.format) != i) return false;
  return true;
}
static_assert(in_order() && std::size(rows) == static_cast<std::size_t>(unknown) + 1);

}  // namespace

const format_facts& facts(weight_format format) noexcept {
  return all_facts[static_cast<std::size_t>(format)];
}

std::span<const format_facts> weight_formats() noexcept { return all_facts; }

std::span<const format_row> format_rows() noexcept { return rows; }

}  // namespace kaio::weights
