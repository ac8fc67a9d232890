#pragma once
// Checks of gate_up_project before anything runs, and its products.

#include <kaio/ops/gate_up_project/call/arguments.hpp>
#include <kaio/ops/gate_up_project/combine/kernel.hpp>

#include <array>
#include <cstdint>

namespace kaio::ops::detail {

// A product of x with a weight, into columns of the workspace.
struct gate_up_product {
  const projection_weight* weight = nullptr;
  any_view to{};  // (rows, n)
};

struct gate_up_call {
  gate_up_problem problem{};
  any_view x{};  // (rows, K)
  std::array<gate_up_product, 2> products{};
  std::uint32_t count = 1;          // products
  std::uint64_t product_bytes = 0;  // bytes of both products, a multiple of 256
  std::uint64_t blocks = 0;         // blocks of gate_up_combine
  bool empty() const { return blocks == 0; }
};

// Throws invalid_argument.
gate_up_call resolve_gate_up(const void* device, const gate_up_arguments& arguments);

}  // namespace kaio::ops::detail
