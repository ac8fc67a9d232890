#include "ops/norm/backward/plan.hpp"

#include <algorithm>

namespace kaio::ops {

namespace {

constexpr u32 pieces_of_rows = 4 * row_threads;  // of a row, before the next block of a cluster has some
constexpr u32 static_bytes = 2048;  // shared memory for everything else, the driver's 1 KB included
constexpr u32 most_resident = 3;    // blocks of a multiprocessor; the kernel's registers allow them
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
  // Bytes of shared memory for each piece: x, dy, and f32 sums.
  const u32 pair_bytes = 2 * piece_bytes, all_bytes = pair_bytes + sums * width * u32{sizeof(f32)};
  const auto bytes_of = [&](u32 bytes_of_piece) {
    return std::uint64_t{division.pieces} * row_threads * bytes_of_piece;
  };
  const bool in_rows = sums != 0 && bytes_of(all_bytes) <= most_bytes;
  plan.by_columns = sums != 0 && !in_rows;

  p.staged = division.pieces * row_threads;
  if (!in_rows) {
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
  rows.shared_bytes = p.staged * (in_rows ? all_bytes : pair_bytes);
  u32 at_once = plan.groups;  // clusters
  if (in_rows) {
    const u32 fit = device.shared_per_multiprocessor / (rows.shared_bytes + static_bytes);
    const u32 blocks = device.multiprocessors * std::clamp(fit, u32{1}, most_resident);
    // Larger clusters do not fill every group of multiprocessors.
    at_once = blocks / division.blocks;
    if (division.blocks > 2) at_once -= at_once / 8;
    at_once = std::clamp(at_once, u32{1}, plan.groups);
    plan.partials = at_once;
  } else if (plan.by_columns) {
    const u32 wanted =
        std::max(device.multiprocessors * blocks_of_columns / ceiling(p.size, columns_of_block), u32{1});
    plan.rows_of_partial = ceiling(p.rows, std::min(wanted, p.rows));
    plan.partials = ceiling(p.rows, plan.rows_of_partial);
    plan.statistics_bytes = (std::uint64_t{p.rows} * 2 * sizeof(f32) + 15) / 16 * 16;
  }
  rows.blocks = at_once * division.blocks;
  plan.sums_bytes = (std::uint64_t{plan.partials} * p.size * sizeof(f32) + 15) / 16 * 16;
  return plan;
}

}  // namespace kaio::ops
