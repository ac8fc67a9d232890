#pragma once
// Copies a tensor into another one of any strides: transposes, permutes, slices, broadcasts and casts.
//
//   copy(s, to, from);                       // tensor_views of equal extents; found by its arguments
//   copy(s, to, from.exchanged(1, 2));       // a permutation
//   copy(s, half, single);                   // f32 rounded to f16
//
// Elements of one type are moved as they are, bit for bit, whatever their type: 1, 2, 4 or 8 bytes. f32, f16
// and bf16 are converted into each other, rounded once, to the nearest, ties to even; NaN stays NaN. For
// buffers, which have no extents, there is kaio/runtime/copy.hpp. Nothing is allocated, read back or waited
// for, so a call may be captured into a graph once its kernel is loaded (copy_warmup). Throws
// invalid_argument, which names the argument, before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_copy(const stream& s, const any_view& to, const any_view& from);
void warm_up_copy(const runtime::device& gpu, const any_view& to, const any_view& from);

template <class To, class From, std::size_t Rank, std::size_t FromRank>
constexpr void require_copy() {
  using element = std::remove_const_t<From>;
  static_assert(Rank <= 5 && FromRank <= Rank,
                "kaio: copy takes views of up to five dimensions, and the copy has at least those of `from`");
  static_assert(!std::is_const_v<To>, "kaio: copy writes to a view of elements that are not const");
  static_assert(
      std::is_same_v<To, element> || (is_wide(element_kind_of<To>()) && is_wide(element_kind_of<element>())),
      "kaio: copy takes elements of one type, or f32, f16 and bf16");
}
}  // namespace detail

// to: 1 to 5 dimensions, any strides by which no two elements share a place, apart from `from`. from: the
// extents of `to`, or 1, or missing first dimensions, which are repeated as in NumPy; any strides. Any number
// of elements. If `to` is empty, nothing runs.
template <class To, class From, std::size_t Rank, std::size_t FromRank>
void copy(const stream& s, const tensor_view<To, Rank>& to, const tensor_view<From, FromRank>& from) {
  detail::require_copy<To, From, Rank, FromRank>();
  detail::run_copy(s, to, from);
}

// Refuses a buffer next to a view.
template <class To, class From>
  requires(detail::views<0, To> != detail::views<0, From>)
void copy(const stream&, const To&, const From&) {
  detail::refuse_views<To, From>();
}

// Loads the kernels for views of these types ahead of their first use.
template <class To, class From, std::size_t Rank, std::size_t FromRank>
void copy_warmup(const runtime::device& gpu, const tensor_view<To, Rank>& to,
                 const tensor_view<From, FromRank>& from) {
  detail::require_copy<To, From, Rank, FromRank>();
  detail::warm_up_copy(gpu, to, from);
}

// The images of the kernels of copy.
std::vector<const ptx::kernel_image*> copy_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::copy_warmup;  // copy is found by its arguments
}
