#pragma once
// Checks that operations on caches share, and the parameters that their kernels take from checked views.

#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/rotary/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

token_numbers check_token_numbers(const validation& check, std::string_view name,
                                  const token_number_input& numbers, const row_shape& shape);
// Checks cos and sin for rows of `size` elements. `path` precedes their names: "rotary." in the options of a
// call.
rotary_tables check_tables(const validation& check, std::string_view operation, std::string_view path,
                           const any_view& cos, const any_view& sin, std::int64_t size, bool interleaved,
                           bool inverse);

page_strides page_strides_of(const any_view& v);
// Checks the rows of cache.k and cache.v: (pages, rows, heads, size), with the heads and sizes of k and v.
void check_cache_extents(const validation& check, std::string_view operation, const any_cache& cache,
                         const any_view& k, const any_view& v);
// Checks how the rows of `sequences` sequences are found.
cache_places check_places(const validation& check, std::string_view operation, const any_cache& cache,
                          std::int64_t sequences);

// f32 scales of the rows of a cache's k or v: (1), (heads) or (pages, rows, heads); stride 0 where they are
// shared. of_sequence: (sequences, heads), with `page` as the stride of sequences; refused without
// `sequences`.
struct scale_strides {
  u64 address;
  i64 page, row, head;
  bool of_sequence = false;
};
scale_strides check_scale(const validation& check, std::string_view operation, std::string_view name,
                          const any_view& scale, const any_view& cache,
                          std::optional<std::int64_t> sequences = {});

// Sets the pages of cache.k. Pages without rows do not count.
void set_pages(cache_places& places, const any_view& cache_k);

// Appends the numbers of a cache that are given.
void list_numbers(std::vector<named_argument>& list, const any_cache& cache);

}  // namespace kaio::ops::detail
