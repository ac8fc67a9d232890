#pragma once
// How weights of four bits are kept for the matrix instructions of a warp. W is N x K, the weight of
// y = x W^T; what a warp multiplies is a tile of 32 x 64 of it, 1024 bytes:
//
//   codes    [N / 32][K / 64][2][32 lanes][4 words]      N and K rounded up
//   word j of a lane (g = lane / 4, c = lane % 4), of half h of a tile at (n0, k0):
//
//     nibble i      n = n0 + 16 h + 2 g + i % 2      k = k0 + 16 j + 8 (i / 2) + 2 c          i = 0 .. 3
//     nibble i + 4  the same n                       k + 1
//
// so that (word >> 4 i) & 0x000f000f is register i of the A of m16n8k16 (rows g and g + 8 of the fragment are
// neighbours n), and a lane loads the fragments of four steps of K at once. Then, each at a multiple of 16
// bytes:
//
//   scales   [K / group][N rounded up to 32]          f16 or bf16; 0 for what is beyond N
//   zeros    [K / group][N rounded up to 32] / 2      nibbles, the even n low; where there are zero points
//   rows     [K]                                      i32, with an order of K: x's column of each k
//
// Nothing in it depends on the device. Frantar et al., "MARLIN", 2024, has the idea of such a layout.

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 w4_tile_n = 32, w4_tile_k = 64, w4_tile_bytes = w4_tile_n * w4_tile_k / 2;

// Where the parts are, in bytes from the beginning; extents as the kernels count them.
struct w4_layout {
  u64 tiles_n = 0, tiles_k = 0, groups = 0;
  u64 scales = 0, zeros = 0, rows = 0, bytes = 0;

  // n, k and group are positive and below 2^31; group divides k.
  static constexpr w4_layout of(u64 n, u64 k, u64 group, bool zero_points, bool ordered) {
    w4_layout a;
    a.tiles_n = (n + w4_tile_n - 1) / w4_tile_n;
    a.tiles_k = (k + w4_tile_k - 1) / w4_tile_k;
    a.groups = k / group;
    a.scales = a.tiles_n * a.tiles_k * w4_tile_bytes;
    a.zeros = a.scales + a.groups * a.tiles_n * (w4_tile_n * 2);
    a.rows = a.zeros + (zero_points ? a.groups * a.tiles_n * (w4_tile_n / 2) : 0);
    a.bytes = a.rows + (ordered ? (k + 3) / 4 * 16 : 0);
    return a;
  }
};

}  // namespace kaio::ops
