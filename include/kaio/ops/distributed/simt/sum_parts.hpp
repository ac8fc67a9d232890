#pragma once
// Adds parts of equal size in f32, the first part first, and rounds once. A thread has eight neighbours.
//
//   to[outer][i] = (accumulate ? to[outer][i] : 0) + sum over p of from[p][outer][i]

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>

namespace kaio::ops {

struct sum_parts_problem {
  u64 to, from;
  u64 size;                         // elements of a row
  u64 to_row, from_row, from_part;  // bytes from one to the next
  u32 parts;
  u32 to_type, from_type;        // element_type
  u32 to_aligned, from_aligned;  // every row, and every part, begins at a multiple of 16 bytes
  u32 accumulate;
};

inline constexpr u32 sum_parts_threads = 256;

// Launched with one block for every 2048 elements of a row; y: rows.
inline constexpr auto sum_parts =
    kaio::kernel<"distributed_sum_parts", sum_parts_threads, kernel_options{.target = {70}}>(
        [](thread t, val<sum_parts_problem> problem) {
          using p = sum_parts_problem;
          const val run = t.let(t.global_id<u64>());
          const val first = t.let(run * u64{run_size});
          const val size = t.let(problem[&p::size]);
          if (auto exists = t.when(first < size)) {
            const val row = t.let(cast<u64>(block_idx_y()));
            const val count =
                t.let(cast<u32>(select(size - first < u64{run_size}, size - first, u64{run_size})));
            const val whole = t.let(count == run_size);
            const auto run_at = [&](const val<u64>& address, const val<u32>& type, const val<u32>& aligned) {
              const val bytes = t.let(select(type == static_cast<u32>(element_type::f32), 4u, 2u));
              return element_run{t.let(address + first * cast<u64>(bytes)), count,
                                 t.let(all_of(whole, aligned != 0u))};
            };
            const val to_type = t.let(problem[&p::to_type]), from_type = t.let(problem[&p::from_type]);
            const val to_aligned = t.let(problem[&p::to_aligned]);
            const val to_row = t.let(problem[&p::to] + row * problem[&p::to_row]);
            const element_run to = run_at(to_row, to_type, to_aligned);
            auto sums = array_of<run_size>([&](u32) { return var(t, 0.0f); });
            if (auto adds = t.when(problem[&p::accumulate] != 0u)) load_run(t, to_type, to, sums, 0);
            const val from = t.let(problem[&p::from] + row * problem[&p::from_row]);
            for (auto part : t.range(0u, t.let(problem[&p::parts])).no_unroll()) {
              auto x = array_of<run_size>([&](u32) { return var(t, 0.0f); });
              const val from_aligned = t.let(problem[&p::from_aligned]);
              const val address = t.let(from + cast<u64>(part) * problem[&p::from_part]);
              load_run(t, from_type, run_at(address, from_type, from_aligned), x, 0);
              for (u32 i = 0; i < run_size; ++i) sums[i] = sums[i] + x[i];
            }
            store_run(t, to_type, to, sums, 0);
          }
        });

}  // namespace kaio::ops
