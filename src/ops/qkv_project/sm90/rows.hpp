#pragma once
// Rows of the variant table: the fused kernels of qkv_project for sm_90a, for one element type.

#include <kaio/ops/matmul/sm90/table_row.hpp>
#include <kaio/ops/qkv_project/sm90/kernel.hpp>

#include <array>
#include <cstdint>
#include <span>

#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

template <sm90_config C, class T>
void run_qkv_sm90(const stream& s, const qkv_fused_call& call) {
  const auto& kernel = qkv_project_sm90<C, T>;
  const std::uint64_t m = call.heads.all_tokens, n = call.n, k = call.k;
  const auto x_row = static_cast<std::uint64_t>(call.x_row), w_row = static_cast<std::uint64_t>(call.w_row);
  const matrix_lines<T> x{.memory = {call.x, call.x_bytes / sizeof(T), call.device, true},
                          .length = k,
                          .lines = m,
                          .pitch = x_row};
  const matrix_lines<T> w{
      .memory = {call.w.q, (n - 1) * w_row + k, call.device, true}, .length = k, .lines = n, .pitch = w_row};
  const matrix_lines<T> product{.memory = {}, .length = n, .lines = m, .pitch = n};  // never in memory
  // Tiles are whole heads: none is narrower.
  prepare_sm90_clusters<C, T, false>(
      s, x, w, product, k, C.cluster(), s.max_active_clusters(kernel.image()), sm90_group,
      [&](const auto& shape, const sm90_problem& problem, const auto& of_x, const auto& of_w) {
        kernel.launch(s, shape, of_x, of_w, problem, call.heads);
      });
}

template <class T>
std::span<const qkv_variant> qkv_sm90_rows() {
  constexpr auto row = []<sm90_config C>() {
    return qkv_variant{.image = &qkv_project_sm90<C, T>.image(),
                       .run = run_qkv_sm90<C, T>,
                       .rows = C.m,
                       .columns = C.n,
                       .copies_tensors = true};
  };
  static const auto& rows = *new std::array{row.template operator()<qkv_cuts::sm90_medium>(),
                                            row.template operator()<qkv_cuts::sm90_large_pair>()};
  return rows;
}

}  // namespace kaio::ops
