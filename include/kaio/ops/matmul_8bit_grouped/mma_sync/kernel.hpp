#pragma once
// A grouped product of operands of 8 bits with the matrix instructions of a warp, from sm_80 on: a block
// finds its tile (matmul_grouped/common), and computes it as matmul_fp8 and matmul_int8 do. For them, C ends
// with the group's last row.

#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/matmul_8bit/fp8/source.hpp>
#include <kaio/ops/matmul_8bit_grouped/common/epilogue.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/matmul_grouped/mma_sync/operand.hpp>

#include <cstdint>

namespace kaio::ops {

struct grouped_bytes_mma_problem {
  grouped_tiles tiles;
  mma_sync_problem of;       // of all rows; its scheduler and splits are not read
  u32 a_is_e5m2, b_is_e5m2;  // of floats
};

// Eight neighbours along K of 8-bit floats, as f16, which functions make.
struct fp8_eights {
  using element_type = f16;
  static constexpr bool is_function = true;
  static constexpr std::uint32_t width = 8;
};

template <mma_sync_config C, class Product, class Epilogue>
struct grouped_bytes_mma_kernel {
  using p = grouped_bytes_mma_problem;
  using sum = sum_of_epilogue<Epilogue>;
  static constexpr bool is_int8 = std::is_same_v<sum, i32>;
  using element = std::conditional_t<is_int8, i8, u8>;
  using source_a = std::conditional_t<is_int8, placed<i8>, fp8_eights>;
  using source_b = std::conditional_t<is_int8, in_memory<i8>, fp8_eights>;
  using out = grouped_bytes_output<sum>;
  using body = mma_sync_body<C, Product, out, Epilogue, source_a, source_b>;
  using result = typename detail::output_of<out>::template parameter<false>;
  static constexpr auto name =
      "matmul_grouped_mma_" + type_name<element> + "_" + mma_sync_name<C> + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};

  static constexpr void run(thread t, const in<element>& a, const in<element>& b, const result& c,
                            const val<p>& problem, const val<grouped_bytes_terms>& terms) {
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
      const val of_group = t.let(cast<i64>(tile.group) * all[&mma_sync_problem::batch_b]);
      const val<grouped_gather> gather = t.let(terms[&grouped_bytes_terms::gather]);
      const place at{tile.group, tile.row, t.let(tile.n * C.n)};
      const auto multiply = [&](const auto& rows, const auto& columns) {
        body::compute(t, at, {warp_m, warp_n}, rows, columns, none, last, c, of, terms);
      };
      if constexpr (is_int8) {
        multiply(gathered_rows<val<grouped_gather>>{t.let(address_of(a)), t.let(all[&mma_sync_problem::lda]),
                                                    tile.end, gather},
                 b.from(of_group));
      } else {
        const auto eight = [&](const in<u8>& x, const val<i64>& first, const val<u32>& k,
                               const auto& format) {
          const val is_e5m2 = t.let(format != 0u);
          return f16_of_eight(t, load_vec<8>(x[first + cast<i64>(k)]), is_e5m2);
        };
        multiply(
            [&](const val<u32>& row, const val<u32>& k) {
              const val from = grouped_gather::source(t, gather, row);
              const val is_row = t.let(from < gather[&grouped_gather::count]);
              const val line = t.let(cast<i64>(select(is_row, from, 0u)) * all[&mma_sync_problem::lda]);
              const auto x = eight(a, line, k, problem[&p::a_is_e5m2]);
              return array_of<8>([&](u32 i) { return t.let(select(is_row, x[i], f16(0.0f))); });
            },
            [&](const val<u32>& column, const val<u32>& k) {
              const val line = t.let(of_group + cast<i64>(column) * all[&mma_sync_problem::ldb]);
              return eight(b, line, k, problem[&p::b_is_e5m2]);
            });
      }
    }
  }
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<element> a, in<element> b, result c, val<p> problem, val<grouped_bytes_terms> terms) {
        run(t, a, b, c, problem, terms);
      });
};

// Launched with a block for each tile that the groups may have.
template <mma_sync_config C, class Product, class Epilogue>
inline constexpr auto grouped_bytes_mma = grouped_bytes_mma_kernel<C, Product, Epilogue>::kernel;

}  // namespace kaio::ops
