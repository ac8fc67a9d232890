#pragma once
// Tile shapes of matmul_w4 for sm_90a, and what follows from them.

#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_sm90_config {
  std::uint32_t rows = 64;      // rows of x per block: the N of wgmma
  std::uint32_t consumers = 4;  // warpgroups, each with 64 columns of y
  std::uint32_t stages = 3;
  std::uint32_t tiles = 4;   // tiles of 64 k per stage
  std::uint32_t bits = 4;    // bits per code
  std::uint32_t passes = 1;  // passes over a unit of K: one for all rows, or two for half of them each
  std::uint32_t blocks = 1;  // blocks on a multiprocessor
  bool pairs = false;        // pairs of numbers in shared memory (decode_table.hpp) replace a stage
  // Kernels that round weights. The launch chooses rows of x per block, in sixteens from least_rows to `rows`.
  std::uint32_t least_rows = 0;  // 0: the block has `rows` rows
  std::uint32_t together = 1;    // stages per step of K
  std::uint32_t head = 0;        // 128 bytes of codes, scales and zero points of a stage, in eights
  std::uint32_t room = 0;        // 128 bytes of shared memory for all stages

  // One more warpgroup is the producer: one of its warps copies. It gives its unused registers to the
  // consumers. Code after the loops runs in all warpgroups and has only the producer's registers.
  constexpr std::uint32_t threads() const { return (consumers + 1) * 128; }
  constexpr std::uint32_t producer_registers() const { return least_rows == 0 ? 24 : 32; }
  constexpr std::uint32_t consumer_registers() const {
    return consumers == 4 ? 112 : consumers == 1 ? 224 : least_rows == 0 ? 240 : 232;
  }
  // Whether the registers that a block has from its launch, in eights per thread, suffice: consumers wait for them.
  constexpr bool has_registers() const {
    const std::uint32_t at_launch = 65536 / (threads() * blocks) / 8 * 8;
    return consumers * consumer_registers() + producer_registers() <= (consumers + 1) * at_launch;
  }
  // Whether the last rows of x may come by a box of their own: that of more than 64 rows. In a tensor copy on an
  // H200, a row of the box outside the tensor takes about 9 clocks, a row inside takes 1. Up to 32 rows outside
  // are hidden by other work.
  static constexpr std::uint32_t most_without_edge = 64;
  constexpr bool has_edge() const { return rows > most_without_edge; }
  // Stages of a launch with this number of rows.
  constexpr std::uint32_t stages_of(std::uint32_t tile_rows) const {
    const std::uint32_t fit = room / (head + tiles * tile_rows);
    return fit < stages ? fit : stages;
  }
  constexpr std::uint32_t columns() const { return consumers * 64; }
  constexpr std::uint32_t tiles_n() const { return columns() / w4_tile_n; }
  constexpr std::uint32_t words() const { return w4_tile_codes * bits / 32; }  // words per tile of W
  constexpr bool valid() const {
    return rows % 8 == 0 && rows <= 256 && (consumers == 1 || consumers == 2 || consumers == 4) &&
           stages >= 2 && tiles >= 1 && rows % (8 * passes) == 0 && (passes == 1 || passes == 2) &&
           has_registers();
  }
};

// The rows of x that the last of its tiles copies: the existing ones, rounded up to eights, or all of a tile without a
// box for them. rows: of a tile.
constexpr std::uint32_t w4_edge_rows(std::uint32_t m, std::uint32_t rows) {
  return rows <= w4_sm90_config::most_without_edge ? rows : ((m - 1) % rows + 8) / 8 * 8;
}

// Up to 64 rows of x a block has 256 columns, which halves the reads of x from the cache. With more rows the
// accumulators allow 128 columns. Blocks of 192 columns, with three warpgroups, have registers to decode
// while their products run. They were no faster (8192 x 8192), and fill a device less often. A stage has 4 or
// 2 KB of codes per 32 columns: a smaller copy takes as long. Shared memory is about 200 KB.
constexpr w4_sm90_config w4_sm90_rows(std::uint32_t rows, std::uint32_t bits = 4, bool by_table = false) {
  const std::uint32_t tiles = bits == 4 ? 4 : 2;
  w4_sm90_config c{
      .rows = 128, .consumers = 2, .stages = bits == 4 ? 5u : 4u, .tiles = 2, .bits = bits, .passes = 2};
  if (rows <= 32)
    c = {.rows = 32, .consumers = 4, .stages = bits == 4 ? 4u : 5u, .tiles = tiles, .bits = bits};
  else if (rows <= 64)
    c = {.rows = 64, .consumers = 4, .stages = bits == 4 ? 3u : 4u, .tiles = tiles, .bits = bits};
  c.pairs = by_table;
  if (c.pairs) --c.stages;
  return c;
}
// Kernels that round weights have no sums of groups: all registers are the accumulators' and the decoder's. Up
// to 128 rows two blocks of 64 columns share a multiprocessor: one begins or ends while the other multiplies.
// With more rows a block has 128 columns, which halves the reads of x. A step has two tiles of 64 k: two stages
// of one tile with codes of eight bits, else one of two, as a copy of 1 KB of codes takes as long as one of 2 KB.
// scale_bytes: of a scale; each 32 columns of a tile have two slots of scales and zero points.
constexpr w4_sm90_config w4_sm90_rounded_rows(std::uint32_t rows, std::uint32_t bits,
                                              std::uint32_t scale_bytes) {
  constexpr std::uint32_t most_stages = 12, step_tiles = 2, line = 128;
  w4_sm90_config c{
      .rows = rows, .consumers = rows <= 128 ? 1u : 2u, .tiles = bits == 8 ? 1u : 2u, .bits = bits};
  c.blocks = 2 / c.consumers;
  c.least_rows = rows <= 128 ? 16 : 128;
  c.together = step_tiles / c.tiles;
  const std::uint32_t tile =
      c.tiles_n() * (c.words() * 4 + 2 * (w4_tile_n * scale_bytes + w4_tile_n * bits / 8));
  c.head = (c.tiles * tile + 8 * line - 1) / (8 * line) * 8;
  c.room = (222 << 10) / c.blocks / (8 * line) * 8;
  c.stages = c.room / (c.head + c.tiles * c.least_rows);
  if (c.stages > most_stages) c.stages = most_stages;
  return c;
}
// The tile shape for dequantisation D.
template <class D>
constexpr w4_sm90_config w4_sm90_of(std::uint32_t rows) {
  if constexpr (D::rounded)
    return w4_sm90_rounded_rows(rows, D::bits, w4_scales_and_zeros<D>::scale_bytes);
  else
    return w4_sm90_rows(rows, D::bits, D::by_table);
}

}  // namespace kaio::ops
