#pragma once
// The position of a producer or a consumer in a ring of stages.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

// The stage that comes next, and the parity of its round.
struct ring_position {
  var<u32> stage, parity;
  constexpr explicit ring_position(thread t) : stage(t, 0u), parity(t, 0u) {}
  constexpr ring_position(thread t, const ring_position& from)
      : stage(t, from.stage), parity(t, from.parity) {}
  template <std::uint32_t Stages>
  constexpr void advance() {
    stage += 1u;
    const val wraps = stage == Stages;
    stage = select(wraps, 0u, stage);
    parity = select(wraps, parity ^ 1u, parity);
  }
};

}  // namespace kaio::ops
