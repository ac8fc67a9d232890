#pragma once
// The place of a key of a sequence in a cache. Everything is read on the device. If the cache has no row for
// a key, the key has no place, whatever the numbers are.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// Row `row` of page `page`, where it exists.
struct key_place {
  val<bool> exists;
  val<u32> page, row;
};

namespace detail {

constexpr val<u32> number_at(thread t, const val<u64>& address, const val<u32>& i) {
  return t.let(cast<u32>(pointer_at<in<i32>>(t, address)[i]));
}

}  // namespace detail

template <class Places>
constexpr key_place place_of_key(thread t, const Places& places, const val<u32>& sequence,
                                 const val<u32>& key) {
  const val page_rows = t.let(places[&cache_places::page_rows]);
  const val table = t.let(places[&cache_places::table]);
  const val indptr = t.let(places[&cache_places::indptr]);
  const val batches = t.let(places[&cache_places::batch_index]);
  const val paged = t.let(any_of(table != 0u, indptr != 0u));
  const val column = t.let(select(paged, key / page_rows, 0u));
  const val row = t.let(key - column * page_rows);
  var page(t, sequence);
  if (auto by_table = t.when(table != 0u)) {
    page = 0xffffffffu;
    if (auto inside = t.when(column < places[&cache_places::table_columns])) {
      const val at = t.let(cast<i64>(sequence) * places[&cache_places::table_row] +
                           cast<i64>(column) * places[&cache_places::table_column]);
      page = cast<u32>(pointer_at<in<i32>>(t, table)[at]);
    }
  }
  if (auto by_list = t.when(indptr != 0u)) {
    const val first = detail::number_at(t, indptr, sequence);
    const val end = detail::number_at(t, indptr, t.let(sequence + 1u));
    page = 0xffffffffu;
    if (auto inside = t.when(column < end - first)) {
      const val indices = t.let(places[&cache_places::indices]);
      page = detail::number_at(t, indices, t.let(first + column));
    }
  }
  if (auto by_batch = t.when(batches != 0u)) page = detail::number_at(t, batches, sequence);
  return {t.let(all_of(page < places[&cache_places::pages], row < page_rows)), t.let(page), row};
}

// The number of keys of a sequence, an i32; 2^31 - 1 if no length is given.
template <class Places>
constexpr val<u32> length_of_sequence(thread t, const Places& places, const val<u32>& sequence) {
  var length(t, 0x7fffffffu);
  const val lengths = t.let(places[&cache_places::lengths]);
  const val last_page = t.let(places[&cache_places::last_page_len]);
  if (auto counted = t.when(lengths != 0u)) length = detail::number_at(t, lengths, sequence);
  if (auto by_page = t.when(last_page != 0u)) {
    const val indptr = t.let(places[&cache_places::indptr]);
    const val first = detail::number_at(t, indptr, sequence);
    const val pages = t.let(detail::number_at(t, indptr, t.let(sequence + 1u)) - first);
    const val before = t.let((pages - 1u) * places[&cache_places::page_rows]);
    length = select(pages == 0u, 0u, before + detail::number_at(t, last_page, sequence));
  }
  return t.let(length);
}

}  // namespace kaio::ops
