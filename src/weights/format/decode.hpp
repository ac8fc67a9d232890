#pragma once
// The decoders of blocks: bytes of one block in, the f32 values of its elements out.

#include <kaio/weights/weight_format.hpp>

#include <cstddef>

namespace kaio::weights {

// Decodes one block of bytes (facts(format).block_bytes) to its values (block_elements of them).
using block_decoder = void (*)(const std::byte* block, float* values);

constexpr std::size_t longest_block = 256;  // elements

// Null: there is none, and facts(format).has_values is false.
block_decoder decoder_of(weight_format format) noexcept;
// For blocks with one level of scales, 32 or 64 elements long, and for those of 256; null for others.
block_decoder short_block_decoder(weight_format format) noexcept;
block_decoder long_block_decoder(weight_format format) noexcept;
// For formats whose codes index tables, and for binary, ternary and 2-bit codes; null for others.
block_decoder grid_block_decoder(weight_format format) noexcept;

}  // namespace kaio::weights
