#include "ops/weight_only/formats/check.hpp"

#include <kaio/ops/weight_only/formats/block_format.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>

namespace kaio::ops {

namespace detail {

void refuse_format(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

void check_matrix(std::string_view operation, std::string_view name, const any_view& v) {
  const std::string argument = "argument " + std::string(name);
  if (v.extents[1] > 1 && v.strides[1] != 1)
    refuse_format(operation, argument + " has stride " + std::to_string(v.strides[1]) +
                                 " along its rows; neighbours are adjacent: stride 1");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (v.extents[0] > most || v.extents[1] > most ||
      (v.extents[1] + 7) / 8 > most / std::max<std::int64_t>(v.extents[0], 1))
    refuse_format(operation, argument + " is of " + std::to_string(v.extents[0]) + " x " +
                                 std::to_string(v.extents[1]) +
                                 " elements, and fewer than 2^34 are supported; divide it by rows");
}

void check_line(std::string_view operation, std::string_view name, const any_view& v) {
  if (v.extents[0] > 1 && v.strides[0] != 1)
    refuse_format(operation, "argument " + std::string(name) + " has stride " + std::to_string(v.strides[0]) +
                                 "; its elements are adjacent: stride 1");
}

bool rows_begin_at(const any_view& v, std::uint64_t bytes) {
  return v.address % bytes == 0 &&
         (v.extents[0] <= 1 || static_cast<std::uint64_t>(v.strides[0]) * v.element_bytes() % bytes == 0);
}

}  // namespace detail

std::uint64_t packed_bytes(block_format format, std::int64_t elements) {
  const block_facts& f = facts(format);
  const std::string of = std::to_string(elements) + " elements of " + std::string(f.name);
  if (elements < 0 || elements % f.elements != 0)
    throw invalid_argument("kaio: packed_bytes: " + of + ", whose blocks have " + std::to_string(f.elements) +
                           " each");
  const auto blocks = static_cast<std::uint64_t>(elements) / f.elements;
  if (blocks > std::numeric_limits<std::uint64_t>::max() / f.bytes)
    throw invalid_argument("kaio: packed_bytes: " + of + " need more than 2^64 bytes");
  return blocks * f.bytes;
}

block_format block_format_named(std::string_view name) {
  for (const block_facts& f : block_formats)
    if (f.name == name) return f.format;
  throw invalid_argument("kaio: block_format_named: '" + std::string(name) +
                         "' is not a block format that kaio decodes; formats.md lists them");
}

}  // namespace kaio::ops
