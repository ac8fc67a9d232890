#pragma once
// Operations that the threads of a block, or the blocks of a grid, do together: reductions, scans, votes,
// barriers. The parts can be included alone.
//
//   val largest = block_reduce(t, x, maximum{});
//   val total = block_reduce(t, x, [](auto a, auto b) { return a + b; });

#include <kaio/dsl/block/exchange.hpp>
#include <kaio/dsl/block/grid_barrier.hpp>
#include <kaio/dsl/block/grid_dependency.hpp>
#include <kaio/dsl/block/named_barrier.hpp>
#include <kaio/dsl/block/reduce.hpp>
#include <kaio/dsl/block/scan.hpp>
#include <kaio/dsl/block/vote.hpp>
#include <kaio/dsl/math.hpp>
#include <kaio/dsl/warp.hpp>
