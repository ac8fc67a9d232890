#pragma once
// The bytes that a tensor copy moves: the rows of the box given by a tensor map and coordinates, each with
// its place in global and shared memory (PTX ISA, "Tensors": tiled mode, im2col mode, interleave layout,
// swizzling modes).
//
//   for (const tensor_row& row : rows_of(map, {.at = {x, y}})) ...

#include "emulator/memory/tensor_map.hpp"
#include "emulator/program/scalar.hpp"

#include <array>
#include <string>
#include <vector>

namespace kaio::emulator {

struct tensor_coordinates {
  std::array<s32, most_tensor_dimensions> at{};
  std::array<u16, 3> offsets{};  // im2col: filter offsets, from W on
};

// Units that are consecutive in shared memory and `stride` bytes apart in global memory.
struct tensor_row {
  u64 address = 0;         // in global memory: the first unit inside the tensor
  u32 first = 0, end = 0;  // units inside the tensor: [first, end)
  u64 stride = 0;          // bytes between units in global memory
};

// The rows of a box, in their order in shared memory. All have map.row_units() units. `whole_pieces`: a row
// ends with the 16-byte piece that contains the tensor's end, as in an H200's stores.
std::vector<tensor_row> rows_of(const tensor_map& map, const tensor_coordinates& c,
                                bool whole_pieces = false);

// Why the coordinates do not fit this map; empty if they do. `stores`: into global memory.
std::string problem_of(const tensor_map& map, const tensor_coordinates& c, bool stores);

// Bytes from one row to the next in shared memory: at least the swizzle's width.
u32 row_pitch(const tensor_map& map);

// Bytes in shared memory from the start of the first row to the end of the last.
u64 shared_extent(const tensor_map& map, u64 rows);

// The place of the byte at a shared-memory address: the swizzle exchanges 16-byte pieces.
u32 swizzled(tensor_swizzle swizzle, u32 address);

}  // namespace kaio::emulator
