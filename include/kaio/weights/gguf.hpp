#pragma once
// GGUF files, version 2 and 3, little endian: the format of llama.cpp. Opening maps the file and checks all
// of its structure; the bytes of the tensors are not touched.
//
//   gguf_file model = gguf_file::open("model-Q4_K_M.gguf");
//   for (const tensor_entry& t : model.tensors()) std::cout << t.name << ' ' << facts(t.format).name << '\n';
//   const gguf_value* heads = model.metadata("llama.attention.head_count");
//   if (heads) use(heads->as_unsigned());
//
// A model in several files (split.count, model-00001-of-00003.gguf) is opened as one by the path of any of them. Its
// metadata are those of the first file. A tensor of a type that kaio does not know has weight_format::unknown.
// Opening checks:
//   counts, lengths, offsets   inside the file; products of extents without overflow
//   names, keys                UTF-8, not empty, at most 65535 bytes, no control characters, each once
//   tensors                    offsets keep the alignment (a power of two); rows are whole blocks; no overlaps
//   several files              each is the part that its name says; the first one's number of tensors
// A contradiction throws file_error with errc::damaged_file, another version errc::unsupported_format, a file that
// cannot be mapped errc::unreadable_file. Do not shorten a mapped file: reading beyond its new end kills the program
// with SIGBUS.
//
// Source: ggml, docs/gguf.md; the types are in weight_format.hpp.

#include <kaio/runtime/error.hpp>
#include <kaio/weights/tensor_entry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kaio::weights {

enum class gguf_type : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

// A value of the metadata, in the file's bytes.
struct gguf_value {
  std::string_view key;
  gguf_type type{};
  gguf_type element{};      // of an array
  std::uint64_t count = 1;  // of an array's elements
  std::span<const std::byte>
      bytes;  // the value; of a string its characters; of an array all elements, strings with their lengths

  // Nothing if the value has another kind, or does not fit the result.
  std::optional<std::uint64_t> as_unsigned() const noexcept;
  std::optional<std::int64_t> as_signed() const noexcept;
  std::optional<double> as_number() const noexcept;  // any number
  std::optional<bool> as_bool() const noexcept;
  std::optional<std::string_view> as_string() const noexcept;
};

class gguf_file {
 public:
  // Maps the file, or all files of the model that it is a part of.
  static gguf_file open(std::string_view path);
  // Reads the caller's memory, which must not change while the object lives; `name` is for messages.
  static gguf_file view(std::span<const std::byte> bytes, std::string_view name);
  gguf_file(gguf_file&& other) noexcept;
  gguf_file& operator=(gguf_file&& other) noexcept;
  ~gguf_file();

  std::uint32_t version() const noexcept;
  std::uint32_t alignment() const noexcept;
  // The mapped files.
  std::size_t files() const noexcept;
  // In the order of the file, file by file.
  std::span<const tensor_entry> tensors() const noexcept;
  std::span<const gguf_value> metadata() const noexcept;
  // Null where there is none of that name.
  const tensor_entry* find(std::string_view name) const noexcept;
  const gguf_value* metadata(std::string_view key) const noexcept;

 private:
  struct contents;
  explicit gguf_file(contents* made) noexcept : contents_(made) {}
  contents* contents_;
};

}  // namespace kaio::weights

namespace kaio {
using weights::gguf_file;
using weights::gguf_type;
using weights::gguf_value;
}  // namespace kaio
