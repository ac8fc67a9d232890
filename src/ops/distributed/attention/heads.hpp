#pragma once
// The exchange of heads for rows among the ranks of a group (Ulysses), and back.
//
//   of a rank    (B, its rows, all heads, size)
//   of a group   (B, rows of all its ranks, heads of the rank, size)
//
// Rows of packed sequences in zigzag layout arrive rank by rank, and are then put in the order of the sequences.

#include <string_view>
#include <vector>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/memory.hpp"
#include "ops/distributed/attention/packed.hpp"

namespace kaio::ops::detail {

// A tensor on both sides, and memory for one of them by rank: (ranks of the group, B, rows, heads of a rank, size).
// by_rank: rows of the group in the order of its ranks, if that is another one.
struct exchanged_tensor {
  attention_view of_rank, of_group, staging, by_rank;
};

class heads_exchange {
 public:
  heads_exchange(const context_call& call, std::string_view operation, const stream& s,
                 const packed_numbers& numbers)
      : call_(call), operation_(operation), s_(s), numbers_(numbers) {}

  // Memory for all but t.of_rank.
  static void divide(const context_call& call, tensor_memory& memory, exchanged_tensor& t, std::int64_t heads,
                     std::int64_t size);
  // Memory for the lse, by rank, on either side.
  struct lse_staging {
    attention_view of_rank;                // (ranks of the group, B, heads of a rank, rows of the rank)
    std::vector<attention_view> of_group;  // by rank: (B, heads of a rank, its rows)
    attention_view by_rank, by_group;      // (rows, heads): in either order, if there are two
  };
  static lse_staging staging_of_lse(const context_call& call, tensor_memory& memory);

  void to_group(const std::vector<exchanged_tensor>& tensors) const;
  void to_rank(const std::vector<exchanged_tensor>& tensors) const;
  // (B, heads of q, rows of the rank), and (B, heads of a rank, rows of the group).
  void lse_to_group(const attention_view& of_rank, const attention_view& of_group,
                    const lse_staging& staging) const;
  void lse_to_rank(const attention_view& of_rank, const attention_view& of_group,
                   const lse_staging& staging) const;

 private:
  enum class direction { to_group, to_rank };
  void move(const std::vector<exchanged_tensor>& tensors, direction d) const;
  void move_lse(const attention_view& of_rank, const attention_view& of_group, const lse_staging& staging,
                direction d) const;

  const context_call& call_;
  std::string_view operation_;
  const stream& s_;
  const packed_numbers& numbers_;
};

}  // namespace kaio::ops::detail
