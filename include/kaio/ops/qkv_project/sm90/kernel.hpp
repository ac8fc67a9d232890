#pragma once
// qkv_project in one launch for sm_90a: the kernel of matmul with tensor copies and wgmma, with an epilogue
// of whole heads. A warp has 16 rows of a tile; eight lanes (four for heads of 64) have a row of a head, as
// in mma_sync/kernel.hpp. The destination of each row is found once, before the products of the tile, and
// stays in registers until the sums exist.
//
//   kernel            tile        for
//   128x128           128 x 128   hundreds of tokens
//   128x256_c2x1      128 x 256   thousands, in clusters of two along M
//
// One weight for all heads. Limits of heads, outputs and terms: as in mma_sync/kernel.hpp.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/sm90/kernel.hpp>
#include <kaio/ops/matmul/sm90/store_rows.hpp>
#include <kaio/ops/qkv_project/common/tile.hpp>

#include <cstdint>

namespace kaio::ops {

namespace qkv_cuts {
// Six stages and the staging of the warps fill the shared memory of a multiprocessor.
inline constexpr sm90_config sm90_medium{.m = 128, .n = 128, .stages = 6};
// Leaves registers for the steps of the heads next to the 128 sums of a thread.
inline constexpr sm90_config sm90_large_pair{
    .m = 128, .n = 256, .stages = 4, .cluster_m = 2, .whole_producer = true};
}  // namespace qkv_cuts

// The epilogue of a product: all steps of its heads.
template <class T>
struct qkv_warp_rows {
  static constexpr bool takes_rows = true;

  // Destinations of the 16 rows of a warp. Lane i has row i % 16: lanes 0 to 15 for Q, lanes 16 to 31 for K
  // and V.
  class found {
   public:
    constexpr explicit found(thread t) : writes_(t, 0u), page_(t, 0u), line_(t, 0u), position_(t, 0u) {}

    constexpr void find(thread t, const val<u32>& row, const val<qkv_problem>& problem) {
      const val tokens = t.let(problem[&qkv_problem::append][&append_problem::tokens]);
      const val exists = t.let(row < problem[&qkv_problem::all_tokens]);
      const val batch = t.let(row / tokens);
      const val token = t.let(row - batch * tokens);
      const val is_q = t.let(lane_id() < sm90_warp_rows);
      const token_target to = find_token(t, problem, exists, batch, token, is_q);
      writes_ = select(to.writes, 1u, 0u);
      page_ = to.page;
      line_ = to.line;
      position_ = to.position;
    }
    // All lanes of a warp call it.
    constexpr token_target of(thread t, const val<u32>& row, const val<bool>& is_q) const {
      const val lane = t.let(row + select(is_q, 0u, sm90_warp_rows));
      const val writes = shfl_idx(writes_, lane);
      const val page = shfl_idx(page_, lane);
      const val line = shfl_idx(line_, lane);
      const val position = shfl_idx(position_, lane);
      return {t.let(writes != 0u), t.let(page), t.let(line), t.let(position)};
    }

   private:
    var<u32> writes_, page_, line_, position_;
  };

  template <class Rows>
  static constexpr void rows(thread t, const Rows& rows, const found& of_rows,
                             const val<qkv_problem>& problem) {
    constexpr u32 units = Rows::columns / (2 * run_size);  // units per row
    static_assert(Rows::threads % units == 0 && Rows::count % (Rows::threads / units) == 0);
    const val lanes_log = t.let(problem[&qkv_problem::append][&append_problem::lanes_log]);
    const val lanes = t.let(val<u32>(1u) << lanes_log);
    const val of_row = t.let(rows.rank % units);
    const val lane = t.let(of_row & (lanes - 1u));
    const val column = t.let(of_row - lane << 4u);  // column of the tile where the head begins
    const val of_all = t.let(rows.column + column);
    const val index = t.let(of_all >> (lanes_log + 4u));
    const val exists = t.let(all_of(of_all >= rows.own_column, index < problem[&qkv_problem::heads]));
    const val none = t.let(0u);
    const head_row head = find_head(t, problem, exists, none, none, index, lane, lanes);
    const head_steps steps = steps_of(t, problem, head);
    const head_memory memory = memory_of(t, problem, head);
    rows.each([&](const val<u32>& first) {
      for (auto i : t.range(rows.rank / units, Rows::count, Rows::threads / units).no_unroll()) {
        const val r = t.let(i);
        const token_target to = of_rows.of(t, t.let(first + r), head.is_q);
        const val writes = t.let(all_of(exists, to.writes));
        const head_row row{writes, to.page, to.line, head.is_q, head.is_v, head.head, lane, lanes};
        const auto find = [&] { return target_of(t, memory, {writes, to.page, to.line, to.position}); };
        finish_row<whole_elements<T>, sums_are::f32>(
            t, problem, steps, row, load_from_tile(t, rows, r, column),
            head_terms_in_memory<whole_elements<T>, decltype(find)>{t, find});
      }
    });
  }
};

template <sm90_config C, scalar T>
struct qkv_sm90_kernel {
  using body = sm90_matmul_body<C, T, T, qkv_warp_rows<T>>;
  static constexpr auto name = [] {
    constexpr auto tile = "qkv_project_sm90_" + type_name<T> + "_" + decimal<C.m> + "x" + decimal<C.n>;
    if constexpr (C.has_cluster())
      return tile + "_c" + decimal<C.cluster_m> + "x" + decimal<C.cluster_n>;
    else
      return tile;
  }();
  static constexpr kernel_options options{
      .target = {90, true},
      .large_shared = true,
      .cluster = C.cluster_blocks() <= 1 ? block_size{0, 0, 0} : block_size{C.cluster_blocks()},
      .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 3> x, tensor_map<T, 3> w, val<sm90_problem> problem,
         val<qkv_problem> heads) {
        body::run(t, x, w, typename body::store::destination{}, problem, heads);
      });
};

// Launched as sm90_matmul is.
template <sm90_config C, scalar T>
inline constexpr auto qkv_project_sm90 = qkv_sm90_kernel<C, T>::kernel;

}  // namespace kaio::ops
