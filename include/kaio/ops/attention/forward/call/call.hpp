#pragma once
// An attention as its kernels see it: checked and normalised, so that a kernel need not know what the
// caller's views looked like. Strides along an extent of 1 are 0.

#include <kaio/ops/attention/forward/call/arguments.hpp>
#include <kaio/ops/attention/common/block_lists.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/attention/common/terms.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_operand {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  std::uint32_t heads = 0, rows = 0, batches = 0;  // of the tensor
};

struct attention_call {
  attention_type type = attention_type::f32;                  // of q, k and v
  attention_type output = attention_type::f32;                // the same, or f32
  attention_precision precision = attention_precision::ieee;  // the least
  attention_operand q, k, v, o;
  attention_problem problem{};  // but for query_tiles, which the kernel's tile decides
  attention_terms terms{};
  attention_score_tensor bias{}, keep{};
  attention_band band{};
  attention_block_lists lists{};
  bool in_blocks = false;        // lists are there
  bool batch_invariant = false;  // the kernel is one that sequences of other lengths take too

  constexpr bool empty() const {
    const bool has_rows = problem.queries != 0 && (problem.packed == 0 || q.rows != 0);
    return problem.batches == 0 || problem.heads == 0 || !has_rows;
  }
  // Tiles of so many queries of a head; where there are lists, none is in two of their blocks.
  constexpr std::uint64_t query_tiles(std::uint32_t rows) const {
    const auto parts = [](std::uint64_t of, std::uint64_t size) { return (of + size - 1) / size; };
    if (!in_blocks) return parts(problem.queries, rows);
    return parts(problem.queries, lists.queries) * parts(lists.queries, rows);
  }
  constexpr std::uint64_t blocks(std::uint32_t rows) const {
    return query_tiles(rows) * problem.heads * problem.batches;
  }
};

// Operands of one call may be interleaved in memory: that the output is apart from them was checked.
template <class T>
device_pointer<T> memory_of(const attention_operand& x) {
  return {x.address, x.bytes / sizeof(T), x.device, true};
}
// For tiles of so many queries, on a device with so many multiprocessors. Of sequences of different lengths no
// heads lead: their tiles do not have the same numbers of keys.
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
constexpr element_type element_type_of(attention_type type) {
  return type == attention_type::f32   ? element_type::f32
         : type == attention_type::f16 ? element_type::f16
                                       : element_type::bf16;
}
// Checks the arguments, and normalises them as above. Throws invalid_argument.
attention_call resolve_attention(const void* device, const attention_arguments& arguments);
}  // namespace detail

}  // namespace kaio::ops
