#pragma once
// The checks of validation.hpp for views that carry their types as numbers.

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/validation.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::ops {

class view_validation {
 public:
  view_validation(std::string_view operation, const void* device)
      : operation_(operation), inner_(operation, device) {}

  void input(std::string_view name, const matmul_view& view) const {
    typed(view, [&](const auto& v) { inner_.input(name, v); });
  }
  void output(std::string_view name, const matmul_view& view) const {
    typed(view, [&](const auto& v) { inner_.output(name, v); });
  }
  void extent(std::string_view name, const matmul_view& view, std::size_t dimension, std::int64_t expected,
              std::string_view reason) const {
    typed(view, [&](const auto& v) { inner_.extent(name, v, dimension, expected, reason); });
  }
  void at_most(std::string_view name, const matmul_view& view, std::size_t dimension,
               std::int64_t limit) const {
    typed(view, [&](const auto& v) { inner_.at_most(name, v, dimension, limit); });
  }
  void apart(std::string_view output, const matmul_view& to, std::string_view input,
             const matmul_view& from) const {
    apart(output, to.facts(), input, from.facts());
  }
  void workspace(const matmul_workspace& memory, std::uint64_t bytes, std::uint64_t alignment) const {
    inner_.workspace("workspace", memory.address, memory.bytes, memory.device, bytes, alignment);
  }
  // The workspace, all of it, shares no memory with the view.
  void workspace_apart(const matmul_workspace& memory, std::string_view name, const matmul_view& view) const {
    const auto extent = static_cast<std::int64_t>(memory.bytes);
    const std::int64_t one = 1;
    apart("workspace", {memory.address, memory.bytes, memory.device, 1, 1, &extent, &one}, name,
          view.facts());
  }

 private:
  void apart(std::string_view output, const detail::view_facts& to, std::string_view input,
             const detail::view_facts& from) const {
    if (detail::overlap(to, from))
      throw invalid_argument("kaio: " + std::string(operation_) + ": output " + std::string(output) +
                             " shares memory with argument " + std::string(input) +
                             "; write to memory of its own");
  }

  template <class T, std::size_t Rank, class F>
  static void ranked(const matmul_view& view, const F& f) {
    ops::extents<Rank> e = filled<ops::extents<Rank>>(view.extents);
    ops::strides<Rank> s = filled<ops::strides<Rank>>(view.strides);
    f(tensor_view<T, Rank>(device_pointer<T>{view.address, view.bytes / sizeof(T), view.device}, e, s));
  }
  template <class Values>
  static Values filled(const std::array<std::int64_t, 3>& from) {
    Values result = []<std::size_t... I>(std::index_sequence<I...>) {
      return Values((static_cast<void>(I), 0)...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(Values::values)>>{});
    for (std::size_t d = 0; d < result.values.size(); ++d) result.values[d] = from[d];
    return result;
  }
  template <class T, class F>
  static void sized(const matmul_view& view, const F& f) {
    if (view.rank == 1) return ranked<T, 1>(view, f);
    if (view.rank == 2) return ranked<T, 2>(view, f);
    ranked<T, 3>(view, f);
  }
  template <class F>
  static void typed(const matmul_view& view, const F& f) {
    const std::uint32_t size = view.facts().element_bytes;
    if (size == 1) return sized<u8>(view, f);
    if (size == 2) return sized<u16>(view, f);
    sized<u32>(view, f);
  }

  std::string_view operation_;
  validation inner_;
};

}  // namespace kaio::ops
