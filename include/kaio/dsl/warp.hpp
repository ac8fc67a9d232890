#pragma once
// Operations that the lanes of a warp do together: exchange of values, votes, matches, reductions and scans. The
// parts can be included alone.
//
//   val neighbour = shfl_down(x, 1u);
//   val total = warp_reduce(t, x, plus{});

#include <kaio/dsl/warp/aggregate.hpp>
#include <kaio/dsl/warp/lanes.hpp>
#include <kaio/dsl/warp/match.hpp>
#include <kaio/dsl/warp/operation.hpp>
#include <kaio/dsl/warp/reduce.hpp>
#include <kaio/dsl/warp/role.hpp>
#include <kaio/dsl/warp/scan.hpp>
#include <kaio/dsl/warp/shuffle.hpp>
#include <kaio/dsl/warp/vote.hpp>
