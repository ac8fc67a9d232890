#pragma once
// The tile shapes of matmul_w4 for sm_90a, and what follows from them.

#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_sm90_config {
  std::uint32_t rows = 64;      // of x, of a block: the N of wgmma
  std::uint32_t consumers = 4;  // warpgroups, each with 64 columns of y
  std::uint32_t stages = 3;
  std::uint32_t tiles = 4;   // of 64 of K, in a stage
  std::uint32_t bits = 4;    // of a code
  std::uint32_t passes = 1;  // of products of a unit of K: over all rows, or over half of them each
  bool pairs = false;        // of numbers are in shared memory (decode_table.hpp), in place of a stage

  // A warpgroup copies, by one of its warps, and gives its unused registers to the others. What all of them run after
  // the loops has no more than it keeps.
  constexpr std::uint32_t threads() const { return (consumers + 1) * 128; }
  static constexpr std::uint32_t producer_registers() { return 24; }
  constexpr std::uint32_t consumer_registers() const { return consumers == 4 ? 112 : 240; }
  // Whether the last rows of x come by a box of their own. A row of a tensor copy's box that is outside of the tensor
  // takes about 9 clocks on an H200, one inside 1; up to 32 rows outside are hidden by all else.
  constexpr bool has_edge() const { return rows > 64; }
  constexpr std::uint32_t columns() const { return consumers * 64; }
  constexpr std::uint32_t tiles_n() const { return columns() / w4_tile_n; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // of a tile of W
  constexpr bool valid() const {
    return rows % 8 == 0 && rows <= 256 && (rows & (rows - 1)) == 0 && (consumers == 2 || consumers == 4) &&
           stages >= 2 && tiles >= 1 && rows % (8 * passes) == 0 && (passes == 1 || passes == 2);
  }
};

// The rows of x that the last of its tiles copies: those that exist, in eights.
constexpr std::uint32_t w4_edge_rows(std::uint32_t m, std::uint32_t rows) {
  return ((m - 1) % rows + 8) / 8 * 8;
}

// Up to 64 rows of x a block has 256 columns, so that x is read from the cache half as often; more rows have
// accumulators for 128. Blocks of 192, whose three warpgroups have registers for what is decoded while their products
// run, were no faster (8192 x 8192), and fill a device less often. A stage has 4 KB of the codes of 32 columns, or 2 KB:
// a copy of less takes as long. About 200 KB of shared memory.
constexpr w4_sm90_config w4_sm90_rows(std::uint32_t rows, std::uint32_t bits = 4, bool by_table = false) {
  const std::uint32_t tiles = bits == 4 ? 4 : 2;
  w4_sm90_config c{
      .rows = 128, .consumers = 2, .stages = bits == 4 ? 5u : 4u, .tiles = 2, .bits = bits, .passes = 2};
  if (rows <= 32)
    c = {.rows = 32, .consumers = 4, .stages = bits == 4 ? 4u : 5u, .tiles = tiles, .bits = bits};
  else if (rows <= 64)
    c = {.rows = 64, .consumers = 4, .stages = bits == 4 ? 3u : 4u, .tiles = tiles, .bits = bits};
  else if (rows > 128)
    c = {.rows = 256, .consumers = 2, .stages = 3, .tiles = 2, .bits = bits};
  c.pairs = by_table;
  if (c.pairs) --c.stages;
  return c;
}
// Of a dequantisation.
template <class D>
constexpr w4_sm90_config w4_sm90_of(std::uint32_t rows) {
  return w4_sm90_rows(rows, D::bits, D::by_table);
}

}  // namespace kaio::ops
