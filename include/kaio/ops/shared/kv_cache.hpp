#pragma once
// A cache of keys and values, of sequences that grow: contiguous, or in pages. It is views of memory that the
// caller owns; the numbers that say where a sequence is are in device memory too, and are read when an
// operation runs, so that a call that was captured into a graph may be replayed with others.
//
//   tensor_view<f16, 4> k(x, batches, rows, heads, size), v(y, batches, rows, heads, size);
//   kv_cache<f16> dense{.k = k, .v = v, .lengths = lengths};
//   kv_cache<f16> paged{.k = k, .v = v, .table = table, .lengths = lengths};  // k and v are of pages here
//
// Layouts are strides: a page that is (heads, rows, size) in memory (HND) is passed as view.exchanged(1, 2);
// K and V of one tensor (pages, 2, rows, heads, size) as two views of it.
//
//   contiguous    neither table nor indptr: sequence b is batch b of k and v, or batch batch_index[b]
//   block table   key j of sequence b is row j % rows of page table[b][j / rows]
//   list (CSR)    key j of sequence b is row j % rows of page indices[indptr[b] + j / rows]
//
// where `rows` is extent 1 of k and v, the page size, any number from 1 on. A page may be of several
// sequences.

#include <kaio/ops/shared/tensor_view.hpp>

#include <type_traits>

namespace kaio::ops {

template <class T>
struct kv_cache {
  // (pages, or batches, rows, heads, size): neighbours along the last dimension are adjacent, other strides
  // are free. Extents 0, 1 and 2 are the same; sizes may differ.
  tensor_view<T, 4> k{}, v{};

  // (sequences, most pages of one): numbers of pages. Those beyond what a sequence has are not read.
  tensor_view<const i32, 2> table{};

  // In place of a table: sequence b has pages indices[indptr[b]] to before indices[indptr[b + 1]]. (sequences
  // + 1) numbers from 0 on, none less than the one before; and the numbers of pages.
  tensor_view<const i32, 1> indptr{}, indices{};

  // (sequences): how many keys each has, as many as there is room for where it is not given. What is beyond
  // is not read.
  tensor_view<const i32, 1> lengths{};
  // With indptr, in place of lengths: (sequences), how many rows the last page of each has, from 1 to the
  // page size; a sequence without pages has no keys.
  tensor_view<const i32, 1> last_page_len{};

  // Contiguous alone: (sequences), the batch of k and v that each is; batch b is sequence b where it is not
  // given.
  tensor_view<const i32, 1> batch_index{};
  // (sequences): keys before this one do not exist; their places count all the same. None where it is not
  // given.
  tensor_view<const i32, 1> left_padding{};

  bool has_table() const noexcept { return !table.is_null(); }
  bool has_list() const noexcept { return !indptr.is_null() || !indices.is_null(); }
  bool is_paged() const noexcept { return has_table() || has_list(); }

  // The same cache, which is only read.
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
