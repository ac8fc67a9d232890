#pragma once
// Quantised layers of safetensors files: which tensors make up one weight, in which scheme, and its shape,
// bits and groups. The names, types and shapes of the tensors show the scheme; the quantization_config of the
// model's config.json settles the rest.
//
//   safetensors_file model = safetensors_file::open("model.safetensors");
//   const auto config = read_quantisation_config("config.json");
//   for (const quantised_layer& l : quantised_layers(model.tensors(), config ? &*config : nullptr))
//     std::cout << l.name << ": " << facts(l.scheme).name << ", " << l.bits << " bits\n";
//
// A scheme is a row of a table (src/weights/scheme/scheme_table.cpp). Sources: GPTQModel, AutoAWQ,
// compressed-tensors, bitsandbytes, ModelOpt, transformers' integrations/mxfp4.py, AutoRound, torchao.

#include <kaio/runtime/error.hpp>
#include <kaio/weights/tensor_entry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::weights {

enum class weight_scheme : std::uint8_t {
  gptq,           // qweight packed along K, scales {G, N}
  awq_gemm,       // qweight packed along N, scales {G, N}
  awq_gemv,       // qweight {N, K/8}
  awq_gemv_fast,  // qweight of 16 bits, {N/4, K}
  packed_int,     // compressed-tensors pack-quantized: weight_packed of i32
  int8,           // compressed-tensors int-quantized: i8 with weight_scale
  llm_int8,       // bitsandbytes: i8 with SCB
  fp8,            // e4m3 or e5m2 with weight_scale
  fp8_block,      // e4m3 or e5m2 with weight_scale_inv of blocks, or one of the tensor
  nf4,
  fp4,             // bitsandbytes
  nvfp4_packed,    // compressed-tensors nvfp4-pack-quantized: divided by weight_global_scale
  nvfp4_modelopt,  // multiplied by weight_scale_2
  mxfp4_packed,    // compressed-tensors mxfp4-pack-quantized
  mxfp4_blocks,    // gpt-oss: *_blocks and *_scales
  // torchao's tensors, as torchao.prototype.safetensors and transformers save them: ._weight_qdata, ._weight_scale
  torchao_int8,        // Int8Tensor and IntxUnpackedToInt8Tensor: i8, with zero points or without
  torchao_fp8,         // Float8Tensor: e4m3 or e5m2
  torchao_tinygemm,    // Int4TilePackedTo4dTensor: four dimensions of i32, ._weight_scale_and_zero
  torchao_int4_plain,  // Int4Tensor, bytes of two codes, and Int4PlainInt32Tensor, words of eight
  torchao_nvfp4,       // NVFP4Tensor: multiplied by ._weight_per_tensor_scale, where there is one
  torchao_mx,          // MXTensor: e2m1, e4m3 or e5m2 with scales of e8m0
  mxfp8,               // compressed-tensors mxfp8-quantized: e4m3 with weight_scale of e8m0
};

struct scheme_facts {
  weight_scheme scheme;
  std::string_view name;  // "GPTQ", "AWQ gemm", ...
};

const scheme_facts& facts(weight_scheme scheme) noexcept;
std::span<const scheme_facts> weight_schemes() noexcept;

enum class weight_part : std::uint8_t {
  codes,
  scales,
  zero_points,
  group_index,
  shape,
  global_scale,
  input_scale,
  code_table,
  nested_scales,
  nested_table,
  state,
  input_factors,  // factors of the columns of x, applied before the product
  unknown,        // a tensor of the layer that no scheme explains: the layer has a problem
};
std::string_view to_string(weight_part part) noexcept;  // "zero points"

// The tensor has the file's type; part_bytes converts it for repack.
struct quantised_part {
  weight_part part;
  const tensor_entry* tensor;
};

// The views and pointers refer to the file's tensors.
struct quantised_layer {
  std::string_view name;  // the common beginning of its tensors' names: "model.layers.0.mlp.up_proj"
  weight_scheme scheme{};
  std::uint64_t n = 0, k = 0;  // the weight is {N, K}; of experts each one's; 0: not known
  unsigned bits = 0;           // of a code
  // Codes along K that share a scale, at most K; the last group of a row may have fewer. For bitsandbytes' nf4 and
  // fp4: the blocksize, in codes row after row. 0: blocks of rows and columns.
  std::uint64_t group = 0;
  std::uint64_t block_rows = 0, block_columns = 0;  // share a scale, if the group is 0
  // If bitsandbytes' nf4 or fp4 quantises absmax itself: nested_blocksize and nested_offset.
  std::uint64_t nested_group = 0;
  float nested_offset = 0;
  bool act_order = false;  // groups are interleaved: the index is not k / group, all 0 or all -1
  // The scales have the order of cuBLASLt's blocks of 128 x 4; scales_in_rows returns them row after row.
  bool swizzled = false;
  // Why the layer cannot be used. Its tensors contradict each other or the configuration, have a type or format that is
  // not read, or include one that no scheme explains. Empty: no problem.
  std::string problem;
  std::vector<quantised_part> parts;
};

// The operation that multiplies with a layer, "matmul_w4 after repack"; empty: none does.
std::string_view operation_of(const quantised_layer& layer);
// Why none does: "its scales are F32, and repack takes F16 or BF16: round them first". Empty: one does.
std::string obstacle_of(const quantised_layer& layer);

// Returns the bytes of a part in the type and order that repack and dequantise take. An index of I64 becomes i32. Signed
// zero points {N, G} of pack-quantized, a byte each, become the words {ceil(N bits / 32), G} of its newer files. Swizzled
// scales come row after row. All else is as in the file. Empty: the layer has no such part. Throws invalid_argument if
// the layer has a problem.
std::vector<std::byte> part_bytes(const quantised_layer& layer, weight_part part);

// Returns a layer's scales of one byte each, row after row, {N, K / group}. If the layer is not swizzled, they are as in
// the file. Throws invalid_argument if the layer has a problem, scales of more bytes, or no groups along K.
std::vector<std::byte> scales_in_rows(const quantised_layer& layer);

// The settings of a quantization_config.
struct quantisation_config {
  // "gptq", "awq", "auto-round", "compressed-tensors", "bitsandbytes", "fp8", "mxfp4", "modelopt", "torchao"
  std::string method;
  // In small letters: compressed-tensors' format, GPTQ's checkpoint_format, AWQ's version, bitsandbytes'
  // bnb_4bit_quant_type, ModelOpt's quant_algo; empty: not said. AutoRound's packing_format is renamed: "gptq"
  // (auto_round:auto_gptq), "gptq_v2" (auto_round, auto_round:gptqmodel), "gemm" (auto_round:auto_awq).
  std::string format;
  unsigned bits = 0;                  // 0: not said
  std::optional<std::int64_t> group;  // -1: all of K
  bool act_order = false;             // "desc_act"; or all "actorder" are "group", "dynamic" or true
  // "sym", or "symmetric" if all config_groups agree. If false, the layers have zero points.
  std::optional<bool> symmetric = {};
  std::uint64_t block_rows = 0, block_columns = 0;  // that share a scale; 0: not said
  // GPTQModel's weight_scale_semantics "inverse": codes are divided by weight_scale_inv. Other files multiply.
  bool inverse_scales = false;
  // Some layers have their own bits and groups ("dynamic", "extra_config", several "config_groups"), which are not
  // read. A layer that contradicts the values above is then no error.
  bool per_layer = false;
};

// Returns the layers in the order of their names. A tensor belongs to at most one layer.
std::vector<quantised_layer> quantised_layers(std::span<const tensor_entry> tensors,
                                              const quantisation_config* config = nullptr);

// Reads a config.json, a quantize_config.json (a configuration as a whole) or ModelOpt's hf_quant_config.json. Returns
// nothing if the file has no configuration. The JSON is Python's: it may have NaN and Infinity, and of several members with
// one name the last counts. Of several configurations the outermost counts, then that of text_config, then that of another
// part of the model. Throws file_error: unreadable_file, damaged_file.
std::optional<quantisation_config> read_quantisation_config(std::string_view path);

}  // namespace kaio::weights

namespace kaio {
using weights::obstacle_of;
using weights::operation_of;
using weights::part_bytes;
using weights::quantisation_config;
using weights::quantised_layer;
using weights::quantised_layers;
using weights::quantised_part;
using weights::read_quantisation_config;
using weights::scales_in_rows;
using weights::weight_part;
using weights::weight_scheme;
}  // namespace kaio
