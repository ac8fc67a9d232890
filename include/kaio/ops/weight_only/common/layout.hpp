#pragma once
// The packed layout of weights for warp-level matrix instructions. W is N x K, the weight of y = x W^T. A
// warp multiplies tiles of 32 x 64, which have 1024 bytes with codes of four bits:
//
//   codes    [N / 32][K / 64][2][32 lanes][4 words]      N and K rounded up
//   word j of a lane (g = lane / 4, c = lane % 4), of half h of a tile at (n0, k0):
//
//     nibble i      n = n0 + 16 h + 2 g + i % 2      k = k0 + 16 j + 8 (i / 2) + 2 c          i = 0 .. 3
//     nibble i + 4  the same n                       k + 1
//
// Then (word >> 4 i) & 0x000f000f is register i of operand A of m16n8k16, whose rows g and g + 8 are
// neighbours n. A lane loads the fragments of four steps of K at once. Codes that are looked up in a table by
// bytes have both codes of register i in nibbles 2 i and 2 i + 1 ("neighbours").
//
// Codes of eight bits take two words in place of one, in tiles of 2048 bytes: [2][2][32 lanes][4 words]. Word
// 4 q + 2 r + w of half h belongs to step j = 2 q + r. Its bytes 0 and 2 are of register 2 w, its bytes 1 and
// 3 of register 2 w + 1.
//
// After the codes, each at a multiple of 16 bytes:
//
//   scales   [G][N rounded up to 32]                  G = K / group rounded up; 1, 2 or 4 bytes each; 0
//                                                     beyond N
//   zeros    [G][N rounded up to 32]                  with zero points: nibbles, the even n low; bytes for
//                                                     codes of eight bits. With offsets: f32
//   factors  [N rounded up to 32]                     f32, if columns have factors
//   rows     [K]                                      i32, with act-order: the column of x for each k
//
// Nothing in it depends on the device. The idea of such a layout is from Frantar et al., "MARLIN", 2024.

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 w4_tile_n = 32, w4_tile_k = 64, w4_tile_codes = w4_tile_n * w4_tile_k;

// The properties of weights that decide their layout.
struct w4_extents {
  u64 n = 0, k = 0, group = 0;  // positive and below 2^31; the last group may have fewer k
  u32 bits = 4;                 // bits of a code and of a zero point: 4 or 8
  u32 scale_bytes = 2;
  bool zero_points = false, factors = false, act_order = false;
  bool offsets = false;  // in place of zero points
};

// Byte offsets of the scales and of what follows them, and the extents that kernels count.
struct w4_layout {
  u64 tiles_n = 0, tiles_k = 0, groups = 0;
  u64 scales = 0, zeros = 0, factors = 0, rows = 0, bytes = 0;

  static constexpr w4_layout of(const w4_extents& e) {
    w4_layout a;
    a.tiles_n = (e.n + w4_tile_n - 1) / w4_tile_n;
    a.tiles_k = (e.k + w4_tile_k - 1) / w4_tile_k;
    a.groups = (e.k + e.group - 1) / e.group;
    const u64 cells = a.groups * a.tiles_n;
    a.scales = a.tiles_n * a.tiles_k * (w4_tile_codes / 8 * e.bits);
    a.zeros = a.scales + cells * (w4_tile_n * e.scale_bytes);
    a.factors = a.zeros + (e.offsets       ? cells * (w4_tile_n * sizeof(f32))
                           : e.zero_points ? cells * (w4_tile_n / 8 * e.bits)
                                           : 0);
    a.rows = a.factors + (e.factors ? a.tiles_n * (w4_tile_n * sizeof(f32)) : 0);
    a.bytes = a.rows + (e.act_order ? (e.k + 3) / 4 * 16 : 0);
    return a;
  }
};

}  // namespace kaio::ops
