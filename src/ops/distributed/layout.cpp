#include <kaio/ops/distributed/layout.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "ops/distributed/common/transport.hpp"
#include "ops/distributed/common/views.hpp"

namespace kaio::ops {

namespace {

using namespace detail;

void check(std::string_view operation, std::int64_t rows, int ranks, int rank) {
  if (rows < 0 || rows > std::numeric_limits<std::int32_t>::max())
    refuse_collective(operation, "rows is " + std::to_string(rows) + "; 0 to 2^31 - 1 are divided");
  if (ranks < 1 || rank < 0 || rank >= ranks)
    refuse_collective(operation,
                      "rank is " + std::to_string(rank) + " of " + std::to_string(ranks) + " ranks");
}

// The rows of a rank in `whole` and `local` as transfers without gaps, batch by batch.
struct piece_of_rows {
  any_view whole, local;
};
std::vector<piece_of_rows> pieces(const any_view& whole, const any_view& local,
                                  std::span<const context_rows> rows) {
  std::vector<piece_of_rows> list;
  for (std::int64_t b = 0; b < whole.extents[0]; ++b) {
    std::int64_t first = 0;
    for (const context_rows& r : rows) {
      if (r.count > 0)
        list.push_back({rows_of_batch(whole, b, r.begin, r.count), rows_of_batch(local, b, first, r.count)});
      first += r.count;
    }
  }
  return list;
}

// Why the two do not belong together; empty: they do.
std::string refusal_of(const any_view& whole, const any_view& local, std::int64_t rows) {
  if (whole.rank < 2 || whole.rank != local.rank) return "whole and local have not both (B, rows, ...)";
  if (whole.type != local.type || whole.element_bytes() != local.element_bytes())
    return "whole and local have elements of two types";
  if (!is_dense(whole) || !is_dense(local)) return "whole or local has gaps; copy it to memory without";
  for (std::uint32_t d = 0; d < whole.rank; ++d)
    if (d != 1 && whole.extents[d] != local.extents[d])
      return "dimension " + std::to_string(d) + " of local is " + std::to_string(local.extents[d]) +
             ", that of whole " + std::to_string(whole.extents[d]);
  if (local.extents[1] != rows)
    return "local has " + std::to_string(local.extents[1]) + " rows; the layout gives this rank " +
           std::to_string(rows);
  return {};
}

// The rows of a rank in a whole tensor.
std::vector<context_rows> rows_in(const any_view& whole, context_layout layout,
                                  std::span<const std::int64_t> lengths, int ranks, int rank) {
  return lengths.empty() ? context_rows_of(layout, whole.extents[1], ranks, rank)
                         : context_rows_of(layout, lengths, ranks, rank);
}

// Why the lengths are not those of a whole tensor; empty: they are.
std::string refusal_of(std::span<const std::int64_t> lengths, std::int64_t rows) {
  if (lengths.empty() || count_of_lengths(lengths) == rows) return {};
  return "whole has " + std::to_string(rows) + " rows; the lengths of the sequences make " +
         std::to_string(count_of_lengths(lengths));
}

}  // namespace

namespace detail {

void check_lengths(std::string_view operation, std::span<const std::int64_t> lengths) {
  std::int64_t total = 0;
  for (const std::int64_t n : lengths) {
    if (n < 0)
      refuse_collective(operation, "a length of a sequence is " + std::to_string(n) + "; it is at least 0");
    if (n > std::numeric_limits<std::int32_t>::max() - total)
      refuse_collective(operation, "the sequences have more than 2^31 - 1 rows in all");
    total += n;
  }
}

std::int64_t hash_of_lengths(std::span<const std::int64_t> lengths) {
  std::uint64_t hash = lengths.size();
  for (const std::int64_t n : lengths) {  // splitmix64
    hash += static_cast<std::uint64_t>(n) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return static_cast<std::int64_t>(hash);
}

}  // namespace detail

std::vector<context_rows> context_rows_of(context_layout layout, std::int64_t rows, int ranks, int rank) {
  check("context_rows_of", rows, ranks, rank);
  const std::int64_t count = std::int64_t{ranks} * (layout == context_layout::zigzag ? 2 : 1);
  const auto piece = [&](std::int64_t i) {
    const std::int64_t begin = i * rows / count;
    return context_rows{begin, (i + 1) * rows / count - begin};
  };
  if (layout == context_layout::contiguous) return {piece(rank)};
  return {piece(rank), piece(count - 1 - rank)};
}

std::vector<std::int32_t> context_positions(context_layout layout, std::int64_t rows, int ranks, int rank) {
  std::vector<std::int32_t> positions;
  for (const context_rows& r : context_rows_of(layout, rows, ranks, rank))
    for (std::int64_t i = 0; i < r.count; ++i) positions.push_back(static_cast<std::int32_t>(r.begin + i));
  return positions;
}

std::vector<context_rows> context_rows_of(context_layout layout, std::span<const std::int64_t> lengths,
                                          int ranks, int rank) {
  constexpr std::string_view operation = "context_rows_of";
  check_lengths(operation, lengths);
  const std::int64_t total = count_of_lengths(lengths);
  check(operation, total, ranks, rank);
  if (layout == context_layout::contiguous) return context_rows_of(layout, total, ranks, rank);
  const std::int64_t pieces = 2 * std::int64_t{ranks};
  std::vector<context_rows> result;
  std::int64_t begin = 0, next = 0;  // next: the piece that gets the first row that is left
  for (const std::int64_t length : lengths) {
    const std::int64_t each = length / pieces, left = length % pieces;
    // Rows of the sequence in the pieces before piece i.
    const auto before = [&](std::int64_t i) {
      const std::int64_t direct = std::clamp<std::int64_t>(i - next, 0, left);
      const std::int64_t wrapped = std::clamp<std::int64_t>(next + left - pieces, 0, i);
      return i * each + direct + wrapped;
    };
    for (const std::int64_t i : {std::int64_t{rank}, pieces - 1 - rank})
      if (before(i + 1) > before(i)) result.push_back({begin + before(i), before(i + 1) - before(i)});
    begin += length;
    next = (next + left) % pieces;
  }
  return result;
}

std::vector<std::int32_t> context_positions(context_layout layout, std::span<const std::int64_t> lengths,
                                            int ranks, int rank) {
  std::vector<std::int32_t> positions;
  std::size_t sequence = 0;
  std::int64_t begin = 0;  // of the sequence
  for (const context_rows& r : context_rows_of(layout, lengths, ranks, rank))
    for (std::int64_t i = r.begin; i < r.begin + r.count; ++i) {
      while (i >= begin + lengths[sequence]) begin += lengths[sequence++];
      positions.push_back(static_cast<std::int32_t>(i - begin));
    }
  return positions;
}

void context_shard(const communicator& c, const stream& s, const any_view& whole, const any_view& local,
                   context_layout layout, std::span<const std::int64_t> lengths) {
  constexpr std::string_view operation = "context_shard";
  const validation valid(operation, c.on().identity());
  if (!whole.empty()) valid.input("whole", whole);
  if (!local.empty()) valid.output("local", local);
  if (whole.rank < 2) refuse_collective(operation, "argument whole is not (B, rows, ...)");
  check_lengths(operation, lengths);
  const auto rows = rows_in(whole, layout, lengths, c.ranks(), c.rank());
  if (const std::string why = refusal_of(lengths, whole.extents[1]); !why.empty())
    refuse_collective(operation, why);
  if (const std::string why = refusal_of(whole, local, count_of_rows(rows)); !why.empty())
    refuse_collective(operation, why);
  for (const piece_of_rows& p : pieces(whole, local, rows)) copy(s, memory_of(p.local), memory_of(p.whole));
}

void context_unshard(const communicator& c, const stream& s, const any_view& local, const any_view& whole,
                     context_layout layout, std::span<const std::int64_t> lengths) {
  constexpr std::string_view operation = "context_unshard";
  group_rank& rank = rank_access::of(c, operation);
  collective_call call{operation, {}, {}};
  std::vector<transfer> sends, receives;
  try {
    const validation valid(operation, rank.on.identity());
    if (!local.empty()) valid.input("local", local);
    if (!whole.empty()) valid.output("whole", whole);
    if (whole.rank < 2) refuse_collective(operation, "argument whole is not (B, rows, ...)");
    if (s.device_identity() != rank.on.identity())
      refuse_collective(operation, "the stream is not one of this rank's device");
    check_lengths(operation, lengths);
    if (const std::string why = refusal_of(lengths, whole.extents[1]); !why.empty())
      refuse_collective(operation, why);
    const auto rows = rows_in(whole, layout, lengths, c.ranks(), c.rank());
    if (const std::string why = refusal_of(whole, local, count_of_rows(rows)); !why.empty())
      refuse_collective(operation, why);
    call.numbers = {static_cast<std::int64_t>(layout), static_cast<std::int64_t>(whole.type),
                    whole.element_bytes()};
    call.numbers.insert(call.numbers.end(), whole.extents.begin(), whole.extents.begin() + whole.rank);
    call.numbers.insert(call.numbers.end(), {std::ssize(lengths), hash_of_lengths(lengths)});
    for (int r = 0; r < c.ranks(); ++r) {
      for (const piece_of_rows& p : pieces(whole, local, rows)) sends.push_back({p.local, r});
      const auto theirs = rows_in(whole, layout, lengths, c.ranks(), r);
      any_view place = local;  // only its shape is used
      for (const piece_of_rows& p : pieces(whole, place, theirs)) receives.push_back({p.whole, r});
    }
  } catch (const runtime::invalid_argument& e) {
    call.refusal = e.message();
    sends.clear(), receives.clear();
  }
  rank.by->exchange({&call, &s, sends, receives});
}

}  // namespace kaio::ops
