#include "ops/cache/common/check.hpp"

#include <kaio/runtime/error.hpp>

#include <limits>
#include <utility>

namespace kaio::ops::detail {

namespace {
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
}  // namespace

token_numbers check_token_numbers(const validation& check, std::string_view name,
                                  const token_number_input& numbers, const row_shape& shape) {
  const any_view& v = numbers.view;
  if (!is_given(v)) return {};
  check.input(name, v);
  const std::uint32_t last = v.rank - 1;
  if (v.rank == 2) check.extent(name, v, 0, shape.batches, "the batches");
  check.extent(name, v, last, shape.tokens, "the tokens of a batch");
  return {v.address, v.rank == 2 ? v.strides[0] : 0, v.strides[last], v.element_bytes() == 8 ? 1u : 0u};
}

rotary_tables check_tables(const validation& check, std::string_view operation, std::string_view path,
                           const any_view& cos, const any_view& sin, std::int64_t size, bool interleaved,
                           bool inverse) {
  const std::string cos_name = std::string(path) + "cos", sin_name = std::string(path) + "sin";
  check.input(cos_name, cos);
  check.input(sin_name, sin);
  for (std::uint32_t d = 0; d < 2; ++d) check.extent(sin_name, sin, d, cos.extents[d], "the extents of cos");
  if (sin.type != cos.type)
    refuse(operation, cos_name + " and " + sin_name + " have different element types; cast one of them");
  if (cos.extents[1] * 2 > size)
    refuse(operation, "argument " + cos_name + " has " + std::to_string(cos.extents[1]) +
                          " pairs, and heads of " + std::to_string(size) + " elements have " +
                          std::to_string(size / 2) +
                          "; extent 1 of the tables is half of the elements that are rotated");
  for (const auto& [name, v] : {std::pair{&cos_name, &cos}, std::pair{&sin_name, &sin}}) {
    if (v->strides[1] != 1 && v->extents[1] > 1)
      refuse(operation, "argument " + *name + " has stride " + std::to_string(v->strides[1]) +
                            " along its pairs; they are neighbours: stride 1");
    check.at_most(*name, *v, 0, most);
  }
  rotary_tables tables{};
  tables.cos = cos.address;
  tables.sin = sin.address;
  tables.cos_row = cos.strides[0];
  tables.sin_row = sin.strides[0];
  tables.type = element_type_of(cos.type);
  tables.rows = static_cast<u32>(cos.extents[0]);
  tables.pairs = static_cast<u32>(cos.extents[1]);
  tables.interleaved = interleaved ? 1 : 0;
  tables.inverse = inverse ? 1 : 0;
  tables.aligned = begins_at(cos, 16) && begins_at(sin, 16) ? 1 : 0;
  return tables;
}

page_strides page_strides_of(const any_view& v) {
  return {v.address, v.strides[0], v.strides[1], v.strides[2]};
}

void check_cache_extents(const validation& check, std::string_view operation, const any_cache& cache,
                         const any_view& k, const any_view& v) {
  check_rows(operation, "cache.k", cache.k);
  check_rows(operation, "cache.v", cache.v);
  const std::uint32_t last = k.rank - 1;
  check.extent("cache.k", cache.k, 2, k.extents[last - 1], "the heads of k");
  check.extent("cache.k", cache.k, 3, k.extents[last], "the head size of k");
  for (std::uint32_t d = 0; d < 3; ++d)
    check.extent("cache.v", cache.v, d, cache.k.extents[d], "as of cache.k");
  check.extent("cache.v", cache.v, 3, v.extents[last], "the head size of v");
}

cache_places check_places(const validation& check, std::string_view operation, const any_cache& cache,
                          std::int64_t sequences) {
  const bool has_table = !cache.table.is_null(), has_list = !cache.indptr.is_null();
  if (has_list == cache.indices.is_null())
    refuse(operation, "cache.indptr and cache.indices belong together; give both or none");
  if (has_table && has_list) refuse(operation, "cache.table next to cache.indptr; give one of them");
  if (!has_list && !cache.last_page_len.is_null())
    refuse(operation, "cache.last_page_len without cache.indptr; give cache.lengths");
  if (!cache.lengths.is_null() && !cache.last_page_len.is_null())
    refuse(operation, "cache.lengths next to cache.last_page_len; give one of them");
  if ((has_table || has_list) && !cache.batch_index.is_null())
    refuse(operation, "cache.batch_index of a cache in pages; it is of a contiguous one");
  cache_places places{};
  if (has_table) {
    check.input("cache.table", cache.table);
    check.extent("cache.table", cache.table, 0, sequences, "the sequences");
    check.at_most("cache.table", cache.table, 1, most);
    places.table = cache.table.address();
    places.table_row = cache.table.stride(0);
    places.table_column = cache.table.stride(1);
    places.table_columns = static_cast<u32>(cache.table.extent(1));
  }
  const auto numbers = [&](std::string_view name, const tensor_view<const i32, 1>& v, std::int64_t count,
                           std::string_view reason = "the sequences") {
    return check_numbers(check, operation, name, v, count, reason);
  };
  places.indptr = numbers("cache.indptr", cache.indptr, sequences + 1, "one more than the sequences");
  places.indices = numbers("cache.indices", cache.indices, cache.indices.extent(0));
  places.lengths = numbers("cache.lengths", cache.lengths, sequences);
  places.last_page_len = numbers("cache.last_page_len", cache.last_page_len, sequences);
  places.batch_index = numbers("cache.batch_index", cache.batch_index, sequences);
  places.left_padding = numbers("cache.left_padding", cache.left_padding, sequences);
  if (!has_table && !has_list && cache.batch_index.is_null())
    check.extent("cache.k", cache.k, 0, sequences, "the sequences, as there is no batch_index");
  return places;
}

scale_strides check_scale(const validation& check, std::string_view operation, std::string_view name,
                          const any_view& scale, const any_view& cache,
                          std::optional<std::int64_t> sequences) {
  check.input(name, scale);
  if (scale.rank == 1) {
    if (scale.extents[0] == 1) return {scale.address, 0, 0, 0};
    check.extent(name, scale, 0, cache.extents[2], "1, or the heads of k and v");
    return {scale.address, 0, 0, scale.strides[0]};
  }
  if (scale.rank == 2) {
    if (!sequences)
      refuse(operation, std::string(name) +
                            " of (sequences, heads), where rows are of no sequence; give (1), (heads) "
                            "or (pages, rows, heads)");
    check.extent(name, scale, 0, *sequences, "the sequences");
    check.extent(name, scale, 1, cache.extents[2], "the heads of k and v");
    return {scale.address, scale.strides[0], 0, scale.strides[1], true};
  }
  for (std::uint32_t d = 0; d < 3; ++d) check.extent(name, scale, d, cache.extents[d], "as of the cache");
  return {scale.address, scale.strides[0], scale.strides[1], scale.strides[2]};
}

void set_pages(cache_places& places, const any_view& cache_k) {
  const bool has_rows = cache_k.extents[1] != 0;
  places.pages = has_rows ? static_cast<u32>(cache_k.extents[0]) : 0;
  places.page_rows = has_rows ? static_cast<u32>(cache_k.extents[1]) : 1;
}

void list_numbers(std::vector<named_argument>& list, const any_cache& cache) {
  const auto add = [&](std::string_view name, const auto& v) {
    if (!v.is_null()) list.push_back({name, v});
  };
  add("cache.table", cache.table);
  add("cache.indptr", cache.indptr);
  add("cache.indices", cache.indices);
  add("cache.lengths", cache.lengths);
  add("cache.last_page_len", cache.last_page_len);
  add("cache.batch_index", cache.batch_index);
  add("cache.left_padding", cache.left_padding);
}

}  // namespace kaio::ops::detail
