// The models of times of the kernels of matmul_w4, and the division of K by them.

#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>

#include <algorithm>
#include <limits>

#include "ops/weight_only/common/families.hpp"

namespace kaio::ops {

w4_division plan_w4_splits(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                           std::uint32_t asked) {
  // Costs are in units of 8 KB of a block's weights at its share of the bandwidth: 0.27 us on an H200 with
  // few rows. If only one block is resident although more fit, nothing hides its waits for memory and
  // instructions (`alone`). Kernels for few rows with room for two blocks have this cost only if they wait
  // for pairs of numbers in shared memory. From sm_90 on the second kernel begins while the first one ends. A
  // cluster has no second kernel, but its latency grows with its blocks. A launch that does not begin before
  // the previous one has ended costs 1.5 us. Measured on an H200.
  struct costs {
    double start_and_end, of_a_split, alone, second_kernel, of_block_of_cluster;
  };
  constexpr double late = 4, unit_in_us = 0.27, launch_in_us = 0.4;
  const bool is_early = device.target.sm >= 90;
  const costs c = !v.has_few_rows  ? costs{6, 1.0 / 8, 1.25, is_early ? 5.0 : 8.0, 0}
                  : v.resident > 2 ? costs{4, 1, 1.2, is_early ? 4.0 : 8.0, 2}
                                   : costs{4, 1, v.has_pairs ? 1.1 : 1, is_early ? 4.0 : 8.0, 1.25};
  constexpr std::uint32_t most_splits = 64;
  const std::uint64_t tiles = std::uint64_t{problem.m_tiles.value} * problem.n_tiles.value;
  const ptx::needs& needs = v.image->needs;
  const std::uint32_t shared = std::max({needs.shared_bytes, needs.dynamic_shared_bytes, 1u});
  const std::uint64_t fit = std::max(device.shared_per_multiprocessor / shared, 1u);
  const std::uint64_t units = std::max(device.multiprocessors, 1u);
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, v.resident));
  const std::uint64_t tiles_n = v.has_few_rows ? v.columns / w4_tile_n : 1;  // per warp
  w4_division best;
  double least = std::numeric_limits<double>::infinity();
  const std::uint32_t first = asked != 0 ? asked : 1,
                      last = asked != 0 ? asked : std::min(most_splits, problem.w.tiles_k);
  for (std::uint32_t splits = first; splits <= last; ++splits) {
    const bool is_cluster = can_be_a_cluster(v, splits);
    const std::uint64_t blocks = tiles * splits;
    const std::uint32_t cluster = is_cluster ? splits : 1;
    const std::uint32_t at_once = v.has_few_rows ? w4_resident_blocks(blocks, cluster, device, most) : most;
    const std::uint64_t waves = ceil_div(blocks, w4_blocks_at_once(at_once, cluster, device));
    const double of_tiles =
        static_cast<double>(std::max(ceil_div(blocks, units), (waves - 1) * at_once + 1)) *
        static_cast<double>(ceil_div(ceil_div(problem.w.tiles_k, splits), v.warps_k * v.at_once) *
                            v.at_once) *
        (static_cast<double>(tiles_n * v.bits) / 4) * (v.resident > 1 && blocks <= units ? c.alone : 1.0);
    const bool is_late = v.has_few_rows && is_early &&
                         !begins_early(blocks, units, problem.w.tiles_k / splits * tiles_n, v.warps_k);
    const double cost = of_tiles + c.start_and_end * static_cast<double>(waves) + (is_late ? late : 0) +
                        (splits == 1  ? 0
                         : is_cluster ? c.of_block_of_cluster * splits
                                      : c.second_kernel + c.of_a_split * splits);
    if (cost < least) {
      least = cost;
      best = {splits, is_cluster ? splits : 1, launch_in_us + unit_in_us * cost};
    }
  }
  return best;
}

w4_division plan_w4_sm90(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                         std::uint32_t asked) {
  // Microseconds, as measured on an H200: per block, per tile of 64 k, for both kernels. Sums for the second
  // kernel go to the workspace from registers, which is shorter than the end of a whole product.
  constexpr double start_and_end = 4, of_row = 0.025, of_tile = 0.27, of_row_of_tile = 0.004,
                   of_block_of_cluster = 0.25, second_kernel = 0.5, bytes_in_us = 8e6;
  const std::uint64_t tiles = std::uint64_t{problem.m_tiles.value} * problem.n_tiles.value;
  const std::uint64_t units = std::max(device.multiprocessors, 1u);
  const u32 steps = w4_steps_of(v, problem);
  const double block = start_and_end + of_row * v.rows;
  const double width = v.columns / 256.0;
  const double tile = of_tile * (v.rows > 64 ? 1 : width) + of_row_of_tile * v.rows * width;
  const double sums = 2.0 * problem.m * problem.w.n * sizeof(f32);
  w4_division best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::uint32_t splits, std::uint32_t cluster) {
    // A cluster needs one group of multiprocessors, which leaves some over: 132 run 30 clusters of 4, or 15
    // of 8.
    const std::uint64_t at_once = cluster <= 2 ? units / cluster : units * 10 / 11 / cluster;
    const std::uint64_t rounds = ceil_div(tiles * splits / cluster, std::max<std::uint64_t>(at_once, 1));
    const double combining = splits == 1         ? 0
                             : cluster == splits ? of_block_of_cluster * cluster
                                                 : second_kernel + sums * splits / bytes_in_us;
    const double cost = static_cast<double>(rounds) *
                            (block + v.tiles * tile * static_cast<double>(ceil_div(steps, splits))) +
                        combining;
    if (cost >= least) return;
    least = cost;
    best = {splits, cluster, cost};
  };
  constexpr std::uint32_t most_splits = 32;
  const std::uint32_t from = asked != 0 ? asked : 1, to = asked != 0 ? asked : std::min(most_splits, steps);
  for (std::uint32_t splits = from; splits <= to; ++splits) {
    if (splits > 1) consider(splits, 1);
    if (splits <= 8 && (splits & (splits - 1)) == 0) consider(splits, splits);
  }
  return best;
}

namespace {

// Microseconds of a kernel that rounds weights, fitted to 270 random problems of four bits and 270 of eight on an H200.
struct rounding_costs {
  double launch;
  double end, end_of_row;          // per tile of y: its beginning and its end
  double latency, latency_of_row;  // per 64 k of a block, if nothing else is on its multiprocessor
  double step, step_of_row;        // per 64 k of each block, if several share a multiprocessor
  double second_kernel;
  double fine;  // zero points of groups shorter than 64: multiplies the time along K
};

rounding_costs rounding_costs_of(const w4_variant& v) {
  const bool is_narrow = v.columns == 64;
  if (v.bits == 4)
    return is_narrow ? rounding_costs{1.13, 0.83, 0.0023, 0.150, 0.00113, 0.114, 0.00081, 0.79, 1.10}
                     : rounding_costs{1.48, 0.00, 0.0101, 0.169, 0.00177, 0.147, 0.00067, 0.77, 1.05};
  return is_narrow ? rounding_costs{0.98, 0.95, 0.0010, 0.225, 0.00065, 0.149, 0.00073, 0.80, 1.04}
                   : rounding_costs{1.50, 0.68, 0.0049, 0.219, 0.00185, 0.013, 0.00202, 0.76, 1.02};
}

}  // namespace

w4_division plan_w4_rounded(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                            std::uint32_t asked) {
  constexpr double bytes_in_us = 3.9e6, sums_in_us = 4.2e6;
  constexpr double slower_in_us = 1.0 / 12000, slowest = 0.1;  // the clock is lower in longer products
  constexpr std::uint32_t all_splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  const rounding_costs c = rounding_costs_of(v);
  const double m = problem.m, n = problem.w.n, k = problem.w.k, rows = v.rows;
  const std::uint64_t tiles = std::uint64_t{problem.m_tiles.value} * problem.n_tiles.value;
  const std::uint64_t units = std::max(device.multiprocessors, 1u), slots = units * v.resident;
  const u32 steps = w4_steps_of(v, problem);
  const double reading = (n * k * v.bits / 8 + 2 * m * (n + k)) / bytes_in_us;
  const double fine = problem.w.zeros != 0 && problem.w.slots != 1 ? c.fine : 1;
  const auto time_of = [&](std::uint32_t splits) {
    const std::uint64_t blocks = tiles * splits, rounds = ceil_div(blocks, slots);
    const double along_k = fine * static_cast<double>(v.tiles * ceil_div(steps, splits));
    const auto round_of = [&](std::uint64_t at_once) {
      return along_k * std::max(c.latency + c.latency_of_row * rows,
                                static_cast<double>(at_once) * (c.step + c.step_of_row * rows)) +
             c.end + c.end_of_row * rows;
    };
    const std::uint64_t last =
        std::min<std::uint64_t>(ceil_div(blocks - (rounds - 1) * slots, units), v.resident);
    const double computing =
        std::max(static_cast<double>(rounds - 1) * round_of(v.resident) + round_of(last), reading);
    const double combining =
        splits == 1 ? 0 : c.second_kernel + 2 * m * n * sizeof(f32) * splits / sums_in_us;
    return c.launch + computing * (1 + std::min(computing * slower_in_us, slowest)) + combining;
  };
  w4_division best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::uint32_t splits) {
    const double time = time_of(splits);
    if (time < least) {
      least = time;
      best = {splits, 1, time};
    }
  };
  if (asked != 0)
    consider(asked);
  else
    for (const std::uint32_t splits : all_splits)
      if (splits <= steps) consider(splits);
  return best;
}

}  // namespace kaio::ops
