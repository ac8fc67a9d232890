#pragma once
// The cache policy and the memory order of an access: constants that load(), store(), prefetch() and
// the atomic operations take, in any order. Combinations that PTX lacks are refused. Source: PTX ISA, "Cache
// Operators", "Cache Eviction Priority Hints", "Memory Consistency Model".
//
//   val v = load(x[i], cache::cs, prefetch_size::bytes_128);
//   store(flag[0], 1u, order::release, scope::device);

#include <kaio/dsl/memory/location.hpp>

#include <cstdint>

namespace kaio {
namespace dsl {

enum class policy_kind : std::uint8_t { none, cache, eviction, prefetch, volatile_, order, scope, level };

template <policy_kind Kind, modifier M>
struct policy {
  static constexpr policy_kind kind = Kind;
  static constexpr modifier mod = M;
};
using no_policy = policy<policy_kind::none, modifier::none>;

template <class P>
inline constexpr bool is_policy = false;
template <policy_kind Kind, modifier M>
inline constexpr bool is_policy<policy<Kind, M>> = true;

// The modifier of one kind among the policies; none if it is not given.
template <policy_kind Kind, class... P>
constexpr modifier pick() {
  modifier found = modifier::none;
  ((P::kind == Kind ? void(found = P::mod) : void()), ...);
  return found;
}
template <policy_kind Kind, class... P>
constexpr bool given_twice() {
  return ((P::kind == Kind ? 1 : 0) + ... + 0) > 1;
}

}  // namespace dsl

// Cache operators. Loads: ca cg cs lu cv; stores: wb cg cs wt.
namespace cache {
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::ca> ca;  // all levels
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::cg> cg;  // L2 and below, not L1
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::cs> cs;  // streaming: likely used once
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::lu> lu;  // last use
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::cv> cv;  // fetched again each time
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::wb> wb;  // write back
inline constexpr dsl::policy<dsl::policy_kind::cache, ptx::modifier::wt> wt;  // write through
}  // namespace cache

// Eviction priorities of the L1 cache.
namespace evict {
inline constexpr dsl::policy<dsl::policy_kind::eviction, ptx::modifier::l1_evict_normal> normal;
inline constexpr dsl::policy<dsl::policy_kind::eviction, ptx::modifier::l1_evict_unchanged> unchanged;
inline constexpr dsl::policy<dsl::policy_kind::eviction, ptx::modifier::l1_evict_first> first;
inline constexpr dsl::policy<dsl::policy_kind::eviction, ptx::modifier::l1_evict_last> last;
inline constexpr dsl::policy<dsl::policy_kind::eviction, ptx::modifier::l1_no_allocate> no_allocate;
}  // namespace evict

// How many bytes a load prefetches into L2.
namespace prefetch_size {
inline constexpr dsl::policy<dsl::policy_kind::prefetch, ptx::modifier::l2_64b> bytes_64;
inline constexpr dsl::policy<dsl::policy_kind::prefetch, ptx::modifier::l2_128b> bytes_128;
inline constexpr dsl::policy<dsl::policy_kind::prefetch, ptx::modifier::l2_256b> bytes_256;
}  // namespace prefetch_size

// The access happens as written: neither removed nor merged with another.
inline constexpr dsl::policy<dsl::policy_kind::volatile_, ptx::modifier::volatile_> volatile_access;

// Loads: relaxed, acquire. Stores: relaxed, release. Atomic operations: those and acq_rel. Fences: acq_rel,
// sc.
namespace order {
inline constexpr dsl::policy<dsl::policy_kind::order, ptx::modifier::relaxed> relaxed;
inline constexpr dsl::policy<dsl::policy_kind::order, ptx::modifier::acquire> acquire;
inline constexpr dsl::policy<dsl::policy_kind::order, ptx::modifier::release> release;
inline constexpr dsl::policy<dsl::policy_kind::order, ptx::modifier::acq_rel> acq_rel;
inline constexpr dsl::policy<dsl::policy_kind::order, ptx::modifier::sc> sc;
}  // namespace order

// The threads that an order holds for: the block (.cta), the cluster, the device (.gpu), the system (.sys).
namespace scope {
inline constexpr dsl::policy<dsl::policy_kind::scope, ptx::modifier::cta> block;
inline constexpr dsl::policy<dsl::policy_kind::scope, ptx::modifier::cluster> cluster;
inline constexpr dsl::policy<dsl::policy_kind::scope, ptx::modifier::gpu> device;
inline constexpr dsl::policy<dsl::policy_kind::scope, ptx::modifier::sys> system;
}  // namespace scope

// The cache level that prefetch() loads a line into.
namespace cache_level {
inline constexpr dsl::policy<dsl::policy_kind::level, ptx::modifier::l1> l1;
inline constexpr dsl::policy<dsl::policy_kind::level, ptx::modifier::l2> l2;
}  // namespace cache_level

namespace dsl {

// The policies of one access.
template <class... P>
struct access_policies {
  static_assert(
      (is_policy<P> && ...),
      "kaio: an access takes policies: of cache::, evict::, prefetch_size::, order::, scope::, and volatile_access");
  static_assert(!given_twice<policy_kind::cache, P...>() && !given_twice<policy_kind::eviction, P...>() &&
                    !given_twice<policy_kind::prefetch, P...>() && !given_twice<policy_kind::order, P...>() &&
                    !given_twice<policy_kind::scope, P...>() && !given_twice<policy_kind::volatile_, P...>(),
                "kaio: two policies of one kind were given to one access; choose one of them");
  static constexpr modifier cache = pick<policy_kind::cache, P...>();
  static constexpr modifier eviction = pick<policy_kind::eviction, P...>();
  static constexpr modifier prefetch = pick<policy_kind::prefetch, P...>();
  static constexpr modifier volatile_ = pick<policy_kind::volatile_, P...>();
  static constexpr modifier order = pick<policy_kind::order, P...>();
  static constexpr modifier scope = pick<policy_kind::scope, P...>();

  static constexpr bool has_level = pick<policy_kind::level, P...>() != modifier::none;
  static constexpr bool is_ordered = order != modifier::none;
  static constexpr bool is_volatile = volatile_ != modifier::none;

  static_assert(!has_level, "kaio: a cache level is for prefetch(x[i], cache_level::l2)");
  static_assert(!(eviction != modifier::none && cache != modifier::none),
                "kaio: a cache operator and an eviction priority do not go together; choose one of them");
  static_assert(!(is_ordered && cache != modifier::none),
                "kaio: a cache operator is for accesses without an order; drop one of them");
  static_assert(
      !(is_volatile && (is_ordered || cache != modifier::none || eviction != modifier::none)),
      "kaio: volatile_access takes no order, cache operator or eviction priority; order::relaxed with scope::system is the ordered form of it");
};

// The rules of loads and stores: an order needs a scope, and memory of one thread alone has no order.
template <class Policies, modifier Space>
struct access_rules {
  static_assert(Policies::is_ordered == (Policies::scope != modifier::none),
                "kaio: an order and a scope go together; write load(x[i], order::acquire, scope::device)");
  static_assert(Space == modifier::global ||
                    (Policies::eviction == modifier::none && Policies::prefetch == modifier::none &&
                     Policies::cache == modifier::none),
                "kaio: cache policies are for global memory; shared, local and constant memory have none");
  static_assert(Space == modifier::global || Space == modifier::shared || Space == modifier::shared_cluster ||
                    (!Policies::is_ordered && !Policies::is_volatile),
                "kaio: local and constant memory are seen by one thread or never change: they have no order");
  static constexpr bool are_kept = true;
};

// The ld of a cell. `ReadOnly`: nothing writes the memory while the kernel runs.
template <class Location, bool ReadOnly, class... P>
constexpr tracer::access load_with() {
  using policies = access_policies<P...>;
  static_assert(access_rules<policies, Location::space>::are_kept);
  static_assert(policies::order == modifier::none || policies::order == modifier::relaxed ||
                    policies::order == modifier::acquire,
                "kaio: a load is relaxed or acquire; release is for stores, acq_rel and sc for fences");
  static_assert(policies::cache != modifier::wb && policies::cache != modifier::wt,
                "kaio: this cache operator is for stores; a load takes ca, cg, cs, lu or cv");
  if constexpr (ReadOnly) {
    static_assert(
        !policies::is_ordered && !policies::is_volatile,
        "kaio: the memory of an in parameter does not change, so its loads take no order; make it inout<T>");
    static_assert(
        policies::cache != modifier::lu && policies::cache != modifier::cv,
        "kaio: a read-only load takes the cache operators ca, cg and cs; make the parameter inout<T>");
    if (Location::space == modifier::global)
      return {opcode::ld_nc, in_order(policies::cache, modifier::nc, policies::eviction, policies::prefetch)};
    return Location::read_only;
  } else {
    return {opcode::ld, in_order(policies::volatile_, policies::order, policies::scope, Location::space,
                                 policies::cache, policies::eviction, policies::prefetch)};
  }
}

template <class Location, class... P>
constexpr tracer::access store_with() {
  using policies = access_policies<P...>;
  static_assert(access_rules<policies, Location::space>::are_kept);
  static_assert(policies::order == modifier::none || policies::order == modifier::relaxed ||
                    policies::order == modifier::release,
                "kaio: a store is relaxed or release; acquire is for loads, acq_rel and sc for fences");
  static_assert(
      policies::cache != modifier::ca && policies::cache != modifier::lu && policies::cache != modifier::cv,
      "kaio: this cache operator is for loads; a store takes wb, cg, cs or wt");
  static_assert(policies::prefetch == modifier::none, "kaio: a store has no prefetch size; it is for loads");
  return {opcode::st, in_order(policies::volatile_, policies::order, policies::scope, Location::space,
                               policies::cache, policies::eviction)};
}

}  // namespace dsl
}  // namespace kaio
