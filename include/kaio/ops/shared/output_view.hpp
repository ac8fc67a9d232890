#pragma once
// A view among an operation's options to which the operation writes.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::ops {

struct output_view : any_view {
  output_view() = default;
  template <detail::without_view M>
  output_view(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  output_view(const tensor_view<T, Rank>& view) : any_view(view) {
    static_assert(!std::is_const_v<T>, "kaio: the operation writes to this view, whose elements are const");
  }
  explicit output_view(const any_view& view) : any_view(view) {}
};

}  // namespace kaio::ops
