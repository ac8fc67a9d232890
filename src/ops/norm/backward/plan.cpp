#include "ops/norm/backward/plan.hpp"

#include <algorithm>

namespace kaio::ops {

namespace {

constexpr u32 pieces_of_rows =
    pair_rounds * row_threads;      // of a row, before the next block of a cluster has some
constexpr u32 static_bytes = 2048;  // shared memory for everything else, the driver's 1 KB included
// Blocks of a multiprocessor that the kernels' registers allow: kernels with sums in registers, and others.
constexpr u32 most_resident_ahead = 2, most_resident = 3;
constexpr u32 lanes_log_of_warp = 5;
constexpr u32 columns_of_block = row_threads, blocks_of_columns = 8;  // of a multiprocessor

constexpr u32 ceiling(u32 a, u32 b) { return a / b + (a % b != 0 ? 1 : 0); }

// The blocks of a cluster for a row, and the pieces of a lane.
struct pair_division {
  u32 lanes_log, blocks, pieces;

  static pair_division of(u32 pieces, u32 most_blocks) {
    pair_division result{0, 1, 0};
    while (result.blocks < std::min(most_blocks, most_row_blocks) && pieces > pieces_of_rows * result.blocks)
      result.blocks *= 2;
    constexpr u32 per_lane = 4, least_lanes = 4;
    const u32 lanes = std::max(ceiling(pieces, per_lane), std::min(pieces, least_lanes));
    while ((u32{1} << result.lanes_log) < row_threads && (u32{1} << result.lanes_log) < lanes)
      ++result.lanes_log;
    result.pieces = ceiling(ceiling(pieces, result.blocks), u32{1} << result.lanes_log);
    return result;
  }
};

}  // namespace

norm_backward_plan plan_norm_backward(const device_properties& device, const any_view& x,
                                      std::initializer_list<const any_view*> like,
                                      std::initializer_list<const any_view*> factors, u32 sums) {
  norm_backward_plan plan;
  plan.rows = plan_rows(device, x, like, factors);
  if (x.empty()) return plan;
  row_plan& rows = plan.rows;
  rows_problem& p = rows.problem;
  const u32 width = piece_bytes / x.element_bytes(), pieces = ceiling(p.size, width);
  const u32 most_bytes = std::max(device.shared_per_block, device.shared_per_block_optin) - static_bytes;
  rows.is_newer = device.target.sm >= 90;
  pair_division division = pair_division::of(pieces, rows.is_newer ? device.max_blocks_per_cluster : 1);
  // Bytes of shared memory for each piece of a block that has several rows in turn, and of one that has one row.
  // Rows that are copied ahead (stage.hpp): two stages of x and dy, and factors; sums are in registers.
  // Otherwise: x, dy, and sums.
  const bool is_ahead = rows.is_newer && rows.vectors;
  const u32 pair_bytes = 2 * piece_bytes, f32_bytes = width * u32{sizeof(f32)};
  const u32 all_bytes = is_ahead ? pair_stages * pair_bytes + f32_bytes : pair_bytes + sums * f32_bytes;
  const u32 least_bytes = is_ahead ? pair_bytes + f32_bytes : pair_bytes;
  const auto bytes_of = [&](u32 bytes_of_piece) {
    return std::uint64_t{is_ahead ? pair_rounds : division.pieces} * row_threads * bytes_of_piece;
  };
  const bool in_rows = (!is_ahead || division.pieces <= pair_rounds) && bytes_of(all_bytes) <= most_bytes;
  plan.by_columns = sums != 0 && !in_rows;

  p.staged = is_ahead ? pieces_of_rows : division.pieces * row_threads;
  if (!in_rows && !is_ahead) {
    if (!rows.vectors && rows.is_newer && bytes_of(pair_bytes) > most_bytes) {
      rows.is_newer = false;
      division = pair_division::of(pieces, 1);
    }
    if (rows.vectors || !rows.is_newer) p.staged = std::min(division.pieces * row_threads, pieces_of_rows);
  }
  p.lanes_log = division.lanes_log;
  p.blocks = division.blocks;
  p.share = (division.pieces << division.lanes_log) * width;
  plan.groups = static_cast<u32>(row_blocks(p.rows, division.lanes_log));
  rows.cluster = division.blocks;
  rows.shared_bytes = p.staged * (in_rows ? all_bytes : least_bytes);
  u32 at_once = plan.groups;  // clusters
  if (in_rows) {
    const auto fit_with = [&](u32 bytes) {
      return device.shared_per_multiprocessor / (bytes + static_bytes);
    };
    const u32 fit = fit_with(rows.shared_bytes), with_third_x = rows.shared_bytes + p.staged * piece_bytes;
    // A third stage of x, if as many blocks fit, and warps wait for each other.
    if (is_ahead && division.lanes_log > lanes_log_of_warp && with_third_x <= most_bytes &&
        fit_with(with_third_x) >= std::min(fit, most_resident_ahead)) {
      plan.has_third_x = true;
      rows.shared_bytes = with_third_x;
    }
    const u32 blocks =
        device.multiprocessors * std::clamp(fit, u32{1}, is_ahead ? most_resident_ahead : most_resident);
    // Larger clusters do not fill every group of multiprocessors.
    at_once = blocks / division.blocks;
    if (division.blocks > 2) at_once -= at_once / 8;
    at_once = std::clamp(at_once, u32{1}, plan.groups);
    if (sums != 0) plan.partials = at_once;
  } else if (plan.by_columns) {
    const u32 wanted =
        std::max(device.multiprocessors * blocks_of_columns / ceiling(p.size, columns_of_block), u32{1});
    plan.rows_of_partial = ceiling(p.rows, std::min(wanted, p.rows));
    plan.partials = ceiling(p.rows, plan.rows_of_partial);
    plan.statistics_bytes = (std::uint64_t{p.rows} * 2 * sizeof(f32) + 15) / 16 * 16;
  }
  rows.blocks = at_once * division.blocks;
  plan.sums_bytes = std::uint64_t{plan.partials} * partial_pitch(std::uint64_t{p.size}) * sizeof(f32);
  return plan;
}

}  // namespace kaio::ops
