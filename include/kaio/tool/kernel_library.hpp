#pragma once
// Makes a kernel library of the program's kernels: a shared object whose kernels Python, Rust or C load by name, with
// arguments that are checked against the C++ types. One source file of the object names them:
//
//   KAIO_KERNEL_LIBRARY(saxpy, filters::sharpen, transpose<f32, 32>);
//
// A kernel is found by the name of its PTX entry or by its C++ name. Build the object with -fvisibility=hidden, as
// kaio_kernel_library() of CMake does: else two objects with kernels of the same C++ names share one of them.

#include <kaio/dsl/kernel/kernel.hpp>
#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/dsl/memory/vec.hpp>
#include <kaio/ptx/kernel_library.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::dsl {

template <class T>
constexpr ptx::parameter_type parameter_type_of() {
  using ptx::type_kind;
  constexpr auto sized = [](type_kind kind, std::uint32_t bits, std::uint32_t lanes = 1) {
    return ptx::parameter_type{kind, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes),
                               sizeof(T), alignof(T)};
  };
  if constexpr (is_tensor_map<T>)
    return {type_kind::tensor_map, 0, 1, tensor_map_bytes, tensor_map_alignment};
  else if constexpr (is_vec<T>) {
    constexpr ptx::parameter_type one = parameter_type_of<typename T::value_type>();
    return sized(one.kind, one.bits, one.lanes * T::size());
  } else if constexpr (std::is_same_v<T, bool>)
    return sized(type_kind::boolean, 8);
  else if constexpr (std::is_same_v<T, e4m3>)
    return sized(type_kind::e4m3, 8);
  else if constexpr (std::is_same_v<T, e5m2>)
    return sized(type_kind::e5m2, 8);
  else if constexpr (!scalar<T>)
    return sized(type_kind::structure, 0);
  else {
    constexpr ptx::type one = ptx::element_of(ptx_type<T>);
    return sized(one == ptx::type::bf16  ? type_kind::bfloat
                 : ptx::is_floating(one) ? type_kind::floating
                 : ptx::is_signed(one)   ? type_kind::signed_integer
                                         : type_kind::unsigned_integer,
                 8 * ptx::size_of(one), packed<T> ? 2 : 1);
  }
}

// The types of a kernel's parameters in the PTX entry: constants of the host have none.
template <class... P>
inline constexpr auto parameter_types = [] {
  elements<sizeof...(P), ptx::parameter_type> types;
  [[maybe_unused]] std::size_t count = 0;
  [[maybe_unused]] const auto add = [&]<class Q>(const Q*) {
    if constexpr (!host_constant<Q>)
      types.data[count++] = parameter_type_of<typename parameter_of<Q>::element>();
  };
  (add(static_cast<const P*>(nullptr)), ...);
  return types;
}();

template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
constexpr ptx::library_kernel library_kernel_of(kernel_object<Name, Block, Options, Body, P...> kernel) {
  return {&kernel.image(), parameter_types<P...>.data};
}

template <class... K>
constexpr auto library_kernels(K... kernels) {
  static_assert((is_kernel<K> && ...) && sizeof...(K) != 0,
                "kaio: KAIO_KERNEL_LIBRARY takes kernels: KAIO_KERNEL_LIBRARY(saxpy, sharpen<f32, 4>)");
  elements<sizeof...(K), ptx::library_kernel> all;
  if constexpr ((is_kernel<K> && ...)) {
    std::size_t count = 0;
    ((all.data[count++] = library_kernel_of(kernels)), ...);
  }
  return all;
}

template <std::size_t N>
constexpr ptx::kernel_library library_table(const elements<N, ptx::library_kernel>& kernels,
                                            const char* names) {
  return {.count = N,
          .version = ptx::library_version,
          .layout = ptx::image_layout(),
          .kernels = kernels.data,
          .names = names};
}

}  // namespace kaio::dsl

// The names of the variables are not those of a kernel of yours.
#define KAIO_KERNEL_LIBRARY(...)                                                               \
  extern "C" __attribute__((visibility("default"))) const ::kaio::ptx::kernel_library*         \
  kaio_kernel_library() {                                                                      \
    static constexpr auto kaio_kernels_of_library = ::kaio::dsl::library_kernels(__VA_ARGS__); \
    static constexpr ::kaio::ptx::kernel_library kaio_table_of_library =                       \
        ::kaio::dsl::library_table(kaio_kernels_of_library, #__VA_ARGS__);                     \
    return &kaio_table_of_library;                                                             \
  }                                                                                            \
  static_assert(true, "a semicolon follows")
