#pragma once
// The cache of attention_decode, of which kaio_kv_cache is read as append_kv takes it.

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>

namespace kaio::c {

// A cache that is written if the call appends.
inline ops::attention_cache_view view_of(const ops::detail::any_cache& cache) {
  const auto numbers = [](const auto& given) {
    const bool exists = given.device() != nullptr;
    return exists ? ops::attention_view(ops::any_view(given)) : ops::attention_view();
  };
  ops::attention_cache_view view;
  view.k = ops::attention_view(cache.k);
  view.v = ops::attention_view(cache.v);
  view.kind = cache.k.type;
  view.table = numbers(cache.table);
  view.indptr = numbers(cache.indptr);
  view.indices = numbers(cache.indices);
  view.lengths = numbers(cache.lengths);
  view.last_page_len = numbers(cache.last_page_len);
  view.batch_index = numbers(cache.batch_index);
  view.left_padding = numbers(cache.left_padding);
  view.cache = cache;
  view.is_written = true;
  return view;
}

}  // namespace kaio::c
