#pragma once
// The typed side of a launch: what each parameter of a kernel is called in PTX, which argument it takes, and
// the shape of the grid. A stream is anything with launch(const ptx::kernel_image&, ptx::launch_grid, const
// ptx::argument*, std::size_t).

#include <kaio/dsl/index_list.hpp>
#include <kaio/dsl/thread.hpp>
#include <kaio/ptx/kernel_image.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::dsl {

// One thread for each of n elements, along x; the last block may be partial. n = 0 launches nothing. Where a
// thread takes several elements: over(n).per_thread(4).
struct over {
  std::uint64_t count;
  std::uint32_t share = 1;
  // A negative count is no count: it stays too large for any device, which reports it.
  template <class N>
    requires std::is_integral_v<N>
  constexpr explicit over(N n) : count(static_cast<std::uint64_t>(n)) {}
  constexpr over per_thread(std::uint32_t elements) const {
    over result = *this;
    result.share = elements;
    return result;
  }
};

// A grid in blocks.
struct grid {
  std::uint64_t x, y, z;
  constexpr explicit grid(std::uint64_t in_x, std::uint64_t in_y = 1, std::uint64_t in_z = 1)
      : x(in_x), y(in_y), z(in_z) {}
};

constexpr ptx::launch_grid grid_of(const over& o, ptx::dim3 block) {
  const std::uint64_t per_block = std::uint64_t{block.x} * (o.share == 0 ? 1 : o.share);
  return {o.count / per_block + (o.count % per_block != 0 ? 1 : 0), 1, 1};
}
constexpr ptx::launch_grid grid_of(const grid& g, ptx::dim3) { return {g.x, g.y, g.z}; }

// How each kind of parameter is described, made while tracing, and which argument it takes.
template <class P>
struct parameter_of;

template <scalar T>
struct parameter_of<val<T>> {
  using element = T;
  static constexpr ptx::parameter description{ptx_type<T>, ptx::access::scalar};
  static constexpr val<T> make(tracer& t, std::uint32_t index) {
    if (t.probing()) return val<T>(t, 0);
    if constexpr (std::is_same_v<T, bool>) {
      const value byte = t.parameter(ptx::type::u32, ptx::type::u8, index);
      return val<T>(t, t.cast(ptx::type::pred, ptx::type::u32, byte));
    } else {
      return val<T>(t, t.parameter(ptx_type<T>, ptx_type<T>, index));
    }
  }
};

template <scalar T, ptx::access Access, template <class> class Pointer>
struct pointer_parameter {
  using element = T;
  static constexpr ptx::parameter description{ptx_type<T>, Access};
  static constexpr Pointer<T> make(tracer& t, std::uint32_t index) {
    return {{&t, t.probing() ? 0 : t.global_pointer(index)}};
  }
};
template <scalar T>
struct parameter_of<in<T>> : pointer_parameter<T, ptx::access::in, in> {};
template <scalar T>
struct parameter_of<out<T>> : pointer_parameter<T, ptx::access::out, out> {};
template <scalar T>
struct parameter_of<inout<T>> : pointer_parameter<T, ptx::access::inout, inout> {};

template <class P>
concept is_parameter = requires { typename parameter_of<P>::element; };

// Device memory as an argument: a buffer, or a pointer that knows its element type.
template <class A>
concept device_memory = requires(const A& a) {
  typename A::value_type;
  a.as_argument();
};

// The argument for parameter P, checked by type.
template <class P, class A>
ptx::argument pack(A& argument) {
  using traits = parameter_of<P>;
  using T = typename traits::element;
  using Plain = std::remove_const_t<A>;
  if constexpr (traits::description.access == ptx::access::scalar) {
    static_assert(
        std::is_same_v<Plain, T>,
        "kaio: a scalar argument must have exactly the type of the parameter; write f32{x}, u32{n}, ...");
    ptx::argument packed;
    if constexpr (std::is_same_v<Plain, T>) {
      if constexpr (std::is_same_v<T, f32>)
        packed.bits = __builtin_bit_cast(std::uint32_t, argument);
      else if constexpr (std::is_same_v<T, f64>)
        packed.bits = __builtin_bit_cast(std::uint64_t, argument);
      else
        packed.bits = static_cast<std::uint64_t>(argument);
    }
    return packed;
  } else {
    static_assert(device_memory<Plain>, "kaio: a pointer parameter takes a buffer<T>; upload the data first");
    if constexpr (device_memory<Plain>) {
      static_assert(std::is_same_v<std::remove_const_t<typename Plain::value_type>, T>,
                    "kaio: the element type of the buffer differs from that of the parameter");
      static_assert(
          traits::description.access == ptx::access::in ||
              (!std::is_const_v<A> && !std::is_const_v<typename Plain::value_type>),
          "kaio: a const buffer cannot be written; out<T> and inout<T> take a buffer that is not const");
      return argument.as_argument();
    }
  }
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::grid;
using dsl::over;
}  // namespace kaio
