#pragma once
// cp.async: each thread copies 4, 8 or 16 bytes from global to shared memory without waiting, gathers its
// copies into groups, and waits for groups. Source: PTX ISA, "cp.async". sm_80.
//
//   cp_async<16>(tile[row][8 * chunk], x[i]);
//   cp_async<16>(tile[row][8 * chunk], x[i], i < n);      // zeros if the condition is false
//   cp_async_commit_group(t);
//   cp_async_wait_group<0>(t);                            // its own copies are complete; then t.barrier()
//
// Both addresses are multiples of the size. Copies of other threads are visible after their wait and a barrier.

#include <kaio/dsl/async/cache_policy.hpp>
#include <kaio/dsl/async/fence.hpp>
#include <kaio/dsl/async/operand.hpp>
#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/var.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// The number of valid bytes, or a condition for all of them; the other bytes become zero.
template <class O>
concept valid_option = count_operand<O> || device_of<O, bool>;

template <class... O>
struct cp_async_options {
  static constexpr std::uint32_t hints = ((copy_option<O> ? 1u : 0u) + ... + 0u);
  static constexpr std::uint32_t sizes = ((valid_option<O> ? 1u : 0u) + ... + 0u);
  static_assert(
      ((copy_option<O> || valid_option<O> || is_policy<O>)&&...),
      "kaio: cp_async takes the number of valid bytes or a condition, cache::ca or cache::cg, prefetch_size:: and cache_hint(policy)");
  static_assert(hints <= 1 && sizes <= 1, "kaio: an option of cp_async was given twice");

  template <class P>
  static constexpr modifier policy_of(policy_kind kind) {
    if constexpr (is_policy<P>)
      return P::kind == kind ? P::mod : modifier::none;
    else
      return modifier::none;
  }
  static constexpr modifier find(policy_kind kind) {
    modifier found = modifier::none;
    ((policy_of<O>(kind) != modifier::none ? void(found = policy_of<O>(kind)) : void()), ...);
    return found;
  }
  static constexpr modifier cache = find(policy_kind::cache);
  static constexpr modifier prefetch = find(policy_kind::prefetch);
};

template <std::uint32_t Bytes, class O>
constexpr void lower_cp_async_option(tracer& t, const O& option, value& valid, copy_options& hint) {
  if constexpr (copy_option<O>) {
    lower_option(t, option, hint);
  } else if constexpr (device_of<O, bool>) {
    const value condition = lower(t, option.node());
    valid =
        t.select(ptx::type::u32, condition, t.constant(ptx::type::u32, Bytes), t.constant(ptx::type::u32, 0));
  } else if constexpr (count_operand<O>) {
    valid = count_value(t, option);
  }
}

}  // namespace detail

// Copies Bytes (4, 8 or 16) from global to shared memory. Options, in any order:
//   u32 or integer of the host   the valid bytes, 0 to Bytes; the others become zero
//   condition                    all bytes are valid, or none
//   cache::ca, cache::cg         cg: not kept in L1, for 16 bytes only and their default
//   prefetch_size::bytes_64 to bytes_256, cache_hint(policy)
template <std::uint32_t Bytes, class Place, class C, class O1 = no_policy, class O2 = no_policy,
          class O3 = no_policy, class O4 = no_policy>
constexpr void cp_async(const Place& place, const C& from, const O1& o1 = {}, const O2& o2 = {},
                        const O3& o3 = {}, const O4& o4 = {}, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "kaio: cp_async copies 4, 8 or 16 bytes");
  require_readable<C>();
  using options = detail::cp_async_options<O1, O2, O3, O4>;
  static_assert(
      options::cache == modifier::none || options::cache == modifier::ca || options::cache == modifier::cg,
      "kaio: cp_async takes the cache operators ca and cg");
  static_assert(options::cache != modifier::cg || Bytes == 16,
                "kaio: cp_async with cache::cg copies 16 bytes");
  if constexpr (memory_cell<C>) {
    constexpr modifier cache = options::cache != modifier::none ? options::cache
                               : Bytes == 16                    ? modifier::cg
                                                                : modifier::ca;
    tracer& t = *from.location().trace;
    t.statement(line, file);
    [[maybe_unused]] const auto require_valid = [&](const auto& o) {
      if (!detail::host_lies_in(o, 0, Bytes)) t.fail("kaio: the valid bytes of a cp_async are 0 to its size");
    };
    require_valid(o1), require_valid(o2), require_valid(o3), require_valid(o4);
    if (t.probing()) return see_operands(t, place, from, o1, o2, o3, o4);
    const tracer::address to = detail::shared_place(t, place);
    const tracer::address source = detail::global_address(t, from);
    value valid = 0;
    detail::copy_options hint;
    detail::lower_cp_async_option<Bytes>(t, o1, valid, hint);
    detail::lower_cp_async_option<Bytes>(t, o2, valid, hint);
    detail::lower_cp_async_option<Bytes>(t, o3, valid, hint);
    detail::lower_cp_async_option<Bytes>(t, o4, valid, hint);
    t.begin(opcode::cp_async,
            in_order(cache, modifier::shared, modifier::global, hint.hint_modifier(), options::prefetch),
            ptx::type::none);
    t.add_address(to);
    t.add_address(source);
    t.add({operand_kind::immediate, ptx::type::u32, 0, Bytes});
    if (valid != 0) t.use(valid);
    hint.use(t);
  }
}

// Makes a group of the copies that this thread issued since its last group; it may be empty.
constexpr void cp_async_commit_group(const thread& t, std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::cp_async_commit_group, 0, line, file);
}

// Waits until at most Pending of this thread's groups are not complete.
template <std::uint32_t Pending>
constexpr void cp_async_wait_group(const thread& t, std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::cp_async_wait_group, 0, line, file);
  if (!t.trace().probing()) t.trace().add({operand_kind::immediate, ptx::type::u32, 0, Pending});
}

// Waits for all copies of this thread, in groups or not.
constexpr void cp_async_wait_all(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::cp_async_wait_all, 0, line, file);
}

// A ring of Stages buffers: all threads of the block fill it by cp_async, Stages - 1 fills ahead, and use it
// together. It is the multistage pipeline of sm_80.
//
//   cp_async_ring<3> ring(t);
//   for (u32 s = 0; s < 2; ++s) { fill(ring.fill_stage(), s); ring.commit(); }
//   for (auto k : t.range(0u, steps)) {
//     ring.wait();                                   // stage() has arrived, and fill_stage() is free
//     if (auto more = t.when(k + 2 < steps)) fill(ring.fill_stage(), k + 2);
//     ring.commit();                                 // in every step, with copies or without
//     ... ring.stage() ...
//     ring.advance();
//   }
template <std::uint32_t Stages>
class cp_async_ring {
  static_assert(Stages >= 2, "kaio: a ring that is filled ahead has at least two stages");

 public:
  explicit constexpr cp_async_ring(const thread& t, std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE())
      : thread_(t), stage_(t, 0u, line, file), fill_stage_(t, 0u, line, file) {}

  // The stage in use, and the stage to fill next; 0 to Stages - 1.
  constexpr val<u32> stage() const { return val<u32>(stage_, 0, nullptr); }
  constexpr val<u32> fill_stage() const { return val<u32>(fill_stage_, 0, nullptr); }

  // Closes the group of the copies into fill_stage(), and moves fill_stage() to the next stage.
  constexpr void commit(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    cp_async_commit_group(thread_, line, file);
    next(fill_stage_, line, file);
  }
  // Waits until all threads have filled stage(). Every thread of the block must reach the call.
  constexpr void wait(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    cp_async_wait_group<Stages - 2>(thread_, line, file);
    thread_.barrier(line, file);
  }
  // Goes on to the next stage.
  constexpr void advance(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    next(stage_, line, file);
  }

 private:
  constexpr void next(var<u32>& stage, std::uint32_t line, const char* file) const {
    tracer& t = thread_.trace();
    t.statement(line, file);
    t.begin_lowering();
    const val after = stage + 1u;
    stage = select(after == Stages, 0u, after);
    t.end_lowering();
  }

  thread thread_;
  var<u32> stage_;
  var<u32> fill_stage_;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::cp_async;
using dsl::cp_async_commit_group;
using dsl::cp_async_ring;
using dsl::cp_async_wait_all;
using dsl::cp_async_wait_group;
}  // namespace kaio
