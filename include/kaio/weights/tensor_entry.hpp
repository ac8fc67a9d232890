#pragma once
// A tensor of a file of weights: its name, format, shape, and where its bytes are. gguf_file and
// safetensors_file list them; read_values decodes them.

#include <kaio/weights/weight_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kaio::weights {

// The views live as long as the file that the entry is from.
struct tensor_entry {
  std::string_view name;  // UTF-8; of GGUF without control characters, of safetensors with any
  weight_format format{};
  std::vector<std::uint64_t> shape;  // outermost first, in GGUF too: a weight is {N, K}; empty: one number
  std::uint64_t elements = 0;        // the product of the shape
  std::span<const std::byte>
      bytes;                 // in the mapped file; aligned to nothing in general; of an unknown format none
  std::string_view file;     // the path of the file that has it
  std::uint64_t offset = 0;  // of the first byte in that file
  std::uint32_t type = 0;    // of an unknown format: GGUF's number of the type
};

}  // namespace kaio::weights

namespace kaio {
using weights::tensor_entry;
}  // namespace kaio
