#include "ops/quantised/w4/call/as_matrix.hpp"

#include <kaio/ops/matmul.hpp>
#include <kaio/runtime/device.hpp>

#include "ops/matmul/call/view.hpp"
#include "ops/quantised/w4/families.hpp"

namespace kaio::ops {

namespace {

std::int64_t matrix_row(const w4_packed& w) { return (std::int64_t{w.k} + 7) / 8 * 8; }

// W^T, (k, n), at an address.
matmul_view transposed_weights(const any_view& x, const w4_packed& w, std::uint64_t address) {
  matmul_view result = matmul_view_of(x);
  result.address = address;
  result.bytes = w4_matrix_bytes(w);
  result.extents = {w.k, w.n, 0};
  result.strides = {1, matrix_row(w), 0};
  return result;
}

}  // namespace

std::uint64_t w4_matrix_bytes(const w4_packed& w) {
  return std::uint64_t{w.n} * static_cast<std::uint64_t>(matrix_row(w)) * sizeof(f16);
}

void run_w4_as_matrix(const stream& s, const detail::matmul_w4_arguments& arguments,
                      const w4_problem& problem) {
  const std::uint64_t address = arguments.options->workspace.address;
  run_dequantise_w4_matrix(
      s, {.w = problem.w, .out = address, .out_n = matrix_row(problem.w), .out_k = 1, .type = problem.type});
  matmul_options options;
  if (problem.bias != 0) options.bias = {matmul_view_of(arguments.options->bias), false};
  detail::run_matmul(
      s, {arguments.operation, matmul_view_of(arguments.x),
          transposed_weights(arguments.x, problem.w, address), matmul_view_of(arguments.out), &options});
}

void warm_up_w4_as_matrix(const runtime::device& gpu, const any_view& x, const w4_problem& problem) {
  gpu.warmup(dequantise_w4_image());
  // Addresses that nothing else has: only how they are aligned matters.
  const std::uint64_t after = (x.address + x.bytes) / 256 * 256 + 256;
  const matmul_view b = transposed_weights(x, problem.w, after);
  matmul_view c = matmul_view_of(x);
  c.address = (after + b.bytes) / 256 * 256 + 256;
  c.bytes = std::uint64_t{problem.m} * problem.w.n * sizeof(f16);
  c.extents = {problem.m, problem.w.n, 0};
  c.strides = {problem.w.n, 1, 0};
  matmul_warmup(gpu, matmul_view_of(x), b, c);
}

}  // namespace kaio::ops
