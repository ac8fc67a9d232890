#pragma once
// C of a matmul kernel whose element type the kernel fixes, or whose launch tells it: then one kernel serves f32, f16
// and bf16, for a branch that all threads take alike.
//
//   mma_sync_matmul<cut, product, f16, identity>           // out<f16> c
//   mma_sync_matmul<cut, product, any_output, identity>    // val<output_memory> c

#include <kaio/ops/matmul/finish.hpp>
#include <kaio/ops/matmul/mma_sync_source.hpp>

#include <cstdint>

namespace kaio::ops {

struct any_output {};

// The element type of a C that the launch tells.
enum class output_type : u32 { f32, f16, bf16 };
struct output_memory {
  u64 address;
  u32 type;  // of output_type
  u32 unused = 0;
};

namespace detail {

template <class Out>
struct output_of {
  static constexpr auto name = type_name<Out>;
  template <bool Pointers>
  using parameter = std::conditional_t<Pointers, in<u64>, out<Out>>;

  // C, or the part of it that has an address of its own.
  static constexpr out<Out> bind(thread, const out<Out>& c, const val<u32>&) { return c; }
  static constexpr out<Out> bind(thread t, const in<u64>& addresses, const val<u32>& part) {
    return pointer_at<out<Out>>(t, t.let(addresses[part]));
  }
  static constexpr void store(thread t, const out<Out>& c, const val<output_lines>& lines, const place& first,
                              const dsl::register_array<val<f32>, 4>& y) {
    store_four(t, c, lines, first, y);
  }
};

template <>
struct output_of<any_output> {
  static constexpr fixed_string name = "any";
  template <bool Pointers>
  using parameter = val<output_memory>;

  static constexpr const val<output_memory>& bind(thread, const val<output_memory>& c, const val<u32>&) {
    return c;
  }
  static constexpr void store(thread t, const val<output_memory>& c, const val<output_lines>& lines,
                              const place& first, const dsl::register_array<val<f32>, 4>& y) {
    const val address = t.let(c[&output_memory::address]);
    const val type = t.let(c[&output_memory::type]);
    const auto is = [&](output_type of) { return type == static_cast<u32>(of); };
    if (auto single = t.when(is(output_type::f32)))
      store_four(t, pointer_at<out<f32>>(t, address), lines, first, y);
    if (auto half = t.when(is(output_type::f16)))
      store_four(t, pointer_at<out<f16>>(t, address), lines, first, y);
    if (auto brain = t.when(is(output_type::bf16)))
      store_four(t, pointer_at<out<bf16>>(t, address), lines, first, y);
  }
};

}  // namespace detail

}  // namespace kaio::ops
