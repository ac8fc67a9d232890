#pragma once
// The shared memory of a block of matmul_w4 for sm_90a, and the numbers that follow from its dequantisation.
//
//   x       rows x 64 of K, per tile of a stage
//   codes   [stage][32 columns][64 of K]
//   scales_and_zeros   [stage][64 of K][slot][scales of all columns], then [slot][zero points]
//   ring    full: the copies of a stage have arrived; empty: each consumer warp has read it

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_sm90_config C, class Dequantisation>
struct w4_sm90_shape {
  using D = w4_whole_groups<Dequantisation>;
  using scales_and_zeros_of = w4_scales_and_zeros<D>;
  static constexpr std::uint32_t tiles_n = C.tiles_n();
  static constexpr std::uint32_t words = C.words(),
                                 scale_and_zero_words = scales_and_zeros_of::words;  // words per tile of W
  static constexpr std::uint32_t scale_words =
                                     scales_and_zeros_of::scale_pieces_of_group * 4,  // words per 32 columns
      zero_words = scales_and_zeros_of::zero_pieces_of_group * 4;

  // The first word of the scales and zeros of tile `k` of a stage.
  template <class K>
  static constexpr auto first_scale(const val<u32>& stage, const K& k) {
    return (stage * C.tiles + k) * (tiles_n * scale_and_zero_words);
  }
};

template <w4_sm90_config C, class Dequantisation, scalar T>
struct w4_sm90_shared {
  using shape = w4_sm90_shape<C, Dequantisation>;
  using x_ring = shared_tiles<T, C.rows, w4_tile_k, dsl::swizzled<128>, C.stages * C.tiles>;
  static constexpr std::uint32_t x_bytes = C.stages * C.tiles * x_ring::stage_bytes;

  x_ring x;                                                               // rows x 64
  shared<u32, C.stages * shape::tiles_n * C.tiles * shape::words> codes;  // 32 columns x 64
  shared<u32, C.stages * C.tiles * shape::tiles_n * shape::scale_and_zero_words>
      scales_and_zeros;  // all columns
  dsl::pipeline<C.stages> ring;

  constexpr explicit w4_sm90_shared(thread t) : x(t), codes(t), scales_and_zeros(t), ring(t) {}
};

// A block's tile of y and its split of K. `rows`: rows of x that are copied.
struct w4_sm90_tile {
  val<u32> split;
  val<u32> row, column;
  val<u32> rows;
};
// The block's stages of K, `first` to before `last`, and its first tile of 32 columns of W.
struct w4_sm90_steps {
  val<u32> first_tile_n;
  val<u32> first, last;
};

}  // namespace kaio::ops
