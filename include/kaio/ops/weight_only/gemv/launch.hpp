#pragma once
// The launch for one row of x: how clusters divide the units of columns.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/runtime/properties.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kaio::ops {

struct w4_one_row_launch {
  std::uint32_t clusters = 0, splits = 1;
  w4_one_row_work work{};

  // A cluster of more than two blocks needs one group of multiprocessors, which leaves some of them over.
  w4_one_row_launch(std::uint32_t units, std::uint32_t splits_of_k, const device_properties& device,
                    const w4_one_row_work& norm = {})
      : splits(splits_of_k), work(norm) {
    const std::uint32_t all = std::max(device.multiprocessors, 1u);
    const std::uint32_t at_once = std::max((splits > 2 ? all * 10 / 11 : all) / splits, 1u);
    clusters = std::min(units, at_once);
    work.units = units / clusters;
    work.rest = units % clusters;
  }
  dsl::grid grid() const { return dsl::grid(clusters * splits).cluster(splits).programmatic(); }
};

// The division of K in a launch, and its microseconds by a model. No splits: no block has room for its x.
struct w4_one_row_division {
  std::uint32_t splits = 0;
  double microseconds = std::numeric_limits<double>::infinity();
};

// Plans units of `tiles_of_unit` tiles of columns. asked: the number of splits; 0: the number that takes the
// least time.
inline w4_one_row_division plan_w4_one_row(const w4_one_row_config& config, std::uint32_t units,
                                           std::uint32_t tiles_of_unit, std::uint32_t tiles_k,
                                           std::uint32_t asked, const device_properties& device) {
  // Microseconds, as measured on an H200:
  //
  //   of_launch    per launch
  //   of_most      per KB of codes of the busiest multiprocessor; eight bits take fewer instructions
  //   of_mean      per KB of codes of an average multiprocessor, by the memory's rate
  //   of_block     per block of a cluster
  constexpr double of_launch = 2.6, of_mean = 0.0195, of_block = 0.2;
  const double of_most = config.bits == 8 ? 0.0105 : 0.0125;
  const double kilobytes = tiles_of_unit * (config.words() / double{256});  // per unit and 64 k
  w4_one_row_division best;
  for (std::uint32_t splits = 1; splits <= config.most_splits; splits *= 2) {
    const std::uint32_t of_split = (tiles_k + splits - 1) / splits;
    if (splits > tiles_k || of_split * w4_tile_k > config.k || (asked != 0 && asked != splits)) continue;
    const w4_one_row_launch launch(units, splits, device);
    const double most = static_cast<double>(launch.work.units + (launch.work.rest != 0 ? 1 : 0)) * of_split;
    const double mean = static_cast<double>(units) * tiles_k / std::max(device.multiprocessors, 1u);
    const double time = of_launch + kilobytes * (of_most * most + of_mean * std::min(mean, most)) +
                        (splits > 1 ? of_block * splits : 0);
    if (time < best.microseconds) best = {splits, time};
  }
  return best;
}

}  // namespace kaio::ops
