#pragma once
// safetensors files, and the index of those that are split. Opening maps the files and checks all of their
// structure; the bytes of the tensors are not touched.
//
//   auto model = safetensors_file::open("model.safetensors.index.json");   // or one file *.safetensors
//   if (const tensor_entry* w = model.find("lm_head.weight")) use(w->shape, w->bytes);
//
// A header is accepted and refused as the package safetensors (0.8) does it: its length (at most 100,000,000 bytes); its
// JSON; names, which are any UTF-8, empty ones and control characters too, the last tensor of several with one name; that
// each tensor's offsets are as far apart as its shape and type ask for, with products that fit into 64 bits; that tensors
// neither overlap nor leave holes, and end where the file does. An index names files of its own folder, and
// every tensor that it names is in its file. What contradicts the format throws file_error with
// errc::damaged_file, an unknown type errc::unsupported_format, a file that cannot be mapped
// errc::unreadable_file. Nobody may shorten a file while it is mapped: reading what is gone ends the program
// (SIGBUS).
//
// Source: github.com/huggingface/safetensors, README "Format" and safetensors/src/tensor.rs.

#include <kaio/runtime/error.hpp>
#include <kaio/weights/tensor_entry.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace kaio::weights {

class safetensors_file {
 public:
  struct text_entry {
    std::string_view key, value;
  };

  // Maps one file, or all those that an index (*.json) names.
  static safetensors_file open(std::string_view path);
  // Reads memory of the caller's that stays as it is while the object lives; `name` is for messages.
  static safetensors_file view(std::span<const std::byte> bytes, std::string_view name);
  safetensors_file(safetensors_file&& other) noexcept;
  safetensors_file& operator=(safetensors_file&& other) noexcept;
  ~safetensors_file();

  // In the order of their bytes, file by file.
  std::span<const tensor_entry> tensors() const noexcept;
  // __metadata__ of the file; of an index that of its first file.
  std::span<const text_entry> metadata() const noexcept;
  // Null where there is none of that name.
  const tensor_entry* find(std::string_view name) const noexcept;
  // The mapped files: 1, or those that the index names.
  std::size_t files() const noexcept;

 private:
  struct contents;
  explicit safetensors_file(contents* made) noexcept : contents_(made) {}
  contents* contents_;
};

}  // namespace kaio::weights

namespace kaio {
using weights::safetensors_file;
}  // namespace kaio
