#pragma once
// The second kernel of a split-K matmul. It adds the partial sums in their order, so that every run gives the
// same results. Then it does what the first kernel left out: the epilogue and the rounding.
//
//   workspace: f32, [batch][part][row][column], compact       C[b] = epilogue(part 0 + part 1 + ...)

#include <kaio/ops/matmul/common/epilogue.hpp>

#include <cstdint>

namespace kaio::ops {

struct split_problem {
  i64 row, column, batch;  // strides of C
  u32 m, n;                // shape of a stored part; m * n below 2^32
  u32 splits;
  u32 exchanged;  // 1: rows and columns of C are exchanged for the epilogue
};

inline constexpr std::uint32_t split_reduce_threads = 256;

// Blocks along x for `batches` products of m x n.
constexpr std::uint64_t split_reduce_blocks(u32 m, u32 n, u32 batches) {
  return (std::uint64_t{m} * n + split_reduce_threads - 1) / split_reduce_threads * batches;
}

template <scalar Out, class Epilogue, class Parameters>
struct split_reduce_kernel;

template <scalar Out, class Epilogue, class... Extra>
struct split_reduce_kernel<Out, Epilogue, epilogue_parameters<Extra...>> {
  static constexpr auto kernel =
      kaio::kernel<"matmul_split_reduce_" + type_name<Out> + "_" + epilogue_name<Epilogue>,
                   split_reduce_threads>([](thread t, in<f32> parts, out<Out> c, val<split_problem> problem,
                                            Extra... extra) {
        const val n = t.let(problem[&split_problem::n]);
        const val size = t.let(problem[&split_problem::m] * n);
        const val per_batch = t.let((size - 1u) / split_reduce_threads + 1u);
        const val batch = t.let(block_idx_x() / per_batch);
        const val i = t.let(block_idx_x() % per_batch * split_reduce_threads + t.thread_rank());
        if (auto inside = t.when(i < size)) {
          const val count = t.let(problem[&split_problem::splits]);
          const in first = parts.from(cast<u64>(batch) * cast<u64>(count) * cast<u64>(size) + cast<u64>(i));
          var sum = first[0];
          for (auto p : t.range(1u, count).template unroll<4>()) sum += first[cast<u64>(p) * cast<u64>(size)];
          const val row = t.let(i / n);
          const val column = t.let(i % n);
          const val exchanged = t.let(problem[&split_problem::exchanged] != 0);
          const place at{batch, t.let(select(exchanged, column, row)), t.let(select(exchanged, row, column))};
          const val value = t.let(cast<Out>(Epilogue{}(t, t.let(sum), at, extra...)));
          c[cast<i64>(batch) * problem[&split_problem::batch] +
            cast<i64>(row) * problem[&split_problem::row] +
            cast<i64>(column) * problem[&split_problem::column]] = value;
        }
      });
};

// Launched with split_reduce_blocks() blocks along x and the arguments parts, c, the problem, and those of
// the epilogue.
template <scalar Out, class Epilogue>
inline constexpr auto split_reduce =
    split_reduce_kernel<Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
