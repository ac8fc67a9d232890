#pragma once
// GGUF files, version 2 and 3, little endian: the format of llama.cpp. Opening maps the file and checks all
// of its structure; the bytes of the tensors are not touched.
//
//   gguf_file model = gguf_file::open("model-Q4_K_M.gguf");
//   for (const tensor_entry& t : model.tensors()) std::cout << t.name << ' ' << facts(t.format).name << '\n';
//   const gguf_value* heads = model.metadata("llama.attention.head_count");
//   if (heads) use(heads->as_unsigned());
//
// A model in several files (split.count, model-00001-of-00003.gguf) is opened as one by the path of any of them; its
// metadata are those of the first. A tensor of a type that kaio does not know is listed as weight_format::unknown.
//
// What is checked: that all counts, lengths and offsets are inside the file; products of extents for
// overflow; names (UTF-8, not empty, at most 65535 bytes, no control characters, each once); keys likewise;
// the alignment (a power of two) and that every tensor's offset keeps it; that rows are whole blocks, and
// that no two tensors overlap; of several files that each is the part that its name says, and that they have
// as many tensors as the first one says. What contradicts the format throws file_error with
// errc::damaged_file, other versions errc::unsupported_format, a file that cannot be mapped
// errc::unreadable_file. Nobody may shorten the file while it is mapped: reading what is gone ends the program (SIGBUS).
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

  // Nothing where the value is of another kind, or negative.
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
  // Reads memory of the caller's that stays as it is while the object lives; `name` is for messages.
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
