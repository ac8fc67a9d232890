#pragma once
// The k largest elements of each row and their indices, the largest first; among equal ones the lower index
// first.
//
//   top_k(s, x, values, indices);    // k is the last extent of values and indices
//
// NaN counts as -inf, and is copied as it is; 0 and -0 are equal. Nothing is allocated, read back or waited for,
// so a call may be captured into a graph; a kernel is loaded when it is first used on a device (top_k_warmup).
// Throws invalid_argument, which names the argument, before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_top_k(const stream& s, const any_view& x, const any_view& values, const any_view& indices);
}  // namespace detail

// x: (rows, size), f32, f16 or bf16, rows of any stride, neighbours adjacent. values: (rows, k), of x's type;
// indices: (rows, k), i32 or i64; rows of any stride, neighbours adjacent, apart from everything else. k is 0 to
// 1024, and at most the size; the size is below 2^31 - 1024.
template <class X, class Value, class Index>
void top_k(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Value, 2>& values,
           const tensor_view<Index, 2>& indices) {
  static_assert(is_wide(element_kind_of<X>()), "kaio: the elements of top_k are f32, f16 or bf16");
  static_assert(std::is_same_v<std::remove_const_t<X>, Value>,
                "kaio: the values of top_k have the element type of x, and are not const");
  static_assert(std::is_same_v<Index, i32> || std::is_same_v<Index, i64>,
                "kaio: the indices of top_k are i32 or i64, and not const");
  detail::run_top_k(s, x, values, indices);
}
// Refuses arguments that are no such views.
template <class X, class Value, class Index>
  requires(!detail::views<2, X, Value, Index>)
void top_k(const stream&, const X&, const Value&, const Index&) {
  detail::refuse_views<X, Value, Index>();
}

// Loads the kernel ahead of its first use.
void top_k_warmup(const runtime::device& gpu);

// The images of the kernels of top_k.
std::vector<const ptx::kernel_image*> top_k_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::top_k;
using ops::top_k_warmup;
}  // namespace kaio
