#pragma once
// The kernels of kaio/ops/distributed/peer/gathered_matmul.hpp as a table, and their launch.

#include <kaio/ops/distributed/peer/signals.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/runtime/stream.hpp>

#include <span>

namespace kaio::ops::detail {

// The call is a batch with a product for each rank: its A are this rank's rows, for every product. `sent`: the rows that
// other ranks send, in the order of ranks.
struct gathered_variant {
  matmul_variant of_matmul;  // what the kernel takes; it is no variant of matmul
  void (*launch)(const stream& s, const matmul_call& call, const matmul_operand& sent,
                 const peer_arrivals& arrivals);
};

// One for each type and direction of B.
std::span<const gathered_variant> gathered_variants();

}  // namespace kaio::ops::detail
