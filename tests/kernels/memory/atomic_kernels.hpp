#pragma once
// The kernels that test atomic operations: many threads on few cells, in global and in shared memory.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// Each operation has its own row of `cells` cells; the value that an operation returns is kept in `old`,
// where it shows something.
inline constexpr u32 atomic_cells = 5;

template <class T, class Row>
constexpr void contend(const Row& row, const val<T>& x, const val<u32>& c) {
  atomic_add(row(0, c), x);
  atomic_sub(row(1, c), x);
  atomic_min(row(2, c), x);
  atomic_max(row(3, c), x);
  if constexpr (dsl::integer<T> && sizeof(T) >= 4) {
    atomic_and(row(4, c), x | 1);
    atomic_or(row(5, c), x);
    atomic_xor(row(6, c), x);
  }
}

// Sm: the architecture whose instructions may be used.
template <dsl::scalar T, u16 Sm>
inline constexpr auto contention =
    kernel<"contention_" + type_name<T> + "_" + decimal<Sm>, 64, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> x, inout<T> cells, inout<T> from_shared, in<T> first, out<T> old, val<u32> n) {
          val i = t.global_id();
          val c = i % atomic_cells;
          shared<T, 7 * atomic_cells> staged(t);
          if (auto starts = t.when(thread_idx_x() < 7 * atomic_cells))
            staged[thread_idx_x()] = first[thread_idx_x()];
          t.barrier();
          if (auto in_range = t.when(i < n)) {
            val mine = x[i];
            contend([&](u32 r, const val<u32>& k) { return cells[k + r * atomic_cells]; }, mine, c);
            contend([&](u32 r, const val<u32>& k) { return staged[k + r * atomic_cells]; }, mine, c);
            old[i] = atomic_exchange(cells[c + 7 * atomic_cells], mine, order::acq_rel, scope::device);
          }
          t.barrier();
          if (auto ends = t.when((thread_idx_x() < 7 * atomic_cells) & (block_idx_x() == 0)))
            from_shared[thread_idx_x()] = staged[thread_idx_x()];
        });

// Tickets, and a sum by compare and exchange.
template <dsl::scalar T>
inline constexpr auto exchanges = kernel<"exchanges_" + type_name<T>, 64>(
    [](thread t, inout<u32> counters, out<u32> up, out<u32> down, inout<T> sum, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        up[i] = atomic_inc(counters[0], 9u);
        down[i] = atomic_dec(counters[1], 9u, scope::system);
        var seen = load(sum[0], order::relaxed, scope::device);
        for (auto l : t.loop()) {
          const val<T> expected = seen;
          val found = atomic_compare_exchange(sum[0], expected, expected + 3, order::relaxed, scope::device);
          seen = found;
          l.break_if(found == expected);
        }
      }
    });

// Sums of vectors, by PTX's own instructions or element by element.
template <class V, u16 Sm>
inline constexpr auto vector_sums =
    kernel<"vector_sums_" + type_name<typename V::value_type> + "_" + decimal<V::size()> + "_" + decimal<Sm>,
           32, kernel_options{.target = {Sm}}>([](thread t, in<V> x, inout<V> sums,
                                                  inout<typename V::value_type> largest, inout<V> once,
                                                  out<V> found, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val v = x[i];
        atomic_add(sums[i % 3], v);
        atomic_max(largest[(i % 3) * V::size()], v);
        found[i] = atomic_sub(once[i], v, order::release, scope::device);
      }
    });

}  // namespace kaio::tests
