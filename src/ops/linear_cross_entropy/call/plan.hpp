#pragma once
// How linear_cross_entropy divides the classes into chunks, and what of its workspace holds what.

#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>

namespace kaio::ops {

enum class loss_direction : std::uint8_t { forward, backward };

struct linear_shape {
  std::uint64_t rows, features, classes;
  element_kind type;  // of x
};

struct linear_plan {
  std::uint64_t chunk = 0;  // classes of a chunk; the last one may have fewer
  std::uint64_t chunks = 0;
  std::uint64_t pitch = 0;  // elements from one row of logits to the next: whole pieces of 16 bytes
  // Offsets of the workspace, in bytes.
  std::uint64_t losses = 0;     // forward: the rows' losses and weights, and their sums
  std::uint64_t states = 0;     // forward, with several chunks: cross_entropy_states numbers a row
  std::uint64_t logits = 0;     // f32; gradients of f32 take their place
  std::uint64_t gradients = 0;  // backward: of the logits, if x has 16 bits
  std::uint64_t sums = 0;       // backward: dx in f32, if x has 16 bits and there are several chunks
  std::uint64_t rest = 0;       // for splits of K, and for the sums of the bias's gradient
  std::uint64_t bytes = 0;

  // chunk: a multiple of least_chunk; 0: the fastest one.
  static linear_plan of(loss_direction direction, const linear_shape& shape, std::uint64_t chunk);
  // The largest chunks, up to the fastest ones, that fit; the smallest ones, if none do.
  static linear_plan within(loss_direction direction, const linear_shape& shape, std::uint64_t bytes);
};

inline constexpr std::uint64_t least_chunk = 64;

}  // namespace kaio::ops
