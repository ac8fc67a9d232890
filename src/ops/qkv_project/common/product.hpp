#pragma once
// The product of hidden states with one weight or several next to each other, (tokens, n) in the workspace.
// Operations that are not the epilogue of a fused product read it there.

#include <kaio/ops/matmul_8bit/fp8/arguments.hpp>
#include <kaio/ops/matmul_8bit/int8/arguments.hpp>
#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace kaio::ops {

// The columns of the product that a weight makes.
struct projection_columns {
  std::uint32_t first = 0, count = 0;
};

struct projection_product {
  std::string_view operation;
  any_view x;
  std::span<const projection_weight> weights;
  std::span<const projection_columns> columns;  // one for each weight
  std::uint64_t tokens = 0;
  std::uint32_t n = 0;
  element_kind kind = element_kind::f16;  // element type of the product, f16 or bf16
  tensor_view<const f32, 1> x_scale{};
  tensor_view<const f32, 2> x_groups{};
  workspace_view workspace{};
  constant_inputs constant = constant_inputs::none;
  bool exact_weights = false;  // for packed weights

  // In elements; rows begin at multiples of 16 bytes.
  std::int64_t pitch() const { return (std::int64_t{n} + 7) / 8 * 8; }
  std::uint64_t address() const;
  std::uint64_t workspace_bytes(const void* device, const device_properties& properties) const;
  // Throws unsupported_device if the device has no kernel for one of the products. Packed weights are checked
  // by workspace_bytes instead; weights of 8 bits have kernels on every device.
  void check_kernels(const stream& s) const;
  void run(const stream& s) const;
  void warm_up(const runtime::device& gpu) const;

 private:
  std::uint64_t bytes() const;
  any_view matrix(const projection_columns& of, bool in_batches) const;
  matmul_w4_options packed_options() const;
  matmul_int8_options int8_options(const projection_weight& w) const;
  matmul_fp8_options fp8_options(const projection_weight& w) const;
};

namespace detail {

// x as one matrix, (tokens, K). Its rows must be equally far apart.
any_view rows_of_x(const any_view& x);

}  // namespace detail

}  // namespace kaio::ops
