#include "ops/rows/plan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

constexpr u32 static_bytes = 2048;  // shared memory for everything else, the driver's 1 KB included
constexpr u32 pieces_of_older = 32 * pieces_of_kib;  // that a block holds, before sm_90
constexpr u32 most_pieces_with_factors = 32 * pieces_of_kib;

// Rows without clusters that single elements are read of, and that fit shared memory as a whole: the kernels for sm_90
// have no far ones.
constexpr std::uint32_t most_pieces_of_elements = 128 * pieces_of_kib;

// Whether rows follow each other at one distance, so that a row's number gives its place.
bool is_flat(const any_view& v) {
  std::int64_t rows = 1;
  for (std::uint32_t d = v.rank - 1; d-- > 0;) {
    if (v.extents[d] != 1 && v.strides[d] != v.strides[v.rank - 2] * rows) return false;
    rows *= v.extents[d];
  }
  return true;
}

// Whether rows follow each other without gaps.
bool is_dense(const any_view& v) { return is_flat(v) && v.strides[v.rank - 2] == v.extents[v.rank - 1]; }

// Whether at most two lanes of a warp wait for one bank of shared memory, if rows of `bytes` bytes follow each other in
// it: each of its rows has `lanes` neighbours.
bool spreads_over_banks(u64 bytes, u32 lanes, u32 element_bytes) {
  std::array<u32, 32> lanes_of_bank{};
  for (u32 row = 0; row < 32 / std::min(lanes, u32{32}); ++row) {
    const u64 first = row * bytes, last = first + u64{lanes} * element_bytes - 1;
    for (u64 word = first / 4; word <= last / 4 && word < first / 4 + 32; ++word)
      if (++lanes_of_bank[word % 32] > 2) return false;
  }
  return true;
}

bool is_aligned(const any_view& v) {
  if (v.address % piece_bytes != 0) return false;
  for (std::uint32_t d = 0; d + 1 < v.rank; ++d)
    if (v.extents[d] > 1 && static_cast<std::uint64_t>(v.strides[d]) * v.element_bytes() % piece_bytes != 0)
      return false;
  return true;
}

}  // namespace

void check_row_counts(std::string_view operation, const any_view& x) {
  double rows = 1;
  for (std::uint32_t d = 0; d < x.rank; ++d) {
    if (x.extents[d] > most)
      detail::refuse(operation, "argument x has extent " + std::to_string(d) + " of " +
                                    std::to_string(x.extents[d]) + "; it has to be below 2^31");
    if (d + 1 < x.rank) rows *= static_cast<double>(x.extents[d]);
  }
  if (rows > static_cast<double>(most))
    detail::refuse(operation, "2^31 rows or more exceed a launch; split them");
}

row_strides rows_of(const any_view& v) {
  if (!detail::is_given(v)) return {};
  std::array<i64, 3> strides{};  // batches, tokens, heads
  const std::uint32_t dimensions = v.rank - 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) strides[3 - dimensions + d] = v.strides[d];
  return {v.address, strides[0], strides[1], strides[2]};
}

row_plan plan_rows(const device_properties& device, const any_view& x,
                   std::initializer_list<const any_view*> like,
                   std::initializer_list<const any_view*> factors, row_staging staging,
                   std::initializer_list<const any_view*> others) {
  row_plan plan;
  if (x.empty()) return plan;
  const std::uint32_t last = x.rank - 1, bytes = x.element_bytes(), width = piece_bytes / bytes;
  const auto extent = [&](std::uint32_t from_last) {
    return x.rank > from_last ? static_cast<u32>(x.extents[last - from_last]) : 1;
  };
  rows_problem& p = plan.problem;
  p.size = extent(0);
  p.rows = extent(1) * extent(2) * extent(3);
  p.heads = divisor::of(extent(1));
  p.tokens = divisor::of(extent(2));
  bool flat = is_flat(x), dense = is_dense(x);
  plan.vectors = p.size % width == 0 && is_aligned(x);
  for (const any_view* v : like)
    if (detail::is_given(*v)) {
      flat = flat && is_flat(*v);
      dense = dense && is_dense(*v);
      // Codes of 8 bits are stored in halves of a piece.
      plan.vectors =
          plan.vectors && (v->element_bytes() == 1 ? detail::begins_at(*v, width) : is_aligned(*v));
    }
  for (const any_view* v : others)
    if (detail::is_given(*v)) flat = flat && is_flat(*v);
  bool has_factors = false;
  for (const any_view* v : factors)
    if (detail::is_given(*v)) {
      plan.vectors = plan.vectors && v->address % piece_bytes == 0;
      has_factors = true;
    }
  p.is_flat = flat ? 1 : 0;

  const u32 tensors = staging == row_staging::two_rows ? 2 : 1;
  const bool takes_factors = factors.size() != 0;
  const u32 room =
      (std::max(device.shared_per_block, device.shared_per_block_optin) - static_bytes) / piece_bytes;
  const u32 most_of_elements = std::min(most_pieces_of_elements, room) / tensors;
  plan.is_newer = device.target.sm >= 90;
  row_division division = row_division::of(
      p.size, bytes, plan.vectors, plan.is_newer ? device.max_blocks_per_cluster : 1, takes_factors, tensors);
  const u32 pieces = p.size / width + (p.size % width != 0 ? 1 : 0);
  const auto pieces_of = [&](u32 blocks) { return pieces / blocks + (pieces % blocks != 0 ? 1 : 0); };
  if (!plan.vectors && pieces_of(division.blocks) + 2 > most_of_elements) {
    plan.is_newer = false;
    division = row_division::of(p.size, bytes, plan.vectors, 1, takes_factors, tensors);
  }
  const u32 lanes = u32{1} << division.lanes_log, rows = row_threads / lanes;  // of a block
  const u32 share = (pieces_of(division.blocks) + lanes - 1) / lanes;          // pieces of a lane
  const u32 of_vectors = division.blocks == 1                    ? pieces_of_row_alone / tensors
                         : share * lanes <= pieces_of_part(true) ? pieces_of_part(true)
                                                                 : pieces_of_long_part;
  const u32 most_pieces = !plan.is_newer ? pieces_of_older / tensors
                          : plan.vectors ? of_vectors
                                         : most_of_elements;
  p.lanes_log = division.lanes_log;
  p.blocks = division.blocks;
  p.share = share * lanes * width;
  // A row that begins within a piece ends within one more.
  const u32 wanted = plan.vectors ? share * lanes : std::min(p.size, p.share) / width + 2;
  p.staged = std::min(wanted, most_pieces / rows) * rows;
  plan.is_long = p.staged < wanted * rows;
  p.is_dense = dense && p.is_flat != 0 && !plan.is_long && p.blocks == 1 &&
                       spreads_over_banks(u64{p.size} * bytes, lanes, bytes)
                   ? 1
                   : 0;
  plan.cluster = division.blocks;
  // Factors of a short row are staged next to it; those of others pass through two slots of a thread.
  const bool has_room =
      plan.vectors && plan.is_newer && has_factors && staging == row_staging::row_and_factors;
  const bool stages = has_room && p.blocks == 1 && p.staged <= most_pieces_with_factors;
  p.has_staged_factors = stages ? 1 : 0;
  const u32 of_factors = stages ? p.staged : has_room ? 2 * row_threads : 0;
  plan.shared_bytes = (p.staged * tensors + of_factors) * piece_bytes;
  plan.blocks = static_cast<std::uint32_t>(row_blocks(p.rows, division.lanes_log) * division.blocks);
  return plan;
}

}  // namespace kaio::ops
