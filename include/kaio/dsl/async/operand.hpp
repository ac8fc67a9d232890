#pragma once
// Operands of asynchronous instructions: numbers of the host or the device, and places in shared and global memory. A
// place in shared memory is a cell (tile[0], ring[stage][0]), an object with an address() of u32 (a shared_tile, an
// mbarrier), or an address of u32.
//
//   const tracer::address to = detail::shared_place(t, tile);

#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/memory/access.hpp>
#include <kaio/dsl/tile/place.hpp>

#include <concepts>
#include <cstdint>

namespace kaio::dsl::detail {

// An integer that is known while the kernel is compiled.
template <class N>
concept host_count = std::is_integral_v<N> || host_constant<N>;

template <class N>
concept count_operand = host_count<N> || device_of<N, u32>;

template <host_count N>
constexpr std::int64_t host_value(const N& n) {
  if constexpr (host_constant<N>)
    return static_cast<std::int64_t>(N::value);
  else
    return static_cast<std::int64_t>(n);
}

// Whether a number of the host is in [first, last]; a device value is not checked.
template <class N>
constexpr bool host_lies_in([[maybe_unused]] const N& n, [[maybe_unused]] std::int64_t first,
                            [[maybe_unused]] std::int64_t last) {
  if constexpr (host_count<N>)
    return host_value(n) >= first && host_value(n) <= last;
  else
    return true;
}

template <class N>
constexpr auto require_count() {
  static_assert(
      count_operand<N>,
      "kaio: counts, bytes, parities, ranks and masks are integers of the host or values of u32; write cast<u32>(x)");
}

template <class N>
constexpr value count_value(tracer& t, const N& n) {
  require_count<N>();
  if constexpr (count_operand<N>) return lower(t, operand_node<u32>(n));
  return 0;
}

template <class P>
concept addressed = requires(const P& p) {
  { p.address() } -> device;
};

template <class P>
concept in_tile_memory = addressed<P> && requires(const P& p) {
  { p.memory() } -> std::same_as<const tile_memory&>;
};

template <class P>
concept shared_place_operand = addressed<P> || memory_cell<P> || device_of<P, u32>;

// The kernel that a place belongs to.
template <shared_place_operand P>
constexpr tracer& tracer_of(const P& place) {
  if constexpr (memory_cell<P>)
    return *place.location().trace;
  else if constexpr (addressed<P>)
    return kernel_of(place.address().node());
  else
    return kernel_of(place.node());
}

// The address of a place in shared memory, computed in the open statement.
template <class P>
constexpr tracer::address shared_place(tracer& t, const P& place) {
  static_assert(
      shared_place_operand<P>,
      "kaio: this is no place in shared memory; name a shared tile, a cell of a shared array, or an address of u32");
  if constexpr (memory_cell<P>) {
    static_assert(location_of<P>::space == modifier::shared,
                  "kaio: the place must be in the shared memory of this block");
    t.begin_lowering();
    const tracer::address at = place.location().find();
    t.end_lowering();
    return at;
  } else if constexpr (in_tile_memory<P>) {
    place.memory().require_open();
    return address_of(place.memory(), {});
  } else if constexpr (addressed<P>) {
    static_assert(device_of<decltype(place.address()), u32>, "kaio: a shared address is a value of u32");
    t.begin_lowering();
    const value base = place.address().node().lower(t);
    t.end_lowering();
    return {t.in_register(base), 0, 0};
  } else if constexpr (device_of<P, u32>) {
    const value whole = lower(t, place.node());
    std::int64_t offset = 0;
    const value base = t.is_constant(whole) ? 0 : t.without_summand(whole, offset);
    return base == 0 ? tracer::address{t.in_register(whole), 0, 0} : tracer::address{base, offset, 0};
  } else {
    return {};
  }
}

// The address as one value, its offset included.
constexpr value address_as_value(tracer& t, const tracer::address& at) {
  constexpr ptx::type word = ptx::type::u32;
  const value base = at.base != 0 ? at.base : t.array_address(at.array);
  if (at.offset == 0) return base;
  return t.binary(operation::add, word, base, t.constant(word, static_cast<std::uint32_t>(at.offset)));
}

// The address of a cell in global memory.
template <class C>
constexpr tracer::address global_address(tracer& t, const C& cell) {
  static_assert(memory_cell<C>, "kaio: this is no cell of memory; name one by indexing: x[i]");
  if constexpr (memory_cell<C>) {
    static_assert(location_of<C>::space == modifier::global, "kaio: the cell must be in global memory: x[i]");
    t.begin_lowering();
    const tracer::address at = cell.location().find();
    t.end_lowering();
    return at;
  }
  return {};
}

}  // namespace kaio::dsl::detail
