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
#include <kaio/ops/weight_only/common/problem.hpp>
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
};

template <w4_sm90_config C, class Dequantisation, scalar T>
struct w4_sm90_shared {
  using shape = w4_sm90_shape<C, Dequantisation>;
  using x_ring = shared_tiles<T, C.rows, w4_tile_k, dsl::swizzled<128>, C.stages * C.tiles>;
  static constexpr std::uint32_t x_bytes = C.stages * C.tiles * x_ring::stage_bytes;

  using code_words = shared<u32, C.stages * shape::tiles_n * C.tiles * shape::words>;
  using scale_and_zero_words = shared<u32, C.stages * C.tiles * shape::tiles_n * shape::scale_and_zero_words>;

  x_ring x;                                   // rows x 64
  code_words all_codes;                       // 32 columns x 64
  scale_and_zero_words all_scales_and_zeros;  // all columns
  dsl::pipeline<C.stages> ring;

  constexpr w4_sm90_shared(thread t, const val<w4_problem>&)
      : x(t), all_codes(t), all_scales_and_zeros(t), ring(t) {}

  constexpr const code_words& codes() const { return all_codes; }
  constexpr const scale_and_zero_words& scales_and_zeros() const { return all_scales_and_zeros; }

  // The first word of the scales and zeros of tile `k` of a stage.
  template <class K>
  static constexpr auto first_scale(const val<u32>& stage, const K& k) {
    return (stage * C.tiles + k) * (shape::tiles_n * shape::scale_and_zero_words);
  }
  // x of tile `k` of a stage.
  template <class K>
  constexpr auto tile_of_x(thread t, const val<u32>& stage, const K& k) const {
    return x[t.let(stage * C.tiles + k)];
  }
  constexpr auto producer(thread t) const { return ring.producer(t); }
  constexpr auto consumer(thread t) const { return ring.consumer(t); }
};

// The shared memory of a kernel that rounds weights. The launch chooses the rows of x, and with them the size and
// the number of the stages:
//
//   stage   codes [32 columns][64 of K], scales and zero points; then x: rows x 64 per tile
template <w4_sm90_config C, class Dequantisation, scalar T>
struct w4_sm90_stages {
  using shape = w4_sm90_shape<C, Dequantisation>;
  static constexpr std::uint32_t line_words = 32;  // 128 bytes: a row of x
  static constexpr std::uint32_t code_words = C.tiles * shape::tiles_n * shape::words,
                                 scale_and_zero_words =
                                     C.tiles * shape::tiles_n * shape::scale_and_zero_words;
  static_assert(code_words + scale_and_zero_words <= C.head * line_words);

  // All memory as words.
  struct all_words {
    shared_tile<u32, 1, C.room * line_words, dsl::row_major> tile;

    template <class I>
    constexpr auto operator[](const I& i) const {
      return tile[0][i];
    }
  };

  shared_tile<T, C.room, w4_tile_k, dsl::swizzled<128>> x;
  all_words words;
  dsl::pipeline<C.stages> ring;
  val<u32> stages, stage_lines;  // of the launch; lines of 128 bytes per stage

  constexpr w4_sm90_stages(thread t, const val<w4_problem>& problem)
      : x(t),
        words{decltype(all_words::tile)::over(x)},
        ring(t),
        stages(t.let(problem[&w4_problem::stages])),
        stage_lines(t.let(problem[&w4_problem::tile_rows] * C.tiles + C.head)) {}

  // A line of 128 bytes; a stage begins with its codes.
  constexpr auto line(const val<u32>& i) const {
    return row_block<1>(shared_tile<u32, C.room, line_words, dsl::row_major>::over(x), i);
  }
  // The words from the beginning of a stage on. All words of a lane share this address, and differ by its own distances.
  constexpr auto words_from(thread t, const val<u32>& stage) const {
    return line(t.let(stage * stage_lines))[0];
  }
  constexpr auto first_code(const val<u32>& stage) const { return stage * stage_lines * line_words; }
  template <class K>
  constexpr auto first_scale(const val<u32>& stage, const K& k) const {
    return first_code(stage) + (k * (shape::tiles_n * shape::scale_and_zero_words) + code_words);
  }
  template <class K>
  constexpr auto tile_of_x(thread t, const val<u32>& stage, const K& k) const {
    return row_block<C.rows>(x, line_of_x(t, stage, k));
  }
  // The first line of x of tile `k` of a stage.
  template <class K>
  constexpr val<u32> line_of_x(thread t, const val<u32>& stage, const K& k) const {
    if constexpr (C.tiles == 1)
      return t.let(stage * stage_lines + C.head);
    else
      return t.let(stage * stage_lines + ((stage_lines - C.head) / C.tiles * k + C.head));
  }
  constexpr auto producer(thread t) const { return ring.producer(t, stages); }
  constexpr auto consumer(thread t) const { return ring.consumer(t, stages); }
};

// The rows of x of a block.
template <w4_sm90_config C>
constexpr auto w4_sm90_rows_of([[maybe_unused]] const val<w4_problem>& problem) {
  if constexpr (C.least_rows == 0)
    return C.rows;
  else
    return problem[&w4_problem::tile_rows];
}

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
