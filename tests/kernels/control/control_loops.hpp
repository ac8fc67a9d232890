#pragma once
// Counted loops of every integer type, in each of their layouts. A loop is checked by the hash of its
// counters.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// Puts a number into a hash, on the device.
template <class H, class K>
constexpr void mix(H& hash, const K& k) {
  hash = hash * 31 + cast<u32>(k) + 1;
}

// The counters of a range in the layout that `request` asks for.
template <class Range, class Request>
constexpr val<u32> hash_of(thread t, const Range& range, const Request& request) {
  var hash(t, 7u);
  for (auto k : request(range)) mix(hash, k);
  return t.let(hash);
}

// The counters that a body meets if it skips rounds and leaves the loop. a * b is computed after the skip
// in each copy.
template <class Range, class Request, class A>
constexpr val<u32> hash_with_exits(thread t, const Range& range, const Request& request, const A& a) {
  var hash(t, 7u);
  for (auto k : request(range)) {
    val low = cast<u32>(k) & 15;
    k.continue_if(low % 3 == 0);
    hash = hash * 31 + a * (a + 1) + low;
    k.break_if(low == 11);
    hash += 1;
  }
  return t.let(hash);
}

inline constexpr std::uint32_t range_layouts = 7;

// Every layout on one range: writes range_layouts rows of y.
template <class Make>
constexpr void every_layout(thread t, const Make& make, out<u32> y, val<u32> i, val<u32> n) {
  u32 row = 0;
  const auto put = [&](const auto& request) { y[i + n * row++] = hash_of(t, make(), request); };
  put([](const auto& r) { return r.no_unroll(); });
  put([](const auto& r) { return r.template unroll<1>(); });
  put([](const auto& r) { return r.template unroll<2>(); });
  put([](const auto& r) { return r.unroll(4); });
  put([](const auto& r) { return r.unroll(7); });
  y[i + n * row++] = hash_with_exits(
      t, make(), [](const auto& r) { return r.unroll(1); }, i);
  y[i + n * row++] = hash_with_exits(
      t, make(), [](const auto& r) { return r.unroll(4); }, i);
}

template <int Step>
inline constexpr auto step_name =
    dsl::fixed_string("up_") + decimal<static_cast<u32>(Step < 0 ? -Step : Step)>;
template <int Step>
  requires(Step < 0)
inline constexpr auto step_name<Step> = dsl::fixed_string("down_") + decimal<static_cast<u32>(-Step)>;

// A constant step.
template <dsl::integer T, int Step>
inline constexpr auto constant_steps = kernel<"constant_steps_" + type_name<T> + "_" + step_name<Step>, 64>(
    [](thread t, in<T> first, in<T> last, out<u32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n))
        every_layout(
            t, [&] { return t.range(first[i], last[i], Step); }, y, i, n);
    });

// A step that only the device knows; of either sign where the type has one.
template <dsl::integer T>
inline constexpr auto run_time_steps = kernel<"run_time_steps_" + type_name<T>, 64>(
    [](thread t, in<T> first, in<T> last, in<T> step, out<u32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n))
        every_layout(
            t, [&] { return t.range(first[i], last[i], step[i]); }, y, i, n);
    });

// 0 to 17 rounds, known while the kernel is compiled; two rows for each.
template <dsl::integer T>
inline constexpr auto known_rounds =
    kernel<"known_rounds_" + type_name<T>, 32>([](thread t, out<u32> y, val<u32> n) {
      val i = t.global_id();
      for (u32 rounds = 0; rounds <= 17; ++rounds) {
        const T last = static_cast<T>(5 + rounds * 3);
        y[i + n * (2 * rounds)] = hash_with_exits(
            t, t.range(T{5}, last, 3), [](const auto& r) { return r.template unroll<4>(); }, i);
        y[i + n * (2 * rounds + 1)] = hash_with_exits(
            t, t.range(T{5}, last, 3), [](const auto& r) { return r.unroll(); }, i);
      }
    });

// Unrolled loops in unrolled loops, over a triangle, with variables that live on from copy to copy.
inline constexpr auto nested_copies =
    kernel<"nested_copies", 32>([](thread t, out<u32> y, out<u32> z, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        var hash(t, 1u);
        var previous(t, 0u);
        for (auto j : t.range(0u, i).unroll<3>()) {
          val before = previous;
          for (auto k : t.range(j, i, 2).unroll<2>()) {
            if (auto odd = t.when((k & 1) == 1)) mix(hash, k + before);
            if (auto even = t.otherwise()) hash += j;
            k.break_if(hash % 64 == 0);
          }
          previous = j * 2;
          hash += before;
        }
        y[i] = hash;
        z[i] = previous;
      }
    });

// The threads of a grid, or of a block, share the numbers below n.
template <dsl::integer T>
inline constexpr auto shared_rounds = kernel<"shared_rounds_" + type_name<T>, 96>(
    [](thread t, inout<u32> grid, inout<u32> block, inout<u32> unrolled, val<T> n) {
      for (auto k : t.grid_stride(n)) grid[k] += cast<u32>(k) + 1;
      for (auto k : t.block_stride(n)) {
        if (auto first_block = t.when(block_idx_x() == 0)) block[k] += cast<u32>(k) + 1;
      }
      for (auto k : t.grid_stride(n).template unroll<4>()) {
        k.continue_if(k % 5 == 0);
        unrolled[k] += cast<u32>(k) + 1;
      }
    });

// Loops with a common end and step that the kernel is given. Some threads skip the first loop: what it has
// computed for its own use is not there for the next one.
template <dsl::integer T>
inline constexpr auto loops_in_a_row =
    kernel<"loops_in_a_row_" + type_name<T>, 64>([](thread t, in<u32> x, out<u32> y, val<T> n, val<T> step) {
      val i = t.global_id();
      var own(t, 7u), common(t, 7u), unrolled(t, 7u);
      const auto hash = [&](auto& sum, const auto& k) { sum = sum * 31u + x[cast<u32>(k)]; };
      for (auto k : t.range(cast<T>(i), n, step)) hash(own, k);
      for (auto k : t.range(t.let(T{0}), n, step)) hash(common, k);
      for (auto k : t.range(cast<T>(i % 8), n, step).template unroll<2>()) hash(unrolled, k);
      for (auto k : t.range(t.let(T{1}), n, step)) hash(common, k);
      y[i * 3] = own;
      y[i * 3 + 1] = common;
      y[i * 3 + 2] = unrolled;
    });

// The position of a thread in a grid of three dimensions.
inline constexpr std::uint32_t place_columns = 7;
inline constexpr auto places =
    kernel<"places", block_size{4, 3, 5}>([](thread t, out<u32> y, out<u64> ticks) {
      val rank = t.grid_rank();
      u32 column = 0;
      const auto put = [&](const auto& x) { y[rank * place_columns + column++] = x; };
      put(t.global_id_x());
      put(cast<u32>(t.global_id_y<u64>()));
      put(cast<u32>(t.global_id_z<i32>()));
      put(t.block_rank());
      put(t.thread_rank());
      put(cast<u32>(t.grid_rank<u64>()));
      put(t.let(dynamic_smem_size()));
      val begin = t.clock64();
      val time = t.globaltimer();
      val short_begin = t.clock();
      val short_end = t.clock();
      ticks[rank * 4] = t.clock64() - begin;
      ticks[rank * 4 + 1] = t.globaltimer() - time;
      ticks[rank * 4 + 2] = cast<u64>(short_end - short_begin);
      ticks[rank * 4 + 3] = cast<u64>(t.sm_id());
    });

}  // namespace kaio::tests
