#include "emulator/instructions/async/tensor_box.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kaio::emulator {
namespace {

constexpr u32 bytes_of(tensor_swizzle swizzle) {
  return swizzle == tensor_swizzle::none ? 0 : 16u << static_cast<unsigned>(swizzle);
}

using position = std::array<s64, most_tensor_dimensions>;

// The row that starts at a position.
tensor_row row_at(const tensor_map& map, const position& at, bool whole_pieces = false) {
  tensor_row row;
  const s64 unit = map.unit_bytes(), step = map.steps[0], units = map.row_units();
  row.stride = static_cast<u64>(unit * step);
  u64 address = map.address;
  for (unsigned d = 1; d < map.rank; ++d) {
    if (at[d] < 0 || at[d] > static_cast<s64>(map.last[d])) return row;
    address += static_cast<u64>(at[d]) * map.strides[d - 1];
  }
  const auto steps_to = [&](s64 coordinate) { return (coordinate + step - 1) / step; };
  const s64 first = at[0] < 0 ? std::min(units, steps_to(-at[0])) : 0;
  const s64 in_piece = whole_pieces && unit < 16 ? 16 / unit : 1;
  const s64 size = (static_cast<s64>(map.last[0]) + in_piece) / in_piece * in_piece;
  const s64 end = size > at[0] ? std::min(units, steps_to(size - at[0])) : 0;
  if (end <= first) return row;
  row.first = static_cast<u32>(first);
  row.end = static_cast<u32>(end);
  row.address = address + static_cast<u64>((at[0] + first * step) * unit);
  return row;
}

std::vector<tensor_row> tiled_rows(const tensor_map& map, const tensor_coordinates& c, bool whole_pieces) {
  position at{};
  std::array<u32, most_tensor_dimensions> count{}, index{};
  std::size_t total = 1;
  for (unsigned d = 0; d < map.rank; ++d) {
    at[d] = c.at[d];
    count[d] = map.moved(d);
    if (d != 0) total *= count[d];
  }
  std::vector<tensor_row> rows;
  rows.reserve(total);
  for (std::size_t k = 0; k < total; ++k) {
    rows.push_back(row_at(map, at, whole_pieces));
    for (unsigned d = 1; d < map.rank; ++d) {
      at[d] += map.steps[d];
      if (++index[d] < count[d]) break;
      index[d] = 0;
      at[d] = c.at[d];
    }
  }
  return rows;
}

// The first dimension of the pixels: it follows the channels, which an interleaved tensor keeps in slices.
unsigned first_spatial(const tensor_map& map) { return map.interleave == tensor_interleave::none ? 1 : 0; }

// All pixels of the bounding box, then those of the next image's.
std::vector<tensor_row> im2col_rows(const tensor_map& map, const tensor_coordinates& c) {
  const unsigned spatial = map.rank - 2u, first = first_spatial(map);
  position base{};
  for (unsigned d = 0; d < map.rank; ++d) base[d] = c.at[d];
  std::vector<tensor_row> rows;
  rows.reserve(map.pixels);
  for (unsigned pixel = 0; pixel < map.pixels; ++pixel) {
    position at = base;
    for (unsigned k = 0; k < spatial; ++k) at[first + k] += c.offsets[k];
    rows.push_back(row_at(map, at));
    unsigned k = 0;
    for (; k < spatial; ++k) {
      s64& x = base[first + k];
      x += map.steps[first + k];
      if (x <= static_cast<s64>(map.last[first + k]) + map.upper[k]) break;
      x = map.lower[k];
    }
    if (k == spatial) base[map.rank - 1u] += map.steps[map.rank - 1u];
  }
  return rows;
}

}  // namespace

std::vector<tensor_row> rows_of(const tensor_map& map, const tensor_coordinates& c, bool whole_pieces) {
  return map.mode == tensor_mode::tiled ? tiled_rows(map, c, whole_pieces) : im2col_rows(map, c);
}

std::string problem_of(const tensor_map& map, const tensor_coordinates& c, bool stores) {
  if (stores)
    for (unsigned d = 0; d < map.rank; ++d)
      if (c.at[d] < 0)
        return fmt::format(
            "coordinate {} of dimension {} is negative; a box that is stored starts within the tensor",
            c.at[d], d);
  if (map.mode == tensor_mode::tiled) {
    // An H200 ends a kernel that breaks this rule with an illegal instruction.
    if (!stores && map.interleave == tensor_interleave::none && c.at[0] * s64{map.unit_bytes()} % 16 != 0)
      return fmt::format(
          "coordinate {} of dimension 0 is not at a multiple of 16 bytes; a loaded box must start at one",
          c.at[0]);
    return {};
  }
  const unsigned spatial = map.rank - 2u, first = first_spatial(map);
  const unsigned bits = spatial == 1 ? 16 : spatial == 2 ? 8 : 5;
  for (unsigned k = 0; k < spatial; ++k) {
    const s64 x = c.at[first + k], end = static_cast<s64>(map.last[first + k]) + map.upper[k];
    if (x < map.lower[k] || x > end)
      return fmt::format("coordinate {} of dimension {} is outside of the bounding box, {} to {}", x,
                         first + k, map.lower[k], end);
    if (c.offsets[k] >> bits != 0)
      return fmt::format("im2col offset {} of dimension {} is not below {}", c.offsets[k], first + k,
                         1u << bits);
    if (stores && (map.lower[k] < 0 || map.upper[k] > 0))
      return "a bounding box that is stored must be within the tensor: its lower corner is not negative, its upper one not positive";
  }
  return {};
}

u32 row_pitch(const tensor_map& map) {
  return std::max(map.unit_bytes() * map.row_units(), bytes_of(map.swizzle));
}

u64 shared_extent(const tensor_map& map, u64 rows) { return rows * row_pitch(map); }

u32 swizzled(tensor_swizzle swizzle, u32 address) {
  if (swizzle == tensor_swizzle::none) return address;
  const u32 chunks = bytes_of(swizzle) / 16;
  return address ^ (address >> 7 & (chunks - 1)) << 4;
}

}  // namespace kaio::emulator
