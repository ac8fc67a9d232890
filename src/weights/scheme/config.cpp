// The quantization_config of a model's config.json.

#include <kaio/weights/quantisation.hpp>

#include "runtime/base/text.hpp"
#include "weights/base/failure.hpp"
#include "weights/base/json.hpp"
#include "weights/base/mapped_file.hpp"

namespace kaio::weights {
namespace {

// Reads "bits" and "group_size" from the object that has them, which depends on the method. A group that is null
// or no number counts as not said.
void read_numbers(const json& of, std::string_view path, quantisation_config& to) {
  const std::uint64_t bits = of.number_of("bits", of.number_of("num_bits", of.number_of("w_bit", 0)));
  if (bits != 0 && bits <= 64) to.bits = static_cast<unsigned>(bits);
  for (const std::string_view key : {"group_size", "q_group_size"}) {
    const json* const group = of.find(key);
    if (!group) continue;
    const bool is_negative = group->is == json::kind::negative_number;
    if (!group->is_unsigned() && !is_negative && group->is != json::kind::other_number) continue;
    if (is_negative ? group->number != 1 : !group->is_unsigned() || group->number > INT64_MAX)
      fail_damaged(
          path, {},
          runtime::text("its ", key, " is neither a whole number of codes below 2^63 nor -1, all of K"));
    to.group = is_negative ? -1 : static_cast<std::int64_t>(group->number);
  }
}

// "weight_block_size" of fp8, "block_structure" of compressed-tensors: rows, columns.
void read_blocks(const json& of, quantisation_config& to) {
  for (const std::string_view key : {"weight_block_size", "block_structure"})
    if (const json* const size = of.find(key);
        size && size->items.size() == 2 && size->items[0].is_unsigned() && size->items[1].is_unsigned()) {
      to.block_rows = size->items[0].number;
      to.block_columns = size->items[1].number;
    }
}

std::optional<bool> truth_in(const json& of, std::string_view key) {
  const json* const found = of.find(key);
  return found && found->is == json::kind::boolean ? std::optional(found->boolean) : std::nullopt;
}

// The value that two groups agree on, or nothing.
std::optional<bool> agreed(std::optional<bool> a, std::optional<bool> b) { return a == b ? a : std::nullopt; }

// The numbers are those of the first of compressed-tensors' config_groups. On symmetric and actorder all must agree.
void read_groups(const json& groups, std::string_view path, quantisation_config& to) {
  bool is_first = true;
  for (const auto& [name, group] : groups.members) {
    const json* const weights = group.find("weights");
    if (!weights || !weights->is_object()) continue;
    const std::optional<bool> symmetric = truth_in(*weights, "symmetric");
    const std::string_view order = weights->text_of("actorder");
    const bool act_order = order == "group" || order == "dynamic" || weights->truth_of("actorder", false);
    if (is_first) {
      read_numbers(*weights, path, to);
      read_blocks(*weights, to);
    }
    to.symmetric = is_first ? symmetric : agreed(to.symmetric, symmetric);
    to.act_order = (is_first || to.act_order) && act_order;
    is_first = false;
  }
}

// Whether there is an object with further settings of some layers, and at least `least` of them.
bool has_members(const json& of, std::string_view key, std::size_t least = 1) {
  const json* const found = of.find(key);
  return found && found->members.size() >= least;
}

// AutoAWQ writes "GEMM" and "gemm".
std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

// AutoRound's packing_format as GPTQ's and AWQ's files call it. gptq_v2 has zero points as they are, gptq has them
// less 1.
std::string format_of_auto_round(std::string packing) {
  constexpr std::string_view prefix = "auto_round:";
  if (packing == "auto_round") return "gptq_v2";
  if (!packing.starts_with(prefix)) return packing;
  packing.erase(0, prefix.size());
  if (packing == "auto_gptq" || packing == "gptq") return "gptq";
  if (packing == "gptqmodel") return "gptq_v2";
  if (packing == "auto_awq" || packing == "awq") return "gemm";
  return packing;
}

// Finds the configuration: of the model, else of its text model, else of another part of it; null: there is none.
const json* given_in(const json& model) {
  for (const std::string_view key : {"quantization_config", "compression_config"})
    if (const json* const given = model.find(key); given && given->is != json::kind::null) return given;
  if (const json* const of_text = model.find("text_config"))
    if (const json* const given = given_in(*of_text)) return given;
  for (const auto& [name, part] : model.members)
    if (name.ends_with("_config") && part.is_object())
      if (const json* const given = given_in(part)) return given;
  return nullptr;
}

// ModelOpt's hf_quant_config.json, which applies to all layers that it does not exclude.
quantisation_config of_modelopt(const json& given, std::string_view path) {
  quantisation_config config;
  config.method = "modelopt";
  config.format = in_small_letters(given.text_of("quant_algo"));
  config.per_layer = has_members(given, "quantized_layers");
  read_numbers(given, path, config);
  return config;
}

}  // namespace

std::optional<quantisation_config> read_quantisation_config(std::string_view path) {
  const mapped_file mapped(path);
  json model;
  try {
    model = parse_json({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()},
                       json_dialect::python);
  } catch (const json_error& e) {
    fail_damaged(path, {}, runtime::text("it ", e.what()));
  }
  const json* given = given_in(model);
  if (const json* const of_model = model.find("quantization");
      !given && of_model && of_model->find("quant_algo"))
    return of_modelopt(*of_model, path);
  // quantize_config.json of auto-gptq.
  const bool is_whole = !given && model.find("bits") && model.find("group_size");
  if (is_whole) given = &model;
  if (!given) return std::nullopt;
  if (!given->is_object()) fail_damaged(path, {}, "its quantization_config is no object");

  quantisation_config config;
  config.method = given->text_of(
      "quant_method", given->truth_of("load_in_4bit", false) || given->truth_of("load_in_8bit", false)
                          ? "bitsandbytes"
                      : is_whole ? "gptq"
                                 : "");
  read_numbers(*given, path, config);
  read_blocks(*given, config);
  config.per_layer = has_members(*given, "dynamic") || has_members(*given, "extra_config") ||
                     has_members(*given, "config_groups", 2);
  config.act_order = given->truth_of("desc_act", false);
  config.symmetric = truth_in(*given, "sym");
  config.inverse_scales = given->text_of("weight_scale_semantics") == "inverse";
  config.format = in_small_letters(given->text_of(
      "format",
      given->text_of("checkpoint_format", given->text_of("version", given->text_of("bnb_4bit_quant_type")))));
  if (const std::string packing = in_small_letters(given->text_of("packing_format")); !packing.empty())
    config.format = format_of_auto_round(packing);
  if (const json* const groups = given->find("config_groups")) read_groups(*groups, path, config);
  return config;
}

}  // namespace kaio::weights
