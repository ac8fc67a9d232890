#pragma once
// A view of device memory that the caller owns, with extents and strides: the argument of operations. A view
// is made from a buffer or a device_pointer and knows its bytes of memory; it never owns or copies.
//
//   buffer<f32> x = gpu.upload(host);                           // 64 x 48 numbers
//   tensor_view a(x, 64, 48);                                   // row by row: tensor_view<f32, 2>
//   tensor_view<const f32, 2> b = a.transposed();               // 48 x 64, of the same memory
//   tensor_view c(x, extents{64, 32}, strides{48, 1});          // its first 32 columns: a.slice(1, 0, 32)
//
// Extents and strides count elements. Making a view throws invalid_argument if an extent or a stride is
// negative, if a size overflows, or if the view spans more than the memory. A view of a null buffer is a null
// view: every operation refuses it, naming the argument. A tensor with an extent of 0 is empty.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/view_refusal.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/buffer.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kaio::ops {

namespace detail {

// Converts a count of any integer type. A count that does not fit becomes negative, which is refused.
template <std::integral I>
constexpr std::int64_t count_of(I i) {
  return std::in_range<std::int64_t>(i) ? static_cast<std::int64_t>(i) : -1;
}

// The name of an element type, as a program writes it.
template <class T>
constexpr const char* element_name() {
  using element = std::remove_const_t<T>;
  return std::is_same_v<element, f32>    ? "f32"
         : std::is_same_v<element, f64>  ? "f64"
         : std::is_same_v<element, f16>  ? "f16"
         : std::is_same_v<element, bf16> ? "bf16"
         : std::is_same_v<element, e4m3> ? "e4m3"
         : std::is_same_v<element, e5m2> ? "e5m2"
         : std::is_same_v<element, i8>   ? "i8"
         : std::is_same_v<element, u8>   ? "u8"
         : std::is_same_v<element, i32>  ? "i32"
         : std::is_same_v<element, u32>  ? "u32"
         : std::is_same_v<element, i64>  ? "i64"
                                         : "";
}

// A view whose element type and rank are values, for code that is compiled once.
struct view_facts {
  std::uint64_t address;
  std::uint64_t bytes;  // memory from `address` on
  const void* device;
  std::uint32_t element_bytes;
  std::uint32_t rank;
  const std::int64_t* extents;
  const std::int64_t* strides;
  const char* element = "";  // for messages and traces; may be empty
};

// Throws invalid_argument, in the name of `what`, if the view is impossible or larger than its memory.
void check_view(std::string_view what, const view_facts& view);
// Strides of a row-major tensor; throws if they overflow.
void row_major_strides(const std::int64_t* extents, std::uint32_t rank, std::int64_t* strides);
// Throws if a tensor of `rank` dimensions lacks dimension a or b.
void check_dimensions(std::size_t rank, std::size_t a, std::size_t b);
// Throws if dimension `dimension` of the view does not hold `count` elements from `first` on.
void check_slice(const view_facts& view, std::size_t dimension, std::int64_t first, std::int64_t count);

}  // namespace detail

// The number of elements in each dimension, the outermost first.
template <std::size_t Rank>
struct extents {
  std::array<std::int64_t, Rank> values{};
  template <std::integral... I>
    requires(sizeof...(I) == Rank)
  constexpr extents(I... counts) : values{detail::count_of(counts)...} {}
};
template <std::integral... I>
extents(I...) -> extents<sizeof...(I)>;

// Distance from one element to the next in each dimension, in elements. 0 repeats elements (inputs only).
template <std::size_t Rank>
struct strides {
  std::array<std::int64_t, Rank> values{};
  template <std::integral... I>
    requires(sizeof...(I) == Rank)
  constexpr strides(I... distances) : values{detail::count_of(distances)...} {}
};
template <std::integral... I>
strides(I...) -> strides<sizeof...(I)>;

template <class T, std::size_t Rank>
class tensor_view {
  static_assert(Rank >= 1 && Rank <= 8, "kaio: a tensor_view has 1 to 8 dimensions");
  static_assert(dsl::scalar<std::remove_const_t<T>>,
                "kaio: the elements of a tensor_view are numbers of the language");

 public:
  using value_type = T;
  using shape = std::array<std::int64_t, Rank>;
  static constexpr std::size_t rank = Rank;

  // The null view.
  tensor_view() = default;

  // Views of device memory, row-major or with strides.
  tensor_view(buffer<std::remove_const_t<T>>& memory, const ops::extents<Rank>& e)
      : tensor_view(memory.view(), e) {}
  tensor_view(buffer<std::remove_const_t<T>>& memory, const ops::extents<Rank>& e,
              const ops::strides<Rank>& s)
      : tensor_view(memory.view(), e, s) {}
  tensor_view(const buffer<std::remove_const_t<T>>& memory, const ops::extents<Rank>& e)
    requires std::is_const_v<T>
      : tensor_view(memory.view(), e) {}
  tensor_view(const buffer<std::remove_const_t<T>>& memory, const ops::extents<Rank>& e,
              const ops::strides<Rank>& s)
    requires std::is_const_v<T>
      : tensor_view(memory.view(), e, s) {}
  tensor_view(const device_pointer<std::remove_const_t<T>>& memory, const ops::extents<Rank>& e) {
    take(memory, e.values);
    detail::row_major_strides(extents_.data(), Rank, strides_.data());
    check();
  }
  tensor_view(const device_pointer<std::remove_const_t<T>>& memory, const ops::extents<Rank>& e,
              const ops::strides<Rank>& s) {
    take(memory, e.values);
    strides_ = s.values;
    check();
  }
  // tensor_view(x, rows, columns), row-major.
  template <class Memory, std::integral... I>
    requires(sizeof...(I) == Rank && std::is_constructible_v<tensor_view, Memory&, const ops::extents<Rank>&>)
  tensor_view(Memory& memory, I... counts) : tensor_view(memory, ops::extents<Rank>(counts...)) {}
  // Memory alone has no extents.
  template <detail::without_view M>
  tensor_view(const M&) {
    detail::refuse_views<M>();
  }
  // A view that only reads.
  template <class U>
    requires std::is_same_v<const U, T>
  tensor_view(const tensor_view<U, Rank>& other)
      : address_(other.address()),
        bytes_(other.bytes()),
        device_(other.device()),
        extents_(other.extents()),
        strides_(other.strides()) {}

  std::uint64_t address() const noexcept { return address_; }
  // Bytes of the memory from address() on, as given when the view was made.
  std::uint64_t bytes() const noexcept { return bytes_; }
  // device::identity(), or null if none was given: then the device is not checked.
  const void* device() const noexcept { return device_; }
  const shape& extents() const noexcept { return extents_; }
  const shape& strides() const noexcept { return strides_; }
  std::int64_t extent(std::size_t dimension) const noexcept { return extents_[dimension]; }
  std::int64_t stride(std::size_t dimension) const noexcept { return strides_[dimension]; }
  // The number of elements.
  std::int64_t size() const noexcept {
    if (empty()) return 0;  // the product of the other extents may overflow
    std::int64_t result = 1;
    for (const std::int64_t e : extents_) result *= e;
    return result;
  }
  bool empty() const noexcept {
    for (const std::int64_t e : extents_)
      if (e == 0) return true;
    return false;
  }
  // True if the view has no memory: default-made, or of a buffer that was never allocated, was released or
  // was moved from.
  bool is_null() const noexcept { return address_ == 0 && device_ == nullptr; }

  // The last two dimensions exchanged.
  tensor_view transposed() const noexcept
    requires(Rank >= 2)
  {
    tensor_view result = *this;
    std::swap(result.extents_[Rank - 1], result.extents_[Rank - 2]);
    std::swap(result.strides_[Rank - 1], result.strides_[Rank - 2]);
    return result;
  }
  // Two dimensions exchanged: exchanged(1, 2) makes (batch, row, head, column) of (batch, head, row, column).
  tensor_view exchanged(std::size_t a, std::size_t b) const {
    detail::check_dimensions(Rank, a, b);
    tensor_view result = *this;
    std::swap(result.extents_[a], result.extents_[b]);
    std::swap(result.strides_[a], result.strides_[b]);
    return result;
  }
  // `count` elements of one dimension, from `first` on. Throws invalid_argument if the dimension has fewer.
  tensor_view slice(std::size_t dimension, std::int64_t first, std::int64_t count) const {
    detail::check_slice(facts(), dimension, first, count);
    tensor_view result = *this;
    result.extents_[dimension] = count;
    if (!result.empty()) result.move(first * strides_[dimension]);
    return result;
  }
  // Element `i` of the outermost dimension: a view with one dimension less.
  tensor_view<T, Rank - 1> operator[](std::int64_t i) const
    requires(Rank >= 2)
  {
    const tensor_view one = slice(0, i, 1);
    tensor_view<T, Rank - 1> result;
    result.address_ = one.address_;
    result.bytes_ = one.bytes_;
    result.device_ = one.device_;
    for (std::size_t d = 1; d < Rank; ++d) {
      result.extents_[d - 1] = one.extents_[d];
      result.strides_[d - 1] = one.strides_[d];
    }
    return result;
  }

  // The memory, as a launch takes it: as in<T>, and as out<T> or inout<T> if T is not const.
  ptx::argument as_argument() const noexcept {
    std::uint64_t packed = 1;  // may wrap around for an empty view
    bool has_gaps = false;
    for (std::size_t d = Rank; d-- > 0;) {
      has_gaps = has_gaps || (extents_[d] != 1 && static_cast<std::uint64_t>(strides_[d]) != packed);
      packed *= static_cast<std::uint64_t>(extents_[d]);
    }
    const std::uint64_t bytes = has_gaps ? bytes_ : packed * sizeof(T);
    return {address_, device_, bytes, nullptr, has_gaps};
  }
  detail::view_facts facts() const noexcept {
    detail::view_facts of{address_, bytes_, device_, sizeof(T), Rank, extents_.data(), strides_.data()};
    of.element = detail::element_name<T>();
    return of;
  }

 private:
  template <class, std::size_t>
  friend class tensor_view;

  template <class Memory>
  void take(const Memory& memory, const shape& e) {
    const ptx::argument argument = memory.as_argument();
    address_ = argument.bits;
    bytes_ = argument.bytes;
    device_ = argument.device;
    extents_ = e;
  }
  void check() const { detail::check_view("a tensor_view", facts()); }
  void move(std::int64_t elements) noexcept {
    const std::uint64_t distance = static_cast<std::uint64_t>(elements) * sizeof(T);
    address_ += distance;
    bytes_ -= distance;
  }

  std::uint64_t address_ = 0, bytes_ = 0;
  const void* device_ = nullptr;
  shape extents_{}, strides_{};
};

template <class T, std::integral... I>
tensor_view(buffer<T>&, I...) -> tensor_view<T, sizeof...(I)>;
template <class T, std::integral... I>
tensor_view(const buffer<T>&, I...) -> tensor_view<const T, sizeof...(I)>;
template <class T, std::integral... I>
tensor_view(const device_pointer<T>&, I...) -> tensor_view<T, sizeof...(I)>;
template <class T, std::size_t Rank>
tensor_view(buffer<T>&, const extents<Rank>&) -> tensor_view<T, Rank>;
template <class T, std::size_t Rank>
tensor_view(const buffer<T>&, const extents<Rank>&) -> tensor_view<const T, Rank>;
template <class T, std::size_t Rank>
tensor_view(const device_pointer<T>&, const extents<Rank>&) -> tensor_view<T, Rank>;
template <class T, std::size_t Rank>
tensor_view(buffer<T>&, const extents<Rank>&, const strides<Rank>&) -> tensor_view<T, Rank>;
template <class T, std::size_t Rank>
tensor_view(const buffer<T>&, const extents<Rank>&, const strides<Rank>&) -> tensor_view<const T, Rank>;
template <class T, std::size_t Rank>
tensor_view(const device_pointer<T>&, const extents<Rank>&, const strides<Rank>&) -> tensor_view<T, Rank>;

}  // namespace kaio::ops

namespace kaio {
using ops::extents;
using ops::strides;
using ops::tensor_view;
}  // namespace kaio
