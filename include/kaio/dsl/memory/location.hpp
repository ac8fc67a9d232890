#pragma once
// The location of a cell in memory: an index into a pointer's memory, or into an array of the kernel. Its
// address is computed when the cell is read or written.
//
//   const tracer::address at = global_location{&t, base, index_node(i), 4}.find();

#include <kaio/dsl/expression/expression.hpp>
#include <kaio/dsl/memory/vec.hpp>

#include <cstdint>

namespace kaio::dsl {

class thread;

template <class T>
concept is_thread = std::is_same_v<T, thread>;

// A struct of the host: its members are named by pointers to members.
template <class T>
concept record = std::is_class_v<T> && std::is_aggregate_v<T> && std::is_trivially_copyable_v<T> &&
                 !scalar<T> && !is_vec<T>;

// The types that memory may hold.
template <class T>
concept memory_element = scalar<T> || is_vec<T> || record<T>;

template <memory_element T>
inline constexpr std::uint32_t bytes_of = std::is_same_v<T, bool> ? 1 : sizeof(T);

template <class I>
concept index_operand = device<I> || std::is_integral_v<I> || host_constant<I>;

// The type of an index; an integer literal becomes i64.
template <class I>
struct index_type {
  using type = i64;
};
template <device I>
struct index_type<I> {
  using type = element<I>;
};

template <index_operand I>
constexpr auto index_node(const I& i) {
  using T = typename index_type<I>::type;
  static_assert(integer<T>, "kaio: an index is an integer; write cast<u32>(x)");
  return operand_node<T>(i);
}

// A location in global memory. `size`: bytes from one element to the next; `offset`: of the cell in its
// element.
template <class Index>
struct global_location {
  using index_type = Index;
  static constexpr modifier space = modifier::global;
  static constexpr tracer::access read_only{opcode::ld_nc, in_order(modifier::nc)};
  tracer* trace;
  value base;
  Index index;
  std::uint32_t size;
  std::int64_t offset = 0;

  constexpr tracer::address place(tracer& t, value i) const {
    return t.global_place(base, ptx_type<element<Index>>, i, size, offset);
  }
  constexpr tracer::address find() const { return place(*trace, lower(*trace, index)); }
  constexpr std::uint64_t hash() const {
    return (index.hash() * hash_factor + base) * hash_factor + static_cast<std::uint64_t>(offset);
  }
  constexpr void see() const { trace->see(hash()); }
  constexpr value seen_value() const {
    see();
    return trace->identity();
  }
};

// A location in an array of the kernel: shared, local or constant memory.
template <modifier Space, class Index>
struct array_location {
  using index_type = Index;
  static constexpr modifier space = Space;
  static constexpr tracer::access read_only{opcode::ld_const, 0};
  tracer* trace;
  std::uint32_t array;
  Index index;
  std::uint32_t size;
  std::int64_t offset = 0;

  constexpr tracer::address place(tracer& t, value i) const {
    return t.array_place(array, Space == modifier::shared, ptx_type<element<Index>>, i, size, offset);
  }
  constexpr tracer::address find() const { return place(*trace, lower(*trace, index)); }
  constexpr std::uint64_t hash() const {
    return (index.hash() * hash_factor + array) * hash_factor + static_cast<std::uint64_t>(offset);
  }
  constexpr void see() const { trace->see(hash()); }
  constexpr value seen_value() const {
    see();
    return trace->identity();
  }
};

// The location of a part: `bytes` further on.
template <class Location>
constexpr Location further(Location at, std::int64_t bytes) {
  at.offset += bytes;
  return at;
}

template <class Location>
inline constexpr tracer::access plain_load{opcode::ld, in_order(Location::space)};
template <class Location>
inline constexpr tracer::access plain_store{opcode::st, in_order(Location::space)};

// Compilers disagree on which side of `m[k[i]] = value` is evaluated first, and a load is an effect.
template <class Location>
constexpr auto require_settled_index() {
  static_assert(
      !Location::index_type::reads_memory,
      "kaio: the index of a store reads memory that may change; bind it first: val j = k[i]; m[j] = value");
}

}  // namespace kaio::dsl
