#pragma once
// The checks that operations on caches share, and what their kernels take of checked views.

#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/rotary/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::ops::detail {

inline constexpr std::int64_t most_row_size = 512;  // a lane of 32 for each 16 elements

[[noreturn]] void refuse(std::string_view operation, const std::string& what);
// Refuses what cannot be added to a mean of squares: it is 0, or from 1e-30 to 1e30.
void check_epsilon(std::string_view operation, std::string_view name, f32 epsilon);

constexpr u32 shift_of(std::uint32_t element_bytes) {
  return element_bytes == 4 ? 2u : element_bytes == 2 ? 1u : 0u;
}
u32 element_type_of(element_kind kind);  // of f32, f16 and bf16: an element_type

// (B, tokens, heads, size), or (tokens, heads, size) as one batch: neighbours along the last dimension
// adjacent, at most most_row_size of them, extents that the kernels count.
struct row_shape {
  std::int64_t batches, tokens, heads, size;
  static row_shape of(const any_view& v);
};
// batches * tokens * heads, which is below 2^32.
std::uint64_t row_count(std::string_view operation, const row_shape& shape);
void check_rows(std::string_view operation, std::string_view name, const any_view& v);
row_strides strides_of(const any_view& v);
// Whether each row begins at a multiple of `bytes` bytes.
bool begins_at(const any_view& v, std::uint64_t bytes);

// `count` numbers that need not be there, neighbours in memory; their address, or 0.
u64 check_numbers(const validation& check, std::string_view operation, std::string_view name,
                  const tensor_view<const i32, 1>& numbers, std::int64_t count, std::string_view reason);
// cu_seqlens, which is there; the number of sequences.
std::int64_t check_sequences(const validation& check, std::string_view operation,
                             const tensor_view<const i32, 1>& cu_seqlens);
token_numbers check_token_numbers(const validation& check, std::string_view name,
                                  const token_number_input& numbers, const row_shape& shape);
// cos and sin for rows of `size` elements; `path` is before their names: "rotary." of the options of a call.
rotary_tables check_tables(const validation& check, std::string_view operation, std::string_view path,
                           const any_view& cos, const any_view& sin, std::int64_t size, bool interleaved,
                           bool inverse);

// Whether a view was given, and is not the null view.
bool is_given(const any_view& v);
page_strides page_strides_of(const any_view& v);
// cache.k and cache.v: (pages, rows, heads, size) of the heads and sizes of k and v, rows of a tensor each.
void check_cache_extents(const validation& check, std::string_view operation, const any_cache& cache,
                         const any_view& k, const any_view& v);
// How the rows of so many sequences are found.
cache_places check_places(const validation& check, std::string_view operation, const any_cache& cache,
                          std::int64_t sequences);

kept_type kept_as(element_kind kind);

// f32 scales (1), (heads) or (pages, rows, heads) of the rows of a cache's k or v: 0 where they are shared.
// of_sequence: (sequences, heads), and `page` is from sequence to sequence; refused where there are no `sequences`.
struct scale_strides {
  u64 address;
  i64 page, row, head;
  bool of_sequence = false;
};
scale_strides check_scale(const validation& check, std::string_view operation, std::string_view name,
                          const any_view& scale, const any_view& cache,
                          std::optional<std::int64_t> sequences = {});

// The pages of cache.k; one without rows has none.
void set_pages(cache_places& places, const any_view& cache_k);

inline bool same_view(const any_view& a, const any_view& b) {
  return a.address == b.address && a.strides == b.strides;
}

// An argument by its name.
struct named_argument {
  std::string_view name;
  any_view view;
};
// What of a workspace comes after its first bytes, which another kernel has.
inline attention_workspace rest_of(attention_workspace memory, std::uint64_t first) {
  if (memory.address != 0) memory.address += first;
  memory.bytes -= std::min(first, memory.bytes);
  return memory;
}

// The numbers of a cache, those that are given.
void list_numbers(std::vector<named_argument>& list, const any_cache& cache);

}  // namespace kaio::ops::detail
