#pragma once
// Sorts numbers in shared memory, the largest first: neighbouring lists of `count`, all at once.
//
// Source: Batcher, "Sorting networks and their applications", 1968.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// count: a power of two; members: the numbers of all lists, at most the threads of the block. Each thread of
// the block calls it, and sees the result at once.
template <class Cells>
constexpr void sort_descending(thread t, const Cells& cells, const val<u32>& count, const val<u32>& members) {
  const val i = t.let(t.thread_rank());
  var run(t, 2u);
  t.barrier();
  for (auto merges : t.loop()) {
    merges.break_if(run > count);
    var distance(t, run >> 1);
    for (auto steps : t.loop()) {
      steps.break_if(distance == 0u);
      const val partner = t.let(i ^ distance);
      if (auto lower = t.when(all_of(i < partner, i < members))) {
        const val a = t.let(cells[i]), b = t.let(cells[partner]);
        const val descends = t.let((i & run & (count - 1u)) == 0u);
        if (auto swaps = t.when((a < b) == descends)) {
          cells[i] = b;
          cells[partner] = a;
        }
      }
      t.barrier();
      distance = distance >> 1;
    }
    run = run << 1;
  }
}

}  // namespace kaio::ops
