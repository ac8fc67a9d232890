#pragma once
// Bulk copies in one dimension: one thread asks, and the copy engine moves a run of bytes between global and shared
// memory. Sizes and both addresses are multiples of 16 bytes. Copies to shared memory complete on an mbarrier, the
// others in the thread's bulk groups.
// Source: PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.prefetch". sm_90.
//
//   full[0].arrive_expect_tx(4096);
//   copy_bulk(row[0], x[i * 1024], 4096, full[0]);
//   ...
//   store_bulk(y[i * 1024], row[0], 4096);
//   bulk_commit_group(t);
//   bulk_wait_group_read<0>(t);

#include <kaio/dsl/async/bulk_group.hpp>
#include <kaio/dsl/async/bulk_operation.hpp>
#include <kaio/dsl/async/cache_policy.hpp>
#include <kaio/dsl/async/mbarrier.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <class N>
constexpr auto require_bulk_bytes([[maybe_unused]] tracer& t, [[maybe_unused]] const N& bytes) {
  if constexpr (host_count<N>)
    if (host_value(bytes) <= 0 || host_value(bytes) % 16 != 0)
      t.fail("kaio: a bulk copy moves a multiple of 16 bytes, and at least 16");
}

}  // namespace detail

// Copies `bytes` from global to shared memory; `bar` counts them. Options: multicast(mask), cache_hint(policy).
template <class Place, class C, class N, class A = no_copy_option, class B = no_copy_option>
constexpr void copy_bulk(const Place& place, const C& from, const N& bytes, const mbarrier& bar,
                         const A& a = {}, const B& b = {}, std::uint32_t line = __builtin_LINE(),
                         const char* file = __builtin_FILE()) {
  require_readable<C>();
  detail::require_options<A, B, true>();
  tracer& t = bar.trace();
  t.statement(line, file);
  detail::require_bulk_bytes(t, bytes);
  if (t.probing()) return see_operands(t, place, from, bytes, bar, a, b);
  const tracer::address to = detail::shared_place(t, place);
  const tracer::address source = detail::global_address(t, from);
  const value size = detail::count_value(t, bytes);
  const detail::copy_options options = detail::lower_options(t, a, b);
  t.begin(opcode::cp_async_bulk,
          in_order(modifier::shared_cluster, modifier::global, modifier::complete_tx_bytes,
                   options.multicast_modifier(), options.hint_modifier()),
          ptx::type::none);
  t.add_address(to);
  t.add_address(source);
  t.use(size);
  t.add_address(bar.checked());
  options.use(t);
}

// Copies `bytes` from shared to global memory, in the thread's next bulk group. Option: cache_hint(policy).
template <class C, class Place, class N, class A = no_copy_option>
constexpr void store_bulk(const C& to, const Place& place, const N& bytes, const A& a = {},
                          std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  require_writable<C>();
  detail::require_options<A, no_copy_option, false>();
  if constexpr (memory_cell<C>) {
    tracer& t = *to.location().trace;
    t.statement(line, file);
    detail::require_bulk_bytes(t, bytes);
    if (t.probing()) return see_operands(t, to, place, bytes, a);
    const tracer::address target = detail::global_address(t, to);
    const tracer::address source = detail::shared_place(t, place);
    const value size = detail::count_value(t, bytes);
    const detail::copy_options options = detail::lower_options(t, a, no_copy_option{});
    t.begin(opcode::cp_async_bulk,
            in_order(modifier::global, modifier::shared_cta, modifier::bulk_group, options.hint_modifier()),
            ptx::type::none);
    t.add_address(target);
    t.add_address(source);
    t.use(size);
    options.use(t);
  }
}

// Combines `bytes` of shared memory into global memory, element by element: y = Op(y, x), in the cell's type. The
// copy belongs to the thread's next bulk group. Option: cache_hint(policy).
template <bulk_operation Op, class C, class Place, class N, class A = no_copy_option>
constexpr void reduce_bulk(const C& to, const Place& place, const N& bytes, const A& a = {},
                           std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  require_writable<C>();
  detail::require_options<A, no_copy_option, false>();
  if constexpr (memory_cell<C>) {
    using T = typename C::cell_type;
    static_assert(C::access == ptx::access::inout,
                  "kaio: a reducing copy reads and writes its target; make the parameter inout<T>");
    detail::require_bulk_operation<Op, T, true>();
    tracer& t = *to.location().trace;
    t.statement(line, file);
    detail::require_bulk_bytes(t, bytes);
    if (t.probing()) return see_operands(t, to, place, bytes, a);
    const tracer::address target = detail::global_address(t, to);
    const tracer::address source = detail::shared_place(t, place);
    const value size = detail::count_value(t, bytes);
    const detail::copy_options options = detail::lower_options(t, a, no_copy_option{});
    constexpr bool is_sum_of_halves = ptx::is_half(ptx_type<T>) && Op == bulk_operation::add;
    t.begin(opcode::cp_reduce_async_bulk,
            in_order(modifier::global, modifier::shared_cta, modifier::bulk_group, options.hint_modifier(),
                     detail::name_of(Op), is_sum_of_halves ? modifier::noftz : modifier::none),
            detail::is_bitwise(Op) ? ptx::bits_of(ptx_type<T>) : ptx_type<T>);
    t.add_address(target);
    t.add_address(source);
    t.use(size);
    options.use(t);
  }
}

// Brings `bytes` of global memory into L2. Option: cache_hint(policy).
template <class C, class N, class A = no_copy_option>
constexpr void prefetch_bulk(const C& from, const N& bytes, const A& a = {},
                             std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  require_readable<C>();
  detail::require_options<A, no_copy_option, false>();
  if constexpr (memory_cell<C>) {
    tracer& t = *from.location().trace;
    t.statement(line, file);
    detail::require_bulk_bytes(t, bytes);
    if (t.probing()) return see_operands(t, from, bytes, a);
    const tracer::address source = detail::global_address(t, from);
    const value size = detail::count_value(t, bytes);
    const detail::copy_options options = detail::lower_options(t, a, no_copy_option{});
    t.begin(opcode::cp_async_bulk_prefetch, in_order(modifier::l2, modifier::global, options.hint_modifier()),
            ptx::type::none);
    t.add_address(source);
    t.use(size);
    options.use(t);
  }
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::reduce_bulk;
}
