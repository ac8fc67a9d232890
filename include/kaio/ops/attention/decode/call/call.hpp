#pragma once
// An attention_decode as its kernels see it: checked and normalised.

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/attention/decode/common/problem.hpp>
#include <kaio/ops/attention/forward/call/call.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_decode_call {
  element_kind type = element_kind::f32;  // of q, and of k and v unless they are codes
  attention_problem problem{};
  attention_cache cache{};
  attention_split split{};  // except row_tiles, splits, chunk and the workspace, which depend on the kernel
  attention_terms terms{};
  attention_band band{};
  attention_codes codes{};
  std::uint64_t most_keys = 0;    // to which a query may attend
  std::uint64_t packed_rows = 0;  // packed: the rows of q
  bool values_in_keys = false;    // V is the first elements of the rows of K
  bool batch_invariant = false;
  std::uint32_t splits = 0;  // as the caller asks; 0: any number
  attention_combining combining = attention_combining::automatic;

  constexpr bool has_codes() const { return codes.kept != static_cast<u32>(cache_elements::same); }
  constexpr std::uint32_t bytes_of_key_element() const { return has_codes() ? 1 : bytes_of(type); }
  constexpr bool is_packed() const { return problem.packed != 0; }
  constexpr bool empty() const {
    return problem.batches == 0 || problem.queries == 0 || problem.heads == 0 ||
           (is_packed() && packed_rows == 0);
  }
  constexpr std::uint64_t results() const {  // rows of O
    return (is_packed() ? packed_rows : std::uint64_t{problem.batches} * problem.queries) * problem.heads;
  }
  constexpr std::uint64_t row_tiles(std::uint32_t rows) const { return (split.rows + rows - 1) / rows; }
};

namespace detail {
// Checks the arguments, except the workspace's size, and normalises them as above. Throws invalid_argument.
attention_decode_call resolve_attention_decode(const void* device,
                                               const attention_decode_arguments& arguments);
}  // namespace detail

}  // namespace kaio::ops
