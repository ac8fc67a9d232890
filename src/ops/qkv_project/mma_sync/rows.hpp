#pragma once
// Rows of the variant table: the fused kernels of qkv_project, for one element type.

#include <kaio/ops/qkv_project/mma_sync/kernel.hpp>
#include <kaio/runtime/buffer.hpp>

#include <array>
#include <cstdint>
#include <span>

#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

template <mma_sync_config C, class T>
void run_qkv_mma(const stream& s, const qkv_fused_call& call) {
  mma_sync_problem problem = mma_sync_problem_of<C>(call.heads.all_tokens, call.n, call.k);
  problem.lda = call.x_row;
  problem.ldb = call.w_row;
  const device_pointer<T> x{call.x, call.x_bytes / sizeof(T), call.device, true};
  qkv_project_mma<C, T>.launch(s, grid(std::uint64_t{problem.scheduler.tiles}), x, call.w, problem,
                               call.heads);
}

template <class T>
std::span<const qkv_variant> qkv_mma_rows() {
  constexpr auto row = []<mma_sync_config C>() {
    return qkv_variant{
        .image = &qkv_project_mma<C, T>.image(), .run = run_qkv_mma<C, T>, .rows = C.m, .columns = C.n};
  };
  static const auto& rows = *new std::array{row.template operator()<qkv_cuts::medium>(),
                                            row.template operator()<qkv_cuts::large>()};
  return rows;
}

}  // namespace kaio::ops
