#pragma once
// An attention_backward as its kernels see it: checked and normalised.

#include <kaio/ops/attention/backward/call/arguments.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/forward/call/call.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

struct attention_backward_call {
  attention_call forward;  // problem.lse is an input here
  attention_operand dout{};
  attention_gradients gradients{};  // except key_tiles, which depends on the kernel's tile
  element_kind bias_type = element_kind::f32;
  std::uint64_t longest_keys = 0;   // of the longest sequence
  std::uint64_t own_workspace = 0;  // the address of the variant's part of the workspace

  constexpr bool wants_queries() const { return gradients.dq.address != 0 || gradients.dbias.direct != 0; }
  constexpr bool wants_keys() const { return gradients.dk.address != 0 || gradients.dv.address != 0; }
  constexpr std::uint64_t key_tiles(std::uint32_t rows) const { return (longest_keys + rows - 1) / rows; }
  // Blocks that own `rows` keys of a head each.
  constexpr std::uint64_t key_blocks(std::uint32_t rows) const {
    return key_tiles(rows) * gradients.key_heads * forward.problem.batches;
  }
};

// The gradients for tiles of `key_rows` keys, on a device with `multiprocessors` multiprocessors.
inline attention_gradients gradients_of(const attention_backward_call& call, std::uint32_t key_rows,
                                        std::uint32_t multiprocessors) {
  attention_gradients result = call.gradients;
  const attention_problem& p = call.forward.problem;
  result.key_tiles = static_cast<u32>(call.key_tiles(key_rows));
  if (p.longest_first != 0 && p.packed == 0)
    result.leading_key_heads =
        leading_heads(std::uint64_t{result.key_heads} * p.batches, result.key_tiles, multiprocessors);
  return result;
}

namespace detail {
// Checks the arguments, and normalises them as above. Throws invalid_argument.
attention_backward_call resolve_attention_backward(const void* device,
                                                   const attention_backward_arguments& arguments);
// Returns a call with only the extents, from which the size of a workspace follows. Throws invalid_argument.
attention_backward_call size_attention_backward(std::string_view operation, const attention_view& q,
                                                const attention_view& k, const attention_view& v,
                                                const attention_sequences* sequences);
// Workspace bytes for the numbers of each query.
std::uint64_t attention_backward_numbers(std::string_view operation, const attention_view& q);
// Throws invalid_argument if the workspace is missing, or too small for the numbers and own_bytes.
void check_backward_workspace(const void* device, const attention_backward_arguments& arguments,
                              std::uint64_t own_bytes);
// Whether dbias has one element per score; a variant may write such a dbias.
bool has_full_bias_gradient(const attention_backward_call& call);
// Launches what every variant needs before its own kernels: the numbers of each query. Also launches dsinks,
// and dbias if the variant does not write it.
void prepare_attention_backward(const stream& s, const attention_backward_call& call);
}  // namespace detail

}  // namespace kaio::ops
