#pragma once
// The tensors of each scheme, and the other types in which each of them is used.

#include "layers.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kaio::tests {

using shape = std::vector<std::uint64_t>;

// A tensor of a layer called m.q, and the other types in which it is used.
struct case_part {
  std::string suffix, type;
  shape extents;
  std::string taken = {};
  std::vector<std::int64_t> values = {};  // else zeros
  std::string text = {};                  // of U8
};

struct scheme_case {
  weight_scheme scheme;
  std::vector<case_part> parts;
  std::string operation;
};

inline constexpr std::string_view element_types[] = {
    "BOOL", "F4",  "F6_E2M3", "F6_E3M2", "U8",          "I8",         "F8_E5M2", "F8_E4M3",
    "I16",  "U16", "F16",     "BF16",    "I32",         "U32",        "F32",     "C64",
    "F64",  "I64", "U64",     "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"};

inline std::size_t bits_of(std::string_view type) {
  for (const weights::format_facts& f : weights::weight_formats())
    if (f.name == type) return 8 * f.block_bytes / f.block_elements;
  return 0;
}

// False: it has no whole bytes.
inline bool add(safetensors_maker& s, const case_part& p, std::string_view type) {
  std::size_t bits = bits_of(type);
  std::string extents;
  for (const std::uint64_t extent : p.extents) {
    extents += (extents.empty() ? "" : ",") + std::to_string(extent);
    bits *= extent;
  }
  if (bits % 8 != 0) return false;
  std::string bytes(bits / 8, '\0');
  if (type == p.type && !p.text.empty()) bytes = p.text;
  for (std::size_t i = 0; i < p.values.size() && bits_of(type) >= 8; ++i)
    std::memcpy(bytes.data() + i * bits_of(type) / 8, &p.values[i], bits_of(type) / 8);
  s.tensor("m.q" + p.suffix, std::string(type), "[" + extents + "]", bytes);
  return true;
}

inline std::vector<scheme_case> scheme_cases() {
  const std::string nf4_state = R"({"blocksize":64,"shape":[16,64]})",
                    comfy = R"({"format":"float8_e4m3fn"})";
  const std::string any = "any", short_floats = "F16 BF16", w4 = "matmul_w4 after repack";
  const auto bitsandbytes = [&](const std::string& kind) {
    return std::vector<case_part>{
        {".weight", "U8", {512, 1}, "I8 BOOL F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ"},
        {".weight.absmax", "F32", {16}},
        {".weight.quant_map", "F32", {16}},
        {".weight.quant_state.bitsandbytes__" + kind, "U8", {nf4_state.size()}, "", {}, nf4_state}};
  };
  return {
      {weight_scheme::gptq,
       {{".qweight", "I32", {32, 64}, "U32"},
        {".scales", "F16", {8, 64}, "BF16 F32"},
        {".qzeros", "I32", {8, 8}, "U32"},
        {".g_idx", "I32", {256}, "U32 I64"}},
       w4},
      {weight_scheme::awq_gemm,
       {{".qweight", "I32", {256, 8}, "U32"},
        {".scales", "F16", {2, 64}, "BF16 F32"},
        {".qzeros", "I32", {2, 8}, "U32"}},
       w4},
      {weight_scheme::awq_gemv_fast,
       {{".qweight", "I16", {16, 256}, "U16"},
        {".scales", "F16", {16, 64}, "BF16"},
        {".qzeros", "F16", {16, 64}, "BF16"}},
       w4},
      {weight_scheme::packed_int,
       {{".weight_packed", "I32", {64, 32}, "U32"},
        {".weight_scale", "F16", {64, 4}, "BF16 F32"},
        {".weight_shape", "I64", {2}, "I32", {64, 256}},
        {".weight_zero_point", "I32", {8, 4}, "U32"},
        {".weight_g_idx", "I32", {256}, "U32 I64"}},
       w4},
      {weight_scheme::packed_int,
       {{".weight_packed", "I32", {64, 32}, "U32"},
        {".weight_scale", "F16", {64, 4}, "BF16 F32"},
        {".weight_shape", "I64", {2}, "I32", {64, 256}},
        {".weight_zero_point", "I8", {64, 4}}},
       w4},
      {weight_scheme::int8,
       {{".weight", "I8", {64, 256}, "F8_E4M3 F8_E5M2"},
        {".weight_scale", "F32", {64, 1}, short_floats},
        {".weight_zero_point", "I8", {64, 1}},
        {".input_scale", "F32", {1}, any}},
       "matmul_w8 after repack"},
      {weight_scheme::int8,
       {{".weight", "I8", {64, 256}, "F8_E4M3 F8_E5M2"}, {".scale_weight", "F32", {1}, short_floats}},
       "matmul_int8"},
      {weight_scheme::llm_int8,
       {{".weight", "I8", {64, 256}}, {".SCB", "F32", {64}}, {".weight_format", "U8", {1}}},
       "matmul_w8 after repack"},
      {weight_scheme::fp8,
       {{".weight", "F8_E4M3", {64, 256}, "I8 F8_E5M2"},
        {".weight_scale", "F32", {1}, short_floats + " U8 F8_E8M0"},
        {".input_scale", "F32", {1}, any}},
       "matmul_fp8"},
      {weight_scheme::fp8,
       {{".weight", "F8_E5M2", {64, 256}, "F8_E4M3"},
        {".weight_scale", "F32", {}, short_floats + " U8 F8_E8M0"},
        {".comfy_quant", "U8", {comfy.size()}, "", {}, comfy}},
       "matmul_fp8"},
      {weight_scheme::fp8,
       {{".weight", "F8_E4M3", {64, 256}, "F8_E5M2"},
        {".qscale_weight", "F32", {}, short_floats + " U8 F8_E8M0"},
        {".qscale_act", "F32", {}, any}},
       "matmul_fp8"},
      {weight_scheme::fp8_block,
       {{".weight", "F8_E4M3", {256, 256}, "F8_E5M2"},
        {".weight_scale_inv", "F32", {2, 2}, short_floats + " U8 F8_E8M0"}},
       "matmul_fp8"},
      {weight_scheme::fp8_block,
       {{"", "F8_E4M3", {3, 256, 512}, "F8_E5M2"},
        {"_scale_inv", "F32", {3, 2, 4}, short_floats + " U8 F8_E8M0"},
        {"_activation_scale", "F32", {3}, any}},
       "matmul_fp8"},
      {weight_scheme::nf4, bitsandbytes("nf4"), w4},
      {weight_scheme::fp4, bitsandbytes("fp4"), w4},
      {weight_scheme::nvfp4_packed,
       {{".weight_packed", "U8", {64, 128}},
        {".weight_scale", "F8_E4M3", {64, 16}},
        {".weight_global_scale", "F32", {1}}},
       w4},
      {weight_scheme::nvfp4_modelopt,
       {{".weight", "F4", {64, 256}}, {".weight_scale", "F8_E4M3", {64, 16}}, {".weight_scale_2", "F32", {}}},
       w4},
      {weight_scheme::mxfp4_packed,
       {{".weight_packed", "U8", {64, 128}}, {".weight_scale", "U8", {64, 8}, "F8_E8M0"}},
       w4},
      {weight_scheme::mxfp4_blocks,
       {{"_blocks", "U8", {4, 64, 8, 16}}, {"_scales", "U8", {4, 64, 8}, "F8_E8M0"}},
       w4},
      {weight_scheme::torchao_int8,
       {{"._weight_qdata", "I8", {64, 256}},
        {"._weight_scale", "F32", {64, 1}, short_floats},
        {"._weight_zero_point", "I8", {64, 1}}},
       "matmul_int8"},
      {weight_scheme::torchao_fp8,
       {{"._weight_qdata", "F8_E4M3", {64, 256}, "I8 F8_E5M2"},
        {"._weight_scale", "F32", {64, 1}, short_floats + " U8 F8_E8M0"}},
       "matmul_fp8"},
      {weight_scheme::torchao_tinygemm,
       {{"._weight_qdata", "I32", {8, 4, 32, 4}}, {"._weight_scale_and_zero", "BF16", {16, 64, 2}}},
       w4},
      {weight_scheme::torchao_int4_plain,
       {{"._weight_qdata", "U8", {64, 128}, "I8 I32"},
        {"._weight_scale", "F16", {2, 64}, "BF16 F32"},
        {"._weight_zero_point", "F16", {2, 64}, "BF16 F32"}},
       w4},
      {weight_scheme::torchao_nvfp4,
       {{"._weight_qdata", "U8", {64, 128}},
        {"._weight_scale", "F8_E4M3", {64, 16}},
        {"._weight_per_tensor_scale", "F32", {}}},
       w4},
      {weight_scheme::torchao_mx,
       {{"._weight_qdata", "U8", {64, 128}, "F8_E4M3 F8_E5M2"}, {"._weight_scale", "F8_E8M0", {64, 8}, "U8"}},
       w4},
      {weight_scheme::mxfp8,
       {{".weight", "F8_E4M3", {64, 256}, "F8_E5M2"}, {".weight_scale_inv", "U8", {64, 8}, "F8_E8M0"}},
       "matmul after dequantise"},
  };
}

}  // namespace kaio::tests
