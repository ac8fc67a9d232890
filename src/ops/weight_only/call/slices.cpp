// The time model of matmul_w4 by dequantised slices of the weights (as_matrix.hpp).

#include <kaio/ops/matmul.hpp>

#include <algorithm>
#include <limits>

#include "ops/choice/machine.hpp"
#include "ops/matmul/choice/table.hpp"
#include "ops/weight_only/common/as_matrix.hpp"

namespace kaio::ops {

namespace {

// The product with a slice; operands begin at multiples of 16 bytes.
matmul_call product_of(const w4_problem& p, std::uint32_t columns) {
  const element_kind type =
      static_cast<element_type>(p.type) == element_type::f16 ? element_kind::f16 : element_kind::bf16;
  std::uint64_t address = std::uint64_t{1} << 60;  // no memory is there
  const auto view = [&](std::uint64_t lines, std::uint64_t along) {
    const std::uint64_t row = (along + 7) / 8 * 8;
    matmul_view v;
    v.type = type;
    v.rank = 2;
    v.address = address;
    v.bytes = lines * row * sizeof(f16);
    v.extents = {static_cast<std::int64_t>(lines), static_cast<std::int64_t>(along), 0};
    v.strides = {static_cast<std::int64_t>(row), 1, 0};
    address += (v.bytes + 255) / 256 * 256;
    return v;
  };
  const matmul_view x = view(p.m, p.w.k), w = view(columns, p.w.k), y = view(p.m, columns);
  matmul_view b = w;
  std::swap(b.extents[0], b.extents[1]);
  std::swap(b.strides[0], b.strides[1]);
  const matmul_options options;
  return detail::resolve_matmul(nullptr, {"matmul_w4", x, b, y, &options});
}

}  // namespace

w4_slicing plan_w4_slices(const w4_problem& p, const device_properties& device) {
  // Measured on an H200: the microseconds that the first slice and each further one adds; bytes per microsecond
  // of what is read and written, if a slice stays in L2, and if not.
  constexpr double of_first = 1, of_slice = 4, in_l2 = 5e6, in_memory = 3.6e6;
  constexpr double in_order_of_k = 2e5;        // act-order: each weight is written by itself
  constexpr double slower_in_us = 1.0 / 6000;  // the clock is lower in longer products
  constexpr std::uint64_t most_bytes = std::uint64_t{128} << 20;
  constexpr std::uint32_t tried = 8;
  const double weights = static_cast<double>(p.w.n) * p.w.k;
  const double bytes = weights * (bits_of(static_cast<w4_codes>(p.w.codes_type)) / 8.0 + sizeof(f16));
  const auto fewest = static_cast<std::uint32_t>((w4_slice_bytes(p.w, p.w.n) + most_bytes - 1) / most_bytes);
  w4_slicing best;
  best.microseconds = std::numeric_limits<double>::infinity();
  for (std::uint32_t slices = fewest, last = 0; slices < fewest + tried; ++slices) {
    const std::uint32_t columns = w4_slice_of(p.w, slices);
    if (columns == last) continue;
    last = columns;
    const auto product = [&](std::uint32_t count) {
      if (count == 0) return 0.0;
      const matmul_call call = product_of(p, count);
      return cost(choose("matmul_w4", call, device, {}), call, device) * 1e6;
    };
    const std::uint32_t whole = p.w.n / columns;
    const bool stays = w4_slice_bytes(p.w, columns) <= device.l2_bytes / 2;
    const double rate = p.w.rows != 0 ? in_order_of_k : stays ? in_l2 : in_memory;
    const double time = bytes / rate + of_first + of_slice * (w4_slices(p.w, columns) - 1) +
                        whole * product(columns) + product(p.w.n % columns);
    const double slower = time * (1 + time * slower_in_us);
    if (slower < best.microseconds) best = {columns, slower};
  }
  return best;
}

}  // namespace kaio::ops
