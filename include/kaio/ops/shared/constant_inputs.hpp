#pragma once
// Which inputs of a call no earlier work in the stream writes.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

// A hint of the caller: from sm_90 on a call may read these inputs before earlier work in the stream has ended. If nothing
// writes them then, results do not depend on the hint. A call ignores the inputs that it has not.
//
//   a, b      operands of a product
//   weights   the weights of a layer, which are operand b
//   indices   lengths, page tables, lists and positions of sequences
enum class constant_inputs : std::uint8_t { none = 0, a = 1, b = 2, weights = b, both = a | b, indices = 4 };

constexpr constant_inputs operator|(constant_inputs x, constant_inputs y) {
  return static_cast<constant_inputs>(static_cast<unsigned>(x) | static_cast<unsigned>(y));
}
// Whether one of `some` is among `all`.
constexpr bool has_any(constant_inputs all, constant_inputs some) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(some)) != 0;
}

}  // namespace kaio::ops
