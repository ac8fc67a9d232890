#pragma once
// safetensors files, and the index of those that are split. Opening maps the files and checks all of their
// structure; the bytes of the tensors are not touched.
//
//   auto model = safetensors_file::open("model.safetensors.index.json");   // or one file *.safetensors
//   if (const tensor_entry* w = model.find("lm_head.weight")) use(w->shape, w->bytes);
//
// A header is accepted or refused as by the package safetensors (0.8):
//   header    at most 100,000,000 bytes, JSON
//   names     any UTF-8, even empty or with control characters; of several tensors with one name the last
//   tensors   offsets as far apart as shape and type ask for, with products that fit into 64 bits
//   data      no overlaps and no holes; the last tensor ends where the file does
// An index names files of its own folder, and each tensor that it names is in its file. A contradiction throws file_error
// with errc::damaged_file, an unknown type errc::unsupported_format, a file that cannot be mapped errc::unreadable_file.
// Do not shorten a mapped file: reading beyond its new end kills the program with SIGBUS.
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

  // Maps one file, or all files that an index (*.json) names.
  static safetensors_file open(std::string_view path);
  // Reads the caller's memory, which must not change while the object lives; `name` is for messages.
  static safetensors_file view(std::span<const std::byte> bytes, std::string_view name);
  safetensors_file(safetensors_file&& other) noexcept;
  safetensors_file& operator=(safetensors_file&& other) noexcept;
  ~safetensors_file();

  // In the order of their bytes, file by file.
  std::span<const tensor_entry> tensors() const noexcept;
  // __metadata__ of the file; of an index, that of its first file.
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
