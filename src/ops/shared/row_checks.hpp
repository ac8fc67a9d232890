#pragma once
// Checks of operations on rows of (batch, token, head, element), and the parameters that their kernels take from
// checked views.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/shared/rows.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::ops::detail {

inline constexpr std::int64_t most_row_size = 512;  // 32 lanes of 16 elements

[[noreturn]] void refuse(std::string_view operation, const std::string& what);
// Refuses an epsilon, added to a mean of squares, that is neither 0 nor from 1e-30 to 1e30.
void check_epsilon(std::string_view operation, std::string_view name, f32 epsilon);

constexpr u32 shift_of(std::uint32_t element_bytes) {
  return element_bytes == 4 ? 2u : element_bytes == 2 ? 1u : 0u;
}
u32 element_type_of(element_kind kind);  // kind is f32, f16 or bf16; an element_type

// Rows of (B, tokens, heads, size), or of (tokens, heads, size) as one batch. The last dimension has stride 1
// and at most most_row_size elements. Kernels can count the extents.
struct row_shape {
  std::int64_t batches, tokens, heads, size;
  static row_shape of(const any_view& v);
};
// batches * tokens * heads. Refuses 2^32 rows or more.
std::uint64_t row_count(std::string_view operation, const row_shape& shape);
void check_rows(std::string_view operation, std::string_view name, const any_view& v);
// Refuses a last dimension whose elements are not neighbours.
void check_adjacent(std::string_view operation, std::string_view name, const any_view& v);
row_strides strides_of(const any_view& v);
// Whether each row begins at a multiple of `bytes` bytes.
bool begins_at(const any_view& v, std::uint64_t bytes);

// Checks `count` adjacent numbers, which may be left out; returns their address, or 0.
u64 check_numbers(const validation& check, std::string_view operation, std::string_view name,
                  const tensor_view<const i32, 1>& numbers, std::int64_t count, std::string_view reason);
// Checks cu_seqlens, which must be given; returns the number of sequences.
std::int64_t check_sequences(const validation& check, std::string_view operation,
                             const tensor_view<const i32, 1>& cu_seqlens);

// Whether a view is given and is not the null view.
bool is_given(const any_view& v);
kept_type kept_as(element_kind kind);

inline bool same_view(const any_view& a, const any_view& b) {
  return a.address == b.address && a.strides == b.strides;
}

struct named_argument {
  std::string_view name;
  any_view view;
};
// The part of a workspace after its first bytes, which another kernel uses.
inline workspace_view rest_of(workspace_view memory, std::uint64_t first) {
  if (memory.address != 0) memory.address += first;
  memory.bytes -= std::min(first, memory.bytes);
  return memory;
}

}  // namespace kaio::ops::detail
