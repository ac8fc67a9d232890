#pragma once
// A grouped product of operands of 8 bits with the matrix instructions of a warp, from sm_80 on: a block
// finds its tile (matmul_grouped/common), and computes it as matmul_fp8 and matmul_int8 do. For them, C ends
// with the group's last row, and the batch of B and of the epilogue is the group.

#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/matmul/mma_sync/source.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

struct grouped_bytes_mma_problem {
  grouped_tiles tiles;
  mma_sync_problem of;  // of all rows; its scheduler and splits are not read
};

template <mma_sync_config C, class Product, class Out, class Epilogue, class Source, class Parameters,
          class Extra>
struct grouped_bytes_mma_kernel;

template <mma_sync_config C, class Product, class Out, class Epilogue, class Source, class... X,
          class... Extra>
struct grouped_bytes_mma_kernel<C, Product, Out, Epilogue, Source, source_parameters<X...>,
                                epilogue_parameters<Extra...>> {
  using p = grouped_bytes_mma_problem;
  using body = mma_sync_body<C, Product, Out, Epilogue, Source, Source>;
  using result = typename detail::output_of<Out>::template parameter<false>;
  static constexpr auto name =
      "matmul_grouped_mma_" + Source::name + "_" + mma_sync_name<C> + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, X... of_a, X... of_b, result c, val<p> problem, Extra... extra) {
        const auto tiles = problem[&p::tiles];
        grouped_walk<C.m, decltype(tiles)> walk(t, tiles);
        const grouped_tile tile = walk.find(t.let(block_idx_x() + 0u));
        if (auto exists = t.when(tile.exists)) {
          const val<mma_sync_problem> all = t.let(problem[&p::of]);
          var<mma_sync_problem> group(t, all);
          group[&mma_sync_problem::c][&output_lines::rows] = tile.end;
          const val<mma_sync_problem> of = t.let(group);
          const val warp = t.warp_rank();
          const val warp_m = t.let(warp / C.warps_n()), warp_n = t.let(warp % C.warps_n());
          const val none = t.let(0u), last = t.let(all[&mma_sync_problem::k]);
          const auto a = Source::input(t, none, t.let(i64{0}), of_a...);
          const auto b = Source::input(t, tile.group, t.let(all[&mma_sync_problem::batch_b]), of_b...);
          body::compute(t, {tile.group, tile.row, t.let(tile.n * C.n)}, {warp_m, warp_n}, a, b, none, last, c,
                        of, extra...);
        }
      });
};

// Launched with a block for each tile that the groups may have.
template <mma_sync_config C, class Product, class Out, class Epilogue, class Source>
inline constexpr auto grouped_bytes_mma =
    grouped_bytes_mma_kernel<C, Product, Out, Epilogue, Source, typename Source::parameters,
                             parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
