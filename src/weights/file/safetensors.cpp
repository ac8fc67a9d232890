// Reads the header of a safetensors file, or those of all the files that an index names.

#include <kaio/weights/safetensors.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

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

// `names` is how deep the object is whose keys are the names of tensors.
json parse_json_of(std::string_view file, std::string_view characters, std::string_view what,
                   std::size_t names) {
  try {
    return parse_json(characters);
  } catch (const json_error& e) {
    if (!e.key.empty() && e.depth == names) fail_damaged(file, e.key, text("occurs twice in ", what));
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

// Where the last tensor ends, as far as the header says it.
std::uint64_t end_of(const json& header) {
  std::uint64_t end = 0;
  for (const auto& [name, value] : header.members)
    if (const json* const offsets = value.find("data_offsets");
        offsets && offsets->items.size() == 2 && offsets->items[1].is_unsigned())
      end = std::max(end, offsets->items[1].number);
  return end;
}

// `end` is end_of the header.
tensor_entry read_entry(const std::string& name, const json& given, std::span<const std::byte> data,
                        std::uint64_t begin, std::uint64_t end, std::string_view file) {
  tensor_entry t;
  t.name = name;
  t.file = file;
  if (const auto problem = problem_of_name(name); !problem.empty())
    fail_damaged(file, {}, text("the name of a tensor ", problem));
  const json *const dtype = given.find("dtype"), *const shape = given.find("shape"),
                    *const offsets = given.find("data_offsets");
  if (!dtype || !dtype->is_string()) fail_damaged(file, name, "has no dtype");
  if (!shape || !shape->is_array()) fail_damaged(file, name, "has no shape");
  if (!offsets || !offsets->is_array() || offsets->items.size() != 2)
    fail_damaged(file, name, "has no data_offsets");
  t.format = format_of(dtype->text, file, name);
  for (const json& extent : shape->items) t.shape.push_back(number(extent, file, name, "extents"));
  const auto elements = elements_of(t.shape);
  if (!elements) fail_damaged(file, name, "has a shape whose product does not fit into 64 bits");
  t.elements = *elements;
  const format_facts& f = facts(t.format);
  if (t.elements % f.block_elements != 0)
    fail_damaged(file, name, text("has ", t.elements, " elements of ", f.name, ", which are no whole bytes"));
  const auto size = product(t.elements / f.block_elements, f.block_bytes);
  const std::uint64_t first = number(offsets->items[0], file, name, "data_offsets"),
                      last = number(offsets->items[1], file, name, "data_offsets");
  if (first > last) fail_damaged(file, name, text("has bytes ", first, " to ", last));
  if (!size)
    fail_damaged(file, name, text("has a shape whose bytes in ", f.name, " do not fit into 64 bits"));
  if (last - first != *size)
    fail_damaged(file, name,
                 text("has ", last - first, " bytes, and its shape in ", f.name, " asks for ", *size));
  if (last > data.size())
    fail_damaged(file, name,
                 text("has bytes ", first, " to ", last, " of ", data.size(), ": the file ends early, and ",
                      end - data.size(), " bytes are missing"));
  t.offset = begin + first;
  if (*size != 0) t.bytes = data.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(*size));
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
  if (*length == 0 || (left != 0 && bytes[bytes.size() - in.left()] != std::byte{'{'}))
    fail_foreign(s.path, "no safetensors file: its header does not begin with {");
  const auto header = in.take(*length);
  if (!header)
    fail_damaged(
        s.path, {},
        text("it ends early: its header has ", *length, " bytes, of which ", *length - left, " are missing"));
  s.header = parse_json_of(s.path, characters(*header), "the header", 0);
  return bytes.last(in.left());
}

// Appends the tensors of one file to `tensors`, in the order of their bytes.
void read_shard(shard& s, std::span<const std::byte> bytes, std::vector<tensor_entry>& tensors,
                std::vector<safetensors_file::text_entry>* metadata) {
  const std::span<const std::byte> data = read_header(s, bytes);
  const std::uint64_t begin = bytes.size() - data.size();
  const std::uint64_t end_of_tensors = end_of(s.header);
  std::vector<tensor_entry> own;
  for (const auto& [name, value] : s.header.members) {
    if (name == "__metadata__") {
      for (const auto& [key, of_key] : value.members) {
        if (!of_key.is_string()) fail_damaged(s.path, {}, text("its metadata '", key, "' is no text"));
        if (metadata) metadata->push_back({key, of_key.text});
      }
      if (!value.is_object()) fail_damaged(s.path, {}, "its metadata is no object");
      continue;
    }
    own.push_back(read_entry(name, value, data, begin, end_of_tensors, s.path));
  }
  // Tensors without bytes come before the one that begins at their offset.
  std::ranges::sort(own, {}, [](const tensor_entry& t) { return std::pair(t.offset, t.bytes.size()); });
  check_overlaps(own, s.path);
  std::uint64_t end = begin;
  for (const tensor_entry& t : own) {
    if (t.offset > end)
      fail_damaged(s.path, t.name, text("is preceded by ", t.offset - end, " bytes of no tensor"));
    end = std::max<std::uint64_t>(end, t.offset + t.bytes.size());
  }
  if (end != bytes.size())
    fail_damaged(s.path, {}, text("its last ", bytes.size() - end, " bytes are of no tensor"));
  std::move(own.begin(), own.end(), std::back_inserter(tensors));
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
    const json index = parse_json_of(path, characters(mapped.bytes()), "the index", 1);
    const json* const map = index.find("weight_map");
    if (!map) fail_foreign(path, "no index of safetensors files: it has no weight_map");
    if (!map->is_object() || map->members.empty()) fail_damaged(path, {}, "its weight_map names no tensor");
    std::vector<std::pair<std::string_view, std::string_view>> wanted;  // file, tensor
    for (const auto& [name, file] : map->members) {
      if (!file.is_string()) fail_damaged(path, name, "is in no file");
      // A file of a stranger must not name any other of this machine.
      if (!problem_of_name(file.text).empty() || file.text.find('/') != std::string::npos ||
          file.text == "." || file.text == "..")
        fail_damaged(path, name, text("is in '", file.text, "', which is no file of the index' folder"));
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
