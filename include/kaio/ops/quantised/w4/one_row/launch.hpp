#pragma once
// How units of columns are divided among the clusters of a launch for one row of x.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/quantised/w4/one_row/config.hpp>
#include <kaio/runtime/properties.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct w4_one_row_launch {
  std::uint32_t clusters = 0, parts = 1;
  w4_one_row_work work{};

  // A cluster of more than two blocks is in one group of multiprocessors, of which some are left over.
  w4_one_row_launch(std::uint32_t units, std::uint32_t parts_of_k, const device_properties& device,
                    const w4_one_row_work& norm = {})
      : parts(parts_of_k), work(norm) {
    const std::uint32_t all = std::max(device.multiprocessors, 1u);
    const std::uint32_t at_once = std::max((parts > 2 ? all * 10 / 11 : all) / parts, 1u);
    clusters = std::min(units, at_once);
    work.units = units / clusters;
    work.rest = units % clusters;
  }
  dsl::grid grid() const { return dsl::grid(clusters * parts).cluster(parts).programmatic(); }
};

// Among how many blocks of a cluster the K of tiles_k tiles is divided: the fewest with which half of the
// multiprocessors have a block, as measured on an H200; two at most, where that is room enough for x. 0: there is none.
inline std::uint32_t plan_w4_one_row(std::uint32_t units, std::uint32_t tiles_k,
                                     const device_properties& device) {
  constexpr w4_one_row_config C = w4_one_row;
  const auto has_room = [&](std::uint32_t parts) {
    return parts <= tiles_k && (tiles_k + parts - 1) / parts * w4_tile_k <= C.k;
  };
  for (std::uint32_t parts = 1; parts <= C.most_parts; parts *= 2)
    if (has_room(parts) && (2 * units >= device.multiprocessors || parts > 1 || parts == tiles_k))
      return parts;
  return 0;
}

}  // namespace kaio::ops
