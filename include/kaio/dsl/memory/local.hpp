#pragma once
// Arrays indexed by run-time values, which registers cannot be. local<T, N> is the thread's own memory.
// constant<T, N> is a table that the kernel carries in the constant bank: fast if the lanes of a warp read
// the same element.
//
//   local<f32, 8> history(t);
//   history[k] = x;
//   constant weights(t, {0.25f, 0.5f, 0.25f});
//   sum += weights[k] * x[i + k];

#include <kaio/dsl/memory/shared.hpp>

#include <array>
#include <cstdint>

namespace kaio::dsl {

// An array in the memory of the thread; contents are undefined until written.
template <memory_element T, std::uint32_t N>
class local {
  static_assert(N > 0 && std::uint64_t{N} * sizeof(T) <= 524288,
                "kaio: a local array has one element or more, and at most 512 KB");

 public:
  template <is_thread Thread>
  constexpr explicit local(const Thread& t) : trace_(&t.trace()) {
    constexpr std::uint64_t bytes = std::uint64_t{N} * bytes_of<T>;
    array_ = trace_->probing()
                 ? trace_->new_identity()
                 : trace_->new_array(ptx::array_space::local, bytes, detail::array_alignment<T>(bytes));
  }
  local(const local&) = delete;

  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    detail::require_below<N>(*trace_, i);
    return detail::array_cell<T, modifier::local>(trace_, array_, i);
  }
  static constexpr std::uint32_t size() { return N; }

 private:
  tracer* trace_;
  std::uint32_t array_ = 0;
};

// A table of constants; all tables of a kernel together have at most 8 KB.
template <class T, std::uint32_t N>
class constant {
  static_assert(scalar<T>, "kaio: the elements of a constant table are numbers of the language");

 public:
  template <is_thread Thread>
  constexpr constant(const Thread& t, const T (&values)[N], std::uint32_t line = __builtin_LINE(),
                     const char* file = __builtin_FILE())
      : trace_(&t.trace()) {
    trace_->declare(line, file);
    fill(values);
  }
  template <is_thread Thread>
  constexpr constant(const Thread& t, const std::array<T, N>& values, std::uint32_t line = __builtin_LINE(),
                     const char* file = __builtin_FILE())
      : trace_(&t.trace()) {
    trace_->declare(line, file);
    fill(values.data());
  }
  constant(const constant&) = delete;

  // Pure, like a load from an in parameter.
  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    detail::require_below<N>(*trace_, i);
    return detail::array_cell<T, modifier::const_, ptx::access::in>(trace_, array_, i);
  }
  static constexpr std::uint32_t size() { return N; }

 private:
  constexpr void fill(const T* values) {
    if (trace_->probing()) {
      for (std::uint32_t k = 0; k < N; ++k) trace_->see(bits_of_element(values[k]));
      array_ = trace_->identity();
      return;
    }
    constexpr std::uint32_t per_word = 8 / bytes_of<T>;
    array_ = trace_->new_array(ptx::array_space::constant, std::uint64_t{N} * bytes_of<T>, 8);
    for (std::uint32_t first = 0; first < N; first += per_word) {
      std::uint64_t word = 0;
      for (std::uint32_t k = 0; k < per_word && first + k < N; ++k)
        word |= bits_of_element(values[first + k]) << (k * 8 * bytes_of<T> % 64);
      trace_->add_data(word);
    }
  }
  static constexpr std::uint64_t bits_of_element(const T& x) {
    if constexpr (std::is_same_v<T, bool>)
      return x ? 1 : 0;
    else if constexpr (sizeof(T) == 1)
      return __builtin_bit_cast(std::uint8_t, x);
    else if constexpr (sizeof(T) == 2)
      return __builtin_bit_cast(std::uint16_t, x);
    else if constexpr (sizeof(T) == 4)
      return __builtin_bit_cast(std::uint32_t, x);
    else
      return __builtin_bit_cast(std::uint64_t, x);
  }

  tracer* trace_;
  std::uint32_t array_ = 0;
};

template <is_thread Thread, class T, std::size_t N>
constant(const Thread&, const T (&)[N]) -> constant<T, static_cast<std::uint32_t>(N)>;
template <is_thread Thread, class T, std::size_t N>
constant(const Thread&, const std::array<T, N>&) -> constant<T, static_cast<std::uint32_t>(N)>;

}  // namespace kaio::dsl

namespace kaio {
using dsl::constant;
using dsl::local;
}  // namespace kaio
