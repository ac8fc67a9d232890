#pragma once
// Tensor cores: mma.sync and its fragments, wgmma, and the moves of matrices between registers and shared memory.
//
//   using mma = mma_m16n8k16<f32, f16>;
//   mma::accumulator c(t, 0.0f);
//   ldmatrix(a, a_tile, row, k);
//   mma::multiply_add(c, a, b);

#include <kaio/dsl/mma/fragment.hpp>
#include <kaio/dsl/mma/ldmatrix.hpp>
#include <kaio/dsl/mma/mma.hpp>
#include <kaio/dsl/mma/mma_sparse.hpp>
#include <kaio/dsl/mma/movmatrix.hpp>
#include <kaio/dsl/mma/stmatrix.hpp>
#include <kaio/dsl/mma/tf32.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
