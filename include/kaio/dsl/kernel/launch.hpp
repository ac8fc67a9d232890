#pragma once
// The typed side of a launch: the PTX type of each parameter, the argument that it takes, and the shape of the grid. A
// stream is anything with launch(const ptx::kernel_image&, ptx::launch_grid, const ptx::argument*, std::size_t).

#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/memory/location.hpp>
#include <kaio/dsl/memory/pointer.hpp>
#include <kaio/dsl/memory/tensor_map.hpp>
#include <kaio/dsl/number/index_list.hpp>
#include <kaio/ptx/kernel_image.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::dsl {

// Attributes of a launch besides its grid; each call returns the shape with the attribute.
//   .shared_bytes(4096)  dynamic shared memory of a block
//   .cluster(2)          blocks that run together and share memory, sm_90; a kernel that fixes its clusters
//                        (kernel_options::cluster) needs none here
//   .programmatic()      the launch may begin before the previous one in the stream has ended, sm_90: the kernel
//                        must execute grid_dependency_wait before it touches data that the previous launch wrote
template <class Shape>
struct launch_attributes {
  std::uint32_t dynamic_shared = 0;
  ptx::dim3 cluster_blocks = {0, 0, 0};
  bool begins_early = false;

  constexpr Shape shared_bytes(std::uint32_t bytes) const {
    Shape result = static_cast<const Shape&>(*this);
    result.dynamic_shared = bytes;
    return result;
  }
  constexpr Shape programmatic() const {
    Shape result = static_cast<const Shape&>(*this);
    result.begins_early = true;
    return result;
  }
};

// One thread for each of n elements, along x; the last block may be partial. n = 0 launches nothing. If a thread takes
// several elements: over(n).per_thread(4). With clusters the grid is rounded up to whole ones.
struct over : launch_attributes<over> {
  std::uint64_t count;
  std::uint32_t share = 1;
  // A negative count is not refused here: it stays too large for any device, which reports it.
  template <class N>
    requires std::is_integral_v<N>
  constexpr explicit over(N n) : count(static_cast<std::uint64_t>(n)) {}
  constexpr over per_thread(std::uint32_t elements) const {
    over result = *this;
    result.share = elements;
    return result;
  }
  constexpr over cluster(std::uint32_t blocks) const {
    over result = *this;
    result.cluster_blocks = {blocks, 1, 1};
    return result;
  }
};

// A grid in blocks. With clusters each extent must be a multiple of the cluster's.
struct grid : launch_attributes<grid> {
  std::uint64_t x, y, z;
  constexpr explicit grid(std::uint64_t in_x, std::uint64_t in_y = 1, std::uint64_t in_z = 1)
      : x(in_x), y(in_y), z(in_z) {}
  template <class X, class Y = int, class Z = int>
    requires(std::is_floating_point_v<X> || std::is_floating_point_v<Y> || std::is_floating_point_v<Z>)
  constexpr explicit grid(X, Y = 1, Z = 1) : grid(1) {
    static_assert(never<X>, "kaio: a grid is counted in whole blocks; write grid(blocks) with an integer");
  }
  constexpr grid cluster(std::uint32_t in_x, std::uint32_t in_y = 1, std::uint32_t in_z = 1) const {
    grid result = *this;
    result.cluster_blocks = {in_x, in_y, in_z};
    return result;
  }
};

// `fixed`: the cluster size of the kernel itself.
constexpr ptx::launch_grid grid_of(const over& o, ptx::dim3 block, ptx::dim3 fixed = {0, 0, 0}) {
  const std::uint64_t per_block = std::uint64_t{block.x} * (o.share == 0 ? 1 : o.share);
  const std::uint64_t blocks = o.count / per_block + (o.count % per_block != 0 ? 1 : 0);
  const std::uint64_t together = o.cluster_blocks.x != 0 ? o.cluster_blocks.x : fixed.x != 0 ? fixed.x : 1;
  const std::uint64_t missing = blocks % together == 0 ? 0 : together - blocks % together;
  const std::uint64_t whole = blocks + missing;
  return {whole < blocks ? blocks : whole, 1, 1, o.dynamic_shared, o.cluster_blocks, o.begins_early};
}
constexpr ptx::launch_grid grid_of(const grid& g, ptx::dim3, ptx::dim3 = {0, 0, 0}) {
  return {g.x, g.y, g.z, g.dynamic_shared, g.cluster_blocks, g.begins_early};
}

template <class S>
concept is_shape = std::is_same_v<S, over> || std::is_same_v<S, grid>;

template <class S>
concept is_stream =
    requires(S& s, const ptx::kernel_image& image, const ptx::launch_grid& shape,
             const ptx::argument* arguments) { s.launch(image, shape, arguments, std::size_t{}); };

// How each kind of parameter is described, made while tracing, and which argument it takes.
template <class P>
struct parameter_of;

template <scalar T>
struct parameter_of<val<T>> {
  using element = T;
  static constexpr ptx::parameter description{ptx_type<T>, ptx::access::scalar};
  static constexpr val<T> make(tracer& t, std::uint32_t index) {
    if (t.probing()) return val<T>(t, t.new_identity());
    if constexpr (std::is_same_v<T, bool>) {
      const value byte = t.parameter(ptx::type::u32, ptx::type::u8, index);
      return val<T>(t, t.cast(ptx::type::pred, ptx::type::u32, byte));
    } else {
      return val<T>(t, t.parameter(ptx_type<T>, tracer::memory_type(ptx_type<T>), index));
    }
  }
};

// A struct, by value.
template <record S>
struct parameter_of<val<S>> {
  static_assert(sizeof(S) <= 4096, "kaio: a struct as a parameter has at most 4096 bytes; pass a buffer");
  using element = S;
  static constexpr ptx::parameter description{ptx::type::none, ptx::access::scalar, sizeof(S), alignof(S)};
  static constexpr val<S> make(tracer& t, std::uint32_t index) { return val<S>(t, index, 0); }
};

// A tensor map, by value; the kernel uses its address.
template <scalar T, std::uint32_t Rank>
struct parameter_of<tensor_map<T, Rank>> {
  using element = tensor_map<T, Rank>;
  static constexpr ptx::parameter description{ptx::type::none, ptx::access::scalar, tensor_map_bytes,
                                              tensor_map_alignment};
  static constexpr tensor_map<T, Rank> make(tracer& t, std::uint32_t index) {
    return {&t, t.probing() ? t.new_identity() : t.parameter_address(index)};
  }
  template <class A>
  static constexpr bool accepts = encoded_tensor<A, T, Rank>;
};
template <class P>
inline constexpr bool is_tensor_map = false;
template <scalar T, std::uint32_t Rank>
inline constexpr bool is_tensor_map<tensor_map<T, Rank>> = true;

// The PTX type of a buffer's elements; none for structs.
template <class T>
inline constexpr ptx::type element_type = ptx_type<T>;
template <class T, std::uint32_t N>
inline constexpr ptx::type element_type<vec<T, N>> = ptx_type<T>;

template <memory_element T, ptx::access Access, template <class> class Pointer>
struct pointer_parameter {
  using element = T;
  static constexpr ptx::parameter description{element_type<T>, Access};
  static constexpr Pointer<T> make(tracer& t, std::uint32_t index) {
    return {{&t, t.probing() ? t.new_identity() : t.global_pointer(index)}};
  }
};
template <memory_element T>
struct parameter_of<in<T>> : pointer_parameter<T, ptx::access::in, in> {};
template <memory_element T>
struct parameter_of<out<T>> : pointer_parameter<T, ptx::access::out, out> {};
template <memory_element T>
struct parameter_of<inout<T>> : pointer_parameter<T, ptx::access::inout, inout> {};

// A constant of the host, std::integral_constant or Hana's. It is part of the kernel's type, not a parameter of the PTX
// entry. The launch takes the same constant.
template <host_constant C>
struct parameter_of<C> {
  using element = C;
  static constexpr C make(tracer&, std::uint32_t) { return C{}; }
};

template <class P>
concept is_parameter = requires { typename parameter_of<P>::element; };

// The parameters of the PTX entry: all but the constants.
template <std::size_t N>
struct entry_parameters {
  ptx::parameter data[N + 1] = {};
  std::uint32_t count = 0;
  std::uint32_t number[N + 1] = {};  // in the entry, for each parameter of the kernel
  std::uint32_t bytes = 0;
};
template <class... P>
constexpr entry_parameters<sizeof...(P)> entry_parameters_of() {
  entry_parameters<sizeof...(P)> result;
  std::uint32_t position = 0;
  [[maybe_unused]] const auto add = [&]<class Q>(const Q*) {
    result.number[position++] = result.count;
    if constexpr (!host_constant<Q>) {
      constexpr ptx::parameter one = parameter_of<Q>::description;
      const std::uint32_t alignment = one.is_struct() ? one.alignment : one.size();
      result.bytes = (result.bytes + alignment - 1) / alignment * alignment + one.size();
      result.data[result.count++] = one;
    }
  };
  (add(static_cast<const P*>(nullptr)), ...);
  return result;
}
inline constexpr std::uint32_t max_parameter_bytes = 4096;

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
  if constexpr (host_constant<P>) {
    static_assert(std::is_same_v<Plain, P>,
                  "kaio: a constant parameter takes the constant itself: std::integral_constant<u32, 16>{}");
    return {};
  } else if constexpr (is_tensor_map<P>) {
    static_assert(traits::template accepts<Plain>,
                  "kaio: a tensor map parameter takes an encoded_tensor_map of its element type and rank");
    if constexpr (traits::template accepts<Plain>) return argument.as_argument();
  } else if constexpr (traits::description.access == ptx::access::scalar) {
    static_assert(
        std::is_same_v<Plain, T>,
        "kaio: a scalar argument must have exactly the type of the parameter; write f32{x}, u32{n}, ..., or the struct itself");
    ptx::argument result;
    if constexpr (std::is_same_v<Plain, T>) {
      if constexpr (record<T>) {
        result.bytes = sizeof(T);
        result.data = &argument;
      } else if constexpr (packed<T>)
        result.bits = __builtin_bit_cast(std::uint32_t, argument);
      else if constexpr (floating<T> || float8<T>)
        result.bits = float_bits(argument);
      else
        result.bits = static_cast<std::uint64_t>(argument);
    }
    return result;
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
