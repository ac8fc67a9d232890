#pragma once
// Makes the table rows of matmul_int8 and matmul_fp8 for multiply-add kernels
// (kaio/ops/matmul_8bit/common/simt.hpp).

#include <kaio/ops/matmul/call/kernel_arguments.hpp>
#include <kaio/ops/matmul_8bit/common/simt.hpp>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

inline byte_matrix byte_matrix_of(const matmul_operand& x, u32 format) {
  const bool along = x.lines == line_direction::along_k;
  const auto pitch = static_cast<i64>(x.pitch);
  return {along ? pitch : 1, along ? 1 : pitch, static_cast<i64>(x.batch_pitch), format};
}

template <class Numbers, class Out, class Epilogue, class... Extra>
void launch_simt_bytes(const stream& s, const matmul_call& call, u32 format_a, u32 format_b,
                       const Extra&... extra) {
  const auto tiles = [](std::uint64_t extent) {
    return static_cast<u32>(ceil_div(extent, simt_bytes::tile));
  };
  const simt_bytes_problem problem{
      tile_scheduler::over(tiles(call.m), tiles(call.n), static_cast<u32>(call.batches), 8),
      output_lines_of(call), static_cast<u32>(call.k)};
  auto c = output_of_call<Out>(call);
  simt_bytes_matmul<Numbers, Out, Epilogue>.launch(s, grid(std::uint64_t{problem.scheduler.tiles}),
                                                   memory_of<u8>(call.a), byte_matrix_of(call.a, format_a),
                                                   memory_of<u8>(call.b), byte_matrix_of(call.b, format_b), c,
                                                   problem, extra...);
}

// The caller sets the types and the line directions.
template <class Numbers, class Out, class Epilogue>
matmul_variant describe_simt_bytes() {
  return {.image = &simt_bytes_matmul<Numbers, Out, Epilogue>.image(),
          .family = matmul_family::simt,
          .m = simt_bytes::tile,
          .n = simt_bytes::tile,
          .k = simt_bytes::step * Numbers::width,
          .slow_copies = true};
}

}  // namespace kaio::ops
