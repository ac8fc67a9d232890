#pragma once
// The effect of a tensor copy, element by element, straight from the definitions: a model on the host that
// the tests compare the emulator with. It knows nothing of rows or runs.

#include "emulator/memory/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace emulator_test {

using kaio::emulator::tensor_fill;
using kaio::emulator::tensor_interleave;
using kaio::emulator::tensor_swizzle;

struct tensor_case {
  unsigned rank = 2, element_bytes = 4;
  kaio::emulator::tensor_element element = kaio::emulator::tensor_element::uint32;
  std::array<std::uint64_t, 5> sizes{};
  std::array<std::uint64_t, 4> strides{};  // bytes, of dimensions 1 ...
  std::array<std::uint32_t, 5> box{}, steps{1, 1, 1, 1, 1};
  std::array<std::int32_t, 5> at{};
  tensor_swizzle swizzle = tensor_swizzle::none;
  tensor_fill fill = tensor_fill::zero;
};

// One element of a box: where it is in the tensor's bytes (below 0: outside of the tensor) and in shared
// memory, as an address there.
struct tensor_place {
  std::int64_t global = -1;
  std::uint32_t shared = 0;
};

inline std::uint32_t swizzled_address(tensor_swizzle swizzle, std::uint32_t address) {
  const std::uint32_t chunk = address / 16, line = address / 128;
  switch (swizzle) {
    case tensor_swizzle::b32: return (chunk ^ line % 2) * 16 + address % 16;
    case tensor_swizzle::b64: return (chunk ^ line % 4) * 16 + address % 16;
    case tensor_swizzle::b128: return (chunk ^ line % 8) * 16 + address % 16;
    default: return address;
  }
}

inline std::vector<tensor_place> places_of(const tensor_case& c, std::uint32_t shared) {
  std::vector<tensor_place> result;
  const std::uint32_t widths[] = {0, 32, 64, 128};
  const std::uint32_t row = std::max(c.box[0] * c.element_bytes, widths[static_cast<unsigned>(c.swizzle)]);
  std::uint32_t rows = 0;
  std::array<std::uint32_t, 5> k{};
  const auto extent = [&](unsigned d) {
    return d >= c.rank ? 1u : d == 0 ? c.box[0] : (c.box[d] + c.steps[d] - 1) / c.steps[d];
  };
  for (k[4] = 0; k[4] < extent(4); ++k[4])
    for (k[3] = 0; k[3] < extent(3); ++k[3])
      for (k[2] = 0; k[2] < extent(2); ++k[2])
        for (k[1] = 0; k[1] < extent(1); ++k[1], ++rows)
          for (k[0] = 0; k[0] < extent(0); ++k[0]) {
            tensor_place p;
            std::int64_t offset = 0;
            bool inside = true;
            for (unsigned d = 0; d < c.rank; ++d) {
              const std::int64_t x = c.at[d] + std::int64_t{k[d]} * (d == 0 ? 1 : c.steps[d]);
              inside = inside && x >= 0 && x < static_cast<std::int64_t>(c.sizes[d]);
              offset +=
                  x * (d == 0 ? std::int64_t{c.element_bytes} : static_cast<std::int64_t>(c.strides[d - 1]));
            }
            if (inside) p.global = offset;
            p.shared = swizzled_address(c.swizzle, shared + rows * row + k[0] * c.element_bytes);
            result.push_back(p);
          }
  return result;
}

}  // namespace emulator_test
