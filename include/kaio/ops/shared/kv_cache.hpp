#pragma once
// A cache of keys and values for growing sequences: contiguous, or in pages. It consists of views of memory
// that the caller owns. Tables and lengths are in device memory too and are read when an operation runs: a
// captured graph may be replayed with other numbers.
//
//   tensor_view<f16, 4> k(x, batches, rows, heads, size), v(y, batches, rows, heads, size);
//   kv_cache<f16> dense{.k = k, .v = v, .lengths = lengths};
//   kv_cache<f16> paged{.k = k, .v = v, .table = table, .lengths = lengths};  // here k and v are pages
//
// Strides express layouts. Pass pages that are (heads, rows, size) in memory (HND) as view.exchanged(1, 2).
// Pass K and V in one tensor (pages, 2, rows, heads, size) as two views.
//
//   contiguous    neither table nor indptr: sequence b is batch b of k and v, or batch batch_index[b]
//   block table   key j of sequence b is row j % rows of page table[b][j / rows]
//   list (CSR)    key j of sequence b is row j % rows of page indices[indptr[b] + j / rows]
//
// `rows` is extent 1 of k and v, the page size: any number from 1 on. Several sequences may share a page.

#include <kaio/ops/shared/tensor_view.hpp>

#include <type_traits>

namespace kaio::ops {

template <class T>
struct kv_cache {
  // (pages or batches, rows, heads, size): stride 1 along the last dimension, other strides are free. k and v
  // agree in extents 0, 1 and 2; sizes may differ.
  tensor_view<T, 4> k{}, v{};

  // (sequences, most pages of one): page numbers. Entries beyond a sequence's pages are not read.
  tensor_view<const i32, 2> table{};

  // In place of a table: sequence b has pages indices[indptr[b]] to before indices[indptr[b + 1]]. indptr:
  // (sequences + 1) numbers that begin at 0 and never decrease. indices: page numbers.
  tensor_view<const i32, 1> indptr{}, indices{};

  // (sequences): keys of each; if not given, all rows of its pages or its batch. Rows beyond are not read.
  tensor_view<const i32, 1> lengths{};
  // With indptr, in place of lengths: (sequences), rows in the last page of each, from 1 to the page size. A
  // sequence without pages has no keys.
  tensor_view<const i32, 1> last_page_len{};

  // Contiguous only: (sequences), the batch of k and v of each; if not given, sequence b is batch b.
  tensor_view<const i32, 1> batch_index{};
  // (sequences): keys before this one do not exist, but their positions count. If not given: no padding.
  tensor_view<const i32, 1> left_padding{};

  bool has_table() const noexcept { return !table.is_null(); }
  bool has_list() const noexcept { return !indptr.is_null() || !indices.is_null(); }
  bool is_paged() const noexcept { return has_table() || has_list(); }

  // This cache, read-only.
  operator kv_cache<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {k, v, table, indptr, indices, lengths, last_page_len, batch_index, left_padding};
  }
};

}  // namespace kaio::ops

namespace kaio {
using ops::kv_cache;
}  // namespace kaio
