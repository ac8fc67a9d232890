#pragma once
// The values of a tensor of a file, decoded on the host: the reference of what kernels make of the same
// bytes, and a way to look into a file. One thread, element by element.
//
//   const std::vector<float> norm = read_values(*model.find("output_norm.weight"));
//   float row[4096];
//   read_values(*model.find("blk.0.attn_q.weight"), row, 7 * 4096);   // row 7 of {4096, 4096}
//
// Each value is the exact value of the stored code as the format's reference computes it in f32, operation by
// operation, so that its bits are those of the reference (ggml's dequantize_row_*); a scale of 255 in MXFP4
// is NaN, as OCP defines it. Numbers of another type are rounded once to f32.

#include <kaio/runtime/error.hpp>
#include <kaio/weights/tensor_entry.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::weights {

// Elements `first` to first + to.size() of the tensor in row-major order. Throws invalid_argument where it
// has fewer, and file_error with errc::unsupported_format where facts(format).has_values is false.
void read_values(const tensor_entry& tensor, std::span<float> to, std::uint64_t first = 0);
// All of them. Throws out_of_memory where they do not fit into the host's address space.
std::vector<float> read_values(const tensor_entry& tensor);

}  // namespace kaio::weights

namespace kaio {
using weights::read_values;
}  // namespace kaio
