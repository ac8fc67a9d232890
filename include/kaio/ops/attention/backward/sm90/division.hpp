#pragma once
// How a call of the backward kernels for sm_90a is divided: into groups of tiles of keys, which have sums of dQ
// of their own (turns.hpp), and into parts of the queries of each tile of keys (parts.hpp). Both follow from
// a model of the time, in microseconds of an H200. The size of a workspace depends on them, so they depend on
// extents alone.
//
//   few tiles of keys        most multiprocessors are idle: more parts. Each part but the last writes its
//                            sums of dK and dV, and the last one reads them
//   many tiles of a head     all begin at the same queries, and add dQ one after the other: more groups. The
//   at work, few queries     last kernel reads the sums of every group

#include <kaio/ops/attention/backward/call/call.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct backward_division {
  std::uint32_t groups = 1, parts = 1;

  static constexpr std::uint32_t multiprocessors = 132, most_groups = 16, most_parts = 8;
  static constexpr double step = 2.8;            // a step of a block
  static constexpr double turn = 2.2;            // from a block's addition to the next one
  static constexpr double part = 3.0;            // the sums of a part: written, or read
  static constexpr double bytes_per_us = 2.0e6;  // of the last kernel

  // The tiles of a configuration C.
  template <auto C>
  static constexpr backward_division of(const attention_backward_call& call) {
    const attention_problem& p = call.forward.problem;
    const attention_gradients& g = call.gradients;
    const double heads = std::max(1.0, static_cast<double>(g.key_heads) * p.batches);
    const double tiles = static_cast<double>(call.key_tiles(C.keys));
    const double steps = std::max(1.0, static_cast<double>((p.queries + C.queries - 1) / C.queries) *
                                           p.heads / std::max(g.key_heads, 1u));
    const auto waves = [&](std::uint32_t parts) {
      return static_cast<double>(static_cast<std::uint64_t>(heads * tiles * parts + multiprocessors - 1) /
                                 multiprocessors);
    };
    backward_division best;
    const auto take_least = [](std::uint32_t& value, std::uint32_t most, const auto& next, const auto& time) {
      double least = time(1.0);
      for (std::uint32_t i = next(1u); i <= most; i = next(i))
        if (const double now = time(static_cast<double>(i)); now < least) least = now, value = i;
    };
    if constexpr (C.divides_queries)
      if (tiles * heads < multiprocessors)
        take_least(
            best.parts, most_parts, [](std::uint32_t i) { return i + 1; },
            [&](double parts) {
              return waves(static_cast<std::uint32_t>(parts)) * steps / parts * step +
                     (parts > 1 ? parts * part : 0);
            });
    const double at_work = std::min(tiles, std::max(4.0, multiprocessors / (heads * best.parts)));
    const double bytes = static_cast<double>(p.queries) * p.heads * p.batches * C.columns_qk() * sizeof(f32);
    const double of_block = steps / best.parts * step;
    const auto most = static_cast<std::uint32_t>(std::min<double>(tiles, most_groups));
    take_least(
        best.groups, most, [](std::uint32_t i) { return 2 * i; },
        [&](double groups) {
          const double start = (at_work / groups - 1) * turn, chain = tiles / groups * turn;
          return std::max(waves(best.parts) * of_block + std::max(start, 0.0), of_block + chain) +
                 (groups - 1) * bytes / bytes_per_us;
        });
    return best;
  }
};

}  // namespace kaio::ops
