// kaio weights: the tensors of a file of weights, their formats, and what kaio does with them.

#include "tools/program/commands.hpp"

#include <kaio/weights/weights.hpp>

#include "host/printable.hpp"
#include "host/system/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kaio::tools {
namespace {

using row = std::vector<std::string>;

// The table, its last column as it is and the numbers to the right.
std::string table(const std::vector<row>& rows, const std::vector<bool>& to_the_right) {
  std::vector<std::size_t> widths(to_the_right.size());
  for (const row& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i) widths[i] = std::max(widths[i], r[i].size());
  std::string text;
  for (const row& r : rows) {
    for (std::size_t i = 0; i + 1 < r.size(); ++i)
      text += to_the_right[i] ? fmt::format("{:>{}}  ", r[i], widths[i])
                              : fmt::format("{:<{}}  ", r[i], widths[i]);
    text += r.back() + '\n';
  }
  return text;
}

std::string shape_of(const std::vector<std::uint64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

// The use of a weight, from the operation that the tables of formats and schemes name.
std::string operation_text(std::string_view operation) {
  return operation.empty() ? "no operation multiplies it yet" : fmt::format("multiplied by {}", operation);
}

// A weight, judged by its name and shape: not a norm or a bias of one dimension, and nothing that belongs to the codes
// of another tensor.
bool is_matrix(const tensor_entry& t) {
  const std::string_view last = t.name.substr(t.name.rfind('.') + 1);
  const auto names = [&](std::string_view word) { return last.find(word) != std::string_view::npos; };
  return (t.shape.size() == 2 || t.shape.size() == 3) && !names("scale") && !names("absmax") &&
         !names("zero");
}

std::string use_of(const tensor_entry& t) {
  const weights::format_facts& f = facts(t.format);
  if (t.format == weight_format::unknown) return "listed; kaio does not know its type, a newer version may";
  if (!f.has_values) return "listed; its values are not decoded";
  const bool is_weight = is_matrix(t) && (f.block_elements > 1 || !f.operation.empty());
  return is_weight ? fmt::format("read; {}", operation_text(f.operation)) : "read";
}

std::string use_of(const quantised_layer& layer, weight_part part) {
  const weights::scheme_facts& f = facts(layer.scheme);
  if (part != weight_part::codes)
    return fmt::format("{} of {}{}", to_string(part), f.name, layer.problem.empty() ? "" : ", refused");
  if (!layer.problem.empty()) return fmt::format("codes of {}, refused: {}", f.name, layer.problem);
  std::string text = fmt::format("{}, {} bits", f.name, layer.bits);
  if (layer.group != 0 && layer.group == layer.k)
    text += ", a scale for all of K";
  else if (layer.group != 0)
    text += fmt::format(", groups of {}", layer.group);
  else if (layer.block_rows != 0)
    text += fmt::format(", blocks of {} x {}", layer.block_rows, layer.block_columns);
  if (layer.act_order) text += ", act-order";
  if (layer.swizzled) text += ", swizzled scales";
  const std::string_view operation = operation_of(layer);
  return fmt::format(
      "{}: {} x {}; read; {}", text, layer.n, layer.k,
      operation.empty() ? fmt::format("not multiplied: {}", obstacle_of(layer)) : operation_text(operation));
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// A name in a line of the table: safetensors has ends of lines in names too.
std::string in_line(std::string_view name) {
  std::string text;
  for (const char c : host::printable(name))
    if (c == '\n' || c == '\t')
      text += c == '\n' ? "\\x0a" : "\\x09";
    else
      text += c;
  return text;
}

std::string name_of_format(const tensor_entry& t) {
  return t.format == weight_format::unknown ? fmt::format("type {}", t.type)
                                            : std::string(facts(t.format).name);
}

void print_tensors(std::span<const tensor_entry> tensors, const std::vector<quantised_layer>& layers) {
  std::map<const tensor_entry*, std::string> uses;
  for (const quantised_layer& layer : layers)
    for (const quantised_part& part : layer.parts) uses[part.tensor] = use_of(layer, part.part);
  std::vector<row> rows = {{"tensor", "format", "shape", "bytes", "kaio"}};
  std::map<weight_format, std::pair<std::size_t, std::uint64_t>> of_format;
  for (const tensor_entry& t : tensors) {
    const auto use = uses.find(&t);
    rows.push_back({in_line(t.name), name_of_format(t), shape_of(t.shape),
                    t.format == weight_format::unknown ? "?" : std::to_string(t.bytes.size()),
                    use != uses.end() ? use->second : use_of(t)});
    auto& [count, bytes] = of_format[t.format];
    ++count;
    bytes += t.bytes.size();
  }
  print(table(rows, {false, false, false, true, false}));
  std::vector<row> sums = {{"format", "tensors", "bytes"}};
  for (const auto& [format, sum] : of_format)
    sums.push_back({std::string(facts(format).name), std::to_string(sum.first), std::to_string(sum.second)});
  print('\n' + table(sums, {false, true, true}));
}

void print_gguf(const std::string& path) {
  const gguf_file file = gguf_file::open(path);
  const gguf_value* const architecture = file.metadata("general.architecture");
  std::string text =
      fmt::format("{}: GGUF version {}, {} tensors, {} keys, alignment {}", path, file.version(),
                  file.tensors().size(), file.metadata().size(), file.alignment());
  if (architecture && architecture->as_string()) text += fmt::format(", {}", *architecture->as_string());
  if (file.files() > 1)
    text += fmt::format(", {} files", file.files());
  else if (const gguf_value* const count = file.metadata("split.count");
           count && count->as_unsigned().value_or(1) > 1)
    text += fmt::format(", one of {} files of the model", *count->as_unsigned());
  print(host::printable(text) + "\n\n");
  print_tensors(file.tensors(), {});
}

std::string text_of(const quantisation_config& c) {
  std::string text = fmt::format("quantization_config: {}", c.method.empty() ? "without a method" : c.method);
  if (!c.format.empty()) text += fmt::format(" ({})", c.format);
  if (c.bits != 0) text += fmt::format(", {} bits", c.bits);
  if (c.group) text += *c.group < 0 ? ", groups of all of K" : fmt::format(", groups of {}", *c.group);
  if (c.act_order) text += ", act-order";
  if (c.symmetric == true) text += ", symmetric";
  return host::printable(text) + '\n';
}

// A configuration file. If nobody asked for it, its error is only a note.
struct config_file {
  std::string path;
  bool is_asked_for = false;
};

// Uses the first of the files that has a configuration.
void print_safetensors(const std::string& path, const std::vector<config_file>& config_files) {
  const safetensors_file file = safetensors_file::open(path);
  std::optional<quantisation_config> config;
  std::string notes;
  for (const config_file& of : config_files) {
    try {
      config = read_quantisation_config(of.path);
    } catch (const file_error& e) {
      if (of.is_asked_for) throw;
      notes += fmt::format("note: the configuration is not used: {}\n", e.what());
    }
    if (config) break;
  }
  const auto layers = quantised_layers(file.tensors(), config ? &*config : nullptr);
  std::string text = fmt::format("{}: safetensors, {} tensors", path, file.tensors().size());
  if (file.files() > 1) text += fmt::format(" in {} files", file.files());
  if (!layers.empty()) text += fmt::format(", {} quantised layers", layers.size());
  print(host::printable(text) + '\n' + (config ? text_of(*config) : std::string()) + host::printable(notes) +
        '\n');
  print_tensors(file.tensors(), layers);
}

bool begins_with_gguf(const std::string& path) {
  char first[4] = {};
  std::FILE* const file = host::open_to_read(path);
  if (!file) return false;
  const bool is_gguf = std::fread(first, 1, 4, file) == 4 && std::equal(first, first + 4, "GGUF");
  std::fclose(file);
  return is_gguf;
}

bool is_file(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(host::path_of(path), unknown);
}

}  // namespace

int list_weights(const weights_options& o) {
  if (o.file.ends_with(".gguf") || (is_file(o.file) && begins_with_gguf(o.file))) {
    print_gguf(o.file);
    return fine;
  }
  std::vector<config_file> configs;
  if (!o.config.empty()) {
    configs.push_back({o.config, true});
  } else {
    for (const char* const name : {"config.json", "quantize_config.json", "hf_quant_config.json"})
      if (std::string of_folder = o.file.substr(0, o.file.rfind('/') + 1) + name; is_file(of_folder))
        configs.push_back({std::move(of_folder)});
  }
  print_safetensors(o.file, configs);
  return fine;
}

}  // namespace kaio::tools
