#pragma once
// A grouped product of operands of 8 bits by multiply-adds, from sm_70 on: any layout, any address. A block
// finds its tile (matmul_grouped/common), and computes it as matmul_fp8 and matmul_int8 do
// (matmul_8bit/common).

#include <kaio/ops/matmul_8bit/common/simt.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>

namespace kaio::ops {

struct grouped_bytes_simt_problem {
  grouped_tiles tiles;
  output_lines c;
  u32 k;
};

template <class Numbers, class Out, class Epilogue, class Parameters>
struct grouped_bytes_simt_kernel;

template <class Numbers, class Out, class Epilogue, class... Extra>
struct grouped_bytes_simt_kernel<Numbers, Out, Epilogue, epilogue_parameters<Extra...>> {
  using p = grouped_bytes_simt_problem;
  using body = simt_bytes_body<Numbers, Out, Epilogue>;
  using result = typename detail::output_of<Out>::template parameter<false>;
  static constexpr auto name = "matmul_grouped_simt_" + Numbers::name + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{.target = {70}, .min_blocks = 1};
  static constexpr auto kernel = kaio::kernel<name, block_size{simt_bytes::threads}, options>(
      [](thread t, in<u8> a, val<byte_matrix> of_a, in<u8> b, val<byte_matrix> of_b, result c, val<p> problem,
         Extra... extra) {
        const auto tiles = problem[&p::tiles];
        grouped_walk<simt_bytes::tile, decltype(tiles)> walk(t, tiles);
        const grouped_tile tile = walk.find(t.let(block_idx_x() + 0u));
        if (auto exists = t.when(tile.exists)) {
          const val<output_lines> all = t.let(problem[&p::c]);
          var<output_lines> group(t, all);
          group[&output_lines::rows] = tile.end;
          const val<output_lines> lines = t.let(group);
          body::compute(t, {tile.group, tile.row, t.let(tile.n * simt_bytes::tile)}, t.let(0u), a, of_a, b,
                        of_b, c, lines, t.let(problem[&p::k]), extra...);
        }
      });
};

// Launched with a block for each tile that the groups may have.
template <class Numbers, class Out, class Epilogue>
inline constexpr auto grouped_bytes_simt =
    grouped_bytes_simt_kernel<Numbers, Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
