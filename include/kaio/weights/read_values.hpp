#pragma once
// Decodes the values of a file's tensor on the host. This is the reference for kernels that decode the same
// bytes, and a way to look into a file. One thread, element by element.
//
//   const std::vector<float> norm = read_values(*model.find("output_norm.weight"));
//   float row[4096];
//   read_values(*model.find("blk.0.attn_q.weight"), row, 7 * 4096);   // row 7 of {4096, 4096}
//
// A stored code is decoded in f32, operation by operation as in the format's reference (ggml's
// dequantize_row_*), so the bits are equal. In MXFP4 a scale of 255 is NaN, as OCP defines it. Numbers of
// another type are rounded once to f32.

#include <kaio/runtime/error.hpp>
#include <kaio/weights/tensor_entry.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::weights {

// Decodes elements `first` to first + to.size() of the tensor in row-major order. Throws invalid_argument if it
// has fewer, and file_error with errc::unsupported_format if facts(format).has_values is false.
void read_values(const tensor_entry& tensor, std::span<float> to, std::uint64_t first = 0);
// Decodes all of them. Throws out_of_memory if they do not fit into the host's address space.
std::vector<float> read_values(const tensor_entry& tensor);

}  // namespace kaio::weights

namespace kaio {
using weights::read_values;
}  // namespace kaio
