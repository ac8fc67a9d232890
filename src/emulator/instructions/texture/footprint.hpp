#pragma once
// The texels that a texture read combines, and their weights (CUDA C++ Programming Guide, appendix "Texture
// Fetching"). In each dimension of N texels, with u the coordinate in texels:
//
//   point filter    the texel floor(u)
//   linear filter   v = u - 0.5, i = floor(v), a = v - i rounded to 8 bits of fraction:
//                   the texels i and i + 1 with the weights 1 - a and a
//
// A normalized coordinate x is u = N x. An index outside 0 ... N - 1 is folded back by the address mode, or is the
// border. The guide gives the format of the weight, not its rounding: it is rounded to nearest here, so the weight 1
// can occur. Texels of weight 0 are not read.

#include "emulator/memory/image.hpp"

#include <array>

namespace kaio::emulator {

// One or two texels of one dimension.
struct axis_texels {
  static constexpr s64 outside = -1;  // the border
  u32 count = 1;
  std::array<s64, 2> index{};
  std::array<f64, 2> weight{1, 0};
};

// The texel of an integer coordinate, or `outside`. Wrapped and mirrored indices need `normalized` coordinates;
// without them the index is clamped.
s64 folded(s64 index, u32 size, address_mode mode, bool normalized);

// The texels at a coordinate. NaN is 0.
axis_texels texels_at(f32 coordinate, u32 size, address_mode mode, bool normalized, filter_mode filter);

// The two texels of the linear filter, also if their weights are 0: what tld4 gathers.
std::array<s64, 2> pair_at(f32 coordinate, u32 size, address_mode mode, bool normalized);

}  // namespace kaio::emulator
