#pragma once
// The checks that every operation makes of its arguments before anything runs. A check throws
// invalid_argument; the text names the operation, the argument, the expected value and the value that came.
//
//   const validation check("matmul", stream.device_identity());
//   check.input("a", a);
//   check.output("c", c);
//   check.extent("b", b, 0, a.extent(1), "the columns of a");
//   check.apart("c", c, "a", a);

#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/detail/operation_scope.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

namespace detail {
using runtime::detail::operation_scope;  // each call of an operation has one, for the trace and the log
template <class View>
inline constexpr bool is_view_of_const = false;
template <class T, std::size_t Rank>
inline constexpr bool is_view_of_const<tensor_view<T, Rank>> = std::is_const_v<T>;
}  // namespace detail

// A tensor_view, or a view that carries its element type and its rank as numbers.
template <class View>
concept viewed = requires(const View& v) {
  { v.facts() } -> std::same_as<detail::view_facts>;
};

// Device memory that a caller lends to an operation.
struct workspace_facts {
  std::uint64_t address, bytes;
  const void* device;
};

class validation {
 public:
  // `device`: identity of the device on which the operation runs; null skips the checks of devices.
  constexpr validation(std::string_view operation, const void* device)
      : operation_(operation), device_(device) {}

  // Requires a view that is not null, on this device, aligned to its elements, with possible extents and
  // strides within its memory.
  template <viewed View>
  void input(std::string_view name, const View& view) const {
    check_input(name, view.facts());
  }
  // As input(), and no two elements share a place: each stride is above 0 and reaches beyond the dimensions
  // inside it.
  template <viewed View>
  void output(std::string_view name, const View& view) const {
    static_assert(!detail::is_view_of_const<View>,
                  "kaio: an output is a view of elements that are not const");
    check_output(name, view.facts());
  }
  // Requires extent `dimension` to be `expected`; `reason` names that number.
  template <viewed View>
  void extent(std::string_view name, const View& view, std::size_t dimension, std::int64_t expected,
              std::string_view reason) const {
    const std::int64_t came = view.facts().extents[dimension];
    if (came != expected) throw_extent(name, dimension, came, expected, reason);
  }
  // Requires that no extent is 0.
  template <viewed View>
  void not_empty(std::string_view name, const View& view) const {
    const detail::view_facts facts = view.facts();
    for (std::size_t d = 0; d < facts.rank; ++d)
      if (facts.extents[d] == 0) throw_empty(name, d);
  }
  // Requires extent `dimension` to be at most `limit`.
  template <viewed View>
  void at_most(std::string_view name, const View& view, std::size_t dimension, std::int64_t limit) const {
    const std::int64_t came = view.facts().extents[dimension];
    if (came > limit) throw_limit(name, dimension, came, limit);
  }
  // Requires that the output shares no memory with the input.
  template <viewed Output, viewed Input>
  void apart(std::string_view output, const Output& to, std::string_view input, const Input& from) const {
    check_apart(output, to.facts(), input, from.facts());
  }
  // Requires that the output is the input, element by element, or shares no memory with it. This serves
  // operations in which the thread that reads an element also writes it.
  template <class T, std::size_t Rank, class U>
  void same_or_apart(std::string_view output, const tensor_view<T, Rank>& to, std::string_view input,
                     const tensor_view<U, Rank>& from) const {
    if (std::is_same_v<T, std::remove_const_t<U>> && to.address() == from.address() &&
        to.extents() == from.extents() && to.strides() == from.strides())
      return;
    check_apart(output, to.facts(), input, from.facts());
  }
  // Requires at least `bytes` bytes for an operation's own use, aligned to `alignment`.
  void workspace(std::string_view name, const workspace_facts& memory, std::uint64_t bytes,
                 std::uint64_t alignment) const;
  // Requires that no byte of the workspace is in the view.
  template <viewed View>
  void workspace_apart(const workspace_facts& memory, std::string_view name, const View& view) const {
    const auto extent = static_cast<std::int64_t>(memory.bytes);
    const std::int64_t one = 1;
    check_apart("workspace", {memory.address, memory.bytes, memory.device, 1, 1, &extent, &one}, name,
                view.facts());
  }

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
// Whether elements of two views may occupy the same bytes. False for disjoint column ranges of one matrix,
// and for views that a common grid of strides keeps apart, such as even and odd elements. Otherwise: whether
// their spans overlap.
bool overlap(const view_facts& a, const view_facts& b);
}  // namespace detail

template <class T, std::size_t Rank, class U, std::size_t OtherRank>
bool overlap(const tensor_view<T, Rank>& a, const tensor_view<U, OtherRank>& b) {
  return detail::overlap(a.facts(), b.facts());
}

}  // namespace kaio::ops
