#include "ops/weight_only/common/as_matrix.hpp"

#include <kaio/ops/matmul.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>

#include "ops/matmul/call/view.hpp"
#include "ops/weight_only/common/families.hpp"

namespace kaio::ops {

namespace {

std::int64_t matrix_row(const w4_packed& w) { return (std::int64_t{w.k} + 7) / 8 * 8; }

// The packed weights of `count` columns of y from `first` on, a multiple of 32.
w4_packed columns_of(w4_packed w, std::uint32_t first, std::uint32_t count) {
  const u64 bits = bits_of(static_cast<w4_codes>(w.codes_type)), tiles = first / w4_tile_n;
  w.codes += tiles * w.tiles_k * (w4_tile_codes / 8 * bits);
  w.scales += u64{first} * bytes_of(static_cast<w4_scale_type>(w.scale_type));
  if (w.zeros != 0) w.zeros += w.offsets != 0 ? u64{first} * sizeof(f32) : first * bits / 8;
  if (w.factors != 0) w.factors += u64{first} * sizeof(f32);
  w.n = count;
  return w;
}

matmul_view columns_of(matmul_view v, std::uint32_t first, std::uint32_t count) {
  const std::uint32_t last = v.rank - 1;
  const std::uint64_t bytes = u64{first} * bytes_of(v.type);
  v.address += bytes;
  v.bytes -= bytes;
  v.extents[last] = count;
  return v;
}

// Columns of W^T, (k, columns), at an address.
matmul_view transposed_weights(const any_view& x, const w4_packed& w, std::uint64_t address,
                               std::uint32_t columns) {
  matmul_view result = matmul_view_of(x);
  result.address = address;
  result.bytes = w4_slice_bytes(w, columns);
  result.extents = {w.k, columns, 0};
  result.strides = {1, matrix_row(w), 0};
  return result;
}

}  // namespace

std::uint64_t w4_slice_bytes(const w4_packed& w, std::uint32_t columns) {
  return std::uint64_t{columns} * static_cast<std::uint64_t>(matrix_row(w)) * sizeof(f16);
}

std::uint32_t w4_slice_of(const w4_packed& w, std::uint32_t slices) {
  // Whole tiles of matmul, if there are enough columns.
  constexpr std::uint32_t tile = 256;
  const std::uint32_t columns = (w.n + slices - 1) / slices, unit = columns < tile ? w4_tile_n : tile;
  return std::min((columns + unit - 1) / unit * unit, w.n);
}

void run_w4_as_matrix(const stream& s, const detail::matmul_w4_arguments& arguments,
                      const w4_problem& problem, std::uint32_t columns) {
  const std::uint64_t address = arguments.options->workspace.address;
  const matmul_view x = matmul_view_of(arguments.x), out = matmul_view_of(arguments.out);
  w4_matrix matrix{.w = {}, .out = address, .out_n = matrix_row(problem.w), .out_k = 1, .type = problem.type};
  for (std::uint32_t first = 0; first < problem.w.n; first += columns) {
    const std::uint32_t count = std::min(columns, problem.w.n - first);
    matrix.w = columns_of(problem.w, first, count);
    // After the first slice the weights are there, so that later slices may read them early.
    run_dequantise_w4_rows(s, matrix, first != 0 || problem.constant != 0);
    matmul_options options;
    if (problem.bias != 0)
      options.bias = {columns_of(matmul_view_of(arguments.options->bias), first, count), false};
    detail::run_matmul(s, {arguments.operation, x, transposed_weights(arguments.x, problem.w, address, count),
                           columns_of(out, first, count), &options});
  }
}

void warm_up_w4_as_matrix(const runtime::device& gpu, const detail::matmul_w4_arguments& arguments,
                          const w4_problem& problem, std::uint32_t columns) {
  gpu.warmup(dequantise_w4_rows_image(problem.w, gpu.properties()));
  const any_view& x = arguments.x;
  // Addresses that nothing else has: only their alignment matters.
  const std::uint64_t after = std::uint64_t{1} << 60, end = after + (std::uint64_t{1} << 59);
  // Neither the type of the output nor where its rows begin is known.
  const std::uint32_t rest = problem.w.n % columns;
  for (const std::uint32_t count : {columns, rest})
    for (const element_kind type : {matmul_view_of(x).type, element_kind::f32})
      for (const std::int64_t row :
           {(std::int64_t{problem.w.n} + 7) / 8 * 8, std::int64_t{problem.w.n} | 1}) {
        if (count == 0) continue;
        const matmul_view b = transposed_weights(x, problem.w, after, count);
        matmul_view c = matmul_view_of(x);
        c.type = type;
        c.address = end;
        c.bytes = std::uint64_t{problem.m} * static_cast<std::uint64_t>(row) * bytes_of(type);
        c.extents = {problem.m, count, 0};
        c.strides = {row, 1, 0};
        matmul_options options;
        if (problem.bias != 0)
          options.bias = {columns_of(matmul_view_of(arguments.options->bias), 0, count), false};
        matmul_warmup(gpu, matmul_view_of(x), b, c, options);
      }
}

}  // namespace kaio::ops
