#include "ops/distributed/peer/matmul_rows.hpp"

#include <string>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

matmul_view as_matrix(const any_view& v) {
  matmul_view result;
  static_cast<any_view&>(result) = v;
  return result;
}

matmul_view lines_of(const matmul_view& v, std::int64_t first, std::int64_t count) {
  matmul_view lines = v;
  const auto from = static_cast<std::uint64_t>(first * v.strides[0]) * v.element_bytes();
  lines.address += from;
  lines.bytes -= from;
  lines.extents[0] = count;
  return lines;
}

void require_lines(std::string_view operation, std::string_view name, const any_view& v, std::int64_t count) {
  if (v.rank == 0 || v.extents[0] != count)
    refuse_collective(operation, "argument " + std::string(name) + " has " +
                                     std::to_string(v.rank == 0 ? 0 : v.extents[0]) + " rows; " +
                                     std::to_string(count) + " are needed");
}

}  // namespace kaio::ops::detail
