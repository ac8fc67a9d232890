#pragma once
// One call of an operation through the C interface: reads what the caller gave into the arguments of the C++ operation, and
// refuses what is wrong by its name. The generated functions (src/c/generated) are made of these steps:
//
//   call in("matmul");
//   ops::matmul_view a, c;
//   in.tensor("a", a_given, {f32 | f16, 2, 3}, a);      // the first tensor's device is that of the call
//   in.tensor("c", c_given, {f32 | f16, 2, 3}, c);      // and every other is on it
//   ops::matmul_options options;
//   read(in, options_given, options);
//   const runtime::stream stream = in.stream(handle);
//   ...                                                 // the operation
//   in.finish();

#include <kaio/c/base.h>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/stream.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "c/call/error.hpp"
#include "c/call/host_memory.hpp"

namespace kaio::c {

// Bits of the element types that an argument may have.
namespace element {
inline constexpr std::uint32_t f32 = 1, f16 = 2, bf16 = 4, e4m3 = 8, e5m2 = 16, i8 = 32, i32 = 64, i64 = 128,
                               u8 = 256, u32 = 512, u64 = 1024, boolean = 2048, e8m0 = 4096, f64 = 8192,
                               i16 = 16384, u16 = 32768;
}  // namespace element

struct tensor_rule {
  std::uint32_t elements;
  std::int32_t least_rank, most_rank;
};

// "f32"; for a type that kaio has not, DLPack's numbers.
std::string name_of(const DLDataType& type);

class call {
 public:
  explicit call(const char* operation) noexcept : operation_(operation) {}

  // The device of the tensors that were read. A call without tensors names it by device().
  const runtime::device& gpu() const noexcept { return *gpu_; }
  bool has_device() const noexcept { return gpu_ != nullptr; }
  const char* operation() const noexcept { return operation_; }
  void device(const char* name, const DLDevice& given);
  // A CUstream of the device.
  runtime::stream stream(void* handle) {
    runtime::stream s = runtime::stream::borrow(*gpu_, handle);
    if (host_.is_used()) {
      refuse_capture_of_host_memory(s);
      host_.runs_in(handle);
    }
    return s;
  }
  // Follows the operation. If tensors are memory of the CPU, waits for it, and throws what failed.
  void finish() { host_.finish(); }

  // A stream that runs nothing, but loads the kernels of what is called with it.
  runtime::stream loading() const { return runtime::stream::loading(*gpu_); }

  // Reads a tensor that must be given.
  template <class To>
  void tensor(const char* name, const DLTensor* given, const tensor_rule& rule, To& to) {
    require(operation_, name, given);
    put(view_of(name, *given, rule), to);
  }
  // Leaves `to` as it is if the tensor is NULL.
  template <class To>
  void optional_tensor(const char* name, const DLTensor* given, const tensor_rule& rule, To& to) {
    if (given != nullptr) put(view_of(name, *given, rule), to);
  }
  template <class To>
  void tensors(const char* name, const DLTensor* given, std::size_t count, const tensor_rule& rule,
               std::vector<To>& to) {
    require(operation_, name, given);
    to.resize(count);
    for (std::size_t i = 0; i < count; ++i) put(view_of(name, given[i], rule), to[i]);
  }
  // The address on the device of a tensor's first element. `bytes`: from there to the end of its last one.
  std::uint64_t address(const char* name, const DLTensor& given, std::uint64_t bytes);
  // Bytes without gaps, of any element type.
  void workspace(const char* name, const DLTensor* given, ops::workspace_view& to);

  // Requires that two tensors are both given, or both NULL.
  void together(const char* name, const DLTensor* given, const char* other, const DLTensor* with) const;
  // Requires the element type, or the number of dimensions (plus `more`), of another argument.
  void same_elements(const char* name, const DLTensor* given, const char* other, const DLTensor* like) const;
  void same_elements(const char* name, const DLTensor* given, const char* other, const DLTensor* like,
                     std::size_t count) const;
  void same_rank(const char* name, const DLTensor* given, const char* other, const DLTensor* like,
                 int more) const;

  // Makes a vector (n) a matrix (n, 1).
  static void as_column(ops::any_view& view) noexcept {
    if (view.rank != 1) return;
    view.rank = 2;
    view.extents[1] = view.strides[1] = 1;
  }

  bool flag(const char* name, std::int32_t given) const;
  // A value of an enumeration of `count` values from 0 on, or a set of the bits of `all`.
  template <class To>
  void enumerated(const char* name, std::int32_t given, std::int32_t count, To& to) const {
    if (given < 0 || given >= count) refuse_value(name, given, "one of the named constants");
    to = static_cast<To>(given);
  }
  template <class To>
  void set_of(const char* name, std::int32_t given, std::int32_t all, To& to) const {
    if ((given & ~all) != 0) refuse_value(name, given, "a sum of the named constants");
    to = static_cast<To>(given);
  }
  void byte(const char* name, std::uint32_t given, std::uint8_t& to) const {
    if (given > 255) refuse_value(name, static_cast<std::int32_t>(given), "0 to 255");
    to = static_cast<std::uint8_t>(given);
  }
  void zero(const char* name, std::int32_t given) const {
    if (given != 0) refuse_value(name, given, "0");
  }

  // Copies the caller's part of a struct with a size over `known`, which holds the defaults.
  void take(const char* name, const void* given, void* known, std::size_t bytes) const;
  // Writes the caller's part of a struct with a size.
  void give(const char* name, void* to, const void* known, std::size_t bytes) const;
  template <std::size_t Size>
  void give_text(const char* name, std::string_view text, char (&to)[Size]) const {
    if (text.size() >= Size) refuse_text(name, text);
    text.copy(to, text.size());
    to[text.size()] = '\0';
  }

  void need(const char* name, const void* pointer) const { require(operation_, name, pointer); }

  // Copies numbers of the host.
  template <class T>
  void list(const char* name, const T* given, std::uint64_t count, std::vector<T>& to) const {
    if (count != 0) require(operation_, name, given);
    to.assign(given, given + count);
  }
  // The numbers stay where they are: for members that are read before the call returns.
  template <class T>
  void list(const char* name, const T* given, std::uint64_t count, std::span<const T>& to) const {
    if (count != 0) require(operation_, name, given);
    to = {given, static_cast<std::size_t>(count)};
  }

 private:
  ops::any_view view_of(const char* name, const DLTensor& given, const tensor_rule& rule);
  void refuse_capture_of_host_memory(const runtime::stream& s) const;
  [[noreturn]] void refuse_value(const char* name, std::int32_t given, const char* expected) const;
  [[noreturn]] void refuse_text(const char* name, std::string_view text) const;

  // Views of any element type, such as matmul_view.
  template <std::derived_from<ops::any_view> To>
  static void put(const ops::any_view& view, To& to) {
    static_cast<ops::any_view&>(to) = view;
  }
  template <class T, std::size_t Rank>
  static void put(const ops::any_view& view, ops::tensor_view<T, Rank>& to) {
    const runtime::device_pointer<std::remove_const_t<T>> memory{view.address, view.bytes / sizeof(T),
                                                                 view.device, true};
    ops::extents<Rank> extents = extents_of<Rank>(view, std::make_index_sequence<Rank>());
    ops::strides<Rank> strides = strides_of<Rank>(view, std::make_index_sequence<Rank>());
    to = ops::tensor_view<T, Rank>(memory, extents, strides);
  }
  template <std::size_t Rank, std::size_t... D>
  static ops::extents<Rank> extents_of(const ops::any_view& view, std::index_sequence<D...>) {
    return ops::extents<Rank>(view.extents[D]...);
  }
  template <std::size_t Rank, std::size_t... D>
  static ops::strides<Rank> strides_of(const ops::any_view& view, std::index_sequence<D...>) {
    return ops::strides<Rank>(view.strides[D]...);
  }

  const char* operation_;
  const runtime::device* gpu_ = nullptr;
  const char* first_ = nullptr;  // the tensor that named the device
  DLDevice named_{};
  host_memory host_;
};

}  // namespace kaio::c
