#pragma once
// Quantised layers of safetensors files: which tensors make one weight together, in which scheme, and the
// shape, bits and groups that follow from them. The scheme is seen in the names, types and shapes of the
// tensors; the quantization_config of the model's config.json settles what these leave open.
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
  input_factors,  // which the columns of x are multiplied by before the product
  unknown,        // a tensor of the layer that no scheme explains: the layer has a problem
};
std::string_view to_string(weight_part part) noexcept;  // "zero points"

// The tensor has the type of the file: part_bytes makes what repack takes.
struct quantised_part {
  weight_part part;
  const tensor_entry* tensor;
};

// The views and pointers are of the file's tensors.
struct quantised_layer {
  std::string_view name;  // what the names of its tensors begin with: "model.layers.0.mlp.up_proj"
  weight_scheme scheme{};
  std::uint64_t n = 0, k = 0;  // of the weight {N, K}; of experts each one's; 0: not known
  unsigned bits = 0;           // of a code
  // Codes along K that share a scale, at most K; the last group of a row may have fewer. Of bitsandbytes' nf4 and
  // fp4 the blocksize, in codes row after row. 0: blocks of rows and columns.
  std::uint64_t group = 0;
  std::uint64_t block_rows = 0, block_columns = 0;  // that share a scale, where the group is 0
  // Of bitsandbytes' nf4 and fp4, where absmax is quantised itself: nested_blocksize and nested_offset.
  std::uint64_t nested_group = 0;
  float nested_offset = 0;
  bool act_order = false;  // groups are not neighbours: the index is neither k / group nor all 0
  // The scales are in the order of cuBLASLt's blocks of 128 x 4: scales_in_rows has them row after row.
  bool swizzled = false;
  // Why the tensors do not fit together or with the configuration, or are of a type or format that is not read, or what
  // the layer has that no scheme explains; empty: none.
  std::string problem;
  std::vector<quantised_part> parts;
};

// The operation that multiplies with a layer, "matmul_w4 after repack"; empty: none does.
std::string_view operation_of(const quantised_layer& layer);
// Why none does: "its scales are F32, and repack takes F16 or BF16: round them first". Empty: one does.
std::string obstacle_of(const quantised_layer& layer);

// The bytes of a part of a layer in the type and order that repack and dequantise take: an index of I64 as i32, signed
// zero points of pack-quantized of one byte each {N, G} as the words {ceil(N bits / 32), G} of its newer files, swizzled
// scales row after row, and all else as the file has it. Empty: the layer has no such part. invalid_argument: the layer
// has a problem.
std::vector<std::byte> part_bytes(const quantised_layer& layer, weight_part part);

// The scales of a layer, of one byte each, row after row, {N, K / group}: those of a swizzled layer in order, others as
// the file has them. invalid_argument: the layer has a problem, or scales of more bytes, or of no groups along K.
std::vector<std::byte> scales_in_rows(const quantised_layer& layer);

// What a quantization_config says, as far as it does.
struct quantisation_config {
  // "gptq", "awq", "auto-round", "compressed-tensors", "bitsandbytes", "fp8", "mxfp4", "modelopt", "torchao"
  std::string method;
  // compressed-tensors' format, GPTQ's checkpoint_format, AWQ's version, in small letters; empty: not said. AutoRound's
  // packing_format as these call it: "gptq" of auto_round:auto_gptq, "gptq_v2" of auto_round and auto_round:gptqmodel,
  // "gemm" of auto_round:auto_awq.
  std::string format;
  unsigned bits = 0;                  // 0: not said
  std::optional<std::int64_t> group;  // -1: all of K
  bool act_order = false;             // "desc_act"; "actorder" of all config_groups is "group"
  // "sym", "symmetric" where all config_groups agree; a layer of false has zero points.
  std::optional<bool> symmetric = {};
  std::uint64_t block_rows = 0, block_columns = 0;  // that share a scale; 0: not said
  // GPTQModel's weight_scale_semantics "inverse": codes are divided by weight_scale_inv, which others multiply by.
  bool inverse_scales = false;
  // Some layers have bits and groups of their own ("dynamic", "extra_config", several "config_groups"), which are
  // not read: a layer that contradicts the ones above is no error then.
  bool per_layer = false;
};

// The layers in the order of their names; a tensor is a part of one at most.
std::vector<quantised_layer> quantised_layers(std::span<const tensor_entry> tensors,
                                              const quantisation_config* config = nullptr);

// Reads a config.json, a quantize_config.json, which is one as a whole, or ModelOpt's hf_quant_config.json. Returns
// nothing if the file has no configuration. The JSON is Python's: NaN, Infinity, and the last of several members with one name. Of several
// models in one, as in text_config, it is the outermost one, else that of the text. Throws file_error: unreadable_file,
// damaged_file.
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
