#pragma once
// An attention call for its kernels: checked and normalised, so that a kernel need not know the form of the
// caller's views. Strides along an extent of 1 are 0.

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/attention/common/block_lists.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/attention/common/terms.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_operand {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  std::uint32_t heads = 0, rows = 0, batches = 0;  // extents of the tensor
};

struct attention_call {
  element_kind type = element_kind::f32;                      // element type of q, k and v
  element_kind output = element_kind::f32;                    // that type, or f32
  attention_precision precision = attention_precision::ieee;  // the least precise one allowed
  attention_operand q, k, v, o;
  attention_problem problem{};  // except query_tiles, which depends on the kernel's tile
  attention_terms terms{};
  attention_score_tensor bias{}, keep{};
  attention_band band{};
  attention_block_lists lists{};
  bool in_blocks = false;        // there are lists
  bool batch_invariant = false;  // the kernel must be one that sequences of other lengths take too

  constexpr bool empty() const {
    const bool has_rows = problem.queries != 0 && (problem.packed == 0 || q.rows != 0);
    return problem.batches == 0 || problem.heads == 0 || !has_rows;
  }
  // Tiles of `rows` queries per head. If there are lists, no tile is in two of their blocks.
  constexpr std::uint64_t query_tiles(std::uint32_t rows) const {
    if (!in_blocks) return ceil_div(problem.queries, rows);
    return ceil_div(problem.queries, lists.queries) * ceil_div(lists.queries, rows);
  }
  constexpr std::uint64_t blocks(std::uint32_t rows) const {
    return query_tiles(rows) * problem.heads * problem.batches;
  }
};

// The memory of an operand. Operands of one call may be interleaved; the output was checked to be apart from
// them.
template <class T>
device_pointer<T> memory_of(const attention_operand& x) {
  return {x.address, x.bytes / sizeof(T), x.device, true};
}
// The problem for tiles of `rows` queries if `multiprocessors` blocks run at once. Sequences of different
// lengths have no leading heads: their tiles have different numbers of keys.
inline attention_problem problem_of(const attention_call& call, std::uint32_t rows,
                                    std::uint32_t multiprocessors) {
  attention_problem result = call.problem;
  result.query_tiles = static_cast<u32>(call.query_tiles(rows));
  if (result.longest_first != 0 && result.packed == 0)
    result.leading_heads =
        leading_heads(std::uint64_t{result.heads} * result.batches, result.query_tiles, multiprocessors);
  return result;
}

namespace detail {
constexpr element_type element_type_of(element_kind type) {
  return type == element_kind::f32   ? element_type::f32
         : type == element_kind::f16 ? element_type::f16
                                     : element_type::bf16;
}
// Checks the arguments, and normalises them as described above. Throws invalid_argument.
attention_call resolve_attention(const void* device, const attention_arguments& arguments);
}  // namespace detail

}  // namespace kaio::ops
