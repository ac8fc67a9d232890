#pragma once
// Tiles: parts of matrices in shared memory, with the layout that tensor copies, ldmatrix and wgmma
// work on, and the layouts of the fragments that the threads of a warp hold in registers. The parts can be
// included alone.
//
//   shared_tile<f16, 128, 64, swizzled<128>> a(t);
//   a[row][column] = x;

#include <kaio/dsl/tile/fragment_layout.hpp>
#include <kaio/dsl/tile/layout.hpp>
#include <kaio/dsl/tile/place.hpp>
#include <kaio/dsl/tile/shared_tile.hpp>
