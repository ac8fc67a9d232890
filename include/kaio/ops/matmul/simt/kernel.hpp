#pragma once
// Matmul with ordinary multiply-adds, for f32: C[b] = epilogue(A[b] * B[b]), A: M x K, B: K x N,
// C: M x N row by row. For a column-major C exchange the operands.
//
//         +--- n ---+                 a block: m x n of C in steps of k; a ring of tiles of A and B in shared
//         |  warps  |                 memory is filled by asynchronous copies ahead of the multiplications
//       m |   of    |                 a warp: 4 x 8 lanes; a thread: its lane's rows are every 4th (or every
//         |  lanes  |                 4th group of four), columns every 8th
//         +---------+
//
// Each sum adds its products in the order of k, so that it does not depend on the tile shape. If splits, a
// cluster or groups of warps divide K, their partial sums are added in the order of K.

#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/simt/block.hpp>
#include <kaio/ops/matmul/simt/operand.hpp>
#include <kaio/ops/matmul/simt/store.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <simt_config C, class Out, class Epilogue>
struct simt_matmul_body {
  using output = detail::output_of<Out>;
  using block = simt_block<C>;
  using operand_a = simt_operand<C.m, C.k, C.stages, C.a, C.vector_a, C.threads(), C.lanes_m, C.async>;
  using operand_b = simt_operand<C.n, C.k, C.stages, C.b, C.vector_b, C.threads(), C.lanes_n, C.async>;

  static constexpr std::uint32_t early_steps =
      8;  // a block's steps of K up to which the next kernel may begin early

  template <class P, class... Extra>
  static constexpr void run(thread t, const P& a_memory, const P& b_memory, const auto& c_memory,
                            const val<simt_problem>& problem, const Extra&... extra) {
    const typename block::origin at = block::find(t, problem);
    const val m = t.let(problem[&simt_problem::m]);
    const val n = t.let(problem[&simt_problem::n]);
    const val lda = t.let(problem[&simt_problem::lda]);
    const val ldb = t.let(problem[&simt_problem::ldb]);

    const typename block::lanes first = block::lanes_of(t);
    const operand_a a(t, first.row, first.k);
    const operand_b b(t, first.column, first.k);
    const in a_batch = operand_of(t, a_memory, at.batch, problem[&simt_problem::batch_a]);
    const in b_batch = operand_of(t, b_memory, at.batch, problem[&simt_problem::batch_b]);
    const val rows_left = t.let(m - at.row);
    const val columns_left = t.let(n - at.column);
    const val inside = t.let(all_of(rows_left >= C.m, columns_left >= C.n));
    const val first_row = t.let(at.row + first.row);
    const val first_column = t.let(at.column + first.column);
    const val step_a = a.step(lda);
    const val step_b = b.step(ldb);

    auto sums = block::zeros(t);

    // The sources of the next copy, and the steps of k that are left for it.
    var<i64> next_a = a.source(lda, at.row, at.k_first);
    var<i64> next_b = b.source(ldb, at.column, at.k_first);
    var left = t.let(at.k_last - at.k_first);
    var write_stage(t, 0u);
    const auto copy = [&] {
      const val stage = t.let(write_stage);
      const val k_left = t.let(left);
      const in from_a = a_batch.from(next_a);
      const in from_b = b_batch.from(next_b);
      const val stage_a = t.let(stage * operand_a::tile);
      const val stage_b = t.let(stage * operand_b::tile);
      if (auto some = t.when(k_left != 0u)) {
        if (auto whole = t.when(all_of(inside, k_left >= C.k))) {
          a.template copy<false>(from_a, lda, stage_a, rows_left, k_left);
          b.template copy<false>(from_b, ldb, stage_b, columns_left, k_left);
        }
        if (auto rest = t.otherwise()) {
          a.template copy<true>(from_a, lda, stage_a, rows_left, k_left);
          b.template copy<true>(from_b, ldb, stage_b, columns_left, k_left);
        }
      }
      // The blocks of the next kernel start while the last tiles are multiplied, if these are most of the
      // work. They go where there is room, unevenly; after a long K they therefore wait until all blocks of
      // this kernel have ended.
      if constexpr (C.clusters)
        if (auto none = t.when(all_of(k_left == 0u, problem[&simt_problem::k_of_split] <= early_steps * C.k)))
          launch_dependents(t);
      if constexpr (C.async) cp_async_commit_group(t);
      next_a += step_a;
      next_b += step_b;
      left -= min(k_left, C.k);
      write_stage = select(stage == C.stages - 1, 0u, stage + 1u);
    };
    if constexpr (C.clusters) block::wait(t, at, problem);
    for ([[maybe_unused]] auto s : t.range(0u, C.stages - 1).no_unroll()) copy();

    var read_stage(t, 0u);
    for ([[maybe_unused]] auto k : t.range(at.k_first, at.k_last, C.k)) {
      // This tile is visible to the whole block, and no thread still reads the previous one.
      if constexpr (C.async) cp_async_wait_group<C.stages - 2>(t);
      t.barrier();
      copy();
      const val stage = t.let(read_stage);
      const val at_a = a.pieces_at(t.let(stage * operand_a::tile));
      const val at_b = b.pieces_at(t.let(stage * operand_b::tile));
      block::multiply([&](std::uint32_t j, std::uint32_t p) { return a.load(at_a, j, p); },
                      [&](std::uint32_t j, std::uint32_t p) { return b.load(at_b, j, p); }, sums);
      read_stage = select(stage == C.stages - 1, 0u, stage + 1u);
    }
    const auto c = output::bind(t, c_memory, at.part);
    const val offset = offset_of(t, at.part, problem[&simt_problem::batch_c]);
    const simt_output to{at.batch, first_row, first_column, is_f32(t, c), offset};
    const auto memory = [&](const auto& f) { output::typed(t, c, f); };
    store_simt_sums<C, Epilogue>(t, to, memory, problem, sums, extra...);
  }

  // The memory of one batch: at a stride, or by its address.
  template <class Stride>
  static constexpr in<f32> operand_of(thread, const in<f32>& x, const val<u32>& batch, const Stride& stride) {
    return x.from(cast<i64>(batch) * stride);
  }
  template <class Stride>
  static constexpr in<f32> operand_of(thread t, const in<u64>& addresses, const val<u32>& batch,
                                      const Stride&) {
    return pointer_at<in<f32>>(t, t.let(addresses[batch]));
  }
  // Whether the elements of C are f32.
  template <class Memory>
  static constexpr val<bool> is_f32(thread t, const Memory& c) {
    if constexpr (detail::is_output_among<Out>)
      return t.let(c[&output_memory::type] == static_cast<u32>(output_type::f32));
    else
      return t.let(std::is_same_v<Out, f32>);
  }
  // The offset of a split from C; 0 if the split has its own address.
  template <class Stride>
  static constexpr val<i64> offset_of(thread t, const val<u32>& part, const Stride& stride) {
    if constexpr (C.pointers)
      return t.let(i64{0});
    else
      return t.let(cast<i64>(part) * stride);
  }
};

template <simt_config C, class Out, class Epilogue, class Parameters>
struct simt_matmul_kernel;

template <simt_config C, class Out, class Epilogue, class... Extra>
struct simt_matmul_kernel<C, Out, Epilogue, epilogue_parameters<Extra...>> {
  using output = detail::output_of<Out>;
  static constexpr auto name =
      "matmul_simt_" + simt_name<C> + "_" + output::name + "_" + epilogue_name<Epilogue>;
  using operand = std::conditional_t<C.pointers, in<u64>, in<f32>>;
  using result = typename output::template parameter<C.pointers>;
  static constexpr kernel_options options{.target = {C.clusters ? 90
                                                     : C.async  ? 80
                                                                : 70},
                                          .large_shared = true,
                                          .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, operand a, operand b, result c, val<simt_problem> problem, Extra... extra) {
        simt_matmul_body<C, Out, Epilogue>::run(t, a, b, c, problem, extra...);
      });
};

// Launched with a grid of one block per tile, split and batch along x, and the arguments a, b, c, the
// problem, and those of the epilogue. With C.pointers a, b and c are arrays of addresses: one per batch, for
// c one per split. With C.clusters each of these blocks is a cluster of at most most_simt_splits blocks,
// launched programmatically.
template <simt_config C, class Out, class Epilogue>
inline constexpr auto simt_matmul =
    simt_matmul_kernel<C, Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
