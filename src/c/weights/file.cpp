#include "c/weights/file.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <utility>

#include "c/call/error.hpp"

namespace kaio::c {

namespace {

using weights::weight_format;

constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view magic = "GGUF";

// DLPack's type of a format's elements. Without a type, a DLTensor has the bytes.
DLDataType type_of(weight_format format) {
  const auto type = [](int code, int bits) {
    return DLDataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  };
  switch (format) {
    case weight_format::f64: return type(kDLFloat, 64);
    case weight_format::f32: return type(kDLFloat, 32);
    case weight_format::f16: return type(kDLFloat, 16);
    case weight_format::bf16: return type(kDLBfloat, 16);
    case weight_format::e4m3: return type(kDLFloat8_e4m3fn, 8);
    case weight_format::e5m2: return type(kDLFloat8_e5m2, 8);
    case weight_format::e8m0: return type(kDLFloat8_e8m0fnu, 8);
    case weight_format::boolean: return type(kDLBool, 8);
    case weight_format::i64: return type(kDLInt, 64);
    case weight_format::i32: return type(kDLInt, 32);
    case weight_format::i16: return type(kDLInt, 16);
    case weight_format::i8: return type(kDLInt, 8);
    case weight_format::u64: return type(kDLUInt, 64);
    case weight_format::u32: return type(kDLUInt, 32);
    case weight_format::u16: return type(kDLUInt, 16);
    case weight_format::u8: return type(kDLUInt, 8);
    default: return {};
  }
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Whether a file is GGUF by its name, else by its first bytes. What cannot be read is left to the other reader.
bool is_gguf(const char* path) {
  if (ends_with(path, ".gguf")) return true;
  if (ends_with(path, ".safetensors") || ends_with(path, ".json")) return false;
  std::array<char, magic.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == magic;
}

kaio_weights* handle_of(std::shared_ptr<const open_file> opened) {
  return new kaio_weights{std::move(opened)};
}

void list(const weights::gguf_file& file, std::vector<value_record>& to) {
  for (const weights::gguf_value& value : file.metadata())
    to.push_back({value.key, std::string(value.key), std::string(value.as_string().value_or("")), value});
}
void list(const weights::safetensors_file& file, std::vector<value_record>& to) {
  for (const auto& [key, value] : file.metadata()) {
    weights::gguf_value text;
    text.key = key;
    text.type = weights::gguf_type::string;
    text.bytes = std::as_bytes(std::span(value));
    to.push_back({key, std::string(key), std::string(value), text});
  }
}

}  // namespace

open_file::open_file(weights::gguf_file&& opened) : file(std::move(opened)) { take_tensors(); }
open_file::open_file(weights::safetensors_file&& opened) : file(std::move(opened)) { take_tensors(); }

void open_file::take_tensors() {
  std::visit(
      [&](const auto& f) {
        tensors = f.tensors();
        list(f, metadata);
      },
      file);
  records.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const weights::tensor_entry& entry = tensors[i];
    tensor_record& record = records[i];
    record.name = entry.name;
    record.file = entry.file;
    for (const std::uint64_t extent : entry.shape) {
      if (!std::in_range<std::int64_t>(extent))
        throw file_error(errc::unsupported_format,
                         "kaio: '" + record.file + "': tensor '" + record.name + "' has an extent of " +
                             std::to_string(extent) + "; DLPack's are below 2^63",
                         entry.file, entry.name);
      record.shape.push_back(static_cast<std::int64_t>(extent));
    }
    DLTensor& tensor = record.tensor;
    tensor.data = const_cast<std::byte*>(entry.bytes.data());
    tensor.device = {kDLCPU, 0};
    tensor.dtype = type_of(entry.format);
    tensor.ndim = static_cast<std::int32_t>(record.shape.size());
    tensor.shape = record.shape.data();
    if (tensor.dtype.bits != 0) continue;
    record.count = static_cast<std::int64_t>(entry.bytes.size());
    tensor.dtype = {kDLUInt, 8, 1};
    tensor.ndim = 1;
    tensor.shape = &record.count;
  }
}

kaio_weights* open_weights(const char* path) {
  return handle_of(is_gguf(path) ? std::make_shared<const open_file>(weights::gguf_file::open(path))
                                 : std::make_shared<const open_file>(weights::safetensors_file::open(path)));
}

kaio_weights* view_weights(const void* data, std::uint64_t bytes, const char* name) {
  const std::span all(static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes));
  const bool gguf = std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(bytes))
                        .substr(0, magic.size()) == magic;
  return handle_of(gguf ? std::make_shared<const open_file>(weights::gguf_file::view(all, name))
                        : std::make_shared<const open_file>(weights::safetensors_file::view(all, name)));
}

void close(kaio_weights* weights) noexcept { delete weights; }

void require_index(const call& in, const char* name, std::uint64_t index, std::uint64_t count,
                   const char* what) {
  if (index >= count)
    refuse(in.operation(), "argument " + std::string(name) + " is " + std::to_string(index) +
                               ", and there are " + std::to_string(count) + " " + what + ", counted from 0");
}

void give_info(const call& in, const kaio_weights& weights, kaio_weights_info* info) {
  const open_file& file = *weights.opened;
  kaio_weights_info to = kaio_weights_info_default();
  to.tensors = file.tensors.size();
  to.metadata = file.metadata.size();
  if (const auto* const gguf = std::get_if<weights::gguf_file>(&file.file)) {
    to.kind = KAIO_WEIGHTS_KIND_GGUF;
    to.version = gguf->version();
    to.alignment = gguf->alignment();
    to.files = gguf->files();
  } else {
    to.kind = KAIO_WEIGHTS_KIND_SAFETENSORS;
    to.files = std::get<weights::safetensors_file>(file.file).files();
  }
  in.give("info", info, &to, sizeof to);
}

void give_tensor(const call& in, const kaio_weights& weights, std::uint64_t index,
                 kaio_weights_tensor* tensor) {
  const open_file& file = *weights.opened;
  require_index(in, "index", index, file.tensors.size(), "tensors");
  const weights::tensor_entry& entry = file.tensors[index];
  const tensor_record& record = file.records[index];
  const weights::format_facts& format = weights::facts(entry.format);
  kaio_weights_tensor to = kaio_weights_tensor_default();
  to.format = static_cast<std::int32_t>(entry.format);
  to.name = record.name.c_str();
  to.name_bytes = record.name.size();
  to.rank = static_cast<std::int32_t>(record.shape.size());
  to.has_values = format.has_values;
  to.shape = record.shape.data();
  to.elements = entry.elements;
  to.data = entry.bytes.data();
  to.bytes = entry.bytes.size();
  to.tensor = &record.tensor;
  to.format_name = format.name.data();
  to.operation = format.operation.data() != nullptr ? format.operation.data() : "";
  to.block_elements = format.block_elements;
  to.block_bytes = format.block_bytes;
  to.file = record.file.c_str();
  to.offset = entry.offset;
  to.type = entry.type;
  in.give("tensor", tensor, &to, sizeof to);
}

void give_value(const call& in, const kaio_weights& weights, std::uint64_t index, kaio_weights_value* value) {
  const open_file& file = *weights.opened;
  require_index(in, "index", index, file.metadata.size(), "values");
  const value_record& record = file.metadata[index];
  const weights::gguf_value& from = record.value;
  kaio_weights_value to = kaio_weights_value_default();
  to.type = static_cast<std::int32_t>(from.type);
  to.element = static_cast<std::int32_t>(from.element);
  to.key = record.key.c_str();
  to.key_bytes = record.key.size();
  to.count = from.count;
  if (from.type == weights::gguf_type::string) {
    to.text = record.text.c_str();
    to.text_bytes = record.text.size();
  }
  to.data = from.bytes.data();
  to.bytes = from.bytes.size();
  const auto number = from.as_number();
  const auto integer = from.as_signed();
  const auto natural = from.as_unsigned();
  to.has_number = number.has_value();
  to.has_integer = integer.has_value();
  to.has_natural = natural.has_value();
  to.number = number.value_or(0);
  to.integer = integer.value_or(0);
  to.natural = natural.value_or(0);
  to.boolean = from.as_bool().value_or(false);
  in.give("value", value, &to, sizeof to);
}

std::uint64_t index_of_tensor(const kaio_weights& weights, std::string_view name) {
  const open_file& file = *weights.opened;
  const weights::tensor_entry* const found =
      std::visit([&](const auto& f) { return f.find(name); }, file.file);
  return found == nullptr ? nowhere : static_cast<std::uint64_t>(found - file.tensors.data());
}

std::uint64_t index_of_key(const kaio_weights& weights, std::string_view key) {
  const std::vector<value_record>& all = weights.opened->metadata;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const value_record& v) { return v.key_view == key; });
  return found == all.end() ? nowhere : static_cast<std::uint64_t>(found - all.begin());
}

void read_values(const call& in, const kaio_weights& weights, std::uint64_t index, std::uint64_t first,
                 std::uint64_t count, float* to) {
  const open_file& file = *weights.opened;
  require_index(in, "index", index, file.tensors.size(), "tensors");
  if (count != 0) in.need("to", to);
  weights::read_values(file.tensors[index], std::span(to, static_cast<std::size_t>(count)), first);
}

}  // namespace kaio::c
