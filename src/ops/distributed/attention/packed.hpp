#pragma once
// Numbers in device memory for packed sequences: where those of each item begin, and the order of rows after an exchange of
// heads.

#include <kaio/ops/attention/common/arguments.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/memory.hpp"

namespace kaio::ops::detail {

class packed_numbers {
 public:
  packed_numbers() = default;  // of a call without packed sequences
  packed_numbers(const context_call& call, tensor_memory& memory);

  // Copies the numbers to the device, in the order of the stream.
  void upload(const device& on, const stream& s) const;

  // Null: the call is not packed.
  const attention_sequences* of(int step, std::size_t item) const {
    return items_.empty() ? nullptr : &items_[static_cast<std::size_t>(step)][item];
  }
  // For each row in the order of the group, its row in the order of its ranks, one after another; and the opposite.
  const any_view& by_rank() const noexcept { return by_rank_; }
  const any_view& by_group() const noexcept { return by_group_; }

 private:
  std::vector<std::int32_t> numbers_;
  std::uint64_t address_ = 0;
  std::vector<std::vector<attention_sequences>> items_;  // by step
  any_view by_rank_, by_group_;
};

// (1, ...) as (...).
attention_view without_batches(const attention_view& v);

}  // namespace kaio::ops::detail
