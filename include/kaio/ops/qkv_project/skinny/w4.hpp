#pragma once
// qkv_project in one launch, for few rows of x and weights of four or eight bits. It is the kernel of
// matmul_w4 for few rows, in clusters of whole heads: 128 columns of the product, a head of 128 or two of 64.
// With 8 rows of x:
//
//   block   columns of the cluster        K                sums
//   0 .. 3  0.., 32.., 64.., 96..         first half       row r goes to block r % 8, which adds both halves
//   4 .. 7  0.., 32.., 64.., 96..         second half      of K and finishes the heads of the row
//
// A block has 32 columns (64 for 16 rows), and its warps divide K. In this form of matmul_w4 few warps wait
// for another before their sums are complete. With whole heads in a block, four warps would share each tile
// of x, with a barrier for each tile. Sums meet in distributed shared memory, 512 bytes per row and split of
// K. So neither a workspace nor a second kernel is needed.
//
// The work must spread evenly over the multiprocessors. 6144 columns are 48 clusters. On 132 multiprocessors,
// these are 2.9 blocks each with both halves of K in clusters of 8, and 1.5 with all of K in clusters of 4.
// Three blocks of 8 rows fit on a multiprocessor, two if they decode by table. Whole clusters do not fill a
// GPC with room for three blocks per multiprocessor: 47 clusters of 8 were resident at once, and the last one
// ran alone after them. plan_qkv_splits chooses.
//
// The steps after the sums are bound by latency, since few lanes have a row. So destinations (lengths and
// pages: dependent loads) are found while the first weights are in flight, and kept in shared memory. The
// rows of the tables are prefetched then. The launch is programmatic: constant weights are requested before
// the previous kernel has ended.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/qkv_project/common/targets.hpp>
#include <kaio/ops/qkv_project/common/tile.hpp>
#include <kaio/ops/weight_only/mma_sync/kernel.hpp>
#include <kaio/ops/weight_only/skinny/kernel.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// The number of stages leaves room for three blocks of up to eight rows, or two blocks of sixteen rows or
// with a table.
template <std::uint32_t Rows, class D>
constexpr auto qkv_w4_rows() {
  if constexpr (Rows <= 8)
    return w4_few_rows_config{.stages = D::bits == 8 ? 2u : 3u,
                              .tiles = 1,
                              .min_blocks = D::by_table ? 2u : 3u,
                              .bits = D::bits,
                              .pairs = D::by_table};
  else if constexpr (D::bits == 4)
    return w4_few_rows_config{.rows = 16, .tiles_n = 2, .stages = 2, .tiles = 1, .pairs = D::by_table};
  else
    return w4_config{.rows = 16, .warps_n = 2, .stages = 3, .min_blocks = 2, .bits = D::bits};
}

inline constexpr std::uint32_t qkv_w4_columns = 128;  // columns per cluster
inline constexpr std::uint32_t qkv_w4_most_blocks = 8;

template <auto C>
struct qkv_w4_cluster {
  static constexpr std::uint32_t blocks_n = qkv_w4_columns / C.columns();  // along the columns
  static constexpr std::uint32_t most_splits = qkv_w4_most_blocks / blocks_n;
  static constexpr std::uint32_t own_rows = C.rows / blocks_n;  // rows of x that a block finishes, at most
  static constexpr std::uint32_t pitch = qkv_w4_columns + 4;
  // A warp finishes 32 / lanes_of_row rows at a time.
  static constexpr std::uint32_t lanes_of_row = qkv_w4_columns / (2 * run_size);
  static constexpr std::uint32_t finished_rows = std::max(own_rows, 32 / lanes_of_row);
  // Sums that blocks hand over: [split][own row][pitch], own_rows lines at most.
  using inbox = shared<f32, own_rows * pitch>;
  // Destinations of rows, for each lane that has a unit of one.
  using targets = head_targets<finished_rows * lanes_of_row>;
};

// The rows that a block of the cluster finishes: row r of x is number r / blocks of block r % blocks.
template <auto C>
struct qkv_w4_rows_of_block {
  using cluster = qkv_w4_cluster<C>;
  static constexpr std::uint32_t count = cluster::finished_rows, columns = qkv_w4_columns;
  static constexpr std::uint32_t threads = C.threads();

  thread t;
  const typename cluster::inbox& inbox;
  const val<w4_problem>& product;
  val<u32> column, rank;
  val<u32> block, blocks_bits;  // number in the cluster, log2 of its blocks

  constexpr val<u32> own_rows() const { return t.let(val<u32>(C.rows) >> blocks_bits); }
  constexpr val<u32> row(const val<u32>& r) const {
    const val own = own_rows();
    return t.let(select(r < own, (r << blocks_bits) + block, ~0u));
  }
  constexpr dsl::register_array<val<f32>, 4> four(const val<u32>& r, const val<u32>& c) const {
    const val own = own_rows();
    const val splits = t.let(product[&w4_problem::splits]);
    const val at = t.let(r * cluster::pitch + c);
    const auto of_splits = array_of<cluster::most_splits>([&](u32 split) {
      const val apart = t.let(select(split < splits, own * (split * cluster::pitch), 0u));
      return load_vec<4>(inbox[at + apart]);
    });
    return array_of<4>([&](u32 e) {
      var sum(t, of_splits[0][e]);
      for (u32 split = 1; split < cluster::most_splits; ++split)
        sum += select(split < splits, of_splits[split][e], -0.0f);
      return val<f32>(t.let(sum));
    });
  }
};

// The end of a block, as w4_body takes it.
template <auto C, scalar T>
struct qkv_w4_end {
  using cluster = qkv_w4_cluster<C>;
  using rows_type = qkv_w4_rows_of_block<C>;
  const val<qkv_problem>& problem;
  const rows_type& rows;
  const typename cluster::targets& targets;
  val<bool> constant;

  constexpr w4_place_of_block place(thread t) const {
    const val split = t.let(rows.block / cluster::blocks_n);
    const val column = t.let(rows.column + rows.block % cluster::blocks_n * C.columns());
    return {split, column};
  }
  static constexpr val<u32> tile_of_warp(thread t, const val<w4_problem>&, const val<u32>& column,
                                         const val<u32>& warp_n) {
    return t.let(column / w4_tile_n + warp_n);
  }
  constexpr val<bool> weights_are_constant(thread) const { return constant; }

  // Finds the destinations of the block's rows.
  constexpr void begin(thread t) const {
    if (auto any = t.when(has_rows(t)))
      for_heads_of_tile(t, rows, problem,
                        [&](const auto& i, const val<u32>&, const head_row& row, const val<u32>&) {
                          const head_target target = find_target(t, problem, row);
                          keep_target(t, targets, i, target);
                          prefetch_tables(t, problem, row, target);
                          prefetch_terms(t, problem, row, target);
                        });
  }

  template <class Totals, class Codes>
  constexpr void store(thread t, const val<w4_problem>& product, const w4_block& block, const Totals& totals,
                       const Codes& shared_sums) const {
    constexpr std::uint32_t fours = C.columns() / 4;
    static_assert(C.rows_at_once() == C.rows);
    stage_w4_sums<C>(t, block, totals, shared_sums, 0);
    const val m = t.let(product[&w4_problem::m]);
    const val unit = t.let(product[&w4_problem::unit]);
    const val factors = t.let(product[&w4_problem::w][&w4_packed::factors]);
    const val own_rows = rows.own_rows();
    const val blocks = t.let(val<u32>(1u) << rows.blocks_bits);
    const val column = t.let(block.column - rows.column);
    cluster_wait(t);  // all blocks of the cluster have begun
    for (auto i : t.block_stride(C.rows * fours).no_unroll()) {
      const val row = t.let(i / fours), four = t.let(i % fours * 4u);
      if (auto exists = t.when(row < m)) {
        const auto sums = staged_w4_sums<C>(t, shared_sums, t.let(row * C.pitch() + four));
        const val line = t.let(block.split * own_rows + (row >> rows.blocks_bits));
        const val owner = t.let(row & (blocks - 1u));
        auto y = array_of<4>([&](u32 e) { return var<f32>(t, sums[e] * unit); });
        if (auto has = t.when(factors != u64{0})) {
          const val by = load_vec<4>(pointer_at<in<f32>>(t, factors)[block.column + four]);
          for (u32 e = 0; e < 4; ++e) y[e] *= by[e];
        }
        const auto x = array_of<4>([&](u32 e) { return t.let(y[e]); });
        store_vec(remote(rows.inbox[line * cluster::pitch + (column + four)], owner),
                  make_vec(x[0], x[1], x[2], x[3]));
      }
    }
    cluster_barrier(t);
    if (auto any = t.when(has_rows(t)))
      for_heads_of_tile(t, rows, problem,
                        [&](const auto& i, const val<u32>& r, const head_row& row, const val<u32>& of_head) {
                          finish_head_at<whole_elements<T>, sums_are::f32>(
                              t, problem, row, load_from_tile(t, rows, r, of_head),
                              [&] { return kept_target(t, targets, i); });
                        });
  }

 private:
  constexpr val<bool> has_rows(thread t) const {
    return t.let(rows.block < problem[&qkv_problem::all_tokens]);
  }
};

// A kernel of clusters. multiply(end) is the product of a block.
template <auto C, scalar T, class Multiply>
constexpr void run_qkv_cluster(thread t, const val<w4_problem>& product, const val<qkv_problem>& problem,
                               const val<u32>& weights_are_constant, const Multiply& multiply) {
  using cluster = qkv_w4_cluster<C>;
  cluster_arrive_relaxed(t);
  launch_dependents(t);
  const typename cluster::inbox inbox(t);
  const typename cluster::targets targets(t);
  const val column = t.let(cluster_idx_x() * qkv_w4_columns);
  const val rank = t.thread_rank();
  const val block = cluster_rank(t);
  const val bits = t.let(popc(cluster_size(t) - 1u));
  const qkv_w4_rows_of_block<C> rows{t, inbox, product, column, rank, block, bits};
  const val constant = t.let(weights_are_constant != 0u);
  multiply(qkv_w4_end<C, T>{problem, rows, targets, constant});
}

template <std::uint32_t Rows, class D, scalar T>
struct qkv_w4_kernel {
  static constexpr auto config = qkv_w4_rows<Rows, D>();
  static constexpr auto name =
      "qkv_project_w" + decimal<D::bits> + "_" + D::name + type_name<T> + "_" + decimal<Rows>;
  static constexpr kernel_options options{
      .target = {90}, .large_shared = true, .cluster = block_size{0, 0, 0}, .min_blocks = config.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{config.threads()}, options>(
      [](thread t, val<w4_problem> product, val<qkv_problem> problem, val<u32> weights_are_constant) {
        run_qkv_cluster<config, T>(t, product, problem, weights_are_constant,
                                   [&](const auto& end) { w4_body_of<config, D, T>::run(t, product, end); });
      });
};

// Launched with a cluster for each 128 columns along x. A cluster has qkv_w4_cluster::blocks_n * splits
// blocks, a power of two. `Rows` is the largest number of rows of x.
template <std::uint32_t Rows, class D, scalar T>
inline constexpr auto qkv_project_w4 = qkv_w4_kernel<Rows, D, T>::kernel;

}  // namespace kaio::ops
