// Reads the structure of a GGUF file: header, metadata, descriptions of the tensors; then the tensors'
// places.

#include <kaio/weights/gguf.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/text.hpp"
#include "weights/base/byte_reader.hpp"
#include "weights/base/checks.hpp"
#include "weights/base/failure.hpp"
#include "weights/base/mapped_file.hpp"
#include "weights/format/format_table.hpp"

namespace kaio::weights {

using runtime::text;

namespace {

// One file.
struct gguf_part {
  mapped_file mapped;
  std::string path;
  std::uint32_t version = 0, alignment = 32;
  std::vector<gguf_value> metadata;
  std::vector<const gguf_value*> by_key;
  std::vector<tensor_entry> tensors;

  // Null where there is none of that name.
  const gguf_value* find(std::string_view key) const noexcept {
    const auto key_of = [](const gguf_value* v) { return v->key; };
    const auto at = std::ranges::lower_bound(by_key, key, {}, key_of);
    return at != by_key.end() && (*at)->key == key ? *at : nullptr;
  }
};

constexpr std::uint32_t magic = 0x46554747;  // "GGUF"
constexpr std::uint32_t most_dimensions = 4;
// The least bytes of a key (length, type, value of one byte) and of a tensor (length, rank, type, offset).
constexpr std::uint64_t least_key_bytes = 8 + 4 + 1, least_tensor_bytes = 8 + 4 + 4 + 8;

// Bytes of a value of a fixed size; 0: it has none.
std::uint32_t size_of(gguf_type type) {
  switch (type) {
    case gguf_type::u8:
    case gguf_type::i8:
    case gguf_type::boolean: return 1;
    case gguf_type::u16:
    case gguf_type::i16: return 2;
    case gguf_type::u32:
    case gguf_type::i32:
    case gguf_type::f32: return 4;
    case gguf_type::u64:
    case gguf_type::i64:
    case gguf_type::f64: return 8;
    case gguf_type::string:
    case gguf_type::array: break;
  }
  return 0;
}

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class parser {
 public:
  parser(std::span<const std::byte> bytes, std::string_view file) : in_(bytes), bytes_(bytes), file_(file) {}

  void header(std::uint32_t& version, std::uint64_t& tensors, std::uint64_t& keys) {
    const auto first = in_.read<std::uint32_t>();
    if (!first || *first != magic) fail_damaged(file_, {}, "it does not begin with GGUF");
    version = need<std::uint32_t>("its header");
    if (version == 0x02000000 || version == 0x03000000) fail_unsupported(file_, {}, "it is big endian");
    if (version != 2 && version != 3)
      fail_unsupported(file_, {}, text("it is of version ", version, ", and kaio reads 2 and 3"));
    tensors = need<std::uint64_t>("its header");
    keys = need<std::uint64_t>("its header");
    if (keys > in_.left() / least_key_bytes)
      fail_damaged(file_, {}, text("it cannot hold its ", keys, " keys"));
    if (tensors > in_.left() / least_tensor_bytes)
      fail_damaged(file_, {}, text("it cannot hold its ", tensors, " tensors"));
  }

  gguf_value key_and_value() {
    gguf_value v;
    v.key = string("a key");
    if (const auto problem = problem_of_name(v.key); !problem.empty())
      fail_damaged(file_, {}, text("a key ", problem));
    v.type = type_of(v.key);
    if (v.type == gguf_type::string) {
      v.bytes = std::as_bytes(std::span(string(v.key)));
    } else if (v.type == gguf_type::array) {
      v.element = type_of(v.key);
      v.count = need<std::uint64_t>(v.key);
      if (v.element == gguf_type::array)
        fail_unsupported(file_, {}, text("the key '", v.key, "' has arrays of arrays"));
      v.bytes = elements(v);
    } else {
      v.bytes = take(size_of(v.type), v.key);
    }
    const bool truths =
        v.type == gguf_type::boolean || (v.type == gguf_type::array && v.element == gguf_type::boolean);
    if (truths)
      for (const std::byte b : v.bytes)
        if (b > std::byte{1})
          fail_damaged(file_, {}, text("the key '", v.key, "' has a bool that is neither 0 nor 1"));
    return v;
  }

  // The tensor without its bytes; `offset` is the file's field, counted from the beginning of the data.
  tensor_entry tensor() {
    tensor_entry t;
    t.name = string("the name of a tensor");
    if (const auto problem = problem_of_name(t.name); !problem.empty())
      fail_damaged(file_, {}, text("the name of a tensor ", problem));
    tensor_ = t.name;
    const auto rank = need<std::uint32_t>(t.name);
    if (rank > most_dimensions)
      fail_damaged(file_, t.name, text("has ", rank, " dimensions, and 4 are the most"));
    t.shape.resize(rank);
    for (std::uint32_t i = rank; i-- > 0;) t.shape[i] = need<std::uint64_t>(t.name);
    const auto elements = elements_of(t.shape);
    if (!elements) fail_damaged(file_, t.name, "has a shape whose product does not fit into 64 bits");
    t.elements = *elements;
    const auto type = need<std::uint32_t>(t.name);
    t.format = format_of(type);
    if (t.format == weight_format::unknown) t.type = type;
    const format_facts& f = facts(t.format);
    const std::uint64_t row = rank == 0 ? 1 : t.shape.back();
    if (row % f.block_elements != 0)
      fail_damaged(file_, t.name,
                   text("has rows of ", row, " elements, no multiple of the ", f.block_elements,
                        " of a block of ", f.name));
    t.offset = need<std::uint64_t>(t.name);
    t.file = file_;
    tensor_ = {};
    return t;
  }

  // Where the tensors' data begin.
  std::uint64_t data_begin(std::uint32_t alignment) const {
    const std::uint64_t at = in_.position();
    return at + (alignment - at % alignment) % alignment;
  }

  void place(tensor_entry& t, std::uint64_t data, std::uint32_t alignment) const {
    const format_facts& f = facts(t.format);
    const auto size = product(t.elements / f.block_elements, f.block_bytes);
    const auto begin = sum(data, t.offset);
    const auto end = size && begin ? sum(*begin, *size) : std::nullopt;
    if (t.offset % alignment != 0)
      fail_damaged(file_, t.name,
                   text("begins at offset ", t.offset, ", no multiple of the alignment ", alignment));
    if (!size || !begin || !end || (*end > bytes_.size() && *size != 0))
      fail_damaged(file_, t.name, text("ends after the file's ", bytes_.size(), " bytes"));
    t.offset = *begin;
    if (*size != 0)
      t.bytes = bytes_.subspan(static_cast<std::size_t>(*begin), static_cast<std::size_t>(*size));
  }

 private:
  [[noreturn]] void fail_cut(std::string_view of) const {
    if (!tensor_.empty()) fail_damaged(file_, tensor_, "is cut off: the file ends within its description");
    fail_damaged(file_, {}, text("it ends within ", of));
  }
  std::span<const std::byte> take(std::uint64_t count, std::string_view of) {
    const auto taken = in_.take(count);
    if (!taken) fail_cut(of);
    return *taken;
  }
  template <class T>
  T need(std::string_view of) {
    return load<T>(take(sizeof(T), of).data());
  }
  std::string_view string(std::string_view of) { return characters(take(need<std::uint64_t>(of), of)); }

  gguf_type type_of(std::string_view key) {
    const auto type = need<std::uint32_t>(key);
    if (type > static_cast<std::uint32_t>(gguf_type::f64))
      fail_damaged(file_, {}, text("the key '", key, "' has a value of the unknown type ", type));
    return static_cast<gguf_type>(type);
  }

  std::span<const std::byte> elements(const gguf_value& v) {
    if (const std::uint32_t size = size_of(v.element)) {
      const auto bytes = product(v.count, size);
      if (!bytes) fail_cut(v.key);
      return take(*bytes, v.key);
    }
    const std::size_t begin = in_.position();
    for (std::uint64_t i = 0; i < v.count; ++i) string(v.key);
    return bytes_.subspan(begin, in_.position() - begin);
  }

  // Q8_1 and Q8_K, types of activations, are unknown too: the reference contradicts itself about their sizes.
  static weight_format format_of(std::uint32_t type) {
    for (const format_row& row : format_rows())
      if (row.gguf_type == type && type != format_row::no_id) return row.facts.format;
    return weight_format::unknown;
  }

  byte_reader in_;
  std::span<const std::byte> bytes_;
  std::string_view file_, tensor_;  // tensor_: the one whose description is read
};

std::uint32_t alignment_of(const gguf_value* value, std::string_view file) {
  if (!value) return 32;
  const auto alignment = value->as_unsigned();
  if (value->type != gguf_type::u32 || !alignment || !std::has_single_bit(*alignment))
    fail_damaged(file, {}, "its general.alignment is no power of two as u32");
  return static_cast<std::uint32_t>(*alignment);
}

std::unique_ptr<gguf_part> read_part(std::span<const std::byte> bytes, std::string_view path) {
  auto made = std::make_unique<gguf_part>();
  gguf_part& p = *made;
  p.path = std::string(path);
  parser in(bytes, p.path);
  std::uint64_t tensors = 0, keys = 0;
  in.header(p.version, tensors, keys);
  for (std::uint64_t i = 0; i < keys; ++i) p.metadata.push_back(in.key_and_value());
  for (const gguf_value& v : p.metadata) p.by_key.push_back(&v);
  const auto key_of = [](const gguf_value* v) { return v->key; };
  std::ranges::sort(p.by_key, {}, key_of);
  const auto twice = std::ranges::adjacent_find(p.by_key, {}, key_of);
  if (twice != p.by_key.end()) fail_damaged(path, {}, text("its key '", (*twice)->key, "' occurs twice"));
  for (std::uint64_t i = 0; i < tensors; ++i) p.tensors.push_back(in.tensor());
  p.alignment = alignment_of(p.find("general.alignment"), path);
  for (tensor_entry& t : p.tensors) in.place(t, in.data_begin(p.alignment), p.alignment);
  check_overlaps(p.tensors, path);
  return made;
}

std::unique_ptr<gguf_part> map_part(const std::string& path) {
  mapped_file mapped(path);
  auto made = read_part(mapped.bytes(), path);
  made->mapped = std::move(mapped);
  return made;
}

std::uint64_t number_of(const gguf_part& p, std::string_view key) {
  const gguf_value* const value = p.find(key);
  return value ? value->as_unsigned().value_or(0) : 0;
}

// As llama.cpp writes the number of a part.
std::string padded(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

// The parts of the name "model-00002-of-00003.gguf": "model" and 2.
struct split_name {
  std::string begin;
  std::uint64_t number = 0;  // from 1 on
};
// Nothing if the path is not that of one of `count` parts.
std::optional<split_name> name_of_split(std::string_view path, std::uint64_t count) {
  const std::string end = text("-of-", padded(count), ".gguf");
  if (!path.ends_with(end)) return std::nullopt;
  path.remove_suffix(end.size());
  const std::size_t dash = path.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = path.substr(dash + 1);
  split_name name{std::string(path.substr(0, dash))};
  std::from_chars(digits.data(), digits.data() + digits.size(), name.number);
  if (digits != padded(name.number)) return std::nullopt;
  return name;
}

}  // namespace

struct gguf_file::contents {
  std::vector<std::unique_ptr<gguf_part>> parts;
  std::vector<tensor_entry> tensors;  // of all parts
  name_index by_name;

  void index(std::string_view path) {
    for (const auto& p : parts) std::ranges::copy(p->tensors, std::back_inserter(tensors));
    by_name = name_index(tensors, path);
  }

  // Opens all parts of the model that `one` belongs to, in their order.
  void open_all(std::unique_ptr<gguf_part> one) {
    const std::uint64_t count = number_of(*one, "split.count");
    const auto name = count > 1 ? name_of_split(one->path, count) : std::nullopt;
    if (!name || name->number == 0 || name->number > count) return parts.push_back(std::move(one));
    const std::uint64_t own = name->number - 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string path = text(name->begin, '-', padded(i + 1), "-of-", padded(count), ".gguf");
      parts.push_back(i == own ? std::move(one) : map_part(path));
      const gguf_part& p = *parts.back();
      if (number_of(p, "split.no") != i || number_of(p, "split.count") != count)
        fail_damaged(path, {},
                     text("it is part ", number_of(p, "split.no") + 1, " of ", number_of(p, "split.count"),
                          " by its metadata, and ", i + 1, " of ", count, " by its name"));
    }
    std::uint64_t tensors_of_all = 0;
    for (const auto& p : parts) tensors_of_all += p->tensors.size();
    if (const std::uint64_t wanted = number_of(*parts[0], "split.tensors.count");
        wanted != 0 && wanted != tensors_of_all)
      fail_damaged(
          parts[0]->path, {},
          text("its ", count, " files have ", tensors_of_all, " tensors, and ", wanted, " are asked for"));
  }
};

gguf_file gguf_file::view(std::span<const std::byte> bytes, std::string_view name) {
  gguf_file file(new contents);
  file.contents_->parts.push_back(read_part(bytes, name));
  file.contents_->index(name);
  return file;
}

gguf_file gguf_file::open(std::string_view path) {
  gguf_file file(new contents);
  file.contents_->open_all(map_part(std::string(path)));
  file.contents_->index(path);
  return file;
}

gguf_file::gguf_file(gguf_file&& other) noexcept : contents_(std::exchange(other.contents_, nullptr)) {}

gguf_file& gguf_file::operator=(gguf_file&& other) noexcept {
  std::swap(contents_, other.contents_);
  return *this;
}

gguf_file::~gguf_file() { delete contents_; }

std::uint32_t gguf_file::version() const noexcept { return contents_->parts[0]->version; }
std::uint32_t gguf_file::alignment() const noexcept { return contents_->parts[0]->alignment; }
std::size_t gguf_file::files() const noexcept { return contents_->parts.size(); }
std::span<const tensor_entry> gguf_file::tensors() const noexcept { return contents_->tensors; }
std::span<const gguf_value> gguf_file::metadata() const noexcept { return contents_->parts[0]->metadata; }
const tensor_entry* gguf_file::find(std::string_view name) const noexcept {
  return contents_->by_name.find(name);
}
const gguf_value* gguf_file::metadata(std::string_view key) const noexcept {
  return contents_->parts[0]->find(key);
}

}  // namespace kaio::weights
