#pragma once
// What the kernels of rms_norm take.

#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/matmul/common/tile_walk.hpp>

namespace kaio::ops {

// Runs of a row that a lane keeps in registers, of elements of so many bytes.
constexpr u32 held_runs(u32 element_bytes) { return element_bytes == 4 ? 2 : 4; }

// The logarithm of the threads of a row: a warp, or as many as keep it in registers, 256 at most.
constexpr u32 rms_norm_lanes_log(u32 size, u32 element_bytes) {
  const u32 runs = size / run_size + (size % run_size != 0 ? 1 : 0), held = held_runs(element_bytes);
  const u32 of_warp = runs < 32 ? runs : 32, in_registers = (runs + held - 1) / held;
  const u32 lanes = of_warp > in_registers ? of_warp : in_registers;
  u32 log = 0;
  while ((u32{1} << log) < lanes && log < 8) ++log;
  return log;
}

struct rms_norm_problem {
  row_strides x, out;
  row_strides residual, residual_out;  // address 0: there is none
  u64 weight;
  u32 rows, size;
  divisor heads, tokens;
  u32 lanes_log;  // threads of a row, up to 256
  u32 aligned;    // runs of all rows begin at multiples of 16 bytes, and rows are whole runs
  f32 epsilon, weight_offset;
};

}  // namespace kaio::ops
