// Reads the header of a safetensors file, or those of all the files that an index names.

#include <kaio/weights/safetensors.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/base/byte_reader.hpp"
#include "weights/base/checks.hpp"
#include "weights/base/failure.hpp"
#include "weights/base/json.hpp"
#include "weights/base/mapped_file.hpp"
#include "weights/format/format_table.hpp"

namespace kaio::weights {

using runtime::text;

namespace {

constexpr std::uint64_t longest_header = 100'000'000;

// One file.
struct shard {
  mapped_file mapped;
  std::string path;
  json header;  // the names of the tensors are in it
};

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

json parse_json_of(std::string_view file, std::string_view characters, std::string_view what,
                   json_dialect dialect) {
  try {
    return parse_json(characters, dialect);
  } catch (const json_error& e) {
    fail_damaged(file, {}, text(what, " ", e.what()));
  }
}

weight_format format_of(std::string_view dtype, std::string_view file, std::string_view tensor) {
  for (const format_row& row : format_rows())
    if (row.safetensors_dtype == dtype && !dtype.empty()) return row.facts.format;
  fail_unsupported(file, tensor,
                   text("is of the type '", dtype, "', which kaio does not know; a newer version may"));
}

std::uint64_t number(const json& value, std::string_view file, std::string_view tensor,
                     std::string_view what) {
  if (!value.is_unsigned()) fail_damaged(file, tensor, text("has ", what, " that are not numbers from 0 on"));
  return value.number;
}

// A tensor as the header describes it; only the types are checked.
struct description {
  std::string_view name;
  weight_format format{};
  std::vector<std::uint64_t> shape;
  std::uint64_t first = 0, last = 0;
};

// A field of a tensor. serde also accepts the fields in an array, in their order.
const json& field(const json& given, std::size_t index, std::string_view key, std::string_view file,
                  std::string_view tensor) {
  if (given.is_array() && given.items.size() == 3) return given.items[index];
  const auto is_named = [&](const auto& member) { return member.first == key; };
  const auto count = std::ranges::count_if(given.members, is_named);
  if (count > 1) fail_damaged(file, tensor, text("has its ", key, " twice"));
  if (count == 0) fail_damaged(file, tensor, text("has no ", key));
  return *given.find(key);
}

// The name of a type; serde also accepts it as the key of {"F32":null}.
std::string_view dtype_of(const json& value, std::string_view file, std::string_view tensor) {
  if (value.is_string()) return value.text;
  if (value.members.size() == 1 && value.members[0].second.is == json::kind::null)
    return value.members[0].first;
  fail_damaged(file, tensor, "has no dtype");
}

description describe(std::string_view name, const json& given, std::string_view file) {
  const json &dtype = field(given, 0, "dtype", file, name), &shape = field(given, 1, "shape", file, name),
             &offsets = field(given, 2, "data_offsets", file, name);
  description d;
  d.name = name;
  d.format = format_of(dtype_of(dtype, file, name), file, name);
  if (!shape.is_array()) fail_damaged(file, name, "has no shape");
  for (const json& extent : shape.items) d.shape.push_back(number(extent, file, name, "extents"));
  if (!offsets.is_array() || offsets.items.size() != 2) fail_damaged(file, name, "has no data_offsets");
  d.first = number(offsets.items[0], file, name, "data_offsets");
  d.last = number(offsets.items[1], file, name, "data_offsets");
  return d;
}

// Multiplies the extents in order, as safetensors does: after an extent of 0 nothing overflows.
std::optional<std::uint64_t> product_of(std::span<const std::uint64_t> shape) {
  std::optional<std::uint64_t> elements = 1;
  for (const std::uint64_t extent : shape)
    if (elements) elements = product(*elements, extent);
  return elements;
}

// `end` is where the last tensor ends.
tensor_entry read_entry(description&& d, std::span<const std::byte> data, std::uint64_t begin,
                        std::uint64_t end, std::string_view file) {
  const auto fail = [&](std::string_view what) { fail_damaged(file, d.name, what); };
  const auto elements = product_of(d.shape);
  if (!elements) fail_damaged(file, d.name, "has a shape whose product does not fit into 64 bits");
  const format_facts& f = facts(d.format);
  const auto bits = product(*elements, 8 * f.block_bytes / f.block_elements);
  if (!bits)
    fail_damaged(file, d.name, text("has a shape whose bits in ", f.name, " do not fit into 64 bits"));
  if (*bits % 8 != 0) fail(text("has ", *elements, " elements of ", f.name, ", which are no whole bytes"));
  const std::uint64_t size = *bits / 8;
  if (d.first > d.last) fail(text("has bytes ", d.first, " to ", d.last));
  if (d.last - d.first != size)
    fail(text("has ", d.last - d.first, " bytes, and its shape in ", f.name, " asks for ", size));
  if (d.last > data.size())
    fail(text("has bytes ", d.first, " to ", d.last, " of ", data.size(), ": the file ends early, and ",
              end - data.size(), " bytes are missing"));
  tensor_entry t;
  t.name = d.name;
  t.format = d.format;
  t.shape = std::move(d.shape);
  t.elements = *elements;
  t.file = file;
  t.offset = begin + d.first;
  if (size != 0) t.bytes = data.subspan(static_cast<std::size_t>(d.first), static_cast<std::size_t>(size));
  return t;
}

// Reads the header of one file. Returns the bytes after it, which are the tensors'.
std::span<const std::byte> read_header(shard& s, std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  const auto length = in.read<std::uint64_t>();
  if (!length) fail_damaged(s.path, {}, "it ends within the length of its header");
  if (*length > longest_header)
    fail_foreign(s.path, text("no safetensors file: its header would have ", *length,
                              " bytes, which is longer than 100000000"));
  const std::uint64_t left = in.left();
  const std::string_view all = characters(bytes.last(in.left())).substr(0, static_cast<std::size_t>(*length));
  const std::size_t first = all.find_first_not_of(" \t\n\r");
  if (*length == 0 || (left != 0 && (first == std::string_view::npos || all[first] != '{')))
    fail_foreign(s.path, "no safetensors file: its header does not begin with {");
  const auto header = in.take(*length);
  if (!header)
    fail_damaged(
        s.path, {},
        text("it ends early: its header has ", *length, " bytes, of which ", *length - left, " are missing"));
  s.header = parse_json_of(s.path, characters(*header), "the header", json_dialect::serde);
  return bytes.last(in.left());
}

// __metadata__: texts, or null.
void read_metadata(const json& given, std::string_view file,
                   std::vector<safetensors_file::text_entry>* metadata) {
  if (given.is == json::kind::null) return;
  if (!given.is_object()) fail_damaged(file, {}, "its metadata is no object");
  for (const auto& [key, value] : given.members)
    if (!value.is_string())
      fail_damaged(file, {}, text("its metadata '", host::printable(key), "' is no text"));
  if (metadata)
    for (const auto& [key, value] : by_name(given)) metadata->push_back({key, value->text});
}

// Appends the tensors of one file to `tensors`, in the order of their bytes. The header is accepted or refused as by
// safetensors: if a name occurs twice, the last tensor is taken.
void read_shard(shard& s, std::span<const std::byte> bytes, std::vector<tensor_entry>& tensors,
                std::vector<safetensors_file::text_entry>* metadata) {
  const std::span<const std::byte> data = read_header(s, bytes);
  const std::uint64_t begin = bytes.size() - data.size();
  std::map<std::string_view, description> described;
  bool has_metadata = false;
  for (const auto& [name, value] : s.header.members) {
    if (name != "__metadata__") {
      described.insert_or_assign(name, describe(name, value, s.path));
      continue;
    }
    if (has_metadata) fail_damaged(s.path, {}, "its metadata occurs twice");
    has_metadata = true;
    read_metadata(value, s.path, metadata);
  }
  std::uint64_t end_of_tensors = 0;
  std::vector<description> sorted;
  for (auto& [name, d] : described) {
    end_of_tensors = std::max(end_of_tensors, d.last);
    sorted.push_back(std::move(d));
  }
  // Tensors without bytes come before the one that begins at their offset.
  std::ranges::sort(sorted, {}, [](const description& d) { return std::tuple(d.first, d.last, d.name); });
  std::uint64_t end = begin;
  std::string_view before;
  for (description& d : sorted) {
    tensor_entry t = read_entry(std::move(d), data, begin, end_of_tensors, s.path);
    if (t.offset > end)
      fail_damaged(s.path, t.name, text("is preceded by ", t.offset - end, " bytes of no tensor"));
    if (t.offset < end)
      fail_damaged(s.path, t.name, text("shares bytes with tensor '", host::printable(before), "'"));
    end = t.offset + t.bytes.size();
    before = t.name;
    tensors.push_back(std::move(t));
  }
  if (end != bytes.size())
    fail_damaged(s.path, {}, text("its last ", bytes.size() - end, " bytes belong to no tensor"));
}

// The folder of a path with its last '/', or nothing.
std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

}  // namespace

struct safetensors_file::contents {
  std::string path;
  std::vector<std::unique_ptr<shard>> shards;
  std::vector<text_entry> metadata;
  std::vector<tensor_entry> tensors;
  name_index by_name;

  shard& add(std::string_view file) {
    shards.push_back(std::make_unique<shard>());
    shards.back()->path = std::string(file);
    return *shards.back();
  }

  void open_shard(std::string_view file) {
    shard& s = add(file);
    s.mapped = mapped_file(file);
    read_shard(s, s.mapped.bytes(), tensors, shards.size() == 1 ? &metadata : nullptr);
  }

  void open_index() {
    const mapped_file mapped(path);
    const json index = parse_json_of(path, characters(mapped.bytes()), "the index", json_dialect::python);
    const json* const map = index.find("weight_map");
    if (!map) fail_foreign(path, "no index of safetensors files: it has no weight_map");
    if (!map->is_object() || map->members.empty()) fail_damaged(path, {}, "its weight_map names no tensor");
    std::vector<std::pair<std::string_view, std::string_view>> wanted;  // file, tensor
    for (const auto& [name, value] : weights::by_name(*map)) {
      const json& file = *value;
      if (!file.is_string()) fail_damaged(path, name, "is in no file");
      // A stranger's file must not name other files of this machine.
      if (!problem_of_name(file.text).empty() || file.text.find('/') != std::string::npos ||
          file.text == "." || file.text == "..")
        fail_damaged(path, name,
                     text("is in '", host::printable(file.text), "', which is no file of the index' folder"));
      wanted.emplace_back(file.text, name);
    }
    std::ranges::sort(wanted);
    std::vector<tensor_entry> kept;
    for (std::size_t i = 0; i < wanted.size();) {
      const std::string file = text(folder_of(path), wanted[i].first);
      tensors.clear();
      open_shard(file);
      const name_index names(tensors, file);
      std::vector<const tensor_entry*> mapped_here;
      for (const auto of = wanted[i].first; i < wanted.size() && wanted[i].first == of; ++i) {
        const tensor_entry* const t = names.find(wanted[i].second);
        if (!t) fail_damaged(path, wanted[i].second, text("is not in '", of, "', where the index has it"));
        mapped_here.push_back(t);
      }
      std::ranges::sort(mapped_here);  // the order of the file: they are elements of one vector
      for (const tensor_entry* t : mapped_here) kept.push_back(*t);
    }
    tensors = std::move(kept);
  }
};

safetensors_file safetensors_file::view(std::span<const std::byte> bytes, std::string_view name) {
  safetensors_file file(new contents);
  contents& c = *file.contents_;
  c.path = std::string(name);
  read_shard(c.add(name), bytes, c.tensors, &c.metadata);
  c.by_name = name_index(c.tensors, name);
  return file;
}

safetensors_file safetensors_file::open(std::string_view path) {
  safetensors_file file(new contents);
  contents& c = *file.contents_;
  c.path = std::string(path);
  if (path.ends_with(".json"))
    c.open_index();
  else
    c.open_shard(path);
  c.by_name = name_index(c.tensors, path);
  return file;
}

safetensors_file::safetensors_file(safetensors_file&& other) noexcept
    : contents_(std::exchange(other.contents_, nullptr)) {}

safetensors_file& safetensors_file::operator=(safetensors_file&& other) noexcept {
  std::swap(contents_, other.contents_);
  return *this;
}

safetensors_file::~safetensors_file() { delete contents_; }

std::span<const tensor_entry> safetensors_file::tensors() const noexcept { return contents_->tensors; }
std::span<const safetensors_file::text_entry> safetensors_file::metadata() const noexcept {
  return contents_->metadata;
}
std::size_t safetensors_file::files() const noexcept { return contents_->shards.size(); }
const tensor_entry* safetensors_file::find(std::string_view name) const noexcept {
  return contents_->by_name.find(name);
}

}  // namespace kaio::weights
