#pragma once
// A grouped product of operands of 8 bits by multiply-adds, from sm_70 on: any layout, any address. A block
// finds its tile (matmul_grouped/common), and computes it as matmul_fp8 and matmul_int8 do
// (matmul_8bit/common).

#include <kaio/ops/matmul_8bit/common/simt.hpp>
#include <kaio/ops/matmul_8bit_grouped/common/epilogue.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>

namespace kaio::ops {

struct grouped_bytes_simt_problem {
  grouped_tiles tiles;
  output_lines c;
  u32 k;
};

// The lines of A for rows of C.
struct grouped_lines_of_a {
  val<grouped_gather> gather;
  constexpr val<u32> source(thread t, const val<u32>& row) const {
    return grouped_gather::source(t, gather, row);
  }
  constexpr val<u32> end(thread t) const { return t.let(gather[&grouped_gather::count]); }
};

template <class Numbers, class Epilogue>
struct grouped_bytes_simt_kernel {
  using p = grouped_bytes_simt_problem;
  using out = grouped_bytes_output<sum_of_epilogue<Epilogue>>;
  using body = simt_bytes_body<Numbers, out, Epilogue>;
  using result = typename detail::output_of<out>::template parameter<false>;
  static constexpr auto name = "matmul_grouped_simt_" + Numbers::name + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{.target = {70}, .min_blocks = 1};
  static constexpr auto kernel = kaio::kernel<name, block_size{simt_bytes::threads}, options>(
      [](thread t, in<u8> a, val<byte_matrix> of_a, in<u8> b, val<byte_matrix> of_b, result c, val<p> problem,
         val<grouped_bytes_terms> terms) {
        const auto tiles = problem[&p::tiles];
        grouped_walk<simt_bytes::tile, decltype(tiles)> walk(t, tiles);
        const grouped_tile tile = walk.find(t.let(block_idx_x() + 0u));
        if (auto exists = t.when(tile.exists)) {
          const val<output_lines> all = t.let(problem[&p::c]);
          var<output_lines> group(t, all);
          group[&output_lines::rows] = tile.end;
          const val<output_lines> lines = t.let(group);
          const val first_column = t.let(tile.n * simt_bytes::tile);
          const val zero = t.let(0u);
          const grouped_lines_of_a lines_of_a{t.let(terms[&grouped_bytes_terms::gather])};
          const val k = t.let(problem[&p::k]);
          body::compute_lines(t, {tile.group, tile.row, first_column}, zero, a, of_a, lines_of_a, b, of_b,
                              lines_in_order{}, c, lines, k, terms);
        }
      });
};

// Launched with a block for each tile that the groups may have.
template <class Numbers, class Epilogue>
inline constexpr auto grouped_bytes_simt = grouped_bytes_simt_kernel<Numbers, Epilogue>::kernel;

}  // namespace kaio::ops
