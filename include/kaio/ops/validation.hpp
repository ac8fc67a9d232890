#pragma once
// What every operation checks of its arguments before anything runs. A check throws invalid_argument, whose
// text names the operation and the argument, what was expected and what came.
//
//   const validation check("matmul", stream.device_identity());
//   check.input("a", a);
//   check.output("c", c);
//   check.extent("b", b, 0, a.extent(1), "the columns of a");
//   check.apart("c", c, "a", a);

#include <kaio/ops/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ops {

class validation {
 public:
  // `device`: identity of the device on which the operation runs; null makes no check of devices.
  constexpr validation(std::string_view operation, const void* device)
      : operation_(operation), device_(device) {}

  // Not null, of this device, aligned to its elements, extents and strides possible and within its memory.
  template <class T, std::size_t Rank>
  void input(std::string_view name, const tensor_view<T, Rank>& view) const {
    check_input(name, view.facts());
  }
  // The same, and no two elements at one place: a stride is not 0 and reaches beyond the dimensions inside it.
  template <class T, std::size_t Rank>
  void output(std::string_view name, const tensor_view<T, Rank>& view) const {
    static_assert(!std::is_const_v<T>, "kaio: an output is a view of elements that are not const");
    check_output(name, view.facts());
  }
  // Extent `dimension` is `expected`, which is `reason`.
  template <class T, std::size_t Rank>
  void extent(std::string_view name, const tensor_view<T, Rank>& view, std::size_t dimension,
              std::int64_t expected, std::string_view reason) const {
    if (view.extent(dimension) != expected)
      throw_extent(name, dimension, view.extent(dimension), expected, reason);
  }
  // No extent is 0.
  template <class T, std::size_t Rank>
  void not_empty(std::string_view name, const tensor_view<T, Rank>& view) const {
    for (std::size_t d = 0; d < Rank; ++d)
      if (view.extent(d) == 0) throw_empty(name, d);
  }
  // Extent `dimension` is at most `limit`.
  template <class T, std::size_t Rank>
  void at_most(std::string_view name, const tensor_view<T, Rank>& view, std::size_t dimension,
               std::int64_t limit) const {
    if (view.extent(dimension) > limit) throw_limit(name, dimension, view.extent(dimension), limit);
  }
  // The output shares no memory with the input.
  template <class T, std::size_t Rank, class U, std::size_t OtherRank>
  void apart(std::string_view output, const tensor_view<T, Rank>& to, std::string_view input,
             const tensor_view<U, OtherRank>& from) const {
    check_apart(output, to.facts(), input, from.facts());
  }
  // The output is the input itself, element by element, or shares no memory with it: for operations that read
  // an element in the thread that then writes it.
  template <class T, std::size_t Rank, class U>
  void same_or_apart(std::string_view output, const tensor_view<T, Rank>& to, std::string_view input,
                     const tensor_view<U, Rank>& from) const {
    if (std::is_same_v<T, std::remove_const_t<U>> && to.address() == from.address() &&
        to.extents() == from.extents() && to.strides() == from.strides())
      return;
    check_apart(output, to.facts(), input, from.facts());
  }
  // Memory for an operation's own use: at least `bytes`, aligned to `alignment`.
  void workspace(std::string_view name, std::uint64_t address, std::uint64_t available, const void* device,
                 std::uint64_t bytes, std::uint64_t alignment) const;

 private:
  void check_input(std::string_view name, const detail::view_facts& view) const;
  void check_output(std::string_view name, const detail::view_facts& view) const;
  void check_apart(std::string_view output, const detail::view_facts& to, std::string_view input,
                   const detail::view_facts& from) const;
  [[noreturn]] void throw_extent(std::string_view name, std::size_t dimension, std::int64_t came,
                                 std::int64_t expected, std::string_view reason) const;
  [[noreturn]] void throw_empty(std::string_view name, std::size_t dimension) const;
  [[noreturn]] void throw_limit(std::string_view name, std::size_t dimension, std::int64_t came,
                                std::int64_t limit) const;

  std::string_view operation_;
  const void* device_;
};

namespace detail {
// Whether the elements of two views may lie at the same bytes. Exact where both have the same outer stride, as
// the column ranges of one matrix have; otherwise whether the spans meet.
bool overlap(const view_facts& a, const view_facts& b);
}  // namespace detail

template <class T, std::size_t Rank, class U, std::size_t OtherRank>
bool overlap(const tensor_view<T, Rank>& a, const tensor_view<U, OtherRank>& b) {
  return detail::overlap(a.facts(), b.facts());
}

}  // namespace kaio::ops
