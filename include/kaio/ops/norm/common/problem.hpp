#pragma once
// Parameters of the kernels of rms_norm.

#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/shared/rows.hpp>

namespace kaio::ops {

// Runs of a row that a lane keeps in registers.
constexpr u32 held_runs(u32 element_bytes) { return element_bytes == 4 ? 2 : 4; }

// log2 of the threads per row: up to a warp, or more if registers must hold the whole row, at most 256.
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
  u32 lanes_log;  // log2 of the threads per row, up to 256 threads
  u32 aligned;    // runs of all rows begin at multiples of 16 bytes, and rows are whole runs
  f32 epsilon, weight_offset;
};

}  // namespace kaio::ops
