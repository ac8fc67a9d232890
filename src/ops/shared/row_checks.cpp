#include "ops/shared/row_checks.hpp"

#include <kaio/runtime/error.hpp>

#include <limits>

namespace kaio::ops::detail {

namespace {
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
}  // namespace

void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

void check_epsilon(std::string_view operation, std::string_view name, f32 epsilon) {
  if (epsilon != 0 && !(epsilon >= 1e-30f && epsilon <= 1e30f))
    refuse(operation,
           std::string(name) + " is neither 0 nor from 1e-30 to 1e30; it is added to the mean of squares");
}

u32 element_type_of(element_kind kind) {
  return static_cast<u32>(kind == element_kind::f32   ? element_type::f32
                          : kind == element_kind::f16 ? element_type::f16
                                                      : element_type::bf16);
}

row_shape row_shape::of(const any_view& v) {
  const std::uint32_t first = v.rank - 3;
  return {v.rank == 4 ? v.extents[0] : 1, v.extents[first], v.extents[first + 1], v.extents[first + 2]};
}

void check_rows(std::string_view operation, std::string_view name, const any_view& v) {
  const std::uint32_t last = v.rank - 1;
  const std::string argument = "argument " + std::string(name);
  if (v.strides[last] != 1 && v.extents[last] > 1)
    refuse(operation, argument + " has stride " + std::to_string(v.strides[last]) +
                          " along its last dimension; the elements of a head are neighbours: stride 1");
  if (v.extents[last] > most_row_size)
    refuse(operation, argument + " has heads of " + std::to_string(v.extents[last]) +
                          " elements, and at most " + std::to_string(most_row_size) + " are supported");
  for (std::uint32_t d = 0; d < last; ++d)
    if (v.extents[d] > most)
      refuse(operation, argument + " has extent " + std::to_string(d) + " of " +
                            std::to_string(v.extents[d]) + ", and at most 2^31 - 1 is supported");
}

void check_adjacent(std::string_view operation, std::string_view name, const any_view& v) {
  const std::uint32_t last = v.rank - 1;
  if (v.strides[last] != 1 && v.extents[last] > 1)
    refuse(operation, "argument " + std::string(name) + " has stride " + std::to_string(v.strides[last]) +
                          " along its last dimension; neighbours of a row are adjacent: stride 1");
}

std::uint64_t row_count(std::string_view operation, const row_shape& shape) {
  const double rows = static_cast<double>(shape.batches) * static_cast<double>(shape.tokens) *
                      static_cast<double>(shape.heads);
  if (rows >= 0x1p32) refuse(operation, "2^32 rows or more exceed a launch; split the batch");
  return static_cast<std::uint64_t>(rows);
}

row_strides strides_of(const any_view& v) {
  const std::uint32_t first = v.rank - 3;
  return {v.address, v.rank == 4 ? v.strides[0] : 0, v.strides[first], v.strides[first + 1]};
}

bool begins_at(const any_view& v, std::uint64_t bytes) {
  if (v.address % bytes != 0) return false;
  for (std::uint32_t d = 0; d + 1 < v.rank; ++d)
    if (v.extents[d] > 1 && static_cast<std::uint64_t>(v.strides[d]) * v.element_bytes() % bytes != 0)
      return false;
  return true;
}

u64 check_numbers(const validation& check, std::string_view operation, std::string_view name,
                  const tensor_view<const i32, 1>& numbers, std::int64_t count, std::string_view reason) {
  if (numbers.is_null()) return 0;
  check.input(name, numbers);
  check.extent(name, numbers, 0, count, reason);
  if (numbers.extent(0) > 1 && numbers.stride(0) != 1)
    refuse(operation, "argument " + std::string(name) + " has stride " + std::to_string(numbers.stride(0)) +
                          "; its numbers are neighbours: stride 1");
  return numbers.address();
}

std::int64_t check_sequences(const validation& check, std::string_view operation,
                             const tensor_view<const i32, 1>& cu_seqlens) {
  check.input("cu_seqlens", cu_seqlens);
  check.not_empty("cu_seqlens", cu_seqlens);
  check.at_most("cu_seqlens", cu_seqlens, 0, most);
  const std::int64_t sequences = cu_seqlens.extent(0) - 1;
  check_numbers(check, operation, "cu_seqlens", cu_seqlens, sequences + 1, "one more than the sequences");
  return sequences;
}

bool is_given(const any_view& v) { return v.exists() && (v.address != 0 || v.device != nullptr); }

kept_type kept_as(element_kind kind) {
  return kind == element_kind::e4m3   ? kept_type::e4m3
         : kind == element_kind::e5m2 ? kept_type::e5m2
         : kind == element_kind::i8   ? kept_type::i8
                                      : kept_type::same;
}

}  // namespace kaio::ops::detail
