#pragma once
// Copies and fills of device memory, in the order of a stream. Parts of buffers are named by slice():
//
//   copy(s, y.slice(0, n), x.slice(n, n));                       // on one device, or from another one's memory
//   copy_rows(s, {to.view(), pitch}, {from.view(), width}, width, rows);
//   fill(s, y.view(), f32{1});
//
// They return before the work is done. All throw invalid_argument for null memory, and for ranges that do not fit.
// `copy` takes memory of any open devices of the stream's kind, GPUs or emulators. `copy_rows` and `fill` take memory
// of the stream's device, and of those that it may access (device::enable_access).

#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::runtime {

// Rows of a matrix in memory: row i begins at element i * pitch.
template <class T>
struct pitched {
  device_pointer<T> memory;
  std::size_t pitch = 0;  // elements
};

namespace detail {
struct pitched_bytes {
  ptx::argument memory;
  std::uint64_t pitch;
};
void copy(const stream& s, const ptx::argument& to, const ptx::argument& from);
void copy_rows(const stream& s, const pitched_bytes& to, const pitched_bytes& from, std::uint64_t width,
               std::uint64_t rows);
void fill(const stream& s, const ptx::argument& to, std::uint32_t value, std::uint32_t unit);

// The bits of a value of 1, 2 or 4 bytes.
template <class T>
std::uint32_t bits_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4),
                "kaio: fill writes elements of 1, 2 or 4 bytes; use a kernel for others");
  if constexpr (sizeof(T) == 1)
    return __builtin_bit_cast(std::uint8_t, value);
  else if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(std::uint16_t, value);
  else
    return __builtin_bit_cast(std::uint32_t, value);
}
}  // namespace detail

// Copies all of `from`, which has as many elements as `to`. The two do not overlap, or are the same.
template <class T>
void copy(const stream& s, const device_pointer<T>& to, const device_pointer<T>& from) {
  detail::copy(s, to.as_argument(), from.as_argument());
}

// Copies `rows` rows of `width` elements.
template <class T>
void copy_rows(const stream& s, const pitched<T>& to, const pitched<T>& from, std::size_t width,
               std::size_t rows) {
  detail::copy_rows(s, {to.memory.as_argument(), std::uint64_t{to.pitch} * sizeof(T)},
                    {from.memory.as_argument(), std::uint64_t{from.pitch} * sizeof(T)},
                    std::uint64_t{width} * sizeof(T), rows);
}

// Sets every element to `value`: cuMemset for elements of 1, 2 and 4 bytes.
template <class T>
void fill(const stream& s, const device_pointer<T>& to, std::type_identity_t<T> value) {
  detail::fill(s, to.as_argument(), detail::bits_of(value), sizeof(T));
}

}  // namespace kaio::runtime

namespace kaio {
using runtime::pitched;  // the functions are found by their stream
}  // namespace kaio
