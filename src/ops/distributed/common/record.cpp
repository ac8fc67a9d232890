#include "ops/distributed/common/record.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace kaio::ops::detail {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t x) {
  hash = (hash ^ x) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
void add(std::array<std::uint64_t, call_record::most_ranks>& hashes, std::span<const transfer> transfers) {
  for (const transfer& t : transfers) {
    std::uint64_t& hash = hashes[static_cast<std::size_t>(t.rank)];
    hash = mixed(mixed(hash + 1, bytes_of(t.memory)), static_cast<std::uint64_t>(t.memory.type));
  }
}
std::string_view name_of(const call_record& r) {
  return {r.operation.data(), ::strnlen(r.operation.data(), r.operation.size())};
}

}  // namespace

call_record call_record::of(const call_of_rank& mine) {
  call_record r;
  const collective_call& call = *mine.call;
  std::ranges::copy(call.operation.substr(0, r.operation.size()), r.operation.begin());
  r.refused = call.refusal.empty() ? 0 : 1;
  if (call.numbers.size() + mine.numbers.size() > most_numbers)
    refuse_collective(call.operation, "more than 48 numbers to compare");
  r.compared = static_cast<std::int64_t>(call.numbers.size());
  r.given = static_cast<std::int64_t>(mine.numbers.size());
  std::ranges::copy(mine.numbers, std::ranges::copy(call.numbers, r.numbers.begin()).out);
  add(r.sent, mine.sends);
  add(r.received, mine.receives);
  return r;
}

std::string mismatch(std::span<const call_record> records) {
  const auto rank = [](std::size_t r) { return "rank " + std::to_string(r); };
  const call_record& first = records[0];
  for (std::size_t r = 1; r < records.size(); ++r)
    if (name_of(records[r]) != name_of(first))
      return "rank 0 calls " + std::string(name_of(first)) + ", and " + rank(r) + " calls " +
             std::string(name_of(records[r])) + "; all ranks make the same calls in the same order";
  for (std::size_t r = 0; r < records.size(); ++r)
    if (records[r].refused != 0) return rank(r) + " refuses its arguments";
  for (std::size_t r = 1; r < records.size(); ++r) {
    const auto count = static_cast<std::size_t>(first.compared);
    if (records[r].compared != first.compared || records[r].given != first.given ||
        !std::equal(first.numbers.begin(), first.numbers.begin() + static_cast<std::ptrdiff_t>(count),
                    records[r].numbers.begin()))
      return "the shapes, types or options of " + rank(r) +
             " are not those of rank 0; they are equal on all ranks";
  }
  for (std::size_t a = 0; a < records.size(); ++a)
    for (std::size_t b = 0; b < records.size(); ++b)
      if (records[a].sent[b] != records[b].received[a])
        return rank(a) + " sends " + rank(b) + " other tensors than " + rank(b) + " receives";
  return {};
}

}  // namespace kaio::ops::detail
