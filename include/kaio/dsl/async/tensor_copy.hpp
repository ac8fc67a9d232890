#pragma once
// Tensor copies (TMA): one thread asks, and the copy engine moves a box of a tensor between global and shared memory.
// It swizzles as the tensor map says, and reads zeros outside the tensor. The map is a parameter of the kernel.
// Coordinates count elements, the innermost dimension first. If a box is read, its coordinates may be negative, and the
// first one is a multiple of 16 bytes.
// Source: PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "Tensors". sm_90.
//
//   prefetch(map);
//   if (auto one = t.when(t.thread_rank() == 0)) {
//     full[0].arrive_expect_tx(decltype(tile)::bytes);
//     copy_tensor(tile, map, coordinates(k, row), full[0]);
//   }
//
// The host gave the map the size of its box, which the kernel cannot see. The tile, and the bytes that its barrier
// expects, have the size of the box, even if it is partly outside the tensor. Alignment in shared memory:
//   swizzle       none    32    64   128 bytes
//   multiple of    128   256   512  1024 bytes
// One thread makes these calls: several would each ask for a copy of their own.

#include <kaio/dsl/async/bulk_group.hpp>
#include <kaio/dsl/async/bulk_operation.hpp>
#include <kaio/dsl/async/cache_policy.hpp>
#include <kaio/dsl/async/mbarrier.hpp>
#include <kaio/dsl/memory/tensor_map.hpp>

#include <cstdint>

namespace kaio::dsl {

// Where a box begins, the innermost dimension first.
template <class... Node>
struct coordinate_list {
  static constexpr std::uint32_t count = 0;
  constexpr void lower_to(tracer&, value*) const {}
  constexpr std::uint64_t hash() const { return 0; }
};

template <class First, class... Rest>
struct coordinate_list<First, Rest...> {
  static constexpr std::uint32_t count = 1 + sizeof...(Rest);
  First first;
  coordinate_list<Rest...> rest;

  constexpr void lower_to(tracer& t, value* to) const {
    using enum ptx::type;
    const value v = lower(t, first);
    *to = t.is_constant(v) ? t.constant(s32, canonical(s32, t.bits_of(v))) : v;
    rest.lower_to(t, to + 1);
  }
  constexpr std::uint64_t hash() const { return first.hash() + rest.hash() * hash_factor; }
};

namespace detail {

template <class C>
constexpr auto coordinate_node(const C& c) {
  if constexpr (device<C>) {
    static_assert(
        std::is_same_v<element<C>, u32> || std::is_same_v<element<C>, i32>,
        "kaio: a coordinate is a value of u32 or i32, or an integer of the host; write cast<i32>(x)");
    return c.node();
  } else {
    static_assert(
        host_count<C>,
        "kaio: a coordinate is a value of u32 or i32, or an integer of the host; write cast<i32>(x)");
    return operand_node<i32>(c);
  }
}

constexpr coordinate_list<> list_coordinates() { return {}; }
template <class First, class... Rest>
constexpr auto list_coordinates(const First& first, const Rest&... rest) {
  return coordinate_list<First, Rest...>{first, {list_coordinates(rest...)}};
}

template <class>
inline constexpr bool is_coordinate_list = false;
template <class... Node>
inline constexpr bool is_coordinate_list<coordinate_list<Node...>> = true;

// The element type of a place; void if it has none.
template <class P>
struct place_element {
  using type = void;
};
template <memory_cell P>
struct place_element<P> {
  using type = typename P::cell_type;
};
template <class P>
  requires(!memory_cell<P> && requires { typename P::element_type; })
struct place_element<P> {
  using type = typename P::element_type;
};

template <class Map>
inline constexpr bool is_map = false;
template <scalar T, std::uint32_t Rank>
inline constexpr bool is_map<tensor_map<T, Rank>> = true;

template <class Map, class Coordinates>
constexpr auto require_box() {
  static_assert(is_map<Map>, "kaio: a tensor copy takes a tensor_map parameter of the kernel");
  static_assert(is_coordinate_list<Coordinates>,
                "kaio: a tensor copy takes coordinates(c0, c1, ...), the innermost dimension first");
  if constexpr (is_map<Map> && is_coordinate_list<Coordinates>)
    static_assert(Coordinates::count == Map::rank,
                  "kaio: a tensor copy takes one coordinate for each dimension of its tensor map");
}

template <class Map, class Place>
constexpr auto require_element() {
  using T = typename place_element<Place>::type;
  if constexpr (is_map<Map> && !std::is_void_v<T>)
    static_assert(std::is_same_v<T, typename Map::element_type>,
                  "kaio: the tile and the tensor map have different element types");
}

constexpr modifier dimensions(std::uint32_t rank) {
  return static_cast<modifier>(static_cast<std::uint32_t>(modifier::d1) + rank - 1);
}

// [map, {c0, c1, ...}], from its parts.
struct box_operand {
  value map = 0;
  value at[5] = {};
  std::uint32_t rank = 0;

  template <class Map, class Coordinates>
  constexpr box_operand(tracer& t, const Map& m, const Coordinates& c) : map(m.address), rank(Map::rank) {
    c.lower_to(t, at);
  }
  constexpr void add_to(tracer& t) const {
    t.add({operand_kind::bracket, ptx::type::none, 2, 0});
    t.use(map);
    t.add({operand_kind::pack, ptx::type::none, rank, 0});
    for (std::uint32_t i = 0; i < rank; ++i) t.use(at[i]);
  }
};

}  // namespace detail

// The place of a box: an integer of the host or a value of u32 or i32 for each dimension of the map.
template <class... C>
constexpr auto coordinates(const C&... c) {
  static_assert(sizeof...(C) >= 1 && sizeof...(C) <= 5, "kaio: a tensor map has 1 to 5 dimensions");
  return detail::list_coordinates(detail::coordinate_node(c)...);
}

// Fetches the map itself ahead of the first copy that uses it.
template <scalar T, std::uint32_t Rank>
constexpr void prefetch(const tensor_map<T, Rank>& map, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) {
  tracer& t = *map.trace;
  t.statement(line, file);
  if (t.probing()) return see_operands(t, map);
  t.begin(opcode::prefetch_tensormap, 0, ptx::type::none);
  t.use_address(map.address, 0);
}

// Copies a box to shared memory; `bar` counts its bytes. Options: multicast(mask), cache_hint(policy).
template <class Tile, class Map, class Coordinates, class A = no_copy_option, class B = no_copy_option>
constexpr void copy_tensor(const Tile& tile, const Map& map, const Coordinates& at, const mbarrier& bar,
                           const A& a = {}, const B& b = {}, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  detail::require_box<Map, Coordinates>();
  detail::require_element<Map, Tile>();
  detail::require_options<A, B, true>();
  tracer& t = *map.trace;
  t.statement(line, file);
  if (t.probing()) return see_operands(t, tile, map, at, bar, a, b);
  const tracer::address to = detail::shared_place(t, tile);
  const detail::box_operand box(t, map, at);
  const detail::copy_options options = detail::lower_options(t, a, b);
  t.begin(opcode::cp_async_bulk_tensor,
          in_order(detail::dimensions(Map::rank), modifier::shared_cluster, modifier::global, modifier::tile,
                   modifier::complete_tx_bytes, options.multicast_modifier(), options.hint_modifier()),
          ptx::type::none);
  t.add_address(to);
  box.add_to(t);
  t.add_address(bar.checked());
  options.use(t);
}

// Copies a box from shared memory, in the thread's next bulk group. Elements past the tensor's ends are not written,
// and no coordinate is negative (CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional arrays"). An H200
// stores whole pieces of 16 bytes. If the innermost dimension ends within one, the rest of that piece in the same row is
// overwritten. Option: cache_hint(policy).
template <class Map, class Coordinates, class Tile, class A = no_copy_option>
constexpr void store_tensor(const Map& map, const Coordinates& at, const Tile& tile, const A& a = {},
                            std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::require_box<Map, Coordinates>();
  detail::require_element<Map, Tile>();
  detail::require_options<A, no_copy_option, false>();
  tracer& t = *map.trace;
  t.statement(line, file);
  if (t.probing()) return see_operands(t, map, at, tile, a);
  const tracer::address from = detail::shared_place(t, tile);
  const detail::box_operand box(t, map, at);
  const detail::copy_options options = detail::lower_options(t, a, no_copy_option{});
  t.begin(opcode::cp_async_bulk_tensor,
          in_order(detail::dimensions(Map::rank), modifier::global, modifier::shared_cta, modifier::tile,
                   modifier::bulk_group, options.hint_modifier()),
          ptx::type::none);
  box.add_to(t);
  t.add_address(from);
  options.use(t);
}

// Combines a box of shared memory into global memory, in the thread's next bulk group. Option: cache_hint(policy).
template <bulk_operation Op, class Map, class Coordinates, class Tile, class A = no_copy_option>
constexpr void reduce_tensor(const Map& map, const Coordinates& at, const Tile& tile, const A& a = {},
                             std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::require_box<Map, Coordinates>();
  detail::require_element<Map, Tile>();
  detail::require_options<A, no_copy_option, false>();
  detail::require_bulk_operation<Op, typename Map::element_type, false>();
  tracer& t = *map.trace;
  t.statement(line, file);
  if (t.probing()) return see_operands(t, map, at, tile, a);
  const tracer::address from = detail::shared_place(t, tile);
  const detail::box_operand box(t, map, at);
  const detail::copy_options options = detail::lower_options(t, a, no_copy_option{});
  t.begin(opcode::cp_reduce_async_bulk_tensor,
          in_order(detail::dimensions(Map::rank), modifier::global, modifier::shared_cta, detail::name_of(Op),
                   modifier::tile, modifier::bulk_group, options.hint_modifier()),
          ptx::type::none);
  box.add_to(t);
  t.add_address(from);
  options.use(t);
}

// Brings a box into L2, ahead of the copy that needs it. Option: cache_hint(policy).
template <class Map, class Coordinates, class A = no_copy_option>
constexpr void prefetch_tensor(const Map& map, const Coordinates& at, const A& a = {},
                               std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  detail::require_box<Map, Coordinates>();
  detail::require_options<A, no_copy_option, false>();
  tracer& t = *map.trace;
  t.statement(line, file);
  if (t.probing()) return see_operands(t, map, at, a);
  const detail::box_operand box(t, map, at);
  const detail::copy_options options = detail::lower_options(t, a, no_copy_option{});
  t.begin(opcode::cp_async_bulk_prefetch_tensor,
          in_order(detail::dimensions(Map::rank), modifier::l2, modifier::global, modifier::tile,
                   options.hint_modifier()),
          ptx::type::none);
  box.add_to(t);
  options.use(t);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::coordinates;
using dsl::reduce_tensor;
}  // namespace kaio
