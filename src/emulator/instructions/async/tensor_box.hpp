#pragma once
// Which bytes a tensor copy moves: the rows of the box that a tensor map and coordinates name, each with its
// place in global memory and in shared memory (PTX ISA, "Tensors": tiled mode, im2col mode, interleave
// layout, swizzling modes).
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
  std::array<u16, 3> offsets{};  // im2col: of the filter, from W on
};

// Units that follow each other in shared memory, and by `stride` in global memory.
struct tensor_row {
  u64 address = 0;         // in global memory, of the first unit inside the tensor
  u32 first = 0, end = 0;  // units that do
  u64 stride = 0;          // bytes in global memory from unit to unit
};

// The rows of a box, in their order in shared memory. All have map.row_units() units.
// `whole_pieces`: a row ends with the piece of 16 bytes that the tensor ends in, as those that an H200 stores
// do.
std::vector<tensor_row> rows_of(const tensor_map& map, const tensor_coordinates& c,
                                bool whole_pieces = false);

// Why the coordinates are not good for this map; empty if they are. `stores`: into global memory.
std::string problem_of(const tensor_map& map, const tensor_coordinates& c, bool stores);

// Bytes in shared memory from one row to the next: a swizzle takes at least its own width.
u32 row_pitch(const tensor_map& map);

// Bytes in shared memory from the first to past the last.
u64 shared_extent(const tensor_map& map, u64 rows);

// Where the byte at an address of shared memory goes: the swizzle exchanges pieces of 16 bytes.
u32 swizzled(tensor_swizzle swizzle, u32 address);

}  // namespace kaio::emulator
