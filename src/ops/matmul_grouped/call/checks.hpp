#pragma once
// What the calls of grouped products check, and how they are computed.

#include <kaio/ops/shared/device_refusal.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/matmul_grouped/common/call.hpp"
#include "ops/matmul_grouped/mma_sync/rows.hpp"
#include "ops/matmul_grouped/simt/rows.hpp"
#include "ops/matmul_grouped/sm90/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

inline constexpr std::int64_t most_grouped = 0x7fffffff;

// Checks rows (options.rows), if they are given, and returns them.
inline any_view checked_rows(const validation& check, std::string_view operation, const any_view& a,
                             const any_view& c, std::string_view a_name, std::string_view c_name,
                             const any_view& rows) {
  if (!is_given(rows)) {
    check.extent(c_name, c, 0, a.extents[0], "the rows of " + std::string(a_name));
    return {};
  }
  check.input("rows", rows);
  check.extent("rows", rows, 0, c.extents[0], "the rows of " + std::string(c_name));
  check_adjacent(operation, "rows", rows);
  check.apart(c_name, c, "rows", rows);
  return rows;
}
// Checks a bias of (groups, n), if it is given, and returns it.
inline any_view checked_bias(const validation& check, std::string_view operation, const any_view& b,
                             const any_view& c, std::string_view name, std::string_view c_name,
                             const any_view& bias) {
  if (!is_given(bias)) return {};
  check.input(name, bias);
  check.extent(name, bias, 0, b.extents[0], "the groups");
  check.extent(name, bias, 1, b.extents[2], "the columns of " + std::string(c_name));
  check_adjacent(operation, name, bias);
  check.apart(c_name, c, name, bias);
  return bias;
}

// Launches a checked call whose tiles fit a launch.
inline void launch_grouped(std::string_view operation, const stream& s, const grouped_call& call) {
  if (grouped_simt_blocks(call) > static_cast<std::uint64_t>(most_grouped))
    refuse(operation, "the output has more tiles than a launch has blocks; split its columns");
  if (!call.is_aligned()) return launch_grouped_simt(s, call);
  const device_properties& device = s.properties();
  if (runs_on(gate_up_sm90_image(), device) && grouped_sm90_takes(call)) {
    if (!call.is_paired()) return launch_grouped_sm90(s, call);
    if (call.stores_by_copies()) return launch_gate_up_sm90(s, call);
  }
  if (runs_on(grouped_mma_image(call), device)) return launch_grouped_mma(s, call);
  launch_grouped_simt(s, call);
}

}  // namespace kaio::ops::detail
