#pragma once
// Parameters of the kernels of elementwise. An operand is an output, an input or a number of the host;
// outputs come first.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 elementwise_dimensions = 5;
inline constexpr u32 elementwise_inputs = 8;  // at most, with numbers of the host

// Dimensions, the innermost first: all but the outermost have places 0 to rank - 2, the outermost the last
// place. Its extent follows from `items`.
template <u32 Operands>
struct elementwise_problem {
  u64 addresses[Operands];                         // a number of the host: its bits
  u32 strides[Operands * elementwise_dimensions];  // bytes from item to item
  divisor extents[elementwise_dimensions - 1];     // items
  u32 items, rank;
  u32 repeated;  // bit i: operand i has one element for all along dimension 0
  u32 rest;      // vectors: elements after the last item, which only one dimension may have
};

// An item is a piece of dimension 0, whose items have place 0 even if it is the only dimension.
template <u32 Operands>
struct elementwise_strided_problem {
  elementwise_problem<Operands> pieces;
  u32 steps[Operands];  // bytes from element to element, along dimension 0
  u32 extent;           // elements of dimension 0
  u32 lanes_log;        // log2 of the threads of a piece
};

// Dimensions 0 and 1 are those of a tile; their items are tiles.
template <u32 Operands>
struct elementwise_tiles_problem {
  elementwise_problem<Operands> tiles;
  u32 steps[Operands * 2];  // bytes from element to element, along dimensions 0 and 1
  u32 extents[2];           // elements
  u32 staged;               // bit i: operand i is contiguous along dimension 1
  u32 whole;                // not 0: all operands are aligned to pieces
};

}  // namespace kaio::ops
