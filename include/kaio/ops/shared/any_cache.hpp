#pragma once
// A kv_cache whose element type is a value, for code that is compiled once.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/kv_cache.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

namespace kaio::ops::detail {

struct any_cache {
  any_view k, v;
  tensor_view<const i32, 2> table;
  tensor_view<const i32, 1> indptr, indices, lengths, last_page_len, batch_index, left_padding;

  any_cache() = default;
  template <class T>
  any_cache(const kv_cache<T>& of)
      : k(of.k),
        v(of.v),
        table(of.table),
        indptr(of.indptr),
        indices(of.indices),
        lengths(of.lengths),
        last_page_len(of.last_page_len),
        batch_index(of.batch_index),
        left_padding(of.left_padding) {}
};

}  // namespace kaio::ops::detail
