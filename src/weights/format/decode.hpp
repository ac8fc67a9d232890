#pragma once
// The decoders of blocks: bytes of one block in, the f32 values of its elements out.

#include <kaio/weights/weight_format.hpp>

#include <cstddef>

namespace kaio::weights {

// Decodes one block of bytes (facts(format).block_bytes) to its values (block_elements of them).
using block_decoder = void (*)(const std::byte* block, float* values);

constexpr std::size_t longest_block = 256;  // elements

// Null where there is none: facts(format).has_values is false.
block_decoder decoder_of(weight_format format) noexcept;
// Of the blocks with one level of scales, 32 or 64 elements long, and of those of 256; null for others.
block_decoder short_block_decoder(weight_format format) noexcept;
block_decoder long_block_decoder(weight_format format) noexcept;
// The formats whose codes are in tables, and the binary and ternary ones; null for others.
block_decoder grid_block_decoder(weight_format format) noexcept;

}  // namespace kaio::weights
