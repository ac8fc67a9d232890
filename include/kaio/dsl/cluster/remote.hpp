#pragma once
// Distributed shared memory: a place of this block's shared memory, in another block of the cluster. remote(cell, rank)
// is a cell like any other: it is read, written, and changed atomically. The other block must run and must not have
// ended: call cluster_barrier before and after. Source: PTX ISA, "mapa", "st.async".
//
//   val theirs = remote(partial[i], peer);                   // a load over the network of the cluster
//   remote(partial[i], peer) = x;
//   atomic_add(remote(counts[bin], owner), 1u, order::relaxed, scope::cluster);
//   store_async(remote(inbox[i], peer), x, full[0]);         // full[0] of the peer counts its bytes

#include <kaio/dsl/async/bulk_copy.hpp>
#include <kaio/dsl/async/mbarrier.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr value map_to(tracer& t, value address, value rank) {
  return t.pure(
      {opcode::mapa, in_order(modifier::shared_cluster), ptx::type::u32, ptx::type::none, ptx::type::u32},
      address, rank);
}

// The rank as a tree of type u32; other types have been refused.
template <class R>
constexpr auto rank_node(const R& rank) {
  if constexpr (count_operand<R>)
    return operand_node<u32>(rank);
  else
    return literal<u32>{};
}

template <class Local, class Rank>
struct remote_index {
  static constexpr bool reads_memory = Local::index_type::reads_memory || Rank::reads_memory;
  static constexpr unsigned loads = Local::index_type::loads + Rank::loads;
};

}  // namespace detail

// The location of a cell of this block, in block `rank` of the cluster. It is mapped when the cell is used, because
// compilers disagree on which side of an assignment comes first.
template <class Local, class Rank>
struct cluster_location {
  using index_type = detail::remote_index<Local, Rank>;
  static constexpr modifier space = modifier::shared_cluster;
  tracer* trace;
  Local local;
  Rank rank;
  std::uint32_t scope;
  std::int64_t offset = 0;

  constexpr tracer::address find() const {
    tracer& t = *trace;
    require_open();
    t.begin_lowering();
    tracer::address at = local.find();
    t.end_lowering();
    // The address is mapped without its constant part, so that neighbouring cells share the mapping.
    const std::int64_t distance = at.offset + offset;
    at.offset = 0;
    return {map(detail::address_as_value(t, at)), distance, 0};
  }
  constexpr std::uint64_t hash() const { return local.hash() * hash_factor + rank.hash(); }
  constexpr void see() const { trace->see(hash()); }
  constexpr value seen_value() const {
    see();
    return trace->identity();
  }
  // Maps an address of this block's shared memory to block `rank`.
  constexpr value map(value own) const {
    require_open();
    return detail::map_to(*trace, own, lower(*trace, rank));
  }

 private:
  constexpr auto require_open() const {
    if (!trace->is_open(scope))
      trace->fail_next("kaio: a remote cell was used outside the guarded body or loop that made it");
  }
};

template <class Location>
inline constexpr bool is_cluster_location = false;
template <class Local, class Rank>
inline constexpr bool is_cluster_location<cluster_location<Local, Rank>> = true;

// The address of this place in block `rank`, in the shared memory of the cluster.
template <class P, class R>
constexpr val<u32> map_shared(const P& place, const R& rank, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  static_assert(!is_thread<P>, "kaio: write map_shared(place, rank)");
  tracer& t = detail::tracer_of(place);
  t.statement(line, file);
  if (t.probing()) {
    see_operands(t, place, rank);
    return val<u32>(t, t.identity());
  }
  const value own = detail::address_as_value(t, detail::shared_place(t, place));
  return val<u32>(t, detail::map_to(t, own, detail::count_value(t, rank)));
}

// The cell at the place of `local` in block `rank` of the cluster.
template <memory_cell C, class R>
constexpr auto remote(const C& local, const R& rank) {
  using T = typename C::cell_type;
  static_assert(location_of<C>::space == modifier::shared,
                "kaio: remote() takes a cell of a shared array or tile");
  detail::require_count<R>();
  tracer& t = *local.location().trace;
  const auto node = detail::rank_node(rank);
  using Location = cluster_location<location_of<C>, std::remove_const_t<decltype(node)>>;
  return place_of<ptx::access::inout, T>(Location{&t, local.location(), node, t.scope()});
}

// Stores to a remote cell without waiting. The mbarrier at the place of `bar` in that block counts the bytes, and must
// expect them: 4, or 8 for a type of 64 bits. Numbers of 32 and 64 bits. sm_90.
template <class C, class E>
constexpr void store_async(const C& to, const E& e, const mbarrier& bar,
                           std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  constexpr bool is_remote = requires { requires is_cluster_location<location_of<C>>; };
  static_assert(is_remote, "kaio: store_async stores to a remote cell: remote(tile[i], rank)");
  if constexpr (is_remote) {
    using T = typename C::cell_type;
    static_assert(scalar<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "kaio: store_async stores numbers of 32 or 64 bits");
    tracer& t = *to.location().trace;
    t.statement(line, file);
    const value v = lower(t, operand_node<T>(e));
    static_assert(!device<E> || device_of<E, T>,
                  "kaio: the value stored has another type than its place; write cast<T>(x)");
    if (t.probing()) return see_operands(t, to, bar);
    const tracer::address at = to.location().find();
    const value own = detail::address_as_value(t, bar.checked());
    const value there = to.location().map(own);
    const value stored = t.in_register(v);
    t.begin(opcode::st_async, in_order(modifier::shared_cluster, modifier::complete_tx_bytes), ptx_type<T>);
    t.add_address(at);
    t.use(stored);
    t.add_address({there, 0, 0});
  }
}

// Copies `bytes`, a multiple of 16, from this block's shared memory to a remote cell and the memory after it. The
// mbarrier at the place of `bar` in that block counts them. One thread calls it, after fence_proxy_async(t) if threads
// stored the source. Source: PTX ISA, "cp.async.bulk".
template <class C, class Place, class N>
constexpr void copy_bulk_remote(const C& to, const Place& place, const N& bytes, const mbarrier& bar,
                                std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  constexpr bool is_remote = requires { requires is_cluster_location<location_of<C>>; };
  static_assert(is_remote, "kaio: copy_bulk_remote copies to a remote cell: remote(tile[0][0], rank)");
  if constexpr (is_remote) {
    tracer& t = *to.location().trace;
    t.statement(line, file);
    detail::require_bulk_bytes(t, bytes);
    if (t.probing()) return see_operands(t, to, place, bytes, bar);
    const tracer::address target = to.location().find();
    const tracer::address source = detail::shared_place(t, place);
    const value size = detail::count_value(t, bytes);
    const value there = to.location().map(detail::address_as_value(t, bar.checked()));
    t.begin(opcode::cp_async_bulk,
            in_order(modifier::shared_cluster, modifier::shared_cta, modifier::complete_tx_bytes),
            ptx::type::none);
    t.add_address(target);
    t.add_address(source);
    t.use(size);
    t.add_address({there, 0, 0});
  }
}

}  // namespace kaio::dsl
