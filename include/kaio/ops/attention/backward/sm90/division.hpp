#pragma once
// How a call of the backward kernels for sm_90a is divided: into groups of tiles of keys, which have sums of dQ
// of their own (turns.hpp), and into parts of the queries of each tile of keys (parts.hpp). Both follow from
// a model of the time, in microseconds of an H200. The size of a workspace depends on them, so they depend on
// extents alone.
//
//   few tiles of keys        most multiprocessors are idle: more parts. Each part writes its sums of dK and
//                            dV, and the last kernel reads them
//   many tiles of a head     all begin at the same queries, and add dQ one after the other: more groups. The
//   at work, few queries     last kernel reads the sums of every group

#include <kaio/ops/attention/backward/call/call.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct backward_division {
  std::uint32_t groups = 1, parts = 1;

  static constexpr std::uint32_t multiprocessors = 132, most_groups = 32, most_parts = 16;
  static constexpr double most_bytes = 64 << 20;  // of the sums of parts
  // A step of 2^20 multiply-adds per product, and the other work of a tile.
  static constexpr double step = 3, tile = 3;
  static constexpr double turn = 2.2;                       // from a block's addition to the next one
  static constexpr double of_parts = 2, part_per_us = 2e6;  // if there are several; bytes
  static constexpr double group = 0.3, group_per_us = 3e6;  // of the last kernel; bytes

  // The tiles of a configuration C.
  template <auto C>
  static constexpr backward_division of(const attention_backward_call& call) {
    const attention_problem& p = call.forward.problem;
    const attention_gradients& g = call.gradients;
    const double heads = std::max(1.0, static_cast<double>(g.key_heads) * p.batches);
    const auto tiles = static_cast<double>(call.key_tiles(C.keys)), all = tiles * heads;
    const std::uint64_t steps = std::max<std::uint64_t>(
        1, std::uint64_t{(p.queries + C.queries - 1) / C.queries} * (p.heads / std::max(g.key_heads, 1u)));
    const auto us_of_steps = [&](double n) {
      const auto number = static_cast<std::uint64_t>(n);
      constexpr double size = static_cast<double>(C.queries * C.keys * C.depth_qk) / (1 << 20);
      return static_cast<double>((steps + number - 1) / number) * step * size;
    };
    const auto waves = [&](double n) {
      const auto blocks = static_cast<std::uint64_t>(all * n);
      return static_cast<double>((blocks + multiprocessors - 1) / multiprocessors);
    };
    // The value with the least time(value) among 1, next(1), next(next(1)) ... most.
    const auto fastest = [](std::uint32_t most, const auto& next, const auto& time) {
      std::uint32_t best = 1;
      for (std::uint32_t i = next(1u); i <= most; i = next(i))
        if (time(static_cast<double>(i)) < time(static_cast<double>(best))) best = i;
      return best;
    };
    backward_division result;
    if constexpr (C.divides_queries) {
      constexpr double bytes = C.keys * (C.depth_qk + C.depth_v) * sizeof(f32);  // of a part
      const double most = std::clamp(most_bytes / bytes / std::max(all, 1.0), 1.0, double{most_parts});
      result.parts = fastest(
          static_cast<std::uint32_t>(std::min(most, static_cast<double>(steps))),
          [](std::uint32_t i) { return i + 1; },
          [&](double n) {
            return waves(n) * (us_of_steps(n) + tile) +
                   (n > 1 ? of_parts + all * n * bytes / part_per_us : 0);
          });
    }
    const double of_block = us_of_steps(result.parts);
    const double at_work = std::min(tiles, std::max(4.0, multiprocessors / (heads * result.parts)));
    const double bytes = static_cast<double>(p.queries) * p.heads * p.batches * C.columns_qk() * sizeof(f32);
    result.groups = fastest(
        static_cast<std::uint32_t>(std::min<double>(tiles, most_groups)),
        [](std::uint32_t i) { return 2 * i; },
        [&](double n) {
          const double start = std::max(at_work / n - 1, 0.0) * turn, chain = tiles / n * turn;
          return std::max(waves(result.parts) * of_block + start, of_block + chain) +
                 (n - 1) * (group + bytes / group_per_us);
        });
    return result;
  }
};

}  // namespace kaio::ops
