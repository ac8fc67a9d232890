#pragma once
// A collective call as its rank describes it. Ranks compare these before anything is sent.

#include <kaio/ops/distributed/communicator.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::ops::detail {

struct collective_call {
  std::string_view operation;
  std::vector<std::int64_t> numbers;  // equal on all ranks
  std::string refusal;                // not empty: the rank refuses its arguments, for this reason
  bool matches = false;               // a part of a call that the ranks have compared
};

// A rank's part of a call. What it points to lives until the call returns.
struct call_of_rank {
  const collective_call* call = nullptr;
  const stream* on = nullptr;
  std::span<const transfer> sends, receives;
  std::span<const std::int64_t> numbers{};        // to be gathered
  std::vector<std::int64_t>* gathered = nullptr;  // where to
  shared_memory_ref* memory = nullptr;            // where the handle of allocated memory goes
};

// Why the calls of all ranks do not match; empty: they do. calls[r] is that of rank r.
std::string mismatch(std::span<const call_of_rank* const> calls);

[[noreturn]] void refuse_collective(std::string_view operation, const std::string& what);

// Copies what a rank sends to itself. Sends and receives match.
void move_here(const call_of_rank& mine, int rank);

std::uint64_t bytes_of(const any_view& v);  // of the elements
std::int64_t elements_of(const any_view& v);

}  // namespace kaio::ops::detail
