#pragma once
// Tiles: parts of matrices in shared memory, in the layouts of tensor copies, ldmatrix and wgmma. Layouts of the
// fragments in the registers of a warp. The parts can be included alone.
//
//   shared_tile<f16, 128, 64, swizzled<128>> a(t);
//   a[row][column] = x;

#include <kaio/dsl/tile/fragment_layout.hpp>
#include <kaio/dsl/tile/layout.hpp>
#include <kaio/dsl/tile/place.hpp>
#include <kaio/dsl/tile/shared_tile.hpp>
