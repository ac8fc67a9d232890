#include "ops/distributed/common/call.hpp"

#include <kaio/runtime/copy.hpp>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

void move_here(const call_of_rank& mine, int rank) {
  std::size_t next = 0;
  for (const transfer& from : mine.sends) {
    if (from.rank != rank) continue;
    while (mine.receives[next].rank != rank) ++next;
    const any_view& to = mine.receives[next++].memory;
    const std::size_t bytes = static_cast<std::size_t>(bytes_of(to));
    copy(*mine.on, runtime::device_pointer<u8>{to.address, bytes, to.device},
         runtime::device_pointer<u8>{from.memory.address, bytes, from.memory.device});
  }
}

void refuse_collective(std::string_view operation, const std::string& what) { refuse(operation, what); }

std::int64_t elements_of(const any_view& v) {
  std::int64_t count = 1;
  for (std::uint32_t d = 0; d < v.rank; ++d) count *= v.extents[d];
  return count;
}

std::uint64_t bytes_of(const any_view& v) {
  return static_cast<std::uint64_t>(elements_of(v)) * v.element_bytes();
}

namespace {

std::string list_of(std::span<const std::int64_t> numbers) {
  std::string text = "(";
  for (const std::int64_t n : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + ")";
}

std::string rank_name(std::size_t r) { return "rank " + std::to_string(r); }

std::string different_calls(std::span<const call_of_rank* const> calls) {
  const collective_call& first = *calls[0]->call;
  for (std::size_t r = 1; r < calls.size(); ++r) {
    const collective_call& other = *calls[r]->call;
    if (other.operation != first.operation)
      return "rank 0 calls " + std::string(first.operation) + ", and " + rank_name(r) + " calls " +
             std::string(other.operation) + "; all ranks make the same calls in the same order";
  }
  for (std::size_t r = 0; r < calls.size(); ++r)
    if (!calls[r]->call->refusal.empty())
      return rank_name(r) + " refuses its arguments: " + calls[r]->call->refusal;
  for (std::size_t r = 1; r < calls.size(); ++r) {
    const collective_call& other = *calls[r]->call;
    if (other.numbers != first.numbers)
      return "the shapes, types or options of " + rank_name(r) + " are " + list_of(other.numbers) +
             ", those of rank 0 " + list_of(first.numbers) + "; they are equal on all ranks";
  }
  return {};
}

// The transfers of one rank with another one, in their order.
std::vector<const transfer*> with_rank(std::span<const transfer> all, std::size_t rank) {
  std::vector<const transfer*> list;
  for (const transfer& t : all)
    if (static_cast<std::size_t>(t.rank) == rank) list.push_back(&t);
  return list;
}

std::string different_transfers(std::span<const call_of_rank* const> calls) {
  for (std::size_t a = 0; a < calls.size(); ++a)
    for (std::size_t b = 0; b < calls.size(); ++b) {
      const auto sends = with_rank(calls[a]->sends, b), receives = with_rank(calls[b]->receives, a);
      const std::string pair = rank_name(a) + " sends " + rank_name(b) + ' ';
      if (sends.size() != receives.size())
        return pair + std::to_string(sends.size()) + " tensors, which receives " +
               std::to_string(receives.size());
      for (std::size_t i = 0; i < sends.size(); ++i) {
        const any_view &from = sends[i]->memory, &to = receives[i]->memory;
        if (bytes_of(from) != bytes_of(to) || from.type != to.type)
          return pair + std::to_string(bytes_of(from)) + " bytes of " + element_name(from.type) +
                 ", which receives " + std::to_string(bytes_of(to)) + " bytes of " + element_name(to.type);
      }
    }
  return {};
}

}  // namespace

std::string mismatch(std::span<const call_of_rank* const> calls) {
  std::string why = different_calls(calls);
  return why.empty() ? different_transfers(calls) : why;
}

}  // namespace kaio::ops::detail
