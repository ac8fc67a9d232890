#include "emulator/instructions/texture/footprint.hpp"

#include <algorithm>
#include <cmath>

namespace kaio::emulator {
namespace footprints {
namespace {

constexpr f64 most = 0x1p52;  // beyond it every number is an integer
constexpr f64 weight_steps = 256;

bool repeats(address_mode mode, bool normalized) {
  return normalized && (mode == address_mode::wrap || mode == address_mode::mirror);
}

// The coordinate in texels, exact: a product of 24 and 32 bits.
f64 in_texels(f32 coordinate, u32 size, address_mode mode, bool normalized) {
  if (std::isnan(coordinate)) return 0;
  const f64 u = normalized ? f64{coordinate} * size : f64{coordinate};
  if (std::abs(u) < most) return u;
  return repeats(mode, normalized) ? 0 : std::copysign(most, u);
}

}  // namespace
}  // namespace footprints

s64 folded(s64 index, u32 size, address_mode mode, bool normalized) {
  const s64 n = size;
  if (index >= 0 && index < n) return index;
  if (mode == address_mode::border) return axis_texels::outside;
  if (!footprints::repeats(mode, normalized)) return std::clamp<s64>(index, 0, n - 1);
  const s64 period = mode == address_mode::wrap ? n : 2 * n;
  const s64 within = (index % period + period) % period;
  return within < n ? within : period - 1 - within;
}

axis_texels texels_at(f32 coordinate, u32 size, address_mode mode, bool normalized, filter_mode filter) {
  axis_texels result;
  const f64 u = footprints::in_texels(coordinate, size, mode, normalized);
  if (filter == filter_mode::point) {
    result.index[0] = folded(static_cast<s64>(std::floor(u)), size, mode, normalized);
    return result;
  }
  const f64 v = u - 0.5, first = std::floor(v);
  const f64 a = std::floor((v - first) * footprints::weight_steps + 0.5) / footprints::weight_steps;
  const auto i = static_cast<s64>(first);
  if (a == 0 || a == 1) {
    result.index[0] = folded(a == 0 ? i : i + 1, size, mode, normalized);
    return result;
  }
  result.count = 2;
  result.index = {folded(i, size, mode, normalized), folded(i + 1, size, mode, normalized)};
  result.weight = {1 - a, a};
  return result;
}

std::array<s64, 2> pair_at(f32 coordinate, u32 size, address_mode mode, bool normalized) {
  const f64 u = footprints::in_texels(coordinate, size, mode, normalized);
  const auto i = static_cast<s64>(std::floor(u - 0.5));
  return {folded(i, size, mode, normalized), folded(i + 1, size, mode, normalized)};
}

}  // namespace kaio::emulator
