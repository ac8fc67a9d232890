#pragma once
// Packed weights of groups, and the arguments of callers without types.

#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/ops/weight_only/call/arguments_w8.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

// Bytes of the packed weights of `groups` groups. Throws invalid_argument if the shape is not valid.
std::uint64_t packed_bytes(const w4_shape& shape, std::int64_t groups);
std::uint64_t packed_bytes(const w8_shape& shape, std::int64_t groups);

// Weights of one shape, one after the other: device memory of packed_bytes(shape, groups) bytes, at a
// multiple of 16. repack writes those of a group: repack(s, source, w[g]).
struct grouped_w4_weights {
  w4_shape shape{};
  std::int64_t groups = 0;
  workspace_view memory{};

  // The weights of a group. Throws invalid_argument if it does not exist.
  w4_weights operator[](std::int64_t group) const;
};
struct grouped_w8_weights {
  w8_shape shape{};
  std::int64_t groups = 0;
  workspace_view memory{};

  w8_weights operator[](std::int64_t group) const;
};

struct matmul_w4_grouped_options {
  any_view bias{};  // (groups, n), the element type of x; neighbours along n are adjacent
  // (rows), i32, neighbours adjacent: row r of out is of row rows[r] of x. Without it, of row r of x. An index that
  // is no row of x counts as a row of zeros.
  any_view rows{};
  // Not none: even columns of the weights are gates, odd ones their values, and out is (rows, n / 2), as in
  // gate_up_grouped:
  //
  //   out[r, j] = gate(min(y[r, 2 j], limit)) * (clamp(y[r, 2 j + 1], -limit, limit) + up_offset)
  matmul_activation gate = matmul_activation::none;
  f32 alpha = 1;      // of silu; finite, above 0
  f32 limit = 0;      // 0: none; else finite, above 0
  f32 up_offset = 0;  // finite
  // The kernel to run, as named by matmul_w4_grouped_choice; empty: the best one for groups of the mean size.
  std::string_view variant{};
};

namespace detail {

inline grouped_w4_weights as_w4_weights(const grouped_w8_weights& w) {
  return {as_w4_shape(w.shape), w.groups, w.memory};
}

struct matmul_w4_grouped_arguments {
  std::string_view operation;
  any_view x, offsets, out;  // (rows, k), (groups + 1), (rows, n)
  const grouped_w4_weights* weights;
  const matmul_w4_grouped_options* options;
};

}  // namespace detail

}  // namespace kaio::ops
